"""Where every term of the notes stands: one positional index that counts, finds and ranks.

The notes are one long row of *units*: a Han character is a unit, and so is a mark; a word of Latin letters
and digits is one unit (``ai`` is not found inside ``mail``); blanks are none. A word ends where letters
meet digits, so that Seedance 2.5 and Seedance2.5 are the same three units. For each unit the index keeps
where it stands, sorted by the unit that follows. So the places of any run of units, a word, a chunk, a
name of three words, come from intersecting a few sorted arrays: counts of a term are counts of the term as
it stands, whatever a segmenter thinks of it, and no segmenter has to agree with itself twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from querykit.text import fold

Ints = NDArray[np.int32]

# Units of Latin words are numbered from here, above every character.
FIRST_WORD = 0x110000
_NEWLINE = 10


class Row(NamedTuple):
    """The postings of one unit: the units that follow it, ascending, where each one's places end in *places*,
    and the places themselves, ascending for each follower."""

    followers: Ints
    ends: Ints
    places: Ints


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each document begins (*starts*, one more than documents), its title ends, and how long it is."""

    starts: Ints
    title_ends: Ints


# From here on every character is a unit of its own.
_NO_LETTERS = "\u2000"


def _class_table() -> NDArray[np.int8]:
    """1 for letters of scripts that are written with blanks, 2 for digits, 0 for units of one character."""
    table = np.zeros(FIRST_WORD, dtype=np.int8)
    for start, stop in ((0x41, 0x5B), (0x61, 0x7B), (0xC0, 0x250), (0x370, 0x600), (0x1E00, 0x2000)):
        table[start:stop] = 1
    table[[0xD7, 0xF7]] = 0
    table[0x30:0x3A] = 2
    return table


class Units:
    """Turns folded text into units, numbering words as they come."""

    def __init__(self, words: dict[str, int] | None = None) -> None:
        self.words = {} if words is None else words
        self._class = _class_table()

    def read(self, text: str) -> Ints:
        """The units of *text*; a word seen for the first time gets the next number."""
        return self._units(fold(text), lambda word: self.words.setdefault(word, FIRST_WORD + len(self.words)))

    def find(self, text: str, number: Callable[[str], int | None]) -> list[int] | None:
        """The units of a term, or None when it has a word that *number* does not know."""
        folded = fold(text).strip()
        if folded and min(folded) >= _NO_LETTERS:
            return [*map(ord, folded)]
        numbers: list[int | None] = []

        def known(word: str) -> int:
            numbers.append(number(word))
            return numbers[-1] or 0

        units = self._units(folded, known)
        return None if None in numbers else [int(u) for u in units]

    def _units(self, folded: str, number: Callable[[str], int]) -> Ints:
        codes = np.frombuffer(folded.encode("utf-32-le"), dtype=np.uint32).astype(np.int32)
        if not len(codes):
            return codes
        kinds = np.zeros(len(codes) + 2, dtype=np.int8)
        kinds[1:-1] = kind = self._class[codes]
        bounds = np.flatnonzero(kinds[1:] != kinds[:-1])
        starts, stops = bounds[:-1], bounds[1:]
        words = kind[starts] > 0
        starts, stops = starts[words], stops[words]
        keep = (codes != 32) & (kind == 0)
        if len(starts):
            codes[starts] = [
                number(folded[a:b]) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
            ]
            keep[starts] = True
        kept: NDArray[np.int32] = codes[keep]
        return kept


def build(documents: Iterable[tuple[str, str]], units: Units) -> tuple[Layout, Iterable[tuple[int, Row]]]:
    """The layout and the rows of *documents*, each a title and a text."""
    parts: list[Ints] = []
    starts, title_ends, at = [0], [], 0
    stop = np.array([_NEWLINE], dtype=np.int32)
    for title, text in documents:
        head, body = units.read(title), units.read(text)
        parts += [head, stop, body, stop]
        title_ends.append(at + len(head) + 1)
        at += len(head) + len(body) + 2
        starts.append(at)
    row = np.concatenate([*parts, stop]) if parts else stop
    layout = Layout(np.array(starts, dtype=np.int32), np.array(title_ends, dtype=np.int32))
    return layout, _rows(row)


def _rows(row: Ints) -> Iterable[tuple[int, Row]]:
    pair = row[:-1].astype(np.int64) << 24 | row[1:]
    order = np.argsort(pair, kind="stable").astype(np.int32)
    pair = pair[order]
    ends = np.flatnonzero(np.diff(pair, append=-1)).astype(np.int32) + 1
    pair = pair[ends - 1]
    units, followers = pair >> 24, (pair & 0xFFFFFF).astype(np.int32)
    bounds = np.flatnonzero(np.diff(units, prepend=-1, append=-1)).tolist()
    begin = 0
    for a, b in zip(bounds[:-1], bounds[1:], strict=True):
        end = int(ends[b - 1])
        yield int(units[a]), Row(followers[a:b], ends[a:b] - np.int32(begin), order[begin:end])
        begin = end


_NONE = np.zeros(0, dtype=np.int32)


def places(units: Sequence[int], row_of: Callable[[int], Row | None]) -> Ints:
    """Where the run of *units* begins, ascending."""
    if not units:
        return _NONE
    if len(units) == 1:
        row = row_of(units[0])
        return _NONE if row is None else np.sort(row.places)
    pairs = []
    for i in range(len(units) - 1):
        found = _pair(units[i], units[i + 1], row_of)
        if not len(found):
            return _NONE
        pairs.append((len(found), i, found))
    pairs.sort(key=lambda pair: pair[0])
    covered = {pairs[0][1], pairs[0][1] + 1}
    result = pairs[0][2] - pairs[0][1]
    for _, i, found in pairs[1:]:
        if not {i, i + 1} <= covered:
            at = np.searchsorted(found, result + i)
            at[at == len(found)] = 0
            result = result[found[at] == result + i]
            covered |= {i, i + 1}
    return result


def _pair(first: int, second: int, row_of: Callable[[int], Row | None]) -> Ints:
    row = row_of(first)
    if row is None:
        return _NONE
    at = int(np.searchsorted(row.followers, second))
    if at == len(row.followers) or row.followers[at] != second:
        return _NONE
    return row.places[(row.ends[at - 1] if at else 0) : row.ends[at]]
