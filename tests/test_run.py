"""One question, one engine, six sources: the shell, and what happens when the engine fails."""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from querykit.engines.base import EngineError
from querykit.engines.memory import Document, MemoryEngine
from querykit.lexicon import Lexicon
from querykit.plan import Query
from querykit.run import answer, rate_terms, rewrite, warm_up
from querykit.seats import Hit
from querykit.strip import Basis
from querykit.tiers import Tier


class AndEngine:
    """An engine that only searches text: what each query finds is given; an exception is raised."""

    def __init__(self, found: dict[str, list[str] | Exception]) -> None:
        self.found = found
        self.asked: list[str] = []

    def search(self, query: Query, limit: int) -> tuple[Hit, ...]:
        self.asked.append(query.text)
        hits = self.found.get(query.text, [])
        if isinstance(hits, Exception):
            raise hits
        return tuple(map(Hit, hits[:limit]))


NOTES = [
    Document("维护.md", "知识库怎么维护", "这个知识库的笔记怎么整理，知识库里的文章怎么归档"),
    Document("沉淀.md", "知识库沉淀与分发", "知识库 笔记 文章 笔记 知识库"),
    Document("mj.md", "MJ 入门", "用 MJ 画人物，角色一致性"),
    Document("suno.md", "Suno 写歌", "Suno 的风格词，音乐"),
    Document("总览索引.md", "总览索引", "MJ Suno 知识库 笔记 角色一致性 风格词"),
    *(Document(f"n{i}.md", f"随手记{i}", "天气 散步 笔记") for i in range(8)),
]


def test_the_question_that_started_it(zh: Lexicon) -> None:
    seats = answer("这个知识库里有哪些关于 Midjourney 的笔记", MemoryEngine(NOTES), zh).seats
    assert [s.doc for s in seats] == ["mj.md", "总览索引.md"]


def test_whole_sentence_gets_the_maintenance_notes(zh: Lexicon) -> None:
    seats = answer("这个知识库里有哪些关于 Midjourney 的笔记", MemoryEngine(NOTES), zh, mode="sentence").seats
    assert {seats[0].doc, seats[1].doc} == {"维护.md", "沉淀.md"}


def test_an_engine_that_takes_text_is_asked_term_by_term(zh: Lexicon) -> None:
    engine = AndEngine({"Suno": ["a", "b"], "音乐生成": ["c"]})
    seats = answer("库里有没有讲 Suno 音乐生成的笔记", engine, zh).seats
    assert engine.asked == ["Suno", "音乐生成"]
    assert [s.doc for s in seats] == ["a", "c", "b"]


def test_sentence_only_when_every_query_came_back_empty(zh: Lexicon) -> None:
    ask = "库里有没有讲 Suno 音乐生成的笔记"
    engine = AndEngine({ask: ["d1"]})
    found = answer(ask, engine, zh)
    assert engine.asked == ["Suno", "音乐生成", ask]
    assert (found.used_last_resort, [s.doc for s in found.seats]) == (True, ["d1"])


def test_sentence_never_when_the_engine_failed(zh: Lexicon) -> None:
    ask = "库里有没有讲 Suno 音乐生成的笔记"
    engine = AndEngine({"Suno": EngineError("502"), ask: ["d1"]})
    found = answer(ask, engine, zh)
    assert ask not in engine.asked
    assert (found.seats, found.degraded, found.failed) == ((), True, ("Suno: 502",))


def test_one_failed_query_leaves_the_others(zh: Lexicon) -> None:
    engine = AndEngine({"Suno": TimeoutError("timeout"), "音乐生成": ["c"]})
    found = answer("Suno 音乐生成", engine, zh)
    assert [s.doc for s in found.seats] == ["c"]
    assert found.failed == ("Suno: timeout",)


def test_failing_counts_degrade(zh: Lexicon) -> None:
    class Broken(MemoryEngine):
        def df(self, keys: Iterable[str]) -> dict[str, int]:  # noqa: ARG002
            raise EngineError("no statistics")

    found = answer("Suno", Broken(NOTES), zh)
    assert found.failed == ("counting: no statistics",)
    assert found.seats[0].doc == "suno.md"


