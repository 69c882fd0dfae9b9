"""What the line does to recall, and where the methods of `querykit.gap` would put it, on judged questions.

    python -m benchmarks.line_sweep CORPUS_DIR …             the line from .05 to 1, and the loss of the default
    python -m benchmarks.line_sweep CORPUS_DIR … --methods   each method's interval, line, width and stability
    python -m benchmarks.line_sweep CORPUS_DIR … --windows   how stable the widest distance is, window by window
        --limit 600     the first questions of each corpus
        --plot FILE     the sweep of the first corpus, as svg, png or html

Places as in `benchmarks.recall`. What is done with common terms (those above the line):

* by rate     shipped: they go behind, and within a tier the rarer term goes first;
* as asked    the source's rule: they go behind, specific terms keep the order of the question;
* dropped     they are not searched unless all are common;
* combined    shipped for engines that rank: one query, where the line only decides the weight of names;
* combined, dropped.

At 1.0 no term is common: "as asked" at 1.0 is nothing done at all. Bands are 95 %, over resampled questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.recall import Corpus, Docs, interval, load_corpora, search, seat
from benchmarks.recall6 import recall_at_6
from querykit.gap import METHODS, find_gap, kmeans_cut, question_terms
from querykit.lexicon import Lexicon, load_lexicon
from querykit.plan import Query, QueryPlan, plan
from querykit.run import answer, rewrite
from querykit.strip import Basis, Stripped, strip
from querykit.suggest import Suggestion
from querykit.terms import Term, terms
from querykit.text import fold, normalize
from querykit.tiers import DEFAULT_LINE, CorpusStats, RatedTerm, Tier, tier

LINES = tuple(round(0.05 * step, 2) for step in range(1, 21))
WINDOWS = ((0.35, 0.45), (0.30, 0.50), (0.20, 0.60), (0.10, 0.90))
Floats = NDArray[np.float64]


class Counted(NamedTuple):
    """A question as far as no line is needed: stripped, cut and counted."""

    question: str
    rest: Stripped
    terms: tuple[Term, ...]
    stats: CorpusStats
    suggestions: tuple[Suggestion, ...]


def count(question: str, corpus: Corpus, lexicon: Lexicon) -> Counted:
    """What querykit knows of *question* before it draws a line."""
    rest = strip(normalize(question), lexicon)
    found = terms(rest)
    keys = list(dict.fromkeys(term.key for term in found))
    stats = CorpusStats(corpus.engine.n_docs, corpus.engine.df(keys), corpus.engine.phrase_df(keys))
    return Counted(question, rest, found, stats, rewrite(question, lexicon, corpus.engine)[2].suggestions)


def by_rate(planned: QueryPlan, _rated: Sequence[RatedTerm]) -> tuple[Query, ...]:
    return planned.queries


def as_asked(planned: QueryPlan, _rated: Sequence[RatedTerm]) -> tuple[Query, ...]:
    typed = (planned.last_resort or "").find

    def place(query: Query) -> tuple[int, int, int]:
        return query.tier.rank, (query.df or 0) if query.tier is Tier.COMMON else 0, typed(query.text)

    return tuple(sorted(planned.queries, key=place))


def dropped(planned: QueryPlan, _rated: Sequence[RatedTerm]) -> tuple[Query, ...]:
    return tuple(q for q in planned.queries if q.tier is not Tier.COMMON) or planned.queries


def combined(planned: QueryPlan, _rated: Sequence[RatedTerm]) -> tuple[Query, ...]:
    return (planned.combined,) if planned.combined else planned.queries


def combined_dropped(planned: QueryPlan, rated: Sequence[RatedTerm]) -> tuple[Query, ...]:
    if planned.combined is None:
        return planned.queries
    common = {r.term.key for r in rated if r.tier is Tier.COMMON}
    kept = tuple(part for part in planned.combined.parts if part.key not in common)
    return (planned.combined._replace(parts=kept or planned.combined.parts),)


Treatment = Callable[[QueryPlan, Sequence[RatedTerm]], tuple[Query, ...]]
TREATMENTS: Mapping[str, Treatment] = {
    "by rate": by_rate,
    "as asked": as_asked,
    "dropped": dropped,
    "combined": combined,
    "combined, dropped": combined_dropped,
}


def sweep(
    corpus: Corpus, lexicon: Lexicon, treatments: Mapping[str, Treatment] = TREATMENTS
) -> dict[str, Floats]:
    """recall@6 by treatment: a row for each of `LINES`, a column for each question."""
    recall = {name: np.empty((len(LINES), len(corpus.questions))) for name in treatments}
    for column, row in enumerate(corpus.questions):
        counted = count(row["question"], corpus, lexicon)
        found: dict[tuple[Query, ...], Docs] = {}
        for place, line in enumerate(LINES):
            rated = tier(counted.terms, counted.stats.with_line(line, "sweep"))
            planned = plan(counted.rest, rated, lexicon, suggestions=counted.suggestions)
            for name, treatment in treatments.items():
                queries = treatment(planned, rated)
                # The tier is part of the name of a query, not of what it finds.
                key = tuple(q._replace(tier=Tier.UNRATED, why="") for q in queries)
                if key not in found:
                    found[key] = sources(counted, queries, rated, corpus, lexicon)
                recall[name][place, column] = recall_at_6(found[key], row)
    return recall


def sources(
    counted: Counted,
    queries: Sequence[Query],
    rated: Sequence[RatedTerm],
    corpus: Corpus,
    lexicon: Lexicon,
) -> Docs:
    """The six that *queries* bring; whoever asks for the index gets it, whatever the line."""
    if counted.rest.basis is Basis.BROWSE:
        return [s.doc for s in answer(counted.question, corpus.engine, lexicon).seats]
    return seat(search(queries, corpus.engine, counted.rest, lexicon), rated, lexicon)


def best_line(recall: Floats) -> int:
    """The place of the best line in hindsight; of equal ones the one nearest the default."""
    means = recall.mean(axis=1).round(9)
    best = np.flatnonzero(means == means.max())
    return int(min(best, key=lambda place: abs(LINES[place] - DEFAULT_LINE)))


# ---------------------------------------------------------------- methods


class Rates(NamedTuple):
    """Rates of terms in a corpus, each with the documents that hold it."""

    of: str
    rates: dict[str, float]
    holders: dict[str, NDArray[np.int64]]


def rates_of(corpus: Corpus, lexicon: Lexicon) -> Rates:
    """The terms of the judged questions; those of titles say nothing of what readers ask."""
    texts = question_terms([row["question"] for row in corpus.questions], lexicon)
    holders = {t: docs for t in texts if len(docs := corpus.engine.counts(fold(t)).docs)}
    return Rates(corpus.name, {t: len(d) / corpus.engine.n_docs for t, d in holders.items()}, holders)


def two_means(values: Floats) -> float | None:
    return kmeans_cut(values, clusters=2)


def otsu(values: Floats) -> float | None:
    """Otsu's threshold: the split that leaves the least variance within, which is a stump of a regression tree."""
    from sklearn.tree import DecisionTreeRegressor

    column = values.reshape(-1, 1)
    return float(DecisionTreeRegressor(max_depth=1).fit(column, values).tree_.threshold[0])


