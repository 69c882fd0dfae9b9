"""Six places: one each, the rest by strength, index pages last."""

from __future__ import annotations

import pytest

from querykit.lexicon import Lexicon
from querykit.plan import Query
from querykit.seats import Hit, Result, allocate, cover, is_index_page


def result(text: str, *docs: str) -> Result:
    return Result(Query(text, ()), tuple(map(Hit, docs)))


def test_every_query_gets_a_seat_before_any_gets_a_second() -> None:
    seats = allocate(
        [result("a", "d1", "d2", "d3", "d4", "d5", "d6"), result("b", "d7", "d8"), result("c", "d9")]
    )
    assert [s.doc for s in seats] == ["d1", "d7", "d9", "d2", "d3", "d4"]


def test_places_are_dealt_before_the_list_is_cut() -> None:
    assert [s.doc for s in allocate([result("a", "d1", "d2", "d3"), result("b", "d5")], 2)] == ["d1", "d5"]


def test_index_page_fills_what_is_free(zh: Lexicon) -> None:
    def is_index(doc: str) -> bool:
        return is_index_page(doc, zh)

    asked = [result("a", "日志索引.md", "b.md")]
    assert [s.doc for s in allocate(asked, 1, is_index=is_index)] == ["b.md"]
    assert [s.doc for s in allocate(asked, 3, is_index=is_index)] == ["b.md", "日志索引.md"]
    assert [s.doc for s in allocate(asked, 3, is_index=is_index, index_first=True)] == ["日志索引.md", "b.md"]


@pytest.mark.parametrize("name", ["网络接口索引.md", "API_INDEX.md", "a/INDEX.md", "b/_index.md"])
def test_index_page_by_name(name: str, zh: Lexicon) -> None:
    assert is_index_page(name, zh)


@pytest.mark.parametrize(
    "name", ["b树_index设计.md", "插入index的三种写法.md", "dws块级插入_index语义陷阱与倒序插入法_v1.md"]
)
def test_note_with_index_in_its_name_is_a_note(name: str, zh: Lexicon) -> None:
    assert not is_index_page(name, zh)


def test_index_patterns_of_ones_own(zh: Lexicon) -> None:
    mine = zh.extend(add={"index_pages": ["README", "∑*"]})
    assert is_index_page("docs/README.md", mine)
    assert is_index_page("∑ 思维工具.md", mine)


def test_no_seats_asked_for() -> None:
    assert allocate([result("a", "d1")], 0) == ()


def test_seat_says_why() -> None:
    seat = allocate([result("Suno", "d1")])[0]
    assert (seat.query, seat.why) == ("Suno", "place 1 of “Suno”, its own seat")


def test_coverage_of_nothing_is_nothing() -> None:
    assert cover([], [], {}, 10) == (0.0, (), ())


def test_a_long_query_is_quoted_by_its_beginning() -> None:
    (seat,) = allocate([result("一二三四五" * 20, "d1")])
    assert len(seat.query) == 100
    assert len(seat.why) < 80
    assert "…" in seat.why
