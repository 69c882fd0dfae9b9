"""The notes in memory: for tests, notebooks, and services that hold their notes anyway.

`Index` is also what the SQLite engine is made of: it counts, finds and ranks over postings, wherever the
rows come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from querykit.engines.postings import Layout, Row, Units, build, places
from querykit.plan import Part, Query
from querykit.seats import Hit
from querykit.segment import cut
from querykit.suggest import look_alikes
from querykit.text import fold

# BM25. k1, b and the two constants of the head were chosen on the dev questions of nine corpora
# (python -m benchmarks.weights, benchmarks/README.md). Every one lies on a plateau: b = .5 is better for three of
# the small bases and worse for spiderweb and the articles of law, b = .8 costs howtocook .07.
K1 = 1.4
B = 0.7

# A word in the head (title, path) counts as many words of the body as HEAD_FACTOR * (body / head) ** HEAD_POWER,
# of the mean lengths: 3 … 25 in bases of notes, whose heads are 1 to 4 % of the body, and 1 among articles of law,
# where the head is a quarter and says the same for every article. A fixed 5 costs those .02 recall.
HEAD_FACTOR = 0.4
HEAD_POWER = 0.75

Floats = NDArray[np.float64]


class Document(NamedTuple):
    """A note: its path below the notes folder, its title, its text."""

    path: str
    title: str
    text: str


class Counts(NamedTuple):
    """How often a term stands in each document that holds it: in the head (title, path), in the body."""

    docs: NDArray[np.int64]
    head: NDArray[np.int64]
    body: NDArray[np.int64]


_HAN = regex.compile(r"\p{Han}+|[^\p{Han}\s]+")
_NOTHING = np.zeros(0, dtype=np.int64)


class Index:
    """Counts, finds and ranks over a layout and postings rows; thread-safe as far as *row_of* is."""

    ranks_terms = True

    def __init__(
        self,
        name: str,
        names: Sequence[tuple[str, str]],
        layout: Layout,
        row_of: Callable[[int], Row | None],
        number: Callable[[str], int | None],
    ) -> None:
        self.name = name
        self._names = names
        self._layout = layout
        self._row_of = row_of
        self._number = number
        self._units = Units({})
        self._lengths = np.diff(layout.starts).astype(np.float64)
        self._norm = (
            1 - B + B * self._lengths / max(self._lengths.mean(), 1.0) if len(names) else self._lengths
        )
        self._head_weight = self._weigh_head() if len(names) else 1.0
        self._cache: dict[str, Counts] = {}
        self._lock = Lock()

    def _weigh_head(self) -> float:
        heads = float((self._layout.title_ends - self._layout.starts[:-1]).mean())
        weight: float = HEAD_FACTOR * max(float(self._lengths.mean()) / heads - 1, 1.0) ** HEAD_POWER
        return weight

    @property
    def n_docs(self) -> int:
        return len(self._names)

    def counts(self, key: str) -> Counts:
        """Where *key* stands as it is."""
        with self._lock:
            if key not in self._cache:
                if len(self._cache) > 4096:
                    self._cache.clear()
                self._cache[key] = self._count(key)
            return self._cache[key]

    def _count(self, key: str) -> Counts:
        units = self._units.find(key, self._number)
        found = places(units, self._row_of) if units else _NOTHING
        if not len(found):
            return Counts(_NOTHING, _NOTHING, _NOTHING)
        docs = np.searchsorted(self._layout.starts, found, side="right") - 1
        in_head = found < self._layout.title_ends[docs]
        firsts = np.flatnonzero(np.diff(docs, prepend=-1))
        head = np.add.reduceat(in_head.astype(np.int64), firsts)
        total = np.diff(np.append(firsts, len(docs)))
        return Counts(docs[firsts], head, total - head)

    def phrase_df(self, keys: Iterable[str]) -> dict[str, int]:
        """Documents that hold each term as it stands, in title, path or text."""
        return {key: len(self.counts(key).docs) for key in keys}

    def df(self, keys: Iterable[str]) -> dict[str, int]:
        """Documents that hold every word of each term, wherever they stand."""
        return {key: len(self._with_all(key)) for key in keys}

    def _with_all(self, key: str) -> NDArray[np.int64]:
        words = [
            w for piece in _HAN.findall(fold(key)) for w in (cut(piece) if piece[0] > "\u2e7f" else [piece])
        ]
        if len(words) < 2:
            return self.counts(key).docs
        docs = self.counts(words[0]).docs
        for word in words[1:]:
            docs = np.intersect1d(docs, self.counts(word).docs, assume_unique=True)
        return docs

    def search(self, query: Query, limit: int) -> tuple[Hit, ...]:
        """The best documents by BM25 over the parts of *query*; a part's names count as one term."""
        parts = query.parts or tuple(Part(w, (w,)) for w in _HAN.findall(fold(query.text)))
        scores = np.zeros(self.n_docs)
        held: dict[str, NDArray[np.int64]] = {}
        for part in parts:
            docs, score = self._score(part)
            scores[docs] += score
            held[part.key] = docs
        best = self._best(scores, limit)
        where = {key: set(docs.tolist()) for key, docs in held.items()} if best else {}
        return tuple(
            Hit(*self._names[d], float(scores[d]), tuple(k for k, docs in where.items() if d in docs))
            for d in best
        )

    def _score(self, part: Part) -> tuple[NDArray[np.int64], Floats]:
        counts = [c for name in part.names if len((c := self.counts(name)).docs)]
        if not counts:
            return _NOTHING, np.zeros(0)
        if len(counts) == 1:
            docs, tf = counts[0].docs, self._head_weight * counts[0].head + counts[0].body
        else:
            every = np.zeros(self.n_docs)
            for c in counts:
                every[c.docs] += self._head_weight * c.head + c.body
            docs = np.flatnonzero(every)
            tf = every[docs]
        df = len(docs)
        idf = math.log(1 + (self.n_docs - df + 0.5) / (df + 0.5))
        return docs, part.weight * idf * tf * (K1 + 1) / (tf + K1 * self._norm[docs])

    @staticmethod
    def _best(scores: Floats, limit: int) -> list[int]:
        """The documents of the highest scores above 0, ties in the order of the corpus."""
        found = np.flatnonzero(scores)
        if len(found) > limit:
            line = np.partition(scores[found], -limit)[-limit]
            found = found[scores[found] >= line]
        best: list[int] = found[np.argsort(-scores[found], kind="stable")][:limit].tolist()
        return best

    def in_titles(self, names: Iterable[str], limit: int) -> tuple[Hit, ...]:
        """The documents whose title or path holds one of *names*, those that hold more of them first."""
        scores = np.zeros(self.n_docs)
        for name in names:
            counts = self.counts(fold(name))
            scores[counts.docs[counts.head > 0]] += 1
        return tuple(Hit(*self._names[d], float(scores[d])) for d in self._best(scores, limit))