def density_valley(values: Floats) -> float | None:
    """The lowest place between the two highest peaks of a kernel density, or None with one peak."""
    from scipy.signal import find_peaks  # type: ignore[import-untyped]
    from scipy.stats import gaussian_kde  # type: ignore[import-untyped]

    grid = np.linspace(0, 1, 501)
    density = gaussian_kde(values)(grid)
    peaks, _ = find_peaks(np.concatenate([[0], density, [0]]))
    if len(peaks) < 2:
        return None
    first, last = sorted(peaks[np.argsort(density[peaks - 1])[-2:]] - 1)
    return float(grid[first + np.argmin(density[first : last + 1])])


FAILED: Mapping[str, Callable[[Floats], float | None]] = {
    "2-means": two_means,
    "Otsu": otsu,
    "density valley": density_valley,
}


def method_rows(rates: Rates, n_docs: int) -> Iterator[str]:
    """A row for each method, those that held up first."""
    for method in METHODS:
        gap = find_gap(rates.rates, method, n_docs=n_docs, holders=rates.holders)
        times = f"{gap.width / gap.neighbours:.1f}" if gap.neighbours else ""
        chance = "" if gap.chance is None else f"{gap.chance:.0%}"
        moved = gap.stability
        steady = f"{moved.same:.0%} | {moved.low:.2f} … {moved.high:.2f}" if moved else " | "
        yield (
            f"| {rates.of} | {gap.n_terms} | {method} | {gap.low:.1%} … {gap.high:.1%} | {gap.line:.3f} "
            f"| {gap.n_above} | {times} | {chance} | {steady} | {gap.trouble or 'a gap'} |"
        )
    values = np.array(sorted(rates.rates.values()))
    for name, cut in FAILED.items():
        line = cut(values)
        said = "no valley" if line is None else f"cuts {(values > line).sum()} of {len(values)} terms"
        at = "" if line is None else f"{line:.3f}"
        above = "" if line is None else str((values > line).sum())
        yield f"| {rates.of} | {len(values)} | {name} |  | {at} | {above} |  |  |  |  | {said} |"


