"""How much of a text is concrete: its words with their weights, and whether a track leads it.

The dictionary cuts, the lists of `MirrorRules` weigh; what is on no list is concrete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

from querykit.lexicon import Lexicon, Role
from querykit.mirror_rules import MirrorRules, Weigh
from querykit.reading import ALWAYS, bits
from querykit.segment import cut
from querykit.text import Span


class Word(NamedTuple):
    """A word, a blank or a mark of the text, and what it contributes."""

    start: int
    end: int
    text: str  # folded, lower case
    weight: float
    weigh: Weigh | None = None  # the list it is on
    is_track: bool = False
    is_break: bool = False  # a blank or a mark
    is_marker: bool = False  # makes the track before it a track: 赛道, 类


_PIECE = regex.compile(
    r"""
    (?P<han> [\p{Han}〇]+ )  # to the dictionary
  | (?P<number> \d+ (?: [.:/]\d+ )* %? )  # 3:20 and 3.5% say how much, not what
  | (?P<latin> [\p{L}\p{M}\p{N}--\p{Han}]+ )
  | (?P<space> \s+ )
  | (?P<mark> . )
    """,
    regex.VERBOSE | regex.DOTALL | regex.V1,
)

# Function words, by the lists that section A strips.
_FUNCTION = (ALWAYS & ~Role.SMALLTALK.bit) | bits(Role.TRAILING, Role.ENGLISH, Role.LOCATIVE)


def read(text: str, rules: MirrorRules, lexicon: Lexicon) -> list[Word]:
    """The words of a folded *text* with their weights.

    The dictionary cuts, and a listed phrase takes whole words, with two exceptions (`_takes`).

        >>> from querykit.mirror_rules import load_mirror
        >>> [(w.text, w.weight) for w in read("被当众嘲笑的厨师", load_mirror(), zh)]
        [('被', 0.0), ('当众', 0.0), ('嘲笑', 0.5), ('的', 0.0), ('厨师', 1.0)]
    """
    text = lower(text)
    cuts, breaks = _cuts(text)
    words: list[Word] = []
    longest = rules.longest
    at = 0
    while at < len(text):
        end = cuts[at]
        for match_end in _phrase_ends(text, at, rules) if longest.get(text[at], 0) > 1 else ():
            whole = match_end in cuts or match_end == len(text)
            if _takes(text[at:match_end], end - at, whole, rules, rest=text[match_end:end]):
                end = match_end
                break
        if end not in cuts and end < len(text):
            _cut_again(cuts, text, end)
        words.append(_weigh(text, at, end, breaks, rules, lexicon))
        at = end
    return _with_endings(words, rules)


def _takes(listed: str, length: int, whole: bool, rules: MirrorRules, rest: str) -> bool:
    """Does a listed phrase take its place from a dictionary word of *length*, of which it leaves *rest*?

    Inside a word only an abstract phrase ends that began in the word before (反|转让), and a track before its
    marker (搞笑|类; 历史系 is a place), or a counted one that the dictionary glues to what it is part of (剧情片|场).
    """
    if whole:
        return len(listed) >= length
    if (track := rules.tracks.get(listed)) is not None:
        return track.cards is not None or rules.markers.get(rest, False)
    return len(listed) >= length and rules.words.get(listed) is Weigh.ABSTRACT


def lower(text: str) -> str:
    """*text* in lower case, character for character, so that spans stay those of *text*."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _cuts(text: str) -> tuple[dict[int, int], set[int]]:
    """Where each word ends, by its start; and the starts of blanks and marks."""
    cuts: dict[int, int] = {}
    breaks: set[int] = set()
    for match in _PIECE.finditer(text):
        start, end = match.span()
        if match.lastgroup == "han":
            for word in cut(match.group()):
                cuts[start] = start + len(word)
                start += len(word)
        else:
            cuts[start] = end
            if match.lastgroup in ("space", "mark"):
                breaks.add(start)
    return cuts, breaks


def _cut_again(cuts: dict[int, int], text: str, at: int) -> None:
    """A phrase ended inside a word: what is left of the word is cut by itself."""
    end = next(cuts[start] for start in range(at, -1, -1) if start in cuts)
    for word in cut(text[at:end]):
        cuts[at] = at + len(word)
        at += len(word)