@pytest.mark.parametrize(
    ("ask", "basis"), [("你叫什么名字呀", Basis.NOTHING), ("", Basis.NOTHING), ("😀", Basis.NOTHING)]
)
def test_nothing_to_search_for_finds_nothing(ask: str, basis: Basis, zh: Lexicon) -> None:
    found = answer(ask, MemoryEngine(NOTES), zh)
    assert (found.plan.basis, found.seats, found.degraded) == (basis, (), False)


def test_browsing_gets_the_index_pages(zh: Lexicon) -> None:
    seats = answer("这个知识库有没有目录或者导览", MemoryEngine(NOTES), zh).seats
    assert [s.doc for s in seats] == ["总览索引.md"]


def test_typo_is_searched_beside_what_was_typed(zh: Lexicon) -> None:
    notes = [*NOTES, *(Document(f"s{i}.md", f"提示词{i}", "提示词 kubernetes") for i in range(3))]
    found = answer("提示次怎么写", MemoryEngine(notes), zh)
    assert [(s.key, s.name) for s in found.plan.suggestions] == [("提示次", "提示词")]
    assert found.seats[0].doc.startswith("s")
    assert answer("kuberntes", MemoryEngine(notes), zh).seats[0].doc.startswith("s")


def test_no_evidence_shows_in_the_coverage(zh: Lexicon) -> None:
    engine = MemoryEngine(NOTES)
    assert answer("有没有讲区块链的笔记", engine, zh).coverage.share < 0.5
    assert answer("有没有讲角色一致性的笔记", engine, zh).coverage.share == 1


def test_the_line_of_the_call_goes_before_the_corpus(zh: Lexicon) -> None:
    engine = MemoryEngine(NOTES)
    stats = answer("笔记软件", engine, zh, line=0.05).stats
    assert stats is not None
    assert (stats.line, stats.line_from) == (0.05, "argument")
    assert rate_terms(["笔记"], engine).line_from == "default"


def test_rated_terms_come_with_both_counts(zh: Lexicon) -> None:
    rated = {r.term.text: r for r in answer("角色一致性", MemoryEngine(NOTES), zh).rated}
    assert (rated["角色一致性"].df, rated["角色一致性"].phrase_df, rated["角色一致性"].tier) == (
        2,
        2,
        Tier.SPECIFIC,
    )


def test_many_threads_and_lexicons_at_once(zh: Lexicon) -> None:
    engine = MemoryEngine(NOTES)
    other = zh.extend(add={"keep": ["知识库"]})

    def ask(i: int) -> tuple[str, ...]:
        return tuple(s.doc for s in answer("知识库里讲 Suno 的笔记", engine, zh if i % 2 else other).seats)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(64)))
    assert len(set(found[1::2])) == len(set(found[::2])) == 1
    assert found[0] != found[1]


def test_warm_up_and_rewrite_need_no_engine(zh: Lexicon) -> None:
    warm_up(zh)
    stripped, rated, planned = rewrite("知识库里关于 sref 的笔记", zh)
    assert (stripped.basis, len(rated), planned.queries[0].tier) == (Basis.TOOL_NAMES, 1, Tier.UNRATED)


def test_case_of_the_question_does_not_matter(zh: Lexicon) -> None:
    engine = MemoryEngine(NOTES)
    assert answer("SUNO 怎么用", engine, zh).seats[0].doc == answer("suno 怎么用", engine, zh).seats[0].doc


def test_a_tool_that_no_source_holds_gets_a_seat(zh: Lexicon) -> None:
    rare = [Document(f"卡住{i}.md", "卡住", "突然卡住 卡住 卡住") for i in range(7)]
    filler = [Document(f"{i}.md", "茶", "喝茶") for i in range(20)]
    tool = [Document(f"r{i}.md", "", "Redis " + "很长的笔记 " * 80) for i in range(9)]
    found = answer("Redis 突然卡住了怎么办", MemoryEngine([*rare, *tool, *filler]), zh)
    assert [seat.doc.startswith("r") for seat in found.seats].count(True) == 1
    assert next(s for s in found.seats if s.doc.startswith("r")).query == "Redis"


def test_a_long_question_without_a_break_is_planned_in_time(zh: Lexicon) -> None:
    start = time.process_time()
    answer("红薯" * 9000, MemoryEngine(NOTES), zh)
    assert time.process_time() - start < 6  # 0.6 s where it was written, 34 s when every word looked at all