def window_cell(rates: Rates, n_docs: int, window: tuple[float, float]) -> str:
    """The widest distance in *window*, how often it stays, and how often a line put there blindly would lie in it."""
    gap = find_gap(rates.rates, "window", window=window, n_docs=n_docs, holders=rates.holders)
    if gap.stability is None or gap.trouble.startswith(("no two", "no term")):
        return gap.trouble
    blindly = (min(gap.high, window[1]) - max(gap.low, window[0])) / (window[1] - window[0])
    return f"{gap.low:.0%} … {gap.high:.0%}: {gap.stability.same:.0%} ({blindly:.0%}){'' if gap.is_gap else ' †'}"


# ---------------------------------------------------------------- tables


def show_sweep(corpora: Iterator[Corpus], lexicon: Lexicon, picture: Path | None) -> None:
    """A table of the sweep for each corpus, then the loss of the default against the best line in hindsight."""
    losses = [f"| corpus | {' | '.join(TREATMENTS)} |\n|---|{'---|' * len(TREATMENTS)}"]
    for corpus in corpora:
        recall = sweep(corpus, lexicon)
        print(f"\n### {corpus.name} ({len(corpus.questions)} questions)\n")
        print("| line | " + " | ".join(recall) + " |\n|---|" + "---|" * len(recall))
        print(*sweep_rows(recall), sep="\n", flush=True)
        losses.append(f"| {corpus.name} | {' | '.join(map(loss, recall.values()))} |")
        if picture is not None:
            draw(picture, corpus.name, recall)
            picture = None
    print("\n### The default against the best fixed line in hindsight\n")
    print("\n".join(losses))


def sweep_rows(recall: Mapping[str, Floats]) -> Iterator[str]:
    """A row for each stretch of lines that make no difference to any question."""
    start = 0
    for stop in range(1, len(LINES) + 1):
        if stop < len(LINES) and all(np.array_equal(v[start], v[stop]) for v in recall.values()):
            continue
        lines = dict.fromkeys(f"{line:.2f}" for line in (LINES[start], LINES[stop - 1]))
        yield f"| {' … '.join(lines)} | {' | '.join(str(interval(v[start])) for v in recall.values())} |"
        start = stop


def loss(recall: Floats) -> str:
    """What the default line loses against the best, with its interval, and where the best lies."""
    at, best = LINES.index(DEFAULT_LINE), best_line(recall)
    return "0" if best == at else f"{interval(recall[best] - recall[at])} at {LINES[best]:.2f}"


NOTHING = {"a query per term": "as asked", "one combined query": "combined"}
PANELS = {
    "a query per term": ("by rate", "as asked", "dropped"),
    "one combined query": ("combined", "combined, dropped"),
}


def gains(recall: Mapping[str, Floats], panel: str) -> dict[str, Floats]:
    """recall@6 of each treatment of *panel* less that of doing nothing, question by question.

    Nothing is one query per term in the order of the question, or the combined query without a line.
    """
    nothing = recall[NOTHING[panel]][-1]
    return {name: recall[name] - nothing for name in PANELS[panel]}


def draw(path: Path, corpus: str, recall: Mapping[str, Floats]) -> None:
    """What the line gains over doing nothing in one corpus, with bands over the same questions."""
    from querykit.plots import Point, draw_bands, new_panels, save

    figure, panels = new_panels(len(PANELS), 12, 4.5)
    for axes, panel in zip(panels, PANELS, strict=True):
        curves = {
            name: [Point(line, *interval(row)) for line, row in zip(LINES, values, strict=True)]
            for name, values in gains(recall, panel).items()
        }
        axes.axhline(0, color="black", lw=0.8)
        draw_bands(axes, curves, xlabel="line", ylabel="recall@6 against doing nothing", mark=DEFAULT_LINE)
        axes.set_title(f"{corpus}: {panel}", fontsize=10, loc="left")
    save(figure, path, title=f"line sweep: {corpus}")


METHOD_HEAD = """\
| corpus | terms | method | interval | line | above | × neighbours | by chance | stays | 90 % of lines | |
|---|---|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--methods", action="store_true")
    parser.add_argument("--windows", action="store_true")
    parser.add_argument("--plot", type=Path)
    options: Any = parser.parse_args()
    lexicon = load_lexicon()
    corpora = iter(load_corpora(options.places, options.limit))
    if options.methods:
        print(METHOD_HEAD)
        for corpus in corpora:
            print(*method_rows(rates_of(corpus, lexicon), corpus.engine.n_docs), sep="\n", flush=True)
    elif options.windows:
        print("| corpus | " + " | ".join(f"{a:.2f} … {b:.2f}" for a, b in WINDOWS) + " |")
        print("|---|" + "---|" * len(WINDOWS))
        for corpus in corpora:
            rates = rates_of(corpus, lexicon)
            cells = (window_cell(rates, corpus.engine.n_docs, window) for window in WINDOWS)
            print(f"| {corpus.name} | {' | '.join(cells)} |", flush=True)
    else:
        show_sweep(corpora, lexicon, options.plot)


if __name__ == "__main__":
    main()
