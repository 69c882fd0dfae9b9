"""Where the line between specific and common terms could lie in a corpus, and how sure that is.

The line at 0.40 came from one reader who looked at one corpus: sorted by hit rate, its terms leave a gap
between 38 and 43 %. This module looks for such gaps, says how wide one is against its neighbours and how it
moves when other notes had been written, and recommends a line in words. It moves no line: `CorpusStats`
carries the one that a person chose (``querykit index --line``).

Three methods held up on nine corpora; 2-means, Otsu's threshold and the density valley cut content words and
are only in notebooks/02_the_gap.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite
from typing import Literal, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from querykit.lexicon import Lexicon, Role
from querykit.segment import cut
from querykit.strip import strip
from querykit.terms import Level, terms
from querykit.text import fold, normalize
from querykit.tiers import DEFAULT_LINE, MIN_DOCS, StatsError

Method = Literal["window", "three-means", "fixed"]
METHODS: tuple[Method, ...] = ("window", "three-means", "fixed")

# Where a gap is looked for, in hit rates: its middle must lie in here. In .10 … .90 the widest distance is the
# sparse top in six of nine corpora. Resampled corpora of spiderweb and aikb keep it in place in 62 and 54 %
# with .30 … .50 and in 86 and 92 % with .35 … .45, where a line put blindly would lie in it in 58 and 82 %
# (benchmarks/gap.md, "Windows").
WINDOW = (0.35, 0.45)

# A gap is measured against this many distances on each side. Distances grow with the rate, so that a mean
# over all of them would call any high distance a gap.
NEIGHBOURS = 4

# With fewer neighbouring distances than this nobody can say what is wide here; with fewer terms above, a line
# would part a handful of words from the rest and be a list of words by another name.
MIN_NEIGHBOURS = 4
MIN_ABOVE = 3

# A distance that chance alone makes as wide as this in one list of ten or more is no gap.
CHANCE_LIMIT = 0.10

# A gap that fewer than half of the resampled corpora show in the same place is one of this sample, not of
# the corpus.
SAME_LIMIT = 0.5

# Two methods agree when their lines are this close: what each moves by itself when documents are resampled.
AGREE = 0.05


class GapError(StatsError):
    """Rates that are none, or settings that make no sense."""


class Stability(NamedTuple):
    """How the line moves over resampled corpora.

    *model* says what was resampled: "documents" draws whole notes with replacement, so that terms which stand
    in the same notes move together; "binomial" knows only counts and moves each term by itself, which shows
    gaps as less stable than they are. *low* and *high* hold 90 % of the lines; *same* is the share (0 … 1) of
    resamples whose line lies in the interval of the gap. A fixed line never moves: there *same* is the share
    of resamples that leave the terms on both sides of it where they are.
    """

    model: Literal["documents", "binomial"]
    resamples: int
    low: float
    high: float
    same: float

    def __str__(self) -> str:
        where = f"there in {self.same:.0%} of {self.resamples} resampled corpora ({self.model})"
        return f"{where}, line {self.low:.1%} … {self.high:.1%}"


@dataclass(frozen=True, slots=True)
class Gap:
    """A place for the line: the rates on both sides, the line between them, and what speaks for it.

    *low* and *high* are the nearest rates at or below and above the *line*, *below* and *above* the terms
    that have them (empty where the input had no names). *neighbours* is the mean distance beside the gap,
    None when there are too few. *chance* is the probability that the widest of as many distances would be as
    wide as this one if rates fell at random with the neighbours' density. *trouble* says why it is no gap,
    and is "" when it is one.
    """

    method: Method
    line: float
    low: float
    high: float
    n_terms: int
    n_above: int
    below: str = ""
    above: str = ""
    neighbours: float | None = None
    chance: float | None = None
    trouble: str = ""
    stability: Stability | None = None

    @property
    def width(self) -> float:
        """The distance between the two rates."""
        return self.high - self.low

    @property
    def is_gap(self) -> bool:
        """Is there a gap here? A fixed line or a cut of 3-means may well lie in none."""
        return not self.trouble

    def __str__(self) -> str:
        found = "gap" if self.is_gap else "no gap here"
        names = f" ({self.below} … {self.above})" if self.below and self.above else ""
        text = f"{self.method}: {found}, {self.low:.1%} … {self.high:.1%}{names}, line {self.line:.1%}"
        if self.neighbours:
            text += f"; {self.width / self.neighbours:.1f} × its neighbours"
        if self.chance is not None:
            text += f", by chance {self.chance:.0%}"
        if self.stability is not None and self.method == "fixed":
            beside = f"{self.stability.same:.0%} of {self.stability.resamples}"
            text += f"; the terms beside it keep their sides in {beside} resampled corpora"
            text += f" ({self.stability.model})"
        elif self.stability is not None:
            text += f"; {self.stability}"
        return f"{text}; {self.trouble}" if self.trouble else text


Rates = Mapping[str, float] | Iterable[float]
Floats = NDArray[np.float64]


def find_gap(
    rates: Rates,
    method: Method = "window",
    *,
    window: tuple[float, float] = WINDOW,
    line: float = DEFAULT_LINE,
    n_docs: int | None = None,
    holders: Mapping[str, NDArray[np.integer]] | None = None,
    resamples: int = 200,
    seed: int = 0,
) -> Gap:
    """Return where *method* puts the line among *rates* (term → rate, or bare rates), and what speaks for it.

    "window" takes the widest distance whose middle lies in *window*, "three-means" the upper cut of 3-means,
    "fixed" the *line* given. That there is no gap is an answer: `Gap.trouble` says why, and the line is then
    a place to draw, not one to use. Absent terms (rate 0) are left out: no line concerns them.

    >>> seen = {"AI": 1.0, "prompt": 1.0, "用的": .90, "音乐生成": .43, "工作流": .38, "Skill": .31,
    ...         "角色一致性": .18, "Suno": .12, "sref": .12}
    >>> gap = find_gap(seen, "fixed")
    >>> gap.below, gap.above, gap.line, gap.n_above
    ('工作流', '音乐生成', 0.4, 4)
    >>> find_gap([.1, .1, .1]).trouble
    'all rates are equal'

    With *n_docs* the stability comes from a binomial model of the counts, with *holders* as well (term →
    numbers of the documents that hold it) from resampling documents; both are seeded.

    Raises `GapError` for rates outside 0 … 1, a window that is none, or holders that lack a term.
    """
    named = _named(rates)
    _check(named, method, window, line)
    gap = _find(named, method, window, line)
    if n_docs is None or not named:
        return gap
    return _with_stability(gap, named, window, n_docs, holders, resamples, seed)


def _named(rates: Rates) -> dict[str, float]:
    """Rates by name; bare rates get blank names of growing length, which never show."""
    if isinstance(rates, Mapping):
        return {str(key): float(rate) for key, rate in rates.items()}
    return {" " * i: float(rate) for i, rate in enumerate(rates)}


def _check(named: Mapping[str, float], method: Method, window: tuple[float, float], line: float) -> None:
    for key, rate in named.items():
        if not (isfinite(rate) and 0 <= rate <= 1):
            raise GapError(f"the rate of {key.strip()!r} is {rate!r}: a hit rate is a number from 0 to 1")
    if method not in METHODS:
        raise GapError(f"method {method!r}: one of {', '.join(METHODS)}")
    if not 0 <= window[0] < window[1] <= 1:
        raise GapError(f"window {window!r}: two hit rates from 0 to 1, the lower first, such as (0.35, 0.45)")
    if not 0 < line <= 1:
        raise GapError(f"line {line!r}: a hit rate above 0 and at most 1, such as 0.40")


def _find(named: Mapping[str, float], method: Method, window: tuple[float, float], line: float) -> Gap:
    values = np.array(sorted(rate for rate in named.values() if rate > 0))
    distinct = np.unique(values)
    found = _place(values, distinct, method, window, line)
    place = line if found is None else found
    under, over = distinct[distinct <= place], distinct[distinct > place]
    low, high = float(under[-1]) if len(under) else 0.0, float(over[0]) if len(over) else 1.0
    beside = _beside(distinct, len(under))
    neighbours = float(beside.mean()) if len(beside) >= MIN_NEIGHBOURS else None
    tried = len(_inside(distinct, window)) if method == "window" else 1
    chance = 1 - (1 - exp(-(high - low) / neighbours)) ** tried if neighbours and found is not None else None
    above = int((values > place).sum())
    names = _name_at(named, low), _name_at(named, high)
    gap = Gap(method, place, low, high, len(values), above, *names, neighbours, chance)
    return replace(gap, trouble=_trouble(gap, distinct, found, window))


def _place(
    values: Floats, distinct: Floats, method: Method, window: tuple[float, float], line: float
) -> float | None:
    """Where *method* puts the line, or None when it finds no place."""
    if method == "fixed":
        return line
    if method == "three-means":
        return kmeans_cut(values)
    inside = _inside(distinct, window)
    if not len(inside):
        return None
    at = inside[np.argmax(np.diff(distinct)[inside])]
    return _middle(float(distinct[at]), float(distinct[at + 1]))


def kmeans_cut(values: Sequence[float] | Floats, clusters: int = 3) -> float | None:
    """The cut between the two uppermost of *clusters* clusters of *values*, or None with too few of them.

    The centres start evenly between the least and the greatest value, so that neither chance nor the order
    of the values has a say.

    >>> kmeans_cut([.01, .02, .03, .20, .22, .25, .70, .75, .80])
    0.475
    """
    points = np.sort(np.asarray(values, dtype=np.float64))
    # Documents are counted in whole numbers: rates this close are one, and k-means cannot part them.
    distinct = np.unique(points.round(12))
    if len(distinct) < clusters:
        return None
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    start = np.linspace(distinct[0], distinct[-1], clusters).reshape(-1, 1)
    with threadpool_limits(1):  # with two threads that wait for each other it takes 250 times as long
        fitted = KMeans(clusters, init=start, n_init=1, tol=0).fit(points.reshape(-1, 1))
    top = fitted.labels_ == int(np.argmax(fitted.cluster_centers_.ravel()))
    if top.all() or not top.any():
        return None
    return _middle(float(points[~top].max()), float(points[top].min()))


def _inside(distinct: Floats, window: tuple[float, float]) -> NDArray[np.intp]:
    """The distances, by their lower end, whose middle lies in *window*."""
    middles = (distinct[:-1] + distinct[1:]) / 2
    return np.flatnonzero((middles >= window[0]) & (middles <= window[1]))


def _middle(low: float, high: float) -> float:
    """A number from *low* on and strictly below *high*, in the middle where floats have one."""
    middle = (low + high) / 2
    return middle if middle < high else low


def _beside(distinct: Floats, at: int) -> Floats:
    """Up to `NEIGHBOURS` distances on each side of the one that ends at place *at* of the rates."""
    widths = np.diff(distinct)
    under, over = widths[: max(at - 1, 0)], widths[at:]
    return np.concatenate([under[-NEIGHBOURS:], over[:NEIGHBOURS]])


def _name_at(named: Mapping[str, float], rate: float) -> str:
    """The first name, in the order of names, whose rate is *rate*."""
    return min((key for key, value in named.items() if value == rate), default="").strip()


def _trouble(gap: Gap, distinct: Floats, found: float | None, window: tuple[float, float]) -> str:
    """Why this is no gap, or "" when it is one."""
    if not len(distinct):
        return "no term stands in the corpus"
    if len(distinct) == 1:
        return "all rates are equal" if gap.n_terms > 1 else "there is one rate only"
    if found is None:
        return (
            "three means need three different rates"
            if gap.method == "three-means"
            else f"no two neighbouring rates meet between {window[0]:.0%} and {window[1]:.0%}"
        )
    if not gap.n_above:
        return "no term above: a line here parts nothing"
    if gap.n_above < MIN_ABOVE:
        return f"{gap.n_above} term{'s' if gap.n_above > 1 else ''} above: the sparse top, not a gap"
    if gap.neighbours is None:
        return "too few rates beside it to tell what is wide"
    if gap.chance is not None and gap.chance > CHANCE_LIMIT:
        return "no wider than chance makes one of these distances"
    return ""


# ---------------------------------------------------------------- stability


def _with_stability(
    gap: Gap,
    named: Mapping[str, float],
    window: tuple[float, float],
    n_docs: int,
    holders: Mapping[str, NDArray[np.integer]] | None,
    resamples: int,
    seed: int,
) -> Gap:
    if n_docs < 1 or resamples < 1:
        raise GapError(f"{n_docs!r} documents, {resamples!r} resamples: both must be 1 or more")
    keys = sorted(key for key, rate in named.items() if rate > 0)
    if holders is not None and (lacking := [key for key in keys if key not in holders]):
        raise GapError(f"holders lack {len(lacking)} terms such as {lacking[0]!r}: count all terms")
    # Where a method finds no place, there is nothing that could stay there.
    if not np.isfinite(_line_of(np.array([named[key] for key in keys]), gap, window)) or not keys:
        return gap
    rng = np.random.default_rng(seed)
    if holders is None:
        model: Literal["documents", "binomial"] = "binomial"
        rates = np.array([named[key] for key in keys])
        draws = rng.binomial(n_docs, rates, size=(resamples, len(keys))) / n_docs
    else:
        model = "documents"
        draws = _draw_documents([holders[key] for key in keys], n_docs, resamples, rng)
    lines = np.array([_line_of(row, gap, window) for row in draws])
    found = lines[np.isfinite(lines)]
    if gap.method == "fixed":
        same = _kept_apart(draws, np.array([named[key] for key in keys]), gap)
    else:
        same = float(((lines >= gap.low) & (lines < gap.high)).mean())
    low, high = np.quantile(found, [0.05, 0.95]) if len(found) else (gap.line, gap.line)
    steady = replace(gap, stability=Stability(model, resamples, float(low), float(high), same))
    if steady.is_gap and same < SAME_LIMIT:
        return replace(steady, trouble="it moves away when other documents are drawn")
    return steady


def _kept_apart(draws: Floats, rates: Floats, gap: Gap) -> float:
    """The share of *draws* in which the nearest terms below and above a fixed line stay on their sides."""
    under, over = draws[:, rates == gap.low], draws[:, rates == gap.high]
    return float(((under <= gap.line).all(axis=1) & (over > gap.line).all(axis=1)).mean())


def _draw_documents(
    holders: Sequence[NDArray[np.integer]], n_docs: int, resamples: int, rng: np.random.Generator
) -> Floats:
    """Rates in *resamples* corpora of *n_docs* documents drawn with replacement, a row each."""
    every = np.concatenate(holders)
    starts = np.cumsum([0, *(len(docs) for docs in holders[:-1])])
    draws = np.empty((resamples, len(holders)))
    for row in draws:
        times = np.bincount(rng.integers(n_docs, size=n_docs), minlength=n_docs)
        row[:] = np.add.reduceat(times[every], starts) / n_docs
    return draws


def _line_of(rates: Floats, gap: Gap, window: tuple[float, float]) -> float:
    values = np.sort(rates[rates > 0])
    place = _place(values, np.unique(values), gap.method, window, gap.line)
    return float("nan") if place is None else place


# ---------------------------------------------------------------- a recommendation


class Measured(NamedTuple):
    """What a line did to recall on judged questions, against the default line: the mean difference and its
    95 % interval (benchmarks/line_sweep.py makes these)."""

    line: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A line for a person to choose, and the reasons in words."""

    line: float
    reasons: tuple[str, ...]

    @property
    def moves(self) -> bool:
        """Is it another line than the default?"""
        return self.line != DEFAULT_LINE


