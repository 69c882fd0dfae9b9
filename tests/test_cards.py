"""Cards: their parts, whether they fit a node, and what may leave them."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from querykit.beats import Node, Persona
from querykit.cards import (
    CardWords,
    Contrast,
    ParsedCard,
    Setup,
    build_card_labels,
    load_card_labels,
    parse_card,
    parse_contrast,
    parse_setup,
    rescreen,
    same_structure,
)
from querykit.lexicon import LexiconError
from querykit.taking import Magnet, anchored, borrowed, magnets, take

CASES = Path(__file__).parent / "cases"


@pytest.fixture(scope="module")
def words() -> CardWords:
    return load_card_labels()


SPELLINGS = [
    "[没人看好他]—被一把快刀打破→[都服了]",
    "[没人看好他]——被一把快刀打破——>[都服了]",
    "［没人看好他］－被一把快刀打破→［都服了］",
    "【没人看好他】-被一把快刀打破->【都服了】",
    "[ 没人看好他 ] — 被 一把快刀 打破 → [ 都服了 ]",
    "[没人看好他] -- 一把快刀 --> [都服了]",
    "[没人看好他]–被[一把快刀]打破＞[都服了]",
    "没人看好他—被一把快刀打破→都服了",
    "没人看好他-被一把快刀打破->都服了",
    "没人看好他 - 一把快刀 => 都服了",
    "没人看好他→被一把快刀打破→都服了",
    "「[没人看好他]—被一把快刀打破→[都服了]」",
    "内容含义：[没人看好他]—被一把快刀打破→[都服了]；铺垫：短",
    "1. **内容含义**：没人看好他——被一把快刀击碎→都服了。镜头：推近",
    "[期待：没人看好他]—[被一把快刀打破]→[结果：都服了]",
    "（没人看好他）―因一把快刀反转⇒（都服了）",
    "铺垫3-10秒，如下\n[没人看好他]~被一把快刀打破→[都服了]",
    "[没人看好他]\n—被一把快刀打破\n→[都服了]",
    "[没人看好他]—\n被一把快刀打破→\n[都服了]",
    "「没人看好他—被一把快刀打破→都服了」",
    "[没人看好他—被一把快刀打破→都服了]",
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings_of_the_gap(text: str, words: CardWords) -> None:
    assert parse_contrast(text, words.contrast) == Contrast("没人看好他", "一把快刀", "都服了")


@pytest.mark.parametrize(
    "text",
    [
        "", "→", "—→", "等了一天，只剩一把伞", "A→B", "[没人看好他]—被打破", "铺垫3-10秒→推近",
        "穿T-shirt的人→笑了",
        "第一步→第二步→第三步", "[]—被X打破→[]", "------", "2024-01-02 -> 2024-02-03",
    ],
)  # fmt: skip
def test_what_is_no_gap(text: str, words: CardWords) -> None:
    assert parse_contrast(text, words.contrast) is None


def test_dashes_inside_the_brackets_are_no_turns() -> None:
    text = "[他——被笑的冠军——上场]—被一把快刀打破→[都服了——连他]"
    assert parse_contrast(text) == Contrast("他——被笑的冠军——上场", "一把快刀", "都服了——连他")


def test_the_notation_itself_parses() -> None:
    assert parse_contrast("「[期待A]—被X打破→[结果B]」") == Contrast("期待A", "X", "结果B")


def test_labelled_card_in_any_order(words: CardWords) -> None:
    lines = [
        "内容含义：[没人看好他]—被一把快刀打破→[都服了]",
        "铺垫：约5秒",
        "镜头：只拍手，不给脸",
        "原话：“水还没到呢”",
        "人物：老茶客、小学徒（学徒）",
        "身份：掌柜",
        "道具：一把旧铜壶、白瓷杯",
        "手法：专业细节",
        "编号：S-001",
    ]
    expected = ParsedCard(
        text="",
        contrast=Contrast("没人看好他", "一把快刀", "都服了"),
        name="S-001",
        meaning="[没人看好他]—被一把快刀打破→[都服了]",
        setup=Setup.MEDIUM,
        camera="只拍手，不给脸",
        technique="专业细节",
        lines=("水还没到呢",),
        persons=("老茶客", "小学徒"),
        identities=("掌柜", "学徒"),
        props=("一把旧铜壶", "白瓷杯"),
    )
    for shift in range(len(lines)):
        card = parse_card("\n".join(lines[shift:] + lines[:shift]), words)
        assert ParsedCard(**{**_fields(card), "text": ""}) == expected


def _fields(card: ParsedCard) -> dict[str, Any]:
    return {name: getattr(card, name) for name in ParsedCard.__dataclass_fields__}


@pytest.mark.parametrize(
    "text",
    [
        "【镜头】推近\n【铺垫】短",
        "**镜头**：推近\n**铺垫**：短",
        "- 镜头: 推近\n- 铺垫: 短",
        "1. 镜头：推近\n2. 铺垫：短",
        "镜头：推近；铺垫：短",
        "| 镜头 | 推近 |\n| 铺垫 | 短 |",
        "## 镜头\n推近\n\n## 铺垫\n短",
        "> 镜头语言：推近\n> 铺垫时长：短",
    ],
)
def test_ways_of_labelling(text: str, words: CardWords) -> None:
    card = parse_card(text, words)
    assert (card.camera, card.setup) == ("推近", Setup.SHORT)


def test_card_without_labels_yields_its_gap_only(words: CardWords) -> None:
    text = "铺垫约6秒后，[没人看好他]—被一把快刀打破→[都服了]，镜头停在手上。"
    card = parse_card(text, words)
    assert card == ParsedCard(text, Contrast("没人看好他", "一把快刀", "都服了"))


def test_words_that_are_no_labels_stay(words: CardWords) -> None:
    assert parse_card("镜头停在手上，人物不多，道具：无", words) == ParsedCard(
        "镜头停在手上，人物不多，道具：无"
    )


def test_none_is_not_missing(words: CardWords) -> None:
    assert parse_card("道具：无", words).props == ()
    assert parse_card("镜头：推近", words).props is None


def test_a_users_own_labels() -> None:
    labels = {"camera": ["机位"], "mood": ["情绪"]}
    card = parse_card("机位：俯拍\n情绪：克制", labels)
    assert (card.camera, card.extra, card.setup) == ("俯拍", (("mood", "克制"),), None)


@pytest.mark.parametrize(
    ("text", "setup"),
    [
        ("铺垫约5秒", Setup.MEDIUM), ("短", Setup.SHORT), ("3s", Setup.SHORT), ("３秒", Setup.SHORT),
        ("3.5秒", Setup.MEDIUM), ("10秒", Setup.MEDIUM), ("10秒以上", Setup.LONG), (">10s", Setup.LONG),
        ("≤3s", Setup.SHORT), ("不到10秒", Setup.MEDIUM), ("3-10s", Setup.MEDIUM), ("8~12秒", Setup.LONG),
        ("三到五秒", Setup.MEDIUM), ("两秒", Setup.SHORT), ("十几秒", Setup.LONG), ("十五秒", Setup.LONG),
        ("二十秒", Setup.LONG), ("半分钟", Setup.LONG), ("1分钟", Setup.LONG), ("中等", Setup.MEDIUM),
        ("铺垫较长", Setup.LONG), ("短（2个镜头）", Setup.SHORT), ("短，约8秒", Setup.MEDIUM),
        ("5 sec", Setup.MEDIUM),
        ("长镜头交代环境", None), ("三个镜头", None), ("", None), ("随意", None), ("中景", None),
    ],
)  # fmt: skip
def test_setup_lengths(text: str, setup: Setup | None, words: CardWords) -> None:
    assert parse_setup(text, words.setup) is setup


def test_broken_word_files_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="role: is not"):
        build_card_labels({"schema": 2, "role": "cards", "labels": {}})
    with pytest.raises(LexiconError, match=r"nowhere\.toml"):
        load_card_labels(tmp_path / "nowhere.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff")
    with pytest.raises(LexiconError, match=r"odd\.toml: file: is no TOML"):
        load_card_labels(tmp_path / "odd.toml")
    with pytest.raises(LexiconError, match="camera: is '镜头'"):
        parse_card("镜头：推近", {"camera": "镜头"})


def test_all_that_is_wrong_with_words_is_said_at_once() -> None:
    tables = {"labels": {"camera": "镜头"}, "lables": {}, "masks": {"props": ["物"]}, "setup": []}
    with pytest.raises(LexiconError) as caught:
        build_card_labels(tables)
    assert [problem.key for problem in caught.value.problems] == [
        "labels.camera",
        "lables",
        "masks.props",
        "setup",
    ]


@pytest.mark.parametrize(
    "unit", ["- ", "[", "—", "一", "（", "“", "镜头：", "\n人物：a", "被—→", "[甲]—被乙打破→[丙]；"]
)
def test_long_cards_take_no_longer_than_they_are_long(unit: str, words: CardWords) -> None:
    def seconds(text: str) -> float:
        start = time.perf_counter()
        borrowed(parse_card(f"原话：{text}\n铺垫：{text}\n{text}", words), text[:500])
        return time.perf_counter() - start

    # Ten times the text; a quadratic step would take a hundred times as long.
    short, long = (min(seconds(unit * (n // len(unit))) for _ in range(2)) for n in (3_000, 30_000))
    assert long < 40 * max(short, 0.002)


# --- re-screening ------------------------------------------------------------------------------------------


def test_structure_scores_are_those_of_the_docstring(words: CardWords) -> None:
    lines = (CASES / "structure.jsonl").read_text(encoding="utf-8").splitlines()
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for case in map(json.loads, lines):
        fits = same_structure(parse_card(case["card"], words), Node(**case["node"]))
        counts[case["split"], case["fits"], fits] += 1
    for split in ("dev", "second", "third", "fresh", "newest"):
        yes, no = counts[split, True, True], counts[split, False, True]
        total = sum(n for key, n in counts.items() if key[0] == split)
        score = f"{yes + counts[split, False, False]} of {total}, precision {yes} of {yes + no}"
        assert f"{split} {score}" in " ".join((same_structure.__doc__ or "").split())


def test_rescreen_keeps_two_in_order_and_each_once(words: CardWords) -> None:
    node = Node("", "", "", "")
    cards = [parse_card(f"[{name}]—被X打破→[B]", words) for name in "甲乙甲丙丁"]
    kept = rescreen(cards, node, fits=lambda card, _: "乙" not in card.text)
    assert [card.contrast and card.contrast.expected for card in kept] == ["甲", "丙"]


def test_a_card_without_a_gap_fits_nothing(words: CardWords) -> None:
    card = parse_card("被当众考问的新手用真功夫顶了回去", words)
    assert not same_structure(card, Node("被当众考问的新手", "厨房", "真功夫", "留人"))


# --- what leaves a card ------------------------------------------------------------------------------------

CARD = """内容含义：[满屋人等着看小学徒出丑]—被一把旧铜壶打破→[老茶客起身]
铺垫：约5秒
镜头：对着铜壶推近，不拍老茶客
原话：“水还没到呢，急什么”
人物：老茶客、小学徒
身份：茶馆掌柜
道具：一把旧铜壶、她留下的那张车票"""


def test_material_holds_no_person_prop_or_line(words: CardWords) -> None:
    material = take(parse_card(CARD, words))
    assert material is not None
    assert material.gap == Contrast("满屋人等着看某人出丑", "某物", "某人起身")
    assert (material.setup, material.camera) == (Setup.MEDIUM, "对着铜壶推近，不拍某人")
    assert not any(word in repr(material) for word in ("老茶客", "小学徒", "旧铜壶", "车票", "掌柜"))


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        ("她把车票按在桌上", [("prop", "车票")]),
        ("老茶客也笑了，老茶客走了", [("person", "老茶客"), ("person", "老茶客")]),
        ("茶馆掌柜摇头", [("identity", "茶馆掌柜")]),
        ("他说水还没到，呢急什么", [("line", "水还没到，呢急什么")]),
        ("ＡＢ 一把旧铜壶", [("prop", "一把旧铜壶")]),
        ("妈妈在试妆镜前停了三秒", []),
        ("", []),
    ],
)
def test_borrowed_names_what_was_carried_over(
    draft: str, found: list[tuple[str, str]], words: CardWords
) -> None:
    carried = borrowed(parse_card(CARD, words), draft)
    assert [(c.kind, c.text) for c in carried] == found
    assert all(draft[c.start : c.end] == c.text for c in carried)


def test_own_things_are_not_borrowed(words: CardWords) -> None:
    card = parse_card(CARD, words)
    assert borrowed(card, "她把车票按在桌上", own=Persona("旅行", ("车票夹",))) == ()


def test_short_lines_count_only_alone(words: CardWords) -> None:
    card = parse_card("原话：“走吧”", words)
    assert borrowed(card, "我们走吧台那边") == ()
    assert [c.kind for c in borrowed(card, "她说：“走吧。”")] == ["line"]


def test_wording_of_an_unlabelled_card_is_found(words: CardWords) -> None:
    card = parse_card("灯下能看见筷子的影子。[没人看好]—被真功夫打破→[服气]", words)
    assert [c.text for c in borrowed(card, "厨房里，灯下能看见筷子的影子")] == ["灯下能看见筷子的影子"]
    assert borrowed(card, "没人看好，被真功夫打破") == ()


def test_a_track_is_no_anchor() -> None:
    persona = Persona("亲子", ("亲子", "保温桶"))
    assert anchored("她拧开保温桶", persona)
    assert not anchored("一个亲子故事", persona)
    assert not anchored("一个故事", Persona("亲子", ("",)))


def test_magnets_need_most_nodes_and_two_at_least() -> None:
    assert magnets([]) == ()
    assert magnets([("甲",)]) == ()
    assert magnets([("甲", "甲"), ("乙",)]) == ()
    assert magnets([("甲", "乙"), ("甲",), ("丙",)]) == (Magnet("甲", 2, 3),)