class MemoryEngine(Index):
    """An index over *documents*, built in memory.

    >>> engine = MemoryEngine([Document("a.md", "蒸馒头", "面要发到两倍大"), Document("b.md", "煮面", "水开下面")])
    >>> engine.phrase_df(["面", "发面"]), engine.df(["面两倍"])
    ({'面': 2, '发面': 0}, {'面两倍': 1})
    """

    def __init__(self, documents: Iterable[Document], name: str = "memory") -> None:
        documents = list(documents)
        units = Units()
        layout, rows = build(((head_of(d), d.text) for d in documents), units)
        kept = dict(rows)
        self._words = units.words
        super().__init__(name, [(d.path, d.title) for d in documents], layout, kept.get, units.words.get)

    def vocabulary(self, like: str) -> dict[str, int]:
        """Latin words that look like *like*, with their document frequencies."""
        return self.phrase_df(look_alikes(like, [w for w in self._words if abs(len(w) - len(like)) <= 2]))


def head_of(document: Document) -> str:
    """What counts as the head of a document: its title, and its path where that says more.

    >>> head_of(Document("工具/剪映入门.md", "剪映入门", "")), head_of(Document("工具/a.md", "剪映入门", ""))
    ('剪映入门\\n工具', '剪映入门\\n工具\\na')
    """
    folders, _, file = document.path.rpartition("/")
    stem = file.rpartition(".")[0] or file
    parts = [document.title, *folders.split("/"), "" if fold(stem) == fold(document.title) else stem]
    return "\n".join(part for part in parts if part)
