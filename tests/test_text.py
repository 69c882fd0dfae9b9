"""Folding, and the way back to what was typed."""

from __future__ import annotations

import pytest

from querykit.text import Span, fold, normalize, simplify


@pytest.mark.parametrize(
    ("raw", "find"),
    [
        ("¾ 杯糖怎么换算成克", "换算"),
        ("５㎝镜头接环有哪些", "接环"),
        ("主讲：某老师　【地点：三号厅】", "地点"),
        ("向量\u200b数据库 选型", "选型"),
        ("👨‍🚀 任务日志怎么写", "日志"),
        ("ｻｰﾊﾞｰ設定的步骤", "步骤"),
    ],
)
def test_spans_slice_the_typed_string(raw: str, find: str) -> None:
    question = normalize(raw)
    at = question.text.index(find)
    assert raw[slice(*question.typed(at, at + len(find)))] == find


def test_nothing_moved_needs_no_offsets() -> None:
    question = normalize("知识库里讲工作流的笔记？")
    assert (question.offsets, question.typed(0, 3)) == ((), Span(0, 3))


def test_half_width_katakana_composes() -> None:
    assert normalize("ｻｰﾊﾞｰ").text == "サーバー"


def test_spaced_out_characters_close_up_and_two_words_do_not() -> None:
    assert normalize("可 乐 鸡 翅").text == "可乐鸡翅"
    assert normalize("吉 他 怎么按").text == "吉 他 怎么按"


def test_controls_and_surrogates_stay_in_place() -> None:
    assert normalize("a\x00知\ud800b").text == "a 知\ufffdb"


def test_characters_beyond_the_bmp_are_letters() -> None:
    assert normalize("𠮷野家").text == "𠮷野家"


def test_simplified_names_are_not_converted() -> None:
    assert simplify("范仲淹") == "范仲淹"
    assert fold("範圍") == "范围"
