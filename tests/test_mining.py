"""Pairs of names that notes give away, by each sign; remarks, code and accidents are none; nothing is applied."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from querykit.lexicon import Lexicon, LexiconError
from querykit.mining import (
    MiningWords,
    Proposal,
    fold_lines,
    is_initialism,
    load_mining,
    mine_aliases,
    proposals_toml,
)


@pytest.fixture(scope="module")
def words() -> MiningWords:
    return load_mining()


def notes(*texts: str) -> list[tuple[str, str, str]]:
    return [(f"{i}.md", f"第{i}篇", text) for i, text in enumerate(texts)]


def pairs(texts: list[tuple[str, str, str]], zh: Lexicon, words: MiningWords) -> dict[tuple[str, str], str]:
    return {p.names: p.reason for p in mine_aliases(texts, zh, words)}


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("检索增强生成（RAG）要先切块", ("RAG", "检索增强生成")),
        ("先读 RAG（检索增强生成）", ("RAG", "检索增强生成")),
        ("控制反转 (IoC) 是什么", ("IoC", "控制反转")),
        ("由知识产权局（简称知产局）受理", ("知产局", "知识产权局")),
        ("Data Migration（DM）迁移数据", ("DM", "Data Migration")),
    ],
)
def test_brackets_in_two_notes_are_a_sign(
    text: str, pair: tuple[str, str], zh: Lexicon, words: MiningWords
) -> None:
    assert pairs(notes(text, f"另一篇：{text}"), zh, words) == {pair: "brackets"}
    assert pairs(notes(text, "别的"), zh, words) == {}


@pytest.mark.parametrize(
    "text",
    [
        "检索增强生成（可选）",
        "切块（推荐）",
        "工具（必填）",
        "茶（英文）",
        "配置（optional）",
        "水（要开的水，别用冷的）",
        "茶（）",
    ],
)
def test_remarks_in_brackets_are_no_names(text: str, zh: Lexicon, words: MiningWords) -> None:
    assert pairs(notes(text, text, text), zh, words) == {}


def test_a_remark_beside_few_of_many_places_is_no_name(zh: Lexicon, words: MiningWords) -> None:
    rare = notes("工具（Suno）", "工具（Suno）", *["工具和 Suno"] * 30)
    assert pairs(rare, zh, words) == {}


def test_the_tail_of_a_name_is_not_proposed_beside_it(zh: Lexicon, words: MiningWords) -> None:
    texts = notes(*["MVCC（多版本并发控制）怎么做"] * 3, *["版本并发控制（MVCC）"] * 3)
    assert list(pairs(texts, zh, words)) == [("MVCC", "多版本并发控制")]


def test_initials_beside_the_name_they_shorten(zh: Lexicon, words: MiningWords) -> None:
    texts = notes(*["用 Data Migration 迁移，DM 会重试"] * 3)
    assert pairs(texts, zh, words) == {("DM", "Data Migration"): "initials"}
    assert pairs(notes(*["SELECT FROM x，SF 是城市"] * 3), zh, words) == {}


def test_one_name_in_two_spellings(zh: Lexicon, words: MiningWords) -> None:
    texts = notes("Last Stand 改版", "LastStand 上线", "LastStand 与 Last Stand")
    assert pairs(texts, zh, words) == {("LastStand", "Last Stand"): "spelling"}


def test_short_form_that_keeps_the_same_company(zh: Lexicon, words: MiningWords) -> None:
    frames = [f"{{}} 出图用{x}，{{}} 参数看{x}，再跑 {{}} 垫图" for x in "甲乙丙丁戊己"]
    others = ["Kubernetes 部署集群", "Photoshop 修皮肤", "DNS 解析慢", "NAS 存备份"]
    texts = notes(
        *(f.replace("{}", "MJ") + "，也就是 Midjourney 出图用它" for f in frames),
        *(f.replace("{}", "Midjourney") for f in frames),
        *(text for text in others for _ in range(6)),
    )
    bare = zh.extend(replace={"aliases": []})
    assert ("MJ", "Midjourney") in pairs(texts, bare, words)


def test_known_pairs_are_left_out_unless_asked_for(zh: Lexicon, words: MiningWords) -> None:
    texts = notes(*["检索增强生成（RAG）"] * 2)
    known = zh.extend(add={"aliases": [["RAG", "检索增强生成"]]})
    assert mine_aliases(texts, known, words) == ()
    shown = mine_aliases(texts, known, words, known=True)
    assert [p.known for p in shown] == [True]
    assert '    # ["RAG", "检索增强生成"],' in proposals_toml(shown)


def test_evidence_counts_the_notes(zh: Lexicon, words: MiningWords) -> None:
    texts = notes("检索增强生成（RAG）", "检索增强生成（RAG）入门", "RAG 评测", "dragon")
    (found,) = mine_aliases(texts, zh, words)
    assert (found.notes, found.df, found.both) == (2, (3, 2), 2)
    assert found.example == "0.md: 检索增强生成（RAG）"


def test_no_notes_no_names(zh: Lexicon, words: MiningWords) -> None:
    assert mine_aliases([], zh, words) == ()
    assert mine_aliases(notes("", "（（（", "）（"), zh, words) == ()


@pytest.mark.parametrize(
    ("short", "full", "holds"),
    [
        ("RAG", "Retrieval Augmented Generation", True),
        ("JVM", "JavaVirtualMachine", True),
        ("RAG", "Retrieval Generation", False),
        ("R", "Retrieval", False),
        ("rag", "Retrieval Augmented Generation", False),
        ("GFM", "GitHub-Flavored Markdown", True),
    ],
)
def test_initialisms(short: str, full: str, holds: bool) -> None:
    assert is_initialism(short, full) is holds


def test_toml_is_a_word_file(zh: Lexicon) -> None:
    odd = Proposal(('a"b', "c\\d"), "spelling", 3, (2, 1), 0, "x.md:\nzeile")
    text = proposals_toml([Proposal(("RAG", "检索增强生成"), "brackets", 2, (5, 3), 2), odd])
    table = tomllib.loads(text)
    assert table == {"add": {"aliases": [["RAG", "检索增强生成"], ['a"b', "c\\d"]]}}
    assert zh.extend(add={"aliases": table["add"]["aliases"][:1]}).aliases != zh.aliases
    assert tomllib.loads(proposals_toml([])) == {"add": {"aliases": []}}


def test_lines_fold_like_texts() -> None:
    assert fold_lines("ＡＩ 繪畫\r\n½ 杯\n") == "ai 绘画 1⁄2 杯"
    assert fold_lines("") == ""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read"),
        (b"cues = [", "is not TOML"),
        (b"\xff", "is not TOML in UTF-8"),
        ('cues = ["简称"]\n'.encode(), "remarks: must be a list of words"),
        (b'cues = [""]\nremarks = [1]\n', "cues: must be a list of words"),
    ],
)
def test_a_faulty_word_file_says_what_is_wrong(content: bytes | None, says: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "mining.toml").write_bytes(content)
    with pytest.raises(LexiconError, match=says):
        load_mining(tmp_path)
