"""Recall@6, hit@1 and none relevant, as ../shared/eval/score.py defines them; shared by tests and benchmarks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from querykit.engines.memory import Document
from querykit.engines.notes import Reading, read_notes


class Score(NamedTuple):
    """Means over questions with an answer: recall@6, hit@1, the share with no relevant note, and how many."""

    recall: float
    hit: float
    none: float
    n: int


def load_questions(path: Path) -> list[dict[str, Any]]:
    """The judged questions of *path* that have a relevant note."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [row for row in rows if row["relevant"]]


def load_notes(path: Path) -> list[Document]:
    """The notes of a folder or a .jsonl[.gz] file."""
    return [stored.document for stored in read_notes(path, Reading())]


def recall_at_6(docs: Sequence[str], question: dict[str, Any]) -> float:
    """Found among the six, of the relevant (six at most); of a `many` question the share of the six."""
    relevant = set(question["relevant"])
    found = sum(doc in relevant for doc in docs[:6])
    return found / (6 if question.get("many") else min(6, len(relevant)))


def score(questions: Sequence[dict[str, Any]], ask: Callable[[str], Sequence[str]]) -> Score:
    """The score of *ask*, a function from a question to documents."""
    recall = hit = none = 0.0
    for question in questions:
        docs = ask(question["question"])[:6]
        relevant = set(question["relevant"])
        recall += recall_at_6(docs, question)
        hit += bool(docs and docs[0] in relevant)
        none += not relevant & set(docs)
    n = max(len(questions), 1)
    return Score(recall / n, hit / n, none / n, len(questions))
