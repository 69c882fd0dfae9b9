"""Where a line could lie: each method on shapes of rates, what is no gap and why, and what is recommended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.recall import load_corpus
from querykit.gap import (
    METHODS,
    WINDOW,
    Gap,
    GapError,
    Measured,
    Method,
    choose_line,
    corpus_terms,
    find_gap,
    kmeans_cut,
    question_terms,
)
from querykit.lexicon import Lexicon
from querykit.tiers import DEFAULT_LINE, CorpusStats, StatsError, Tier, tier

# The rates that the source counted in its 442 notes.
SOURCE = {"AI": 1.0, "prompt": 1.0, "用的": 0.897, "音乐生成": 0.427, "工作流": 0.378, "Skill": 0.314}

# Many rare terms evenly spread up to .375, then nothing until .45: a gap as wide as fifteen of its neighbours.
CLEAR = {f"t{i}": i / 200 for i in range(1, 76)} | {f"c{i}": 0.45 + i / 100 for i in range(9)}

# The same number of terms with no gap at all.
EVEN = {f"t{i}": i / 100 for i in range(1, 91)}


def test_fixed_line_names_the_terms_beside_it() -> None:
    gap = find_gap(SOURCE, "fixed")
    assert (gap.below, gap.above, gap.low, gap.high, gap.line) == ("工作流", "音乐生成", 0.378, 0.427, 0.40)


@pytest.mark.parametrize("method", METHODS)
def test_a_clear_gap_is_found_by_every_method(method: Method) -> None:
    gap = find_gap(CLEAR, method, n_docs=5000)
    assert (gap.low, gap.high, gap.n_above, gap.trouble) == (0.375, 0.45, 9, "")
    assert gap.neighbours is not None
    assert gap.width > 5 * gap.neighbours
    assert gap.stability is not None
    assert gap.stability.same > 0.5


@pytest.mark.parametrize(
    ("rates", "method", "trouble"),
    [
        ({}, "window", "no term stands in the corpus"),
        ({"茶": 0.0}, "fixed", "no term stands in the corpus"),
        ({"茶": 0.3}, "window", "there is one rate only"),
        ({"茶": 0.3, "酒": 0.3}, "three-means", "all rates are equal"),
        ({"茶": 0.1, "酒": 0.2}, "three-means", "three means need three different rates"),
        ({"茶": 0.1, "酒": 0.2}, "window", "no two neighbouring rates meet between 35% and 45%"),
        ({"茶": 0.1, "酒": 0.9}, "fixed", "1 term above: the sparse top, not a gap"),
        ({"茶": 0.1, "酒": 0.2}, "fixed", "no term above: a line here parts nothing"),
        ({"a": 0.1, "b": 0.5, "c": 0.6, "d": 0.7}, "fixed", "too few rates beside it to tell what is wide"),
        (EVEN, "window", "no wider than chance makes one of these distances"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_gap_is_an_answer(rates: dict[str, float], method: Method, trouble: str) -> None:
    gap = find_gap(rates, method)
    assert (gap.trouble, gap.is_gap) == (trouble, False)
    assert trouble in str(gap)


def test_the_window_keeps_the_sparse_top_out() -> None:
    top = {"AI": 1.0, "prompt": 0.99, "笔记": 0.98, "用": 0.75}
    wide = find_gap(CLEAR | top, window=(0.1, 0.95))
    narrow = find_gap(CLEAR | top)
    assert wide.low == 0.75
    assert (narrow.low, narrow.high) == (0.375, 0.45)
    assert WINDOW[0] <= narrow.line <= WINDOW[1]


@pytest.mark.parametrize(
    ("rates", "how", "says"),
    [
        ([1.2], {}, "the rate of '' is 1.2"),
        ({"茶": -0.1}, {}, "the rate of '茶' is -0.1"),
        ({"茶": float("nan")}, {}, "is nan: a hit rate is a number from 0 to 1"),
        ({"茶": float("inf")}, {}, "is inf"),
        ([0.1], {"method": "otsu"}, "one of window, three-means, fixed"),
        ([0.1], {"window": (0.5, 0.3)}, "the lower first"),
        ([0.1], {"line": 0.0}, "a hit rate above 0"),
        ([0.1], {"line": 1.5}, "a hit rate above 0"),
        ([0.1], {"n_docs": 0}, "must be 1 or more"),
        ([0.1], {"n_docs": 9, "resamples": 0}, "must be 1 or more"),
        ({"茶": 0.1}, {"n_docs": 9, "holders": {}}, "holders lack 1 terms such as '茶'"),
    ],
)
def test_senseless_input_says_what_to_do(rates: object, how: dict[str, object], says: str) -> None:
    with pytest.raises(GapError, match=says) as caught:
        find_gap(rates, **how)  # type: ignore[arg-type]
    assert isinstance(caught.value, StatsError)


def test_resampled_documents_keep_terms_that_go_together_together() -> None:
    """Two terms in the same notes never part; the binomial model, which cannot know, parts them."""
    notes = np.arange(40)
    rates = {"a": 0.4, "b": 0.4, "c": 0.1}
    holders = {"a": notes, "b": notes, "c": np.arange(10)}
    by_documents = find_gap(rates, "fixed", n_docs=100, holders=holders)
    by_counts = find_gap(rates, "fixed", n_docs=100)
    assert by_documents.stability is not None
    assert by_counts.stability is not None
    assert by_documents.stability.model == "documents"
    assert by_counts.stability.model == "binomial"
    assert by_documents.stability.same > by_counts.stability.same


def test_stability_is_seeded() -> None:
    once, again = (find_gap(CLEAR, n_docs=300, seed=7) for _ in range(2))
    assert once == again
    assert once.stability != find_gap(CLEAR, n_docs=300, seed=8).stability


def test_few_documents_move_a_gap_away() -> None:
    gap = find_gap(CLEAR, "three-means", n_docs=12)
    assert gap.trouble == "it moves away when other documents are drawn"
    assert find_gap(CLEAR, "three-means", n_docs=9000).is_gap


def test_kmeans_does_not_depend_on_chance_or_order() -> None:
    values = list(CLEAR.values())
    assert kmeans_cut(values) == kmeans_cut(values[::-1]) == 0.4125
    assert kmeans_cut([0.5, 0.5]) is None


# ---------------------------------------------------------------- a recommendation


def gaps(rates: dict[str, float], n_docs: int = 4000) -> list[Gap]:
    return [find_gap(rates, method, n_docs=n_docs) for method in METHODS]


def test_a_gap_elsewhere_moves_the_line_when_3_means_agrees() -> None:
    lower = {f"t{i}": i / 200 for i in range(1, 71)} | {f"c{i}": 0.39 + i / 100 for i in range(20)}
    found = gaps(lower)
    chosen = choose_line(found, n_docs=4000)
    assert (chosen.line, chosen.moves) == (0.37, True)
    assert "3-means cuts within" in chosen.reasons[-1]


@pytest.mark.parametrize(
    ("rates", "n_docs", "reason"),
    [
        (EVEN, 4000, "no gap that a line could lie in"),
        (CLEAR, 4000, "the gap holds the default line"),
        (CLEAR, 9, "with 9 documents a rate says nothing"),
    ],
    ids=["even", "clear", "few"],
)
def test_the_default_stays_without_evidence(rates: dict[str, float], n_docs: int, reason: str) -> None:
    chosen = choose_line(gaps(rates), n_docs=n_docs)
    assert (chosen.line, chosen.moves) == (DEFAULT_LINE, False)
    assert reason in chosen.reasons[-1]


def test_measured_recall_overrules_gaps() -> None:
    sure, unsure = Measured(0.2, 0.05, 0.01, 0.09), Measured(0.2, 0.05, -0.01, 0.11)
    assert choose_line(gaps(CLEAR), n_docs=4000, measured=[sure]).line == 0.2
    assert choose_line(gaps(CLEAR), n_docs=4000, measured=[unsure]).line == DEFAULT_LINE


def test_an_engine_that_ranks_is_told_that_the_line_only_labels() -> None:
    reasons = choose_line(gaps(CLEAR), n_docs=4000, ranks_terms=True).reasons
    assert "this engine ranks terms" in reasons[0]


def test_nothing_is_applied(zh: Lexicon) -> None:
    from querykit.strip import strip
    from querykit.terms import terms
    from querykit.text import normalize

    stats = CorpusStats(100, {"suno": 38}, {"suno": 38})
    choose_line(gaps(CLEAR), n_docs=4000, measured=[Measured(0.2, 0.05, 0.01, 0.09)])
    rated = tier(terms(strip(normalize("Suno"), zh)), stats)
    assert (stats.line, stats.line_from, rated[0].tier) == (DEFAULT_LINE, "default", Tier.SPECIFIC)


def test_stats_carry_the_line_a_person_chose_and_where_it_came_from() -> None:
    chosen = CorpusStats(100, {"suno": 38}).with_line(0.35, "the gap at 33 … 37 %, chosen by Li")
    assert (chosen.line, chosen.line_from) == (0.35, "the gap at 33 … 37 %, chosen by Li")
    assert CorpusStats.from_dict(chosen.to_dict()) == chosen
    assert (chosen + chosen).line_from == chosen.line_from


# ---------------------------------------------------------------- terms


def test_terms_of_questions_are_stripped(zh: Lexicon) -> None:
    asked = ["知识库里讲工作流的笔记", "工作流怎么用", "你好"]
    assert question_terms(asked, zh) == ("工作流",)


def test_terms_of_titles(zh: Lexicon) -> None:
    titles = ["Suno 片头配乐", "SUNO 怎么写歌词", "2024", "的", ""]
    assert corpus_terms(titles, zh)[0] == "suno"
    assert not {"2024", "怎么", "的"} & set(corpus_terms(titles, zh))


def test_the_gap_of_the_source_corpus(shared: Path, zh: Lexicon) -> None:
    """On the notes that the 0.40 came from the gap is there again, and holds the line."""
    folder = shared / "corpora" / "spiderweb"
    corpus = load_corpus(folder / "notes.jsonl.gz", folder / "questions.jsonl", "spiderweb")
    texts = question_terms([row["question"] for row in corpus.questions], zh)
    holders = {t: docs for t in texts if len(docs := corpus.engine.counts(t.lower()).docs)}
    rates = {t: len(docs) / corpus.engine.n_docs for t, docs in holders.items()}
    gap = find_gap(rates, n_docs=corpus.engine.n_docs, holders=holders)
    assert gap.is_gap
    assert gap.low <= DEFAULT_LINE < gap.high
