"""The acceptance questions: what kind of sources they must bring, on our sample and on real notes where present."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.recall6 import load_notes, load_questions, score
from querykit.building import index_in_memory
from querykit.engines.memory import MemoryEngine
from querykit.lexicon import Lexicon
from querykit.run import answer

ROOT = Path(__file__).parent.parent
SEED = [
    "这个知识库里有哪些关于 Midjourney 的笔记",
    "库里有没有讲 Suno 音乐生成的笔记",
    "Skill 是怎么用的",
    "知识库里关于 sref 的笔记",
    "知识库里讲工作流的笔记",
    "怎样保持 Midjourney 角色一致性",
]


@pytest.fixture(scope="module")
def sample() -> MemoryEngine:
    return index_in_memory(ROOT / "sample")


def judged() -> list[dict[str, Any]]:
    return load_questions(ROOT / "tests" / "cases" / "sample_questions.jsonl")


@pytest.mark.parametrize("ask", SEED)
def test_first_three_are_on_topic(ask: str, sample: MemoryEngine, zh: Lexicon) -> None:
    rows = [
        json.loads(x) for x in (ROOT / "tests/cases/sample_questions.jsonl").read_text("utf-8").splitlines()
    ]
    relevant = {r["question"].rstrip("？?"): set(r["relevant"]) for r in rows}[ask]
    assert {s.doc for s in answer(ask, sample, zh).seats[:3]} <= relevant


def test_sample_beats_the_sentence(sample: MemoryEngine, zh: Lexicon) -> None:
    ours = score(judged(), lambda q: [s.doc for s in answer(q, sample, zh).seats])
    sentence = score(judged(), lambda q: [s.doc for s in answer(q, sample, zh, mode="sentence").seats])
    assert ours.recall >= 0.85 > sentence.recall
    assert ours.none <= 0.03


@pytest.mark.parametrize("ask", [q for q in SEED if "Skill" not in q])
def test_directions_on_real_notes(ask: str, spiderweb: MemoryEngine, zh: Lexicon) -> None:
    """The first three name the subject in title or path, and none is about keeping the base."""
    subject = {
        "Midjourney": ("mj", "midjourney", "niji"),
        "Suno": ("suno",),
        "sref": ("sref",),
        "工作流": ("工作流",),
    }
    wanted = next((names for word, names in subject.items() if word in ask), ())
    seats = answer(ask, spiderweb, zh).seats[:3]
    on_topic = sum(
        any(name in (s.doc + s.title).lower() for name in (*wanted, "角色一致性", "sref")) for s in seats
    )
    assert on_topic >= 2
    assert not any("维护" in s.title or "curator" in s.doc for s in seats)


@pytest.fixture(scope="module")
def spiderweb(shared: Path) -> MemoryEngine:
    return MemoryEngine(load_notes(shared / "corpora" / "spiderweb" / "notes.jsonl.gz"))


def test_recall_on_real_notes(spiderweb: MemoryEngine, shared: Path, zh: Lexicon) -> None:
    questions = load_questions(shared / "corpora" / "spiderweb" / "questions.jsonl")
    found = score(questions, lambda q: [s.doc for s in answer(q, spiderweb, zh).seats])
    assert found.recall >= 0.74
    assert found.hit >= 0.79
    assert found.none <= 0.07