def choose_line(
    gaps: Sequence[Gap],
    *,
    n_docs: int,
    measured: Sequence[Measured] = (),
    ranks_terms: bool = False,
) -> Recommendation:
    """Return the line that the evidence speaks for, with its reasons; nothing is applied.

    Measured recall overrules gaps: a line is worth moving when its gain over the default stays above zero in
    its interval. Without measurements a gap counts that is one, that resampling keeps, and that 3-means
    confirms. In all other cases the default stays.

    >>> seen = {str(i): i / 200 for i in range(1, 76)} | {str(i): .45 + i / 100 for i in range(9)}
    >>> gaps = [find_gap(seen, "window", n_docs=4000), find_gap(seen, "three-means", n_docs=4000)]
    >>> chosen = choose_line(gaps, n_docs=4000)
    >>> round(chosen.line, 3), chosen.reasons[-1]
    (0.4, 'the gap holds the default line: keep 40 %')
    >>> choose_line(gaps, n_docs=6).reasons[0]
    'with 6 documents a rate says nothing: terms are not tiered below 10'
    """
    if n_docs < MIN_DOCS:
        few = f"with {n_docs} documents a rate says nothing: terms are not tiered below {MIN_DOCS}"
        return Recommendation(DEFAULT_LINE, (few,))
    reasons: list[str] = []
    if ranks_terms:
        reasons.append(
            "this engine ranks terms, so that the combined query takes the seats: the line labels and orders "
            "terms, and can change sources only with --mode terms"
        )
    if measured:
        line, said = _from_measured(measured)
        return Recommendation(line, (*reasons, *said))
    line, told = _from_gaps(gaps)
    return Recommendation(line, (*reasons, *told))


