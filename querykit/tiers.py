"""Document frequencies to hit rates to tiers: which terms tell documents apart.

A term's hit rate (命中率) is the share of the documents it hits. It measures how well the term tells
documents apart; its length does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from querykit.lexicon import QuerykitError
from querykit.terms import Term

# Above this hit rate a term is common. In the base of 442 notes it was measured on, 0.40 lies in a gap: 38.1 %
# (工作流, a real topic) … 42.7 % (音乐生成, a chance combination). Other corpora have their gaps elsewhere.
DEFAULT_LINE = 0.40

# With fewer documents a rate says nothing: one document more or less moves it by ten points.
MIN_DOCS = 10

# A term that many documents hold in pieces and hardly any as it stands is a chance combination. Measured on the
# same notes: 里讲工作流 and 音乐生成 stand in 0 of their 38 hits, 角色一致性 in 48 of 78, 工作流 in 105 of 165;
# every ratio between .01 and .5 parts the two kinds.
CHANCE_RATIO = 0.05


class StatsError(QuerykitError, ValueError):
    """Statistics that do not fit together or make no sense."""


class Tier(Enum):
    """How much a term tells, in the order in which terms are searched."""

    SPECIFIC = "specific"
    UNRATED = "unrated"
    SOFT = "soft"
    COMMON = "common"
    CHANCE = "chance"
    ABSENT = "absent"

    rank: int

    def __init__(self, _value: str) -> None:
        self.rank = len(type(self).__members__)


class CorpusStats:
    """What one engine counted in one corpus; a value, not to be changed.

    *df* has, by key, the documents the engine finds for a term; *phrase_df* those that hold it as it stands.
    A term with df 0 is absent from the corpus; a term missing from *df* was not asked. *line* is the hit rate
    above which a term is common and *line_from* who chose it; *source* says who counted.
    """

    __slots__ = ("df", "line", "line_from", "n_docs", "phrase_df", "source")

    def __init__(
        self,
        n_docs: int,
        df: Mapping[str, int] | None = None,
        phrase_df: Mapping[str, int] | None = None,
        line: float = DEFAULT_LINE,
        source: str = "",
        line_from: str = "default",
    ) -> None:
        self.n_docs = n_docs
        self.df: Mapping[str, int] = {} if df is None else df
        self.phrase_df: Mapping[str, int] = {} if phrase_df is None else phrase_df
        self.line = line
        self.source = source
        self.line_from = line_from
        self._check()

    def _check(self) -> None:
        if self.n_docs < 0:
            raise StatsError(f"n_docs is {self.n_docs!r}: count the documents, 0 or more")
        if not 0 < self.line <= 1:
            raise StatsError(f"line is {self.line!r}: a hit rate above 0 and at most 1, such as 0.40")
        for counts in (self.df, self.phrase_df):
            for key, count in counts.items():
                if not 0 <= count <= self.n_docs:
                    raise StatsError(f"{key!r} is in {count!r} of {self.n_docs} documents: count again")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CorpusStats) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"CorpusStats({', '.join(f'{key}={value!r}' for key, value in self.to_dict().items())})"

    def with_line(self, line: float, line_from: str) -> CorpusStats:
        """The same counts under a *line* that somebody (*line_from*) chose."""
        return CorpusStats(self.n_docs, self.df, self.phrase_df, line, self.source, line_from)

    def rate(self, key: str) -> float | None:
        """The hit rate of *key*, or None when it was not asked or there are no documents.

        >>> CorpusStats(442, {"suno": 53}).rate("suno")
        0.11990950226244344
        """
        return self.df[key] / self.n_docs if key in self.df and self.n_docs else None

    def __add__(self, other: CorpusStats) -> CorpusStats:
        """The counts of two parts of a corpus, counted by one engine under one line.

        Terms that only one part was asked for are dropped: half a count is none.

        >>> a, b = CorpusStats(10, {"茶": 3}, source="x"), CorpusStats(20, {"茶": 2}, source="x")
        >>> (a + b).df, (a + b).n_docs
        ({'茶': 5}, 30)
        """
        if not isinstance(other, CorpusStats):
            return NotImplemented
        if (self.source, self.line) != (other.source, other.line):
            raise StatsError(
                f"counted by {self.source!r} at {self.line} and by {other.source!r} at {other.line}: "
                "add only counts of one engine under one line"
            )
        return CorpusStats(
            self.n_docs + other.n_docs,
            _sum(self.df, other.df),
            _sum(self.phrase_df, other.phrase_df),
            self.line,
            self.source,
            self.line_from if self.line_from == other.line_from else "merged",
        )

    def to_dict(self) -> dict[str, Any]:
        """A value for JSON; `from_dict` is the way back."""
        return {
            "n_docs": self.n_docs,
            "df": dict(self.df),
            "phrase_df": dict(self.phrase_df),
            "line": self.line,
            "source": self.source,
            "line_from": self.line_from,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> CorpusStats:
        """The statistics that `to_dict` wrote."""
        try:
            return cls(**value)
        except TypeError as error:
            raise StatsError(f"not statistics of querykit ({error}): write them with to_dict") from None


def _sum(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {key: a[key] + b[key] for key in a if key in b}


class RatedTerm(NamedTuple):
    """A term with its tier, its counts and its hit rate (None where nobody counted)."""

    term: Term
    tier: Tier
    df: int | None = None
    phrase_df: int | None = None
    rate: float | None = None


def tier(terms: Iterable[Term], stats: CorpusStats | None = None) -> tuple[RatedTerm, ...]:
    """Return *terms* rated, the most telling tier first; nothing is dropped.

    Strictly above the line is common, and common terms ascend by df. Within the other tiers the order of the
    question stays. Soft words and chance combinations go behind; absent terms never lead.

    >>> from querykit.strip import strip
    >>> from querykit.terms import terms
    >>> from querykit.text import normalize
    >>> ask = terms(strip(normalize("库里有没有讲 Suno 音乐生成的笔记"), zh))
    >>> stats = CorpusStats(442, {"suno": 53, "音乐生成": 189, "音乐": 300, "生成": 310})
    >>> [(r.term.text, r.tier.value) for r in tier(ask, stats)]
    [('Suno', 'specific'), ('音乐生成', 'common'), ('音乐', 'common'), ('生成', 'common')]

    Fewer than ten documents are not tiered, nor is a term that was not asked:

    >>> [(r.term.text, r.tier.value) for r in tier(ask[:1], CorpusStats(9, {"suno": 9}))]
    [('Suno', 'unrated')]
    """
    if stats is None:
        unrated = [RatedTerm(term, Tier.SOFT if term.is_soft else Tier.UNRATED) for term in terms]
        return tuple(sorted(unrated, key=lambda r: r.tier.rank))
    rated = [_rate(term, stats) for term in terms]
    return tuple(sorted(rated, key=lambda r: (r.tier.rank, (r.df or 0) if r.tier is Tier.COMMON else 0)))


def _rate(term: Term, stats: CorpusStats) -> RatedTerm:
    df = stats.df.get(term.key)
    if df is None:
        return RatedTerm(term, Tier.SOFT if term.is_soft else Tier.UNRATED)
    phrase_df = stats.phrase_df.get(term.key)
    rate = stats.rate(term.key)
    found = RatedTerm(term, Tier.UNRATED, df, phrase_df, rate)
    if df == 0:
        return RatedTerm(term, Tier.ABSENT, df, phrase_df, rate)
    if phrase_df is not None and phrase_df < CHANCE_RATIO * df:
        return RatedTerm(term, Tier.CHANCE, df, phrase_df, rate)
    if term.is_soft:
        return RatedTerm(term, Tier.SOFT, df, phrase_df, rate)
    if stats.n_docs < MIN_DOCS or rate is None:
        return found
    return RatedTerm(term, Tier.COMMON if rate > stats.line else Tier.SPECIFIC, df, phrase_df, rate)