def _phrase_ends(text: str, at: int, rules: MirrorRules) -> Iterator[int]:
    """Where listed phrases that start at *at* end, the longest first."""
    words, tracks = rules.words, rules.tracks
    for end in range(min(at + rules.longest.get(text[at], 0), len(text)), at + 1, -1):
        phrase = text[at:end]
        if phrase in words or phrase in tracks:
            yield end


def _weigh(text: str, at: int, end: int, breaks: set[int], rules: MirrorRules, lexicon: Lexicon) -> Word:
    word = text[at:end]
    if at in breaks:
        return Word(at, end, word, 0.0, is_break=True)
    weigh = rules.words.get(word)
    track = rules.tracks.get(word)
    if track is not None:
        # An everyday word that is a track as well (生活, 情感) is one only beside a marker.
        is_track = not track.everyday or _has_marker(text, end, rules)
        if is_track:
            return Word(at, end, word, 0.5, is_track=True)
    if word in rules.markers:
        return Word(at, end, word, 0.0, weigh or Weigh.VAGUE, is_marker=True)
    if weigh is not None:
        return Word(at, end, word, _LISTED.get(weigh, 0.0), weigh)
    if lexicon.bits.get(word, 0) & _FUNCTION or word[0].isdigit():
        return Word(at, end, word, 0.0, Weigh.VAGUE)
    if len(word) <= 2 and word[0] in rules.numerals:
        return Word(at, end, word, 0.0, Weigh.VAGUE)
    # A single character carries little, even twice (慢慢); four are an idiom (深藏不露) more often than a thing.
    half = len(set(word)) == 1 or (len(word) == 4 and not word.isascii())
    return Word(at, end, word, 0.5 if half else 1.0)


_LISTED = {Weigh.WEAK: 0.5, Weigh.CONCRETE: 1.0}


def _has_marker(text: str, at: int, rules: MirrorRules) -> bool:
    at += len(text[at:]) - len(text[at:].lstrip())
    return any(text.startswith(marker, at) for marker in rules.markers)


def _with_endings(words: list[Word], rules: MirrorRules) -> list[Word]:
    """Qualities as one abstract word each: 代入|感, 感染力."""
    out: list[Word] = []
    for word in words:
        before = out[-1] if out else None
        if word.text in rules.endings and before and not before.is_break and before.text[-1] > "\u2fff":
            joined = before.text + word.text
            if joined not in rules.not_ended and before.weigh is not Weigh.ASKING and not before.is_track:
                out[-1] = Word(before.start, word.end, joined, 0.0, Weigh.ABSTRACT)
                continue
        elif (
            word.weigh is None
            and not word.is_track
            and len(word.text) > 2
            and word.text.endswith(rules.endings)
            and word.text not in rules.not_ended
        ):
            word = word._replace(weight=0.0, weigh=Weigh.ABSTRACT)
        out.append(word)
    return out


def mass(words: Sequence[Word]) -> float:
    """How much of *words* is concrete; the same word twice counts once."""
    return sum({word.text: word.weight for word in words}.values())


def leading_track(words: Sequence[Word], rules: MirrorRules) -> Span | None:
    """The track that is the first content, if it stands as a track there."""
    for i, word in enumerate(words):
        if word.is_track:
            return _standing(words, i, rules)
        if word.weight:
            return None
    return None


def _standing(words: Sequence[Word], i: int, rules: MirrorRules) -> Span | None:
    """Does the track at *i* stand by itself (亲子 反差, 亲子赛道, 剧情类)? A place or person takes it in."""
    end, after = words[i].end, list(words[i + 1 :])
    while after and after[0].is_track and not after[0].is_break:
        end = after.pop(0).end
    span = Span(words[i].start, end)
    if not after or after[0].is_break:
        return span
    if after[0].is_marker:
        marker = after.pop(0)
        span = Span(span.start, marker.end)
        if rules.markers[marker.text] or not after or after[0].is_break:
            return span
    if after[0].text == rules.frame.of:
        after = after[1:]
        return span if not after or after[0].is_break or not after[0].weight else None
    return span if after[0].weigh in (Weigh.ABSTRACT, Weigh.ASKING) else None


def whole_track(words: Sequence[Word]) -> Span | None:
    """From the first to the last track when there is nothing concrete besides tracks."""
    tracks = [word for word in words if word.is_track]
    if not tracks or any(word.weight and not word.is_track for word in words):
        return None
    return Span(tracks[0].start, tracks[-1].end)
