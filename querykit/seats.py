"""A fixed number of source places: one for every query, the rest by strength, index pages last."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import log
from typing import NamedTuple

from querykit.lexicon import Lexicon
from querykit.plan import Query

# What the source's site shows with an answer.
DEFAULT_SEATS = 6


class Hit(NamedTuple):
    """A document that a query found: its name and title, the engine's score, the terms it holds (by key)."""

    doc: str
    title: str = ""
    score: float = 0.0
    matched: tuple[str, ...] = ()


class Result(NamedTuple):
    """A query and what it found, best first."""

    query: Query
    hits: tuple[Hit, ...]


class Seat(NamedTuple):
    """A source: the document, the query that seated it, and why it sits where it does."""

    doc: str
    title: str
    query: str
    why: str
    matched: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def is_index_page(name: str, lexicon: Lexicon) -> bool:
    """Does the file name say that the page is an index?

    The name alone decides, by the patterns of the lexicon: the part behind the last slash, without its suffix.

    >>> [is_index_page(n, zh) for n in ("栏目索引.md", "api/API_INDEX.md", "dws块级插入_index语义陷阱.md")]
    [True, True, False]
    """
    stem = name.rpartition("/")[2]
    for suffix in (".md", ".markdown", ".mdx"):
        stem = stem.removesuffix(suffix)
    return any(fnmatchcase(stem, pattern) for pattern in lexicon.index_pages)


def allocate(
    results: Sequence[Result],
    seats: int = DEFAULT_SEATS,
    *,
    is_index: Callable[[str], bool] = lambda _doc: False,
    index_first: bool = False,
) -> tuple[Seat, ...]:
    """Share *seats* among *results*, strongest query first.

    Every query gets one place, with the best note that nobody has taken; the rest go greedily by strength.
    Index pages only fill what notes leave free, unless the reader asked for them (*index_first*).

    >>> def found(text, *docs): return Result(Query(text, ()), tuple(Hit(d) for d in docs))
    >>> got = allocate([found("Suno", "a", "b", "c", "d"), found("音乐", "x")], seats=3)
    >>> [(s.doc, s.query) for s in got]
    [('a', 'Suno'), ('x', '音乐'), ('b', 'Suno')]
    """
    taken: set[str] = set()
    order: list[Seat] = []
    for index_round in (True, False) if index_first else (False, True):
        wanted = [Result(q, tuple(h for h in hits if is_index(h.doc) is index_round)) for q, hits in results]
        order += _deal(wanted, taken, index_round)
    return tuple(order[: max(seats, 0)])


def _deal(results: Sequence[Result], taken: set[str], index_round: bool) -> Iterator[Seat]:
    kind = "index page, " if index_round else ""
    for query, hits in results:
        for rank, hit in enumerate(hits, 1):
            if hit.doc not in taken:
                taken.add(hit.doc)
                yield _seat(query, hit, f"{kind}place {rank} of “{_short(query.text)}”, its own seat")
                break
    for query, hits in results:
        for rank, hit in enumerate(hits, 1):
            if hit.doc not in taken:
                taken.add(hit.doc)
                yield _seat(query, hit, f"{kind}place {rank} of “{_short(query.text)}”")


def _short(text: str, most: int = 30) -> str:
    """The beginning of *text*: a pasted paragraph does not repeat itself in every reason."""
    return text if len(text) <= most else text[:most].rstrip() + "…"


def _seat(query: Query, hit: Hit, why: str) -> Seat:
    held = set(hit.matched)
    return Seat(
        hit.doc,
        hit.title,
        query.text,
        why,
        tuple(p.key for p in query.parts if p.key in held),
        tuple(p.key for p in query.parts if p.key not in held),
    )


# Of questions to their own corpus 5 % are covered less than this, of questions to another one 55 %
# (python -m benchmarks.evidence).
WEAK_BELOW = 0.5


class Coverage(NamedTuple):
    """How much of the question the sources cover: the share (0 … 1), and the terms found and missing."""

    share: float
    matched: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_weak(self) -> bool:
        """Do the sources hold so little of the question that the base most likely has nothing on it?"""
        return self.share < WEAK_BELOW


def cover(
    terms: Iterable[tuple[str, float]], seats: Collection[Seat], df: Mapping[str, int], n_docs: int
) -> Coverage:
    """Return how much of the *terms* (key, weight) the *seats* hold, each weighed by how telling it is.

    A term tells as much as its inverse document frequency says; one that no document holds tells the most.
    A low share is a sign that the base has no evidence, whatever the sources look like.

    >>> seat = Seat("a", "", "画画", "", matched=("画画",))
    >>> found = cover([("画画", 1), ("区块链", 1)], [seat], {"画画": 40, "区块链": 0}, 100)
    >>> round(found.share, 2), found.matched, found.missing
    (0.19, ('画画',), ('区块链',))
    """
    held = {key for seat in seats for key in seat.matched}
    weights = {key: weight * log(1 + n_docs / max(df.get(key, 0), 0.5)) for key, weight in terms}
    total = sum(weights.values())
    matched = tuple(key for key in weights if key in held)
    share = sum(weights[key] for key in matched) / total if total else 0.0
    return Coverage(share, matched, tuple(key for key in weights if key not in held))
