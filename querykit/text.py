"""Fold what was typed into the form that rules work on, and keep the way back.

Width, compatibility and traditional forms, invisible characters and odd white space are
folded; every folded character remembers which typed characters it came from, so that each
span that leaves the library is one of the typed string.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import regex


class Span(NamedTuple):
    """A half-open range of character positions."""

    start: int
    end: int


class Question(NamedTuple):
    """A question as typed (*raw*) and as the rules read it (*text*).

    *offsets* has the typed span of each character of *text*; it is empty when nothing moved,
    so that position i of *text* is position i of *raw*.
    """

    raw: str
    text: str
    offsets: tuple[Span, ...] = ()

    def typed(self, start: int, end: int) -> Span:
        """The typed span of ``text[start:end]``, which must not be empty."""
        if not self.offsets:
            return Span(start, end)
        return Span(self.offsets[start].start, self.offsets[end - 1].end)


# Marks that a browser, an input method or a word processor leaves inside words and that no reader sees:
# format characters (zero width space, joiners, bidi marks) and variation selectors. A text without any of
# these, and whose one-to-one folding below is already NFKC, needs no offsets. Beyond the BMP it is looked at
# closely, whatever it holds.
_INVISIBLE = frozenset(
    map(
        chr,
        (
            0xAD,
            *range(0x600, 0x606),
            0x61C,
            0x6DD,
            0x70F,
            *range(0x890, 0x892),
            0x8E2,
            0x180E,
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
            *range(0xFE00, 0xFE10),
            0xFEFF,
            *range(0xFFF9, 0xFFFC),
        ),
    )
)

# Full-width ASCII and the ideographic space fold one to one; so do controls, line ends and lone surrogates,
# which no segmenter and no encoder accepts.
_ONE_TO_ONE: dict[int, str] = {c: chr(c - 0xFEE0) for c in range(0xFF01, 0xFF5F)}
_ONE_TO_ONE |= dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA1), *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F], " "
)
# 麽 is a form of 麼 that GB 2312 happens to hold.
_ONE_TO_ONE[0x9EBD] = chr(0x4E48)
_ONE_TO_ONE |= {0x205F: " ", 0x3000: " "} | dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")


# 佢 冇 咗 哋 啲 喺 嗰 嘅 嘢: written Cantonese, which both scripts share and GB 2312 cannot hold.
_CANTONESE = dict.fromkeys((0x4F62, 0x5187, 0x5497, 0x54CB, 0x5572, 0x55BA, 0x55F0, 0x5605, 0x5622))


def normalize(raw: str) -> Question:
    """Return *raw* folded for matching, with the way back to what was typed.

    >>> normalize("Ｎｏｔｉｏｎ　導出").text
    'Notion 导出'
    >>> q = normalize("向量\\u200b数据库")
    >>> q.text, q.raw[slice(*q.typed(0, 5))] == q.raw
    ('向量数据库', True)

    Case stays, since IT and it, Go and go are different words. A character of the
    simplified set is never converted (范仲淹 keeps its 范):

    >>> normalize("范仲淹的詞").text
    '范仲淹的词'
    """
    return Question(raw, *_fold(raw))


def fold(text: str) -> str:
    """Return *text* folded as `normalize` does, in lower case: the key by which words are compared.

    >>> fold("ＭｉｄJourney　筆記")
    'midjourney 笔记'
    """
    text = text.translate(_ONE_TO_ONE)
    if text.isascii():
        return text.lower()
    simple = _is_simplified(text)
    if _moves(text, simple):
        text = "".join(text[a:b] if folded is None else folded for a, b, folded in _pieces(text))
        text = _spaced_out().sub(lambda run: run[0].replace(" ", ""), text)
        simple = False
    return (text if simple else simplify(text)).lower()


def _fold(raw: str) -> tuple[str, tuple[Span, ...]]:
    text = raw.translate(_ONE_TO_ONE)
    if text.isascii():
        return text, ()
    simple = _is_simplified(text)
    if _moves(text, simple):
        text, offsets = _fold_clusters(text)
        return simplify(text), offsets
    return text if simple else simplify(text), ()


def _moves(text: str, simple: bool) -> bool:
    """Does folding change where the characters of *text* stand, or might it?"""
    return (
        not unicodedata.is_normalized("NFKC", text)
        or (" " in text and _spaced_out().search(text) is not None)
        or (not simple and not (max(text) <= "\uffff" and _INVISIBLE.isdisjoint(text)))
    )


def simplify(text: str) -> str:
    """Return *text* with traditional characters in their simplified form, of the same length.

    A text that GB 2312 can hold has no traditional character in it and is returned as it is: 乾, 著 and
    the few others that both scripts use are only converted where the text around them is traditional.

    >>> simplify("這個知識庫裡講遞迴"), simplify("乾隆"), simplify("餅乾")
    ('这个知识库里讲递回', '乾隆', '饼干')
    """
    if _is_simplified(text):
        return text
    simple = load_folding()(text)
    simple = simple if len(simple) == len(text) else "".join(map(_simplify_one, text))
    return simple.replace("甚么", "什么")  # 甚麼, as Taiwan and Hong Kong spell it


def _is_simplified(text: str) -> bool:
    """Can GB 2312 hold *text*? It has no traditional characters, none that are invisible, none beyond the BMP."""
    try:
        text.encode("gb2312")
    except UnicodeEncodeError as error:
        rest = text.translate(_CANTONESE) if ord(text[error.start]) in _CANTONESE else text
        return rest is not text and _is_simplified(rest)
    return True


@cache
def load_folding() -> Callable[[str], str]:
    """The converter to simplified characters (OpenCC t2s), loaded on first use."""
    from opencc import OpenCC

    converter: Callable[[str], str] = OpenCC("t2s").convert
    return converter


def _simplify_one(char: str) -> str:
    simple = load_folding()(char)
    return simple if len(simple) == 1 else char


@cache
def _spaced_out() -> regex.Pattern[str]:
    """可 乐 鸡 翅: single characters set apart by blanks are one run that somebody spaced out.

    Three or more, since two (吉 他) may well be two words of one character.
    """
    return regex.compile(r"(?<!\p{Han})\p{Han}(?: \p{Han}){2,}(?!\p{Han})")


@cache
def _clusters() -> tuple[regex.Pattern[str], regex.Pattern[str], regex.Pattern[str]]:
    """Stretches with a character that folding may change, neighbours included; a base with its combining marks;
    what no reader sees, inside and beyond the BMP."""
    still = (
        r"[\x20-\x7E\xB7\u2010\u2012-\u2015\u2018-\u2022\u2190-\u21FF\u2500-\u25FF"
        r"\u3001\u3002\u3008-\u3011\u3400-\u4DBF\u4E00-\u9FFF]"
    )
    moving = still.replace("[", "[^", 1)
    return (
        regex.compile(f"{still}?{moving}+(?:{still}{moving}+)*{still}?", regex.DOTALL),
        regex.compile(r"\X", regex.DOTALL),
        regex.compile(r"[\p{Cf}\uFE00-\uFE0F\U000E0100-\U000E01EF]"),
    )


def _pieces(text: str) -> Iterator[tuple[int, int, str | None]]:
    """Runs of characters that stay what they are (None), and clusters folded whole (サ + ゛, ¾, ㎝)."""
    stretches, cluster, invisible = _clusters()
    at = 0
    for stretch in stretches.finditer(text):
        start, end = stretch.span()
        if at < start:
            yield at, start, None
        for match in cluster.finditer(text, start, end):
            folded = unicodedata.normalize("NFKC", invisible.sub("", match[0])).translate(_ONE_TO_ONE)
            yield *match.span(), folded
        at = end
    if at < len(text):
        yield at, len(text), None


def _fold_clusters(text: str) -> tuple[str, tuple[Span, ...]]:
    """The folded pieces of *text*, with where each folded character came from."""
    out: list[str] = []
    spans: list[Span] = []
    for start, end, folded in _pieces(text):
        if folded is None:
            out.append(text[start:end])
            spans += [Span(i, i + 1) for i in range(start, end)]
        else:
            out.append(folded)
            spans += [Span(start, end)] * len(folded)
    return _close_up("".join(out), spans)


def _close_up(text: str, spans: list[Span]) -> tuple[str, tuple[Span, ...]]:
    """Take the blanks out of spaced-out characters."""
    keep = [True] * len(text)
    for match in _spaced_out().finditer(text):
        for i in range(match.start() + 1, match.end(), 2):
            keep[i] = False
    return (
        "".join(c for c, kept in zip(text, keep, strict=True) if kept),
        tuple(s for s, kept in zip(spans, keep, strict=True) if kept),
    )
