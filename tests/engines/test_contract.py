"""One contract, every engine: what counting, finding and ranking must be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from querykit.engines.base import CountsDocuments, KnowsWords, Searches
from querykit.engines.memory import Document, Index, MemoryEngine
from querykit.engines.sqlite import SqliteEngine, Stored, write_index
from querykit.plan import Part, Query

NOTES = [
    Document("绘图/mj.md", "MJ 角色一致性", "用 Midjourney 画人物，ai 绘画。mail 不是 AI。"),
    Document("音乐/suno.md", "Suno 写歌", "Seedance2.5 和 Suno v5；音乐 生成"),
    Document("c.md", "C++ 与 C#", "full_text_search，Node.js，角色 (一致性)"),
    Document("繁體.md", "遞迴筆記", "這個函數會遞迴"),
    Document("空.md", "空", ""),
]


@pytest.fixture(params=["memory", "sqlite"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    if request.param == "memory":
        yield MemoryEngine(NOTES)
        return
    write_index(tmp_path / "kb.db", [Stored(d, "1") for d in NOTES], "here")
    with SqliteEngine(tmp_path / "kb.db") as opened:
        yield opened


def ask(*keys: str) -> Query:
    return Query(" ".join(keys), tuple(Part(k, (k,)) for k in keys))


def test_protocols(engine: Index) -> None:
    assert isinstance(engine, CountsDocuments)
    assert isinstance(engine, Searches)
    assert isinstance(engine, KnowsWords)
    assert engine.n_docs == len(NOTES)
    assert engine.name


@pytest.mark.parametrize(
    ("key", "documents"),
    [
        ("角色一致性", 1),
        ("一致性", 2),
        ("ai", 1),
        ("midjourney", 1),
        ("seedance 2.5", 1),
        ("seedance2.5", 1),
        ("c++", 1),
        ("c#", 1),
        ("full_text_search", 1),
        ("node.js", 1),
        ("递回", 1),
        ("遞迴", 1),
        ("绘图", 1),
        ("音乐生成", 1),
        ("没有的词", 0),
        ("unknown", 0),
        ("", 0),
        ("，", 2),
    ],
)
def test_phrase_df_counts_the_term_as_it_stands(engine: Index, key: str, documents: int) -> None:
    assert engine.phrase_df([key]) == {key: documents}


def test_df_counts_documents_with_every_word(engine: Index) -> None:
    assert engine.df(["角色一致性", "角色人物"]) == {"角色一致性": 2, "角色人物": 1}


def test_search_finds_best_first_and_says_what_it_holds(engine: Index) -> None:
    hits = engine.search(ask("角色", "一致性", "midjourney"), 9)
    assert [h.doc for h in hits] == ["绘图/mj.md", "c.md"]
    assert hits[0].score > hits[1].score > 0
    assert (hits[0].title, hits[0].matched) == ("MJ 角色一致性", ("角色", "一致性", "midjourney"))


def test_search_is_bounded_and_repeatable(engine: Index) -> None:
    assert len(engine.search(ask("一致性"), 1)) == 1
    assert engine.search(ask("一致性"), 9) == engine.search(ask("一致性"), 9)


def test_names_of_a_part_are_one_term(engine: Index) -> None:
    both = Query("MJ", (Part("mj", ("mj", "midjourney")),))
    assert [h.doc for h in engine.search(both, 9)] == ["绘图/mj.md"]


@pytest.mark.parametrize(
    "text", ["AND", "*", "NEAR(", '"', "a:b", "'; drop table docs; --", "\ud800", "\x00", "", "{0} %s"]
)
def test_query_syntax_is_text(engine: Index, text: str) -> None:
    assert isinstance(engine.search(ask(text.lower()), 3), tuple)
    assert isinstance(engine.df([text.lower()]), dict)


def test_nothing_found_is_empty(engine: Index) -> None:
    assert engine.search(ask("没有的词"), 9) == ()
    assert engine.search(Query("", ()), 9) == ()


def test_vocabulary_has_near_words(engine: Index) -> None:
    assert engine.vocabulary("sunno").get("suno") == 1  # type: ignore[attr-defined]


def test_vocabulary_counts_few_words() -> None:
    """Counting every word of about that length took a second on a thousand notes."""
    many = " ".join(f"sun{a}{b}" for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz")
    assert 0 < len(MemoryEngine([Document("a.md", "", many)]).vocabulary("sunno")) <= 20


def test_in_titles(engine: Index) -> None:
    assert [h.doc for h in engine.in_titles(["写歌", "音乐"], 9)] == ["音乐/suno.md"]
    assert engine.in_titles(["midjourney"], 9) == ()


def test_empty_corpus() -> None:
    empty = MemoryEngine([])
    assert (empty.n_docs, empty.df(["茶"]), empty.search(ask("茶"), 3)) == (0, {"茶": 0}, ())
