"""What to do about words that the notes do not use: other names, other spellings, proposals.

Nothing is replaced: a suggestion is searched beside the typed term, and says why it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import regex

from querykit.lexicon import Lexicon
from querykit.segment import is_word
from querykit.terms import Term


class Suggestion(NamedTuple):
    """Another way to say *key*: *name*, because it is an alias or a spelling that *df* documents hold."""

    key: str
    name: str
    reason: str
    df: int | None = None


def aliases(key: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Other names of *key* from the alias groups, folded.

    >>> aliases("mj", zh)
    ('midjourney',)
    """
    return lexicon.synonyms.get(key, ())


# An edit to a name of three letters makes another name (RAG, RPG); from eight letters on two edits still leave
# the name recognisable. Both are the limits Lucene and Elasticsearch use under "AUTO" fuzziness, one letter up.
_ONE_EDIT_FROM, _TWO_EDITS_FROM = 4, 8

# A misspelling may stand in the notes as well; a spelling worth proposing stands in at least this many.
_MIN_SPELLING_DF = 2


def nearest_latin(key: str, vocabulary: Mapping[str, int]) -> Suggestion | None:
    """The word of *vocabulary* (word → documents) that the Latin word *key* most likely means.

    >>> nearest_latin("midjorney", {"midjourney": 60, "journey": 3})
    Suggestion(key='midjorney', name='midjourney', reason='spelling', df=60)
    >>> nearest_latin("rag", {"rage": 3}) is None
    True
    """
    if len(key) < _ONE_EDIT_FROM or not key.isalpha():
        return None
    from rapidfuzz.distance import OSA

    limit = 2 if len(key) >= _TWO_EDITS_FROM else 1
    best: tuple[int, int, str] | None = None
    for word, df in vocabulary.items():
        if df >= _MIN_SPELLING_DF and abs(len(word) - len(key)) <= limit and word != key:
            distance = OSA.distance(key, word, score_cutoff=limit)
            if distance <= limit and (best is None or (distance, -df, word) < best):
                best = (distance, -df, word)
    return None if best is None else Suggestion(key, best[2], "spelling", -best[1])


def look_alikes(like: str, words: Sequence[str], most: int = 20) -> list[str]:
    """The *words* within two edits of *like*, nearest first: what an engine's `vocabulary` has to count.

    >>> look_alikes("sunno", ["suno", "sono", "seedance"])
    ['suno', 'sono']
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    near = process.extract(like, words, scorer=OSA.distance, score_cutoff=2, limit=most)
    return [word for word, _, _ in near]


_HAN = regex.compile(r"\p{Han}+")


def homophones(key: str) -> tuple[str, ...]:
    """Spellings of the Han term *key* with one character of the same sound in its place, tones aside.

    A term that the dictionary knows is no misspelling; of two characters, only words of the dictionary come back.

    >>> "提示词" in homophones("提示次"), homophones("雅思")
    (True, ())
    """
    if not 2 <= len(key) <= 6 or is_word(key) or not _HAN.fullmatch(key):
        return ()
    found = [key[:i] + other + key[i + 1 :] for i, char in enumerate(key) for other in same_sound(char)]
    return tuple(f for f in found if len(key) > 2 or is_word(f))


def same_sound(char: str) -> tuple[str, ...]:
    """The everyday characters that sound like *char*, tones aside."""
    by_char, by_sound = load_sounds()
    return tuple(dict.fromkeys(c for sound in by_char.get(char, ()) for c in by_sound[sound] if c != char))


@cache
def load_sounds() -> tuple[dict[str, tuple[str, ...]], dict[str, list[str]]]:
    """The sounds of each character of GB 2312, and the characters of each sound (pypinyin)."""
    from pypinyin import Style, pinyin

    by_char: dict[str, tuple[str, ...]] = {}
    by_sound: dict[str, list[str]] = {}
    for row in range(0xB0, 0xF8):
        for column in range(0xA1, 0xFF):
            try:
                char = bytes((row, column)).decode("gb2312")
            except UnicodeDecodeError:
                continue
            by_char[char] = tuple(pinyin(char, style=Style.NORMAL, heteronym=True)[0])
            for sound in by_char[char]:
                by_sound.setdefault(sound, []).append(char)
    return by_char, by_sound


def nearest_han(key: str, df: Mapping[str, int]) -> Suggestion | None:
    """The spelling among `homophones` that most documents hold, given their *df*."""
    candidates = [(n, name) for name in homophones(key) if (n := df.get(name, 0)) >= _MIN_SPELLING_DF]
    if not candidates:
        return None
    n, name = max(candidates)
    return Suggestion(key, name, "spelling", n)


def questionable(terms: Iterable[Term], df: Mapping[str, int]) -> tuple[Term, ...]:
    """The terms whose spelling may be worth a look: those no document holds."""
    return tuple(term for term in terms if df.get(term.key) == 0)
