"""The segmenter: rjieba cuts what jieba cuts, and jieba takes over where it is missing."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from querykit import segment
from querykit.segment import cut, is_word, load_jieba
from tests.test_strip import cases

RUNS = [c["ask"] for c in cases("boundaries")] + [
    "知识库里讲工作流的笔记",
    "无人机为何在航线上犯糊涂",
    "怎么办理居住证",
]


def test_rjieba_cuts_what_jieba_cuts() -> None:
    oracle = load_jieba()
    assert [cut(run) for run in RUNS] == [oracle.cut(run) for run in RUNS]
    assert [is_word(run) for run in RUNS] == [oracle.is_word(run) for run in RUNS]


def test_jieba_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rjieba", None)
    segment._load.cache_clear()
    try:
        assert cut("知识库里讲工作流的笔记") == ["知识库", "里", "讲", "工作", "流", "的", "笔记"]
    finally:
        segment._load.cache_clear()


def test_joined_the_words_are_the_text() -> None:
    text = "".join(RUNS)
    assert "".join(cut(text)) == text


def test_first_calls_from_many_threads_agree() -> None:
    segment._load.cache_clear()
    with ThreadPoolExecutor(16) as pool:
        assert len({tuple(words) for words in pool.map(cut, ["知识库里讲工作流的笔记"] * 64)}) == 1


def test_nothing_is_written_to_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    cut("知识库")
    assert list(tmp_path.iterdir()) == []