def _from_measured(measured: Sequence[Measured]) -> tuple[float, list[str]]:
    best = max(measured, key=lambda m: (m.gain, -abs(m.line - DEFAULT_LINE)))
    said = f"{best.line:.0%} did best on the judged questions: recall {best.gain:+.3f} against the default"
    said += f" ({best.low:+.3f} … {best.high:+.3f})"
    if best.low > 0:
        return best.line, [said, f"the interval lies above zero: choose {best.line:.0%}"]
    return DEFAULT_LINE, [said, f"the interval holds zero: keep {DEFAULT_LINE * 100:.0f} %"]


def _from_gaps(gaps: Sequence[Gap]) -> tuple[float, list[str]]:
    said = [str(gap) for gap in gaps]
    keep = f"keep {DEFAULT_LINE * 100:.0f} %"
    found = [g for g in gaps if g.method == "window" and g.is_gap]
    if not found:
        return DEFAULT_LINE, [*said, f"no gap that a line could lie in: {keep}"]
    gap = found[0]
    if gap.low <= DEFAULT_LINE < gap.high:
        return DEFAULT_LINE, [*said, f"the gap holds the default line: {keep}"]
    if gap.stability is None:
        return DEFAULT_LINE, [*said, f"nobody has looked whether the gap is stable: {keep}"]
    others = [g for g in gaps if g.method == "three-means"]
    if not any(abs(g.line - gap.line) <= AGREE for g in others):
        return DEFAULT_LINE, [*said, f"3-means cuts elsewhere, the methods disagree: {keep}"]
    line = round(gap.line, 2) if gap.low <= round(gap.line, 2) < gap.high else gap.line
    chosen = f"a stable gap, and 3-means cuts within {AGREE:.2f} of it: choose {line * 100:.0f} %"
    return line, [*said, chosen]


