"""Do the six sources answer the question? querykit beside baselines, on any corpus with judged questions.

    python -m benchmarks.recall CORPUS_DIR …            folders with notes.jsonl.gz and questions.jsonl
    python -m benchmarks.recall NOTES QUESTIONS.jsonl   a folder of .md or a .jsonl file, and its questions
        --ablations     leave out one step at a time
        --limit 600     the first questions of each corpus
        --plot FILE     gains over the whole sentence, as svg, png or html

A question is a line of JSON: {"question", "relevant": [paths], "many": true when six of many will do}.
recall@6 is the one of `benchmarks.recall6`; hit@1, nDCG@6 and "none relevant" come from ir-measures. Intervals
are 95 %, over resampled questions; p is a paired test (random signs) against the whole sentence, of ablations
against what they leave a step out of. All systems search the same index.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.recall6 import load_questions, recall_at_6
from querykit.building import index_in_memory
from querykit.engines.memory import MemoryEngine
from querykit.lexicon import Lexicon, Role, load_lexicon
from querykit.plan import Part, Query, QueryPlan, plan, sentence_query
from querykit.run import answer, rewrite
from querykit.seats import Result, allocate, is_index_page
from querykit.strip import Basis, Stripped, strip, unstripped
from querykit.terms import Level, terms
from querykit.text import fold, normalize
from querykit.tiers import DEFAULT_LINE, CorpusStats, RatedTerm, tier

SEATS = 6
DEPTH = SEATS * 8
BASELINE = "whole sentence"
Docs = list[str]
System = Callable[[str], Docs]
Floats = NDArray[np.float64]


class Corpus(NamedTuple):
    """Notes in an index, and judged questions about them."""

    name: str
    engine: MemoryEngine
    questions: list[dict[str, Any]]


def load_corpus(notes: Path, questions: Path, name: str, limit: int = 0) -> Corpus:
    """The notes indexed, and the questions that have a relevant note."""
    return Corpus(name, index_in_memory(notes), load_questions(questions)[: limit or None])


def load_corpora(places: Sequence[Path], limit: int = 0) -> Iterable[Corpus]:
    """Corpora from folders with both files, or from a place of notes followed by a file of questions."""
    rest = list(places)
    while rest:
        place = rest.pop(0)
        if (place / "questions.jsonl").is_file():
            yield load_corpus(place / "notes.jsonl.gz", place / "questions.jsonl", place.name, limit)
        elif rest:
            yield load_corpus(place, rest.pop(0), place.name.partition(".")[0], limit)
        else:
            raise SystemExit(f"{place}: no questions.jsonl in it, and no file of questions behind it")


# ---------------------------------------------------------------- systems


def systems(engine: MemoryEngine, lexicon: Lexicon) -> dict[str, System]:
    """querykit and what one would do without it."""
    return {
        BASELINE: lambda q: _docs(answer(q, engine, lexicon, mode="sentence").seats),
        "stop words out": lambda q: _bag(engine, without_stop_words(q)),
        "jieba TF-IDF": lambda q: _bag(engine, tf_idf_words(q)),
        "querykit": lambda q: _docs(answer(q, engine, lexicon).seats),
        "querykit, a query per term": lambda q: _docs(answer(q, engine, lexicon, mode="terms").seats),
    }


PER_TERM = "per term"


def ablations(engine: MemoryEngine, lexicon: Lexicon) -> dict[str, System]:
    """querykit with one step left out; "per term" asks one query per term, the rest the combined query.

    Tiers come in three parts: without counts nothing is known of any term; without a line none is common, and
    the rarer goes first; in the order of the question counts only take chance combinations apart.
    """
    bare = lexicon.extend(replace={"places": [], "items": [], "tails": []})
    nameless = lexicon.extend(replace={"aliases": []})

    def less(words: Lexicon = lexicon, **how: Any) -> System:
        return lambda q: leave_out(q, engine, words, **how)

    return {
        "no strip at all": less(stripped=False),
        "no container strip": less(bare),
        "no counts": less(counted=False),
        "no line": less(line=1.0),
        "no phrase counts": less(phrases=False),
        "no pairs": less(pairs=False),
        "no aliases": less(nameless),
        "no spelling": less(spelled=False),
        "index pages compete": less(index_last=False),
        "sentence first": less(sentence_first=True),
        PER_TERM: less(combined=False),
        f"{PER_TERM}, no seat guarantee": less(combined=False, guaranteed=False),
        f"{PER_TERM}, no counts": less(combined=False, counted=False),
        f"{PER_TERM}, no line": less(combined=False, line=1.0),
        f"{PER_TERM}, in the order of the question": less(combined=False, as_asked=True),
        f"{PER_TERM}, no phrase counts": less(combined=False, phrases=False),
        f"{PER_TERM}, index pages compete": less(combined=False, index_last=False),
        f"{PER_TERM}, sentence first": less(combined=False, sentence_first=True),
    }


def leave_out(
    question: str,
    engine: MemoryEngine,
    lexicon: Lexicon,
    *,
    stripped: bool = True,
    counted: bool = True,
    line: float = DEFAULT_LINE,
    phrases: bool = True,
    pairs: bool = True,
    spelled: bool = True,
    combined: bool = True,
    as_asked: bool = False,
    sentence_first: bool = False,
    guaranteed: bool = True,
    index_last: bool = True,
) -> Docs:
    """The six sources as `querykit.run.answer` finds them, without the steps that are switched off."""
    asked = normalize(question)
    rest = strip(asked, lexicon)
    if rest.basis is Basis.BROWSE:
        return _docs(answer(question, engine, lexicon).seats)
    if not stripped:
        rest = unstripped(asked, lexicon)
    found = [t for t in terms(rest) if pairs or t.level is not Level.PAIR]
    keys = list(dict.fromkeys(t.key for t in found))
    stats = CorpusStats(engine.n_docs, engine.df(keys), engine.phrase_df(keys) if phrases else {}, line)
    rated = tier(found, stats if counted else None)
    suggestions = rewrite(question, lexicon, engine)[2].suggestions if spelled else ()
    planned = plan(rest, rated, lexicon, suggestions=suggestions)
    queries = queries_of(planned, combined=combined, as_asked=as_asked)
    if sentence_first and queries:
        queries = [sentence_query(rest, lexicon), *queries]
    results = search(queries, engine, rest, lexicon)
    return seat(results, rated, lexicon, guaranteed=guaranteed, index_last=index_last)


def queries_of(planned: QueryPlan, *, combined: bool, as_asked: bool = False) -> list[Query]:
    """The queries of a plan: the combined one, or one per term, the strongest or the first typed first."""
    if combined and planned.combined:
        return [planned.combined]
    typed = (planned.last_resort or "").find
    return sorted(planned.queries, key=lambda q: typed(q.text)) if as_asked else list(planned.queries)


def search(queries: Sequence[Query], engine: MemoryEngine, rest: Stripped, lexicon: Lexicon) -> list[Result]:
    """What *queries* find, or the whole sentence where there are some and all come back empty."""
    results = [Result(q, engine.search(q, DEPTH)) for q in queries]
    if queries and not any(r.hits for r in results):
        last = sentence_query(rest, lexicon)
        return [Result(last, engine.search(last, DEPTH))]
    return results


def seat(
    results: Sequence[Result],
    rated: Sequence[RatedTerm],
    lexicon: Lexicon,
    *,
    guaranteed: bool = True,
    index_last: bool = True,
) -> Docs:
    """The six of *results*; without the guarantee the strongest query takes all that it finds."""
    wants_index = any(Role.BROWSE in lexicon.roles(r.term.key) for r in rated)

    def is_index(doc: str) -> bool:
        return index_last and not wants_index and is_index_page(doc, lexicon)

    if guaranteed:
        return _docs(allocate(results, SEATS, is_index=is_index))
    every = dict.fromkeys(hit.doc for result in results for hit in result.hits)
    return sorted(every, key=is_index)[:SEATS]


def _docs(seats: Iterable[Any]) -> Docs:
    return [seat.doc for seat in seats]


def _bag(engine: MemoryEngine, words: Iterable[str]) -> Docs:
    keys = dict.fromkeys(fold(word) for word in words)
    query = Query(" ".join(keys), tuple(Part(key, (key,)) for key in keys))
    return [hit.doc for hit in engine.search(query, SEATS)] if keys else []


def without_stop_words(question: str) -> list[str]:
    """The words that jieba cuts, without those of a short stop list."""
    stop = set((Path(__file__).parent / "stopwords.txt").read_text(encoding="utf-8").split())
    return [w for w in _jieba().lcut(question) if w not in stop and any(c.isalnum() for c in w)]


def tf_idf_words(question: str) -> list[str]:
    """The eight words that jieba's TF-IDF finds most telling."""
    _jieba()
    from jieba import analyse

    return [str(word) for word in analyse.extract_tags(question, topK=8)]


