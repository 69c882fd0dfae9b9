"""The Markdown library: how files hold cards, filters, ranking, and that nothing is ever written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from querykit.cards import CardWords, load_card_labels
from querykit.engines.markdown_cards import LibraryCard, MarkdownCards, cards_in, load_library
from querykit.engines.notes import NotesError
from querykit.exchange import Cards, SearchRequest, ZeroHit
from querykit.material import FetchesCards
from querykit.mirror import MirrorRules, load_mirror

SHOWN_UP = "[满屋人等着看学徒出丑]—被三下抻面打破→[掌柜让出案板]"
WAITED = "[站台上等了一天的人]—被一把旧伞打破→[他其实来过]"
QUERY = "找一条 被当众考问的新手 用一串手上功夫顶回去 厨房 的 留人型事件素材"

Library = Callable[..., MarkdownCards]


@pytest.fixture(scope="module")
def words() -> CardWords:
    return load_card_labels()


@pytest.fixture(scope="module")
def rules() -> MirrorRules:
    return load_mirror()


@pytest.fixture
def library(tmp_path: Path, words: CardWords, rules: MirrorRules) -> Library:
    def load(**files: str | bytes) -> MarkdownCards:
        for name, text in files.items():
            data = text if isinstance(text, bytes) else text.encode()
            (tmp_path / f"{name}.md").write_bytes(data)
        return load_library(tmp_path, words, rules)

    return load


def titles(cards: tuple[LibraryCard, ...]) -> list[str]:
    return [card.title for card in cards]


# --- how files hold cards ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SHOWN_UP, ["文件"]),
        (f"# 抻面\n{SHOWN_UP}\n## 备注\n无", ["抻面"]),
        (f"# 抻面\n{SHOWN_UP}\n# 旧伞\n{WAITED}", ["抻面", "旧伞"]),
        (f"# 全部\n说明\n### 抻面\n{SHOWN_UP}\n#### 备注\n无\n### 旧伞\n{WAITED}", ["抻面", "旧伞"]),
        (f"# 抻面\n## 内容含义\n{SHOWN_UP}\n## 镜头\n推近", ["抻面"]),
        (
            f"# 职场\n## 抻面\n{SHOWN_UP}\n# 车站\n## 旧伞\n{WAITED}\n## 再来\n{WAITED}",
            ["抻面", "旧伞", "再来"],
        ),
        (f"【卡 T-1】\n{SHOWN_UP}\n【卡 T-2】\n{WAITED}", ["T-1", "T-2"]),
        (f"{SHOWN_UP}\n\n---\n\n{WAITED}", ["文件", "文件"]),
        (f"# 抻面\r\n{SHOWN_UP}\r\n# 旧伞\r\n{WAITED}", ["抻面", "旧伞"]),
        ("# 说明\n这里放卡片。", []),
        ("", []),
    ],
)
def test_cards_are_the_sections_that_hold_a_gap(text: str, expected: list[str], words: CardWords) -> None:
    assert titles(cards_in(text, words, "夹/文件.md")) == expected


def test_a_card_keeps_its_own_lines(words: CardWords) -> None:
    first, second = cards_in(f"# 抻面\n{SHOWN_UP}\n## 镜头\n推近\n# 旧伞\n{WAITED}\n镜头：全景", words)
    assert first.text == f"# 抻面\n{SHOWN_UP}\n## 镜头\n推近"
    assert second.text == f"# 旧伞\n{WAITED}\n镜头：全景"


@pytest.mark.parametrize(
    "line",
    [
        "极致标签：当众打脸、逆袭",
        "**极致标签**：当众打脸 / 逆袭",
        "标签：#当众打脸，#逆袭。",
        "tags: [当众打脸, 逆袭]",
        "## 标签\n- 当众打脸\n- 逆袭",
        "標籤：當眾打臉、逆襲",
        "赛道：当众打脸；段落功能：逆袭",
        "极致标签：当众打脸、逆袭\n后面是正文，不是标签",
    ],
)
def test_ways_of_labelling(line: str, words: CardWords) -> None:
    (card,) = cards_in(f"{SHOWN_UP}\n{line}", words)
    assert card.labels == {"当众打脸", "逆袭"}


def test_labels_above_hold_below_and_no_further(words: CardWords) -> None:
    front, group = "---\n赛道: 剧情\n---\n", "# 反差\n极致标签：打脸\n"
    text = f"{front}{group}## 抻面\n{SHOWN_UP}\n## 再来\n{SHOWN_UP}\n# 等待\n## 旧伞\n标签：旧物\n{WAITED}"
    labels = {card.title: sorted(card.labels) for card in cards_in(text, words)}
    assert labels == {"抻面": ["剧情", "打脸"], "再来": ["剧情", "打脸"], "旧伞": ["剧情", "旧物"]}


# --- the folder --------------------------------------------------------------------------------------------


def test_unreadable_files_are_passed_over_and_named(tmp_path: Path, library: Library) -> None:
    (tmp_path / "空.md").mkdir()
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "x.md").write_text(SHOWN_UP, encoding="utf-8")
    (tmp_path / "断.md").symlink_to(tmp_path / "nowhere.md")
    found = library(二进制=b"\0\1\2", 说明="# 说明\n没有卡片", 好=SHOWN_UP, 国标=WAITED.encode("gb18030"))
    assert sorted(card.path for card in found._cards) == ["国标.md", "好.md"]
    assert {path for path, _ in found.skipped} == {"二进制.md", "断.md", "说明.md"}
    assert "binary" in dict(found.skipped)["二进制.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_files_without_permission_are_named(tmp_path: Path, library: Library) -> None:
    library(关=SHOWN_UP)
    (tmp_path / "关.md").chmod(0)
    assert library().skipped == (("关.md", "Permission denied"),)


def test_an_empty_library_is_a_zero_hit(library: Library) -> None:
    assert library().fetch(SearchRequest("库", QUERY)) == ZeroHit()


def test_no_such_folder_is_an_error(tmp_path: Path, words: CardWords, rules: MirrorRules) -> None:
    with pytest.raises(NotesError, match="no such folder"):
        load_library(tmp_path / "没有", words, rules)


def test_nothing_is_written(tmp_path: Path, library: Library) -> None:
    found = library(甲=SHOWN_UP, 乙=WAITED)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*")}
    found.fetch(SearchRequest("库", QUERY))
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*")} == before


# --- searching ---------------------------------------------------------------------------------------------


def test_it_fetches_cards(library: Library) -> None:
    engine: FetchesCards = library(甲=SHOWN_UP, 乙=WAITED)
    outcome = engine.fetch(SearchRequest("库", QUERY))
    assert isinstance(outcome, Cards)
    assert outcome.cards[0].text == SHOWN_UP
    assert outcome.received == sum(len(card.text.encode()) for card in outcome.cards)


def test_kinds_find_what_shares_no_word(library: Library) -> None:
    # 考问 and 出丑, 功夫 and 手艺 are words of one kind each.
    cards = {f"别{i}": f"[送别第{i}次]—被一个转身打破→[都哭了]" for i in range(5)}
    found = library(对="[满桌人等着看他出丑]—被一手绝活打破→[服了]", **cards)
    outcome = found.fetch(SearchRequest("库", QUERY, match_count=1))
    assert [card.text[:7] for card in outcome.cards] == ["[满桌人等着看"]


def test_labels_filter_and_any_of_them_is_enough(library: Library) -> None:
    found = library(甲=f"{SHOWN_UP}\n标签：打脸", 乙=f"{WAITED}\n标签：旧物", 丙=WAITED)

    def ask(*labels: str) -> list[str]:
        return [card.text[:3] for card in found.fetch(SearchRequest("库", QUERY, labels=labels)).cards]

    assert ask("打脸") == ["[满屋"]
    assert ask("旧物") == ["[站台"]
    assert sorted(ask("打脸", "旧物")) == ["[满屋", "[站台"]
    assert ask("打臉") == ["[满屋"]
    assert ask("没有的标签") == []


def test_match_count_is_a_limit(library: Library) -> None:
    found = library(**{f"卡{i}": f"{SHOWN_UP}\n编号：{i}" for i in range(9)})
    assert len(found.fetch(SearchRequest("库", QUERY)).cards) == 3
    assert len(found.fetch(SearchRequest("库", QUERY, match_count=5)).cards) == 5


@pytest.mark.parametrize("query", ["。。。", "Zürich", "量子计算"])
def test_what_is_nowhere_in_the_library_is_a_zero_hit(query: str, library: Library) -> None:
    assert library(甲=WAITED).fetch(SearchRequest("库", query)) == ZeroHit()
