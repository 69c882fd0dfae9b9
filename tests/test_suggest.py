"""Other names and spellings for words that the notes do not use."""

from __future__ import annotations

import pytest

from querykit.lexicon import Lexicon
from querykit.suggest import aliases, homophones, nearest_han, nearest_latin


def test_aliases_go_both_ways(zh: Lexicon) -> None:
    assert aliases("mj", zh) == ("midjourney",)
    assert aliases("midjourney", zh) == ("mj",)
    assert aliases("kling", zh) == ("可灵",)


def test_aliases_of_ones_own(zh: Lexicon) -> None:
    mine = zh.extend(add={"aliases": [["蒙剪", "蒙眼剪辑法"]]})
    assert aliases("蒙剪", mine) == ("蒙眼剪辑法",)


@pytest.mark.parametrize(
    ("typed", "meant"), [("midjorney", "midjourney"), ("explian", "explain"), ("sunno", "suno")]
)
def test_latin_spelling(typed: str, meant: str) -> None:
    found = nearest_latin(typed, {meant: 9, "other": 50, "music": 3})
    assert found is not None
    assert found.name == meant


@pytest.mark.parametrize("typed", ["rag", "v8", "2024", "go"])
def test_short_names_and_numbers_are_no_misspellings(typed: str) -> None:
    assert nearest_latin(typed, {"rags": 9, "v9": 9, "2023": 9, "got": 9}) is None


def test_rare_spelling_is_not_proposed() -> None:
    assert nearest_latin("midjorney", {"midjourney": 1}) is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("提示次", "提示词"), ("工做流", "工作流"), ("小红薯", "小红书"), ("豆付", "豆腐"), ("扩溶", "扩容")],
)
def test_homophones(typed: str, meant: str) -> None:
    found = nearest_han(typed, {meant: 12})
    assert found is not None
    assert found.name == meant


def test_dictionary_word_is_no_misspelling() -> None:
    assert homophones("雅思") == ()
