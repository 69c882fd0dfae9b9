"""The benchmark of recall measures querykit itself: leaving nothing out is `answer`, and recall is the scorer's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.recall import Corpus, interval, leave_out, load_corpora, paired_p, score
from benchmarks.recall6 import recall_at_6
from benchmarks.recall6 import score as plain_score
from querykit.lexicon import Lexicon
from querykit.run import answer

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def sample() -> Corpus:
    places = [ROOT / "sample", ROOT / "tests" / "cases" / "sample_questions.jsonl"]
    return next(iter(load_corpora(places)))


@pytest.mark.parametrize("combined", [True, False], ids=["combined", "per term"])
def test_leaving_nothing_out_is_the_answer(combined: bool, sample: Corpus, zh: Lexicon) -> None:
    for row in sample.questions:
        found = answer(row["question"], sample.engine, zh, mode="auto" if combined else "terms")
        docs = leave_out(row["question"], sample.engine, zh, combined=combined)
        assert docs == [seat.doc for seat in found.seats], row["question"]


def test_both_ways_of_scoring_agree(sample: Corpus, zh: Lexicon) -> None:
    def ask(question: str) -> list[str]:
        return [seat.doc for seat in answer(question, sample.engine, zh).seats]

    got, plain = score(sample, ask), plain_score(sample.questions, ask)
    assert tuple(values.mean() for values in (got.recall, got.hit, got.none)) == pytest.approx(plain[:3])


@pytest.mark.parametrize(
    ("docs", "question", "recall"),
    [
        (["a", "b"], {"relevant": ["a"]}, 1.0),
        (["a", "b"], {"relevant": ["a", "c"]}, 0.5),
        (["a"], {"relevant": list("abcdefgh")}, 1 / 6),
        (["a"], {"relevant": ["a"], "many": True}, 1 / 6),
        ([*"xxxxxx", "a"], {"relevant": ["a"]}, 0.0),
        ([], {"relevant": ["a"]}, 0.0),
    ],
)
def test_recall_at_6(docs: list[str], question: dict[str, object], recall: float) -> None:
    assert recall_at_6(docs, question) == recall


def test_no_difference_is_no_evidence() -> None:
    nothing = np.zeros(30)
    assert (paired_p(nothing), interval(nothing)) == (1.0, (0.0, 0.0, 0.0))
    assert paired_p(np.ones(30)) < 0.001


def test_a_place_without_questions_says_what_is_missing() -> None:
    with pytest.raises(SystemExit, match=r"no questions\.jsonl in it"):
        list(load_corpora([ROOT / "sample"]))
