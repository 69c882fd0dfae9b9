"""What is odd about a corpus is named: furniture, chance combinations, invisible terms, index pages, templates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from querykit.diagnose import (
    Counted,
    Counts,
    DiagnoseError,
    Diagnosis,
    Knows,
    count_text,
    diagnose,
    link_share,
    mixed_questions,
    name_patterns,
    read_counts,
    template_lines,
)
from querykit.lexicon import Lexicon
from querykit.mining import Proposal

# A small count file: what a page index found, and what the text of 200 notes holds.
ROWS = [
    # on every page, in some texts: the header of the page
    ("菜谱", 200, 31, "furniture"),
    ("厨房", 198, 90, "furniture"),
    # on every page because every text says so: common, not furniture
    ("盐", 200, 200, None),
    ("油", 197, 185, None),
    # pieces found together, never written so
    ("厨房用油", 80, 0, "chance"),
    ("里讲火候", 40, 1, "chance"),
    ("糖醋", 40, 30, None),
    ("盐卤", 2, 0, None),
    # written, not found
    ("焯水", 3, 60, "invisible"),
    ("颠勺", 0, 5, "invisible"),
    ("翻炒", 40, 70, None),
    ("卤", 0, 4, None),
    # Latin substrings of longer words are no sign, unless nothing is found at all
    ("BBQ", 1, 60, None),
    ("sous vide", 0, 9, "invisible"),
    ("分子料理", 0, 0, "absent"),
]


def small() -> Counts:
    return Counts(200, "site", "text", tuple(Counted(*row[:3]) for row in ROWS))


@pytest.fixture(scope="module")
def found(zh: Lexicon) -> Diagnosis:
    return diagnose(small(), zh)


def names(found: Diagnosis, rule: str) -> set[str]:
    finding = found.of(rule)
    return set(finding.names) if finding else set()


@pytest.mark.parametrize("rule", ["furniture", "chance", "invisible", "absent"])
def test_each_class_is_named_and_nothing_else(rule: str, found: Diagnosis) -> None:
    assert names(found, rule) == {row[0] for row in ROWS if row[3] == rule}


def test_every_finding_says_what_to_do(found: Diagnosis) -> None:
    for finding in found.findings:
        assert finding.says
        assert finding.advice


def test_a_chance_combination_says_which_piece_is_furniture(found: Diagnosis) -> None:
    chance = found.of("chance")
    assert chance is not None
    assert dict(chance.items)["厨房用油"].endswith("厨房 is on every page, so the rest alone is counted")


def test_odd_terms_have_no_say_about_the_line(found: Diagnosis) -> None:
    line = found.of("line")
    assert line is not None
    assert dict(line.items)["above 40%"] == "2 of 8 terms: 盐, 油"


def test_empty_counts_are_no_error(zh: Lexicon) -> None:
    found = diagnose(Counts(0, "site", "text", ()), zh)
    assert [f.rule for f in found.findings] == ["corpus", "line"]


def test_what_the_index_knows_is_said(zh: Lexicon) -> None:
    found = diagnose(small(), zh, knows=Knows(("title", "text"), ("note",), (), ranks_terms=True))
    corpus = found.of("corpus")
    assert corpus is not None
    assert dict(corpus.items)["fields"] == "title, text"
    assert "none" in dict(corpus.items)["filters"]


def test_proposals_are_shown_with_their_evidence(zh: Lexicon) -> None:
    found = diagnose(small(), zh, proposals=[Proposal(("MJ", "Midjourney"), "company", 9, (40, 12), 9)])
    assert names(found, "aliases") == {"MJ = Midjourney"}


# ---------------------------------------------------------------- count files


def test_columns_are_told_by_their_names() -> None:
    rows = [
        {"term": "茶", "n_docs": 9, "a": 3, "substring": 4, "b": 5},
        {"term": "酒", "n_docs": 9, "a": None},
    ]
    assert read_counts(rows) == Counts(9, "a", "substring", (Counted("茶", 3, 4, (("b", 5),)),))
    assert read_counts(rows, engine="b", text="a").terms == (Counted("茶", 5, 3, (("substring", 4),)),)


def test_one_term_in_two_spellings_is_one() -> None:
    rows = [{"term": t, "n_docs": 9, "a": 3, "text": 4} for t in ("prompt", "Prompt", "PROMPT")]
    assert [c.term for c in read_counts(rows).terms] == ["prompt"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "no counts: write a line of JSON per term"),
        ([{"n_docs": 9, "a": 1, "text": 1}], 'row 1: needs "term"'),
        ([{"term": "茶", "a": 1, "text": 1}], 'and "n_docs", the number'),
        ([{"term": "茶", "n_docs": 9, "a": 10, "text": 1}], "row 1: a is 10: a count from 0 to 9"),
        ([{"term": "茶", "n_docs": 9, "a": -1, "text": 1}], "a is -1"),
        ([{"term": "茶", "n_docs": 9, "a": True, "text": 1}], "a is True"),
        ([{"term": "茶", "n_docs": 9, "a": 0.5, "text": 1}], "a is 0.5"),
        ([{"term": "茶", "n_docs": True, "a": 1, "text": 1}], 'needs "term"'),
        ([{"term": "茶", "n_docs": 9, "a": 1, "text": 1}, {"term": "酒", "n_docs": 8, "a": 1}], "row 2"),
        ([{"term": "茶", "n_docs": 9, "a": 1}], "name one with --text: a"),
        ([{"term": "茶", "n_docs": 9, "text": 1}], "name one with --engine: text"),
    ],
)
def test_what_cannot_be_read_is_named(rows: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(DiagnoseError, match=says):
        read_counts(rows)


def test_text_is_counted_as_it_stands_and_latin_as_words() -> None:
    notes = [("a.md", "AI 绘画", "ＡＩ画画"), ("b.md", "mail", "繪畫"), ("c.md", "", "")]
    counted = count_text(["AI", "绘画", "无"], notes, {"ai": 3, "绘画": 1}, "engine")
    assert counted.terms == (Counted("AI", 3, 1), Counted("绘画", 1, 2))


# ---------------------------------------------------------------- notes


def note(path: str, text: str = "") -> tuple[str, str, str]:
    return path, path, text


def test_template_lines_and_their_words(zh: Lexicon) -> None:
    notes = [note(f"{i}.md", f"## 关联文档\n第{i}种茶") for i in range(20)]
    counts = count_text(["文档", "种茶"], notes, {"文档": 20, "种茶": 20}, "engine")
    found = diagnose(counts, zh, notes=notes)
    assert names(found, "template") == {"## 关联文档", "文档"}
    assert template_lines(notes[:9]) == ()


@pytest.mark.parametrize(
    ("text", "share", "links"),
    [
        ("", 0.0, 0),
        ("没有链接", 0.0, 0),
        ("[[甲]]", 1.0, 1),
        ("[甲](a.md) 乙", 0.5, 1),
        ("![图](a.png)", 1.0, 1),
        ("https://example.com/a", 0.0, 1),
    ],
)
def test_share_of_link_text(text: str, share: float, links: int) -> None:
    assert link_share(text) == (share, links)


def test_lists_of_links_are_found_by_what_they_hold_and_indexes_by_name(zh: Lexicon) -> None:
    links = "\n".join(f"[[第{i}篇]]" for i in range(6))
    notes = [
        note("∑ 写作.md", links),
        note("∑ 阅读.md", links * 2),
        note("绘图索引.md"),
        note("茶.md", "水开"),
    ]
    found = diagnose(small(), zh, notes=notes)
    listing = found.of("lists-of-links")
    assert listing is not None
    assert listing.names == ("∑ 阅读.md", "∑ 写作.md")
    assert '"∑*" (2)' in listing.advice
    assert names(found, "index-pages") == {"绘图索引.md"}


def test_patterns_need_two_names() -> None:
    assert name_patterns(["a.md", "b.md", "2024-01.md", "2024-02.md", "(x).md", "(y).md"]) == ()


def test_questions_that_a_line_could_reorder(zh: Lexicon) -> None:
    rates = {"Suno": 0.1, "提示词": 0.6, "sref": 0.2}
    assert mixed_questions(["Suno 提示词", "Suno 和 sref", "提示词", "茶"], rates, 0.4, zh) == (1, 2)


# ---------------------------------------------------------------- the site of the source


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("furniture", {"AI", "prompt", "笔记", "音乐", "GitHub"}),
        ("chance", {"里讲工作流", "音乐生成", "整理方法"}),
        ("invisible", {"剪辑", "复盘", "蒙眼剪辑法"}),
    ],
)
def test_the_site_of_the_source(rule: str, wanted: set[str], shared: Path, zh: Lexicon) -> None:
    lines = (shared / "corpora" / "spiderweb" / "counts.jsonl").read_text(encoding="utf-8").splitlines()
    found = diagnose(read_counts(map(json.loads, lines)), zh)
    assert wanted <= names(found, rule)
    assert not {"工作流", "角色一致性", "Suno", "sref"} & names(found, rule)
