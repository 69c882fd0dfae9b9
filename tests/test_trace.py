"""Every decision is a row."""

from __future__ import annotations

from querykit.engines.memory import Document, MemoryEngine
from querykit.lexicon import Lexicon
from querykit.run import answer
from querykit.trace import trace


def test_every_step_is_in_the_story(zh: Lexicon) -> None:
    engine = MemoryEngine([Document(f"{i}.md", f"第{i}篇", "工作流 自动化 sunflower") for i in range(12)])
    a = answer("知识库里讲 sunflwer 工作流的笔记", engine, zh)
    rows = trace(a.stripped, a.rated, a.plan, a.seats, a.coverage, a.stats)
    steps = [row.step for row in rows]
    for step in (
        "strip",
        "basis",
        "corpus",
        "term",
        "suggestion",
        "query",
        "last resort",
        "seat",
        "coverage",
    ):
        assert step in steps
    assert ("strip", "知识库", "removed", "container") in rows
    assert any(
        row.step == "suggestion" and row.what == "sunflwer" and "sunflower" in row.decision for row in rows
    )


def test_explain_lists_what_was_taken(zh: Lexicon) -> None:
    a = answer("self 是什么参数", MemoryEngine([Document("a.md", "self", "参数")]), zh)
    assert "是什么" in [r.text for r in a.stripped.removed]