def _jieba() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(60)
    return jieba


# ---------------------------------------------------------------- figures


class Scores(NamedTuple):
    """A figure for each question, in their order."""

    recall: Floats
    hit: Floats
    ndcg: Floats
    none: Floats


def score(corpus: Corpus, system: System) -> Scores:
    """The figures of *system* on the questions of *corpus*."""
    import ir_measures
    from ir_measures import Success, nDCG

    found = [system(row["question"]) for row in corpus.questions]
    names = [str(i) for i in range(len(found))]
    truth = {i: dict.fromkeys(row["relevant"], 1) for i, row in zip(names, corpus.questions, strict=True)}
    run = {
        i: {doc: float(SEATS - k) for k, doc in enumerate(docs)} for i, docs in zip(names, found, strict=True)
    }
    measures = (Success @ 1, nDCG @ SEATS, Success @ SEATS)
    values: dict[tuple[str, Any], float] = {}
    for metric in ir_measures.iter_calc(measures, truth, {i: docs or {"": 0.0} for i, docs in run.items()}):
        values[metric.query_id, metric.measure] = float(metric.value)
    hit, ndcg, some = (np.array([values.get((i, m), 0.0) for i in names]) for m in measures)
    recall = np.array([recall_at_6(docs, row) for row, docs in zip(corpus.questions, found, strict=True)])
    return Scores(recall, hit, ndcg, 1 - some)


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def interval(values: Floats, *, resamples: int = 2000, seed: int = 0) -> Interval:
    """The mean of *values* with a bootstrap interval over questions."""
    rng = np.random.default_rng(seed)
    means = values[rng.integers(len(values), size=(resamples, len(values)))].mean(axis=1)
    return Interval(float(values.mean()), *map(float, np.quantile(means, (0.025, 0.975))))


