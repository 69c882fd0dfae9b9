"""Word lists are data: checked all at once, extended, switched off."""

from __future__ import annotations

from pathlib import Path

import pytest

from querykit.lexicon import (
    SHEETS,
    Lexicon,
    LexiconError,
    Problem,
    Role,
    build_lexicon,
    check_lexicon,
    check_words,
    lexicon_folder,
    load_lexicon,
    load_tables,
)


def test_shipped_lists_have_no_problem() -> None:
    assert check_lexicon(load_tables()) == ()


@pytest.mark.parametrize("sheet", SHEETS)
def test_shipped_lists_are_sorted_and_commented(sheet: str) -> None:
    table = load_tables()[sheet]
    for key in SHEETS[sheet]:
        assert table[key] == sorted(table[key])
    assert len(table["about"]) > 20


def test_ten_faults_give_ten_reports() -> None:
    tables = {name: dict(table) for name, table in load_tables().items()}
    tables["soft"]["soft"] = ["推荐", "推荐", "", 7]
    tables["keep"]["keep"] = "关于我们"
    tables["tools"].pop("mixed")
    tables["containers"]["schema"] = 2
    tables["containers"]["colour"] = []
    tables["colloquial"]["about"] = " "
    tables["aliases"]["aliases"] = [["MJ"]]
    tables["function"]["example"] = [{"ask": "?"}]
    problems = check_lexicon(tables)
    assert len(problems) == 10
    assert {p.file for p in problems} == {
        f"{n}.toml" for n in ("soft", "keep", "tools", "containers", "colloquial", "aliases", "function")
    }
    with pytest.raises(LexiconError, match=r"soft\.toml: soft: '推荐' stands twice"):
        build_lexicon(tables)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexiconError) as caught:
        load_lexicon(tmp_path)
    assert len(caught.value.problems) == len(SHEETS)


def test_folder_of_ones_own(tmp_path: Path) -> None:
    for file in lexicon_folder().glob("*.toml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert load_lexicon(tmp_path) == load_lexicon()


def test_words_file_with_bom_and_windows_line_ends(tmp_path: Path) -> None:
    words = tmp_path / "mine.toml"
    words.write_bytes('\ufeff[add]\r\nkeep = ["遮光帘"]\r\nitems = ["菜谱"]\r\n'.encode())
    mine = load_lexicon(words=words)
    assert mine.roles("遮光帘") == {Role.SHIELD}
    assert Role.ITEM in mine.roles("菜谱")


def test_words_file_reports_every_fault(tmp_path: Path) -> None:
    words = tmp_path / "mine.toml"
    words.write_text('[add]\nitem = ["菜谱"]\nkeep = "四流"\n[drop]\nsoft = []\n', encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        load_lexicon(words=words)
    assert [p.key for p in caught.value.problems] == ["add.item", "add.keep", "drop"]


def test_replace_and_without(zh: Lexicon) -> None:
    only = zh.extend(replace={"index_pages": ["README", "∑*"]})
    assert only.index_pages == ("README", "∑*")
    assert zh.extend(without={"soft": ["推荐"]}).roles("推荐") == frozenset()


def test_two_user_dictionaries_add_up(zh: Lexicon) -> None:
    both = zh.extend(add={"keep": ["向量库"]}).extend(add={"keep": ["召回率"]})
    assert Role.SHIELD in both.roles("向量库")
    assert Role.SHIELD in both.roles("召回率")


def test_problem_reads_as_a_line() -> None:
    assert str(Problem("soft.toml", "soft", "is missing")) == "soft.toml: soft: is missing"


def test_the_name_of_a_file_is_told_from_the_names_of_its_lists() -> None:
    (problem,) = check_words({"add": {"containers": ["灵感仓"]}})
    assert "places, items, tails, shelves" in problem.message