# ---------------------------------------------------------------- whose rates


def question_terms(questions: Iterable[str], lexicon: Lexicon) -> tuple[str, ...]:
    """The terms of *questions* after stripping: chunks and words, each once, in the order of the questions.

    >>> question_terms(["库里有没有讲 Suno 音乐生成的笔记", "Suno 怎么用"], zh)
    ('Suno', '音乐生成', '音乐', '生成')
    """
    found: dict[str, str] = {}
    for question in questions:
        for term in terms(strip(normalize(question), lexicon)):
            if term.level in (Level.CHUNK, Level.WORD):
                found.setdefault(term.key, term.text)
    return tuple(found.values())


# Words with these roles are about asking, not about the notes.
_CONTENT = {Role.SOFT, Role.KEEP, Role.SHIELD, Role.TOOL, Role.MIXED, Role.BROWSE, Role.ITEM, Role.PLACE}
_ASKING = frozenset(Role) - _CONTENT

_RUN = regex.compile(r"\p{Han}+|[\p{Latin}][\p{Latin}\d.+#-]*[\p{Latin}\d+#]")

# Some hundred terms show the shape of a corpus; a thousand rare words of titles only lengthen the bottom.
MOST_TERMS = 400


def corpus_terms(titles: Iterable[str], lexicon: Lexicon, limit: int = MOST_TERMS) -> tuple[str, ...]:
    """The *limit* words that stand in most of *titles*: what readers are likely to ask about.

    Words of one character, numbers, and words of asking are none.

    >>> corpus_terms(["Suno 片头配乐", "Suno 怎么写歌词", "Kling 的运镜"], zh, limit=3)
    ('suno', 'kling', '歌词')
    """
    count: dict[str, int] = {}
    for title in titles:
        for word in dict.fromkeys(_title_words(fold(title))):
            if not lexicon.roles(word) & _ASKING:
                count[word] = count.get(word, 0) + 1
    return tuple(sorted(count, key=lambda word: (-count[word], word))[:limit])


def _title_words(folded: str) -> Iterator[str]:
    for run in _RUN.findall(folded):
        for word in cut(run) if run[0] >= "\u2e80" else [run]:
            if len(word) > 1:
                yield word
