"""From chunks to terms: the chunk as it stands, and the words inside it.

A chunk is what the reader wrote in one breath; notes often say it otherwise (剪视频老是踩不准节拍). So the
words inside count too. The general dictionary cuts words it does not know into single characters (卡|点,
提示|词), and single characters find everything: those beside one another are joined, and one alone joins its
neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple

import regex

from querykit.strip import Chunk, Stripped, Word
from querykit.text import Span


class Level(Enum):
    """How a term came to be."""

    CHUNK = "chunk"
    WORD = "word"
    PAIR = "pair"  # two words side by side in a longer chunk: a phrase that may stand in the notes
    PIECE = "piece"  # of a word that was joined: stands in where the notes do not know the word


class Term(NamedTuple):
    """Something to look for: as typed, and as it is compared (*key*, folded, lower case).

    *chunk* is the place of its chunk in the question; *word* the key of the joined word a piece belongs to.
    """

    text: str
    key: str
    span: Span
    level: Level
    chunk: int
    is_soft: bool = False
    is_name: bool = False
    word: str = ""


# A number or a version behind a name belongs to it (niji 7, Seedance 2.5, v8.1) and says nothing alone.
_VERSION = regex.compile(r"v?\d+(?:\.\d+)*")

# More characters than this side by side are a list, not a word.
_LONGEST_JOINED = 4


def chunk_terms(stripped: Stripped) -> tuple[Term, ...]:
    """Return the chunks of *stripped* as terms: all that a plan without counts can use."""
    return tuple([_chunk_term(i, chunk, chunk.words) for i, chunk in enumerate(stripped.chunks)])


def _chunk_term(index: int, chunk: Chunk, words: tuple[Word, ...]) -> Term:
    soft = bool(words) and all([word.is_soft for word in words])
    return Term(chunk.text, chunk.folded.lower(), chunk.span, Level.CHUNK, index, soft, chunk.is_name)


def terms(stripped: Stripped, split: Callable[[str], list[str]] | None = None) -> tuple[Term, ...]:
    """Return the terms of *stripped*: every chunk, followed by the words inside it.

    >>> from querykit.strip import strip
    >>> from querykit.text import normalize
    >>> [t.text for t in terms(strip(normalize("库里有没有讲卡点剪辑的笔记"), zh))]
    ['卡点剪辑', '卡点', '点剪辑', '卡点', '卡', '点', '剪辑']
    >>> [t.text for t in terms(strip(normalize("niji 7 怎么用"), zh))]
    ['niji 7', 'niji']

    *split* replaces the words by those of another segmenter: a function from a text to its words.
    """
    return tuple(
        term for i, chunk in enumerate(stripped.chunks) for term in _of_chunk(stripped, i, chunk, split)
    )


def _of_chunk(
    stripped: Stripped, index: int, chunk: Chunk, split: Callable[[str], list[str]] | None
) -> Iterator[Term]:
    words = chunk.words if split is None else tuple(_split(chunk.folded, split))
    yield _chunk_term(index, chunk, words)
    if len(words) < 2:
        return
    start = _folded_start(stripped, chunk)

    def term(a: int, b: int, level: Level, *, soft: bool = False, word: str = "") -> Term:
        span = stripped.question.typed(start + a, start + b)
        text = stripped.question.raw[span.start : span.end]
        key = chunk.folded[a:b].lower()
        return Term(text, key, span, level, index, soft, key.isascii(), word)

    if len(words) > 2:
        for left, right in zip(words, words[1:], strict=False):
            if _touch(left, right):
                yield term(left.start, right.end, Level.PAIR)
    for joined in _joined(chunk.folded, words):
        whole = joined[0].start, joined[-1].end
        key = chunk.folded[slice(*whole)].lower()
        if whole != (0, len(chunk.folded)) and not (whole[0] and _VERSION.fullmatch(key)):
            yield term(*whole, Level.WORD, soft=all(word.is_soft for word in joined))
        if len(joined) > 1:
            for word in joined:
                level = Level.PIECE if _is_single(chunk.folded, word) else Level.WORD
                yield term(word.start, word.end, level, soft=word.is_soft, word=key)


def _folded_start(stripped: Stripped, chunk: Chunk) -> int:
    """Where the chunk begins in the folded question."""
    offsets = stripped.question.offsets
    if not offsets:
        return chunk.span.start
    return next(i for i, span in enumerate(offsets) if span.start == chunk.span.start)


def _split(text: str, split: Callable[[str], list[str]]) -> Iterator[Word]:
    at = 0
    for word in split(text):
        found = text.find(word, at)
        if found >= 0 and word.strip():
            yield Word(found, found + len(word))
            at = found + len(word)


def _joined(text: str, words: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """Words in groups: single characters beside one another together, one alone with its neighbour."""
    groups: list[list[Word]] = []
    for word in words:
        last = groups[-1] if groups else None
        run = last is not None and len(last) < _LONGEST_JOINED and all(_is_single(text, w) for w in last)
        if last and run and _is_single(text, word) and _touch(last[-1], word):
            last.append(word)
        else:
            groups.append([word])
    out: list[list[Word]] = []
    for group in groups:
        alone = len(group) == 1 and _is_single(text, group[0]) and not group[0].is_soft
        if (
            alone
            and out
            and len(out[-1]) == 1
            and _attracts(text, out[-1][0])
            and _touch(out[-1][0], group[0])
        ):
            out[-1].append(group[0])
        elif (
            out
            and len(out[-1]) == 1
            and _is_lone(text, out[-1][0])
            and _attracts(text, group[0])
            and _touch(out[-1][0], group[0])
        ):
            out[-1] += group
        else:
            out.append(group)
    yield from map(tuple, out)


def _touch(left: Word, right: Word) -> bool:
    return left.end == right.start


def _attracts(text: str, word: Word) -> bool:
    """A Han word of two or more characters takes a lone character beside it along."""
    return word.end - word.start > 1 and _is_han(text, word)


def _is_lone(text: str, word: Word) -> bool:
    return _is_single(text, word) and not word.is_soft


def _is_han(text: str, word: Word) -> bool:
    return not text[word.start].isascii()


def _is_single(text: str, word: Word) -> bool:
    return word.end - word.start == 1 and _is_han(text, word)