def paired_p(gain: Floats, *, flips: int = 5000, seed: int = 0) -> float:
    """The two-sided p of a paired test: how often random signs make the mean *gain* as large."""
    if not gain.any():
        return 1.0
    rng = np.random.default_rng(seed)
    signs = rng.choice((-1.0, 1.0), size=(flips, len(gain)))
    return float(((np.abs((signs * gain).mean(axis=1)) >= abs(gain.mean()) - 1e-12).sum() + 1) / (flips + 1))


def row_of(corpus: Corpus, name: str, got: Scores, base: Scores | None) -> str:
    """A row of the Markdown table."""
    gain = "" if base is None else _signed(interval(got.recall - base.recall))
    p = "" if base is None else f"{paired_p(got.recall - base.recall):.3f}"
    return (
        f"| {corpus.name} | {name} | {len(got.recall)} | {interval(got.recall)} | {got.hit.mean():.3f} "
        f"| {got.ndcg.mean():.3f} | {got.none.mean():.1%} | {gain} | {p} |"
    )


def _signed(value: Interval) -> str:
    return f"{value.mean:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"


HEAD = """| corpus | system | n | recall@6 [95 %] | hit@1 | nDCG@6 | none | against {base} | p |
|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    if options.plot and not options.plot.parent.is_dir():
        parser.error(f"{options.plot.parent}: no such folder; make it before the figures are counted")
    lexicon = load_lexicon()
    print(HEAD.format(base="querykit, or per term" if options.ablations else BASELINE), flush=True)
    gains: dict[str, list[tuple[str, Interval]]] = {}
    for corpus in load_corpora(options.places, options.limit):
        for name, gain in compare(corpus, lexicon, options.ablations):
            gains.setdefault(name, []).append((corpus.name, gain))
    print(*overview(gains), sep="\n")
    if options.plot:
        draw(options.plot, gains)


def compare(corpus: Corpus, lexicon: Lexicon, ablated: bool) -> Iterable[tuple[str, Interval]]:
    """Print a row for each system; the gains of all but the base."""
    every = systems(corpus.engine, lexicon)
    if ablated:
        every = {"querykit": every["querykit"], **ablations(corpus.engine, lexicon)}
    bases: dict[str, Scores] = {}
    for name, system in every.items():
        group = PER_TERM if name.startswith(PER_TERM) and name != PER_TERM else "all"
        got = score(corpus, system)
        print(row_of(corpus, name, got, bases.get(group)), flush=True)
        if group in bases:
            yield name, interval(got.recall - bases[group].recall)
        bases.setdefault(group, got)
        if name == PER_TERM:
            bases[PER_TERM] = got


def overview(gains: Mapping[str, Sequence[tuple[str, Interval]]]) -> Iterable[str]:
    """A table of the gains in recall@6, corpus by corpus; * marks intervals that do not hold zero."""
    corpora = [corpus for corpus, _ in next(iter(gains.values()))]
    yield f"\n| recall@6 | {' | '.join(corpora)} | mean |\n|---|{'---|' * (len(corpora) + 1)}"
    for system, values in gains.items():
        cells = [f"{gain.mean:+.3f}{'' if gain.low <= 0 <= gain.high else ' *'}" for _, gain in values]
        mean = np.mean([gain.mean for _, gain in values])
        yield f"| {system} | {' | '.join(cells)} | {mean:+.3f} |"


def draw(path: Path, gains: Mapping[str, Sequence[tuple[str, Interval]]]) -> None:
    """A picture of all *gains*, system by system."""
    from querykit.plots import Point, draw_intervals, new_axes, save

    rows = {
        f"{system} · {corpus}": Point(0, *value)
        for system, values in gains.items()
        for corpus, value in values
    }
    figure, axes = new_axes(8, 1 + 0.21 * len(rows))
    draw_intervals(axes, rows, xlabel="difference in recall@6, with 95 % intervals", mark=0)
    save(figure, path, title="recall@6")


if __name__ == "__main__":
    main()
