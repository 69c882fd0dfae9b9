"""The queries, in order, bounded; the combined one; the last resort."""

from __future__ import annotations

import pytest

from querykit.lexicon import Lexicon
from querykit.plan import QueryPlan, sentence_query
from querykit.run import rewrite
from querykit.strip import Basis, strip
from querykit.text import normalize


def queries(ask: str, lexicon: Lexicon) -> list[str]:
    return [q.text for q in rewrite(ask, lexicon)[2].queries]


def test_one_query_per_chunk_without_counts(zh: Lexicon) -> None:
    assert queries("库里有没有讲 Suno 音乐生成的笔记", zh) == ["Suno", "音乐生成"]


def test_sentence_is_never_among_the_queries(zh: Lexicon) -> None:
    ask = "怎样保持 Midjourney 角色一致性？"
    planned = rewrite(ask, zh)[2]
    assert planned.last_resort == ask
    assert ask not in [q.text for q in planned.queries]


@pytest.mark.parametrize("ask", ["", "？？", "有哪些", "你叫什么名字呀", "这个知识库有没有目录"])
def test_nothing_to_search_for_gives_no_query(ask: str, zh: Lexicon) -> None:
    planned = rewrite(ask, zh)[2]
    assert (planned.queries, planned.combined, planned.last_resort) == ((), None, None)
    assert planned.basis in (Basis.NOTHING, Basis.BROWSE)


def test_a_term_is_asked_once(zh: Lexicon) -> None:
    assert queries("MOUNT 和 mount 是同一个命令吗", zh)[0] == "MOUNT"
    assert [q.lower() for q in queries("MOUNT 和 mount 是同一个命令吗", zh)].count("mount") == 1


def test_long_question_is_bounded_and_the_rest_named(zh: Lexicon) -> None:
    ask = "，".join(f"词条甲{i}" for i in range(120))
    planned = rewrite(ask, zh)[2]
    assert len(planned.queries) == 32
    assert len(planned.left_out) == 120 - 32


def test_words_at_the_end_of_what_was_pasted_survive(zh: Lexicon) -> None:
    trace = "\n".join(f"at org.example.Foo{i}(Foo.java:{i})" for i in range(130))
    assert "OOM" in " ".join(queries(trace + "\n怎么解决 OOM", zh))


def test_aliases_are_searched_beside_the_typed_name(zh: Lexicon) -> None:
    query = rewrite("Midjourney", zh)[2].queries[0]
    assert query.text == "Midjourney"
    assert query.parts[0].names == ("midjourney", "mj")


def test_sentence_query_leaves_every_word_in(zh: Lexicon) -> None:
    query = sentence_query(strip(normalize("库里讲茶的笔记"), zh), zh)
    assert "".join(p.key for p in query.parts) == "库里讲茶的笔记"


def test_a_plan_of_nothing_is_empty() -> None:
    assert QueryPlan(Basis.NOTHING).queries == ()
