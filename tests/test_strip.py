"""Container and colloquial words go, with what is stuck to them; content never does."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from querykit.lexicon import Lexicon, load_tables
from querykit.strip import Basis, Stripped, strip, unstripped
from querykit.text import normalize

CASES = Path(__file__).parent / "cases"


def cases(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8")).get("case", [])


def terms(ask: str, lexicon: Lexicon) -> list[str]:
    return [c.text for c in strip(normalize(ask), lexicon).chunks]


@pytest.mark.parametrize("case", cases("asked"), ids=lambda c: c["label"])
def test_asked(case: dict[str, Any], zh: Lexicon) -> None:
    stripped = strip(normalize(case["ask"]), zh)
    assert [c.text for c in stripped.chunks] == case["terms"]
    if "expect" in case:
        assert stripped.basis.value == case["expect"]


FRAMES = ["{}", "知识库里讲{}的笔记", "库里有没有{}", "关于{}的文章", "{}是什么", "请问{}怎么办"]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("case", cases("boundaries"), ids=lambda c: c["label"])
def test_real_word_stays_whole(case: dict[str, Any], frame: str, zh: Lexicon) -> None:
    assert terms(frame.replace("{}", case["ask"]), zh) == case["terms"]


@pytest.mark.xfail(strict=True, reason="known and not mended yet")
@pytest.mark.parametrize("case", cases("known_failures"), ids=lambda c: c["label"])
def test_known_failure(case: dict[str, Any], zh: Lexicon) -> None:
    assert terms(case["ask"], zh) == case["terms"]


EXAMPLES = [
    pytest.param(example, id=f"{sheet}-{number}")
    for sheet, table in load_tables().items()
    for number, example in enumerate(table.get("example", ()), 1)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_lexicon_example(example: dict[str, Any], zh: Lexicon) -> None:
    assert terms(example["ask"], zh) == example["terms"], example["why"]


def test_rules_are_named() -> None:
    from querykit.lexicon import load_lexicon

    stripped = strip(normalize("知识库里讲工作流的笔记"), load_lexicon())
    assert [(r.text, r.rule) for r in stripped.removed] == [
        ("知识库", "container"),
        ("里", "locative"),
        ("讲", "verb"),
        ("的", "particles"),
        ("笔记", "container"),
    ]


def test_keep_words_of_a_user_win(zh: Lexicon) -> None:
    ask = "四流合一怎么核对"
    mine = zh.extend(add={"keep": ["四流", "怎么核对"]})
    assert terms(ask, mine) == ["四流合一怎么核对"]
    assert terms(ask, zh) == ["四流合一", "核对"]


def test_own_container(zh: Lexicon) -> None:
    ask = "菜谱里有没有讲凉拌菜的"
    assert terms(ask, zh.extend(add={"items": ["菜谱"]})) == ["凉拌菜"]


def test_word_switched_off(zh: Lexicon) -> None:
    assert terms("库里讲茶的笔记", zh.extend(without={"places": ["库"]})) != terms("库里讲茶的笔记", zh)


def test_removed_word_has_no_effect_any_more(zh: Lexicon) -> None:
    with_word = zh.extend(add={"keep": ["龙腾卡"]})
    assert with_word.extend(without={"keep": ["龙腾卡"]}) == zh


def test_short_user_word_does_not_cut_a_latin_run(zh: Lexicon) -> None:
    assert terms("storage 类型怎么选", zh.extend(add={"keep": ["rag"]}))[0] == "storage"
    assert terms("rtx40super 显卡", zh.extend(add={"tools": ["rtx40"]}))[0] == "rtx40super"


def test_unstripped_keeps_every_word(zh: Lexicon) -> None:
    whole = unstripped(normalize("库里有没有讲 Suno 的笔记?"), zh)
    assert (whole.removed, whole.basis) == ((), Basis.UNSTRIPPED)
    assert "".join(c.text for c in whole.chunks) == "库里有没有讲Suno的笔记"


def test_empty_question(zh: Lexicon) -> None:
    asked = normalize("")
    assert strip(asked, zh) == Stripped(asked, (), (), Basis.NOTHING)


@pytest.mark.parametrize(
    "ask",
    [
        "知识库" + "里" * 5000 + "讲" * 5000,
        "v1." * 3000 + " 怎么办",
        "笔记" * 20000,
        "《" * 20000,
        "的" * 50000,
        "一不一" * 10000,
    ],
    ids=["locatives", "dots", "containers", "quotes", "particles", "a-not-a"],
)
def test_hostile_question_is_read_in_time(ask: str, zh: Lexicon) -> None:
    start = time.process_time()
    strip(normalize(ask), zh)
    assert time.process_time() - start < 3  # 0.05 … 0.6 s where it was written


def test_time_grows_linearly(zh: Lexicon) -> None:
    def seconds(times: int) -> float:
        ask = normalize("知识库里讲工作流的笔记怎么整理 Suno v1.5，" * times)
        start = time.perf_counter()
        strip(ask, zh)
        return time.perf_counter() - start

    seconds(40)
    assert min(seconds(2000) for _ in range(2)) < 30 * min(seconds(200) for _ in range(3))


COMPOUNDS = tomllib.loads((CASES / "compounds.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("frame", COMPOUNDS["frames"])
def test_names_that_begin_like_function_words_stay_whole(frame: str, zh: Lexicon) -> None:
    damaged = [w for w in COMPOUNDS["words"] if terms(frame.format(w), zh) != [w]]
    assert damaged == []
