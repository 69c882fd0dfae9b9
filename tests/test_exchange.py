"""The exchange with WeKnora: requests, outcomes, cards, and what may leave them."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from querykit.beats import Node, Persona
from querykit.cards import (
    Card,
    CardWords,
    Contrast,
    Magnet,
    ParsedCard,
    Setup,
    anchored,
    borrowed,
    build_card_labels,
    load_card_labels,
    magnets,
    parse_card,
    parse_contrast,
    parse_setup,
    rescreen,
    same_structure,
    take,
)
from querykit.exchange import (
    DEGRADATION,
    Cards,
    ExchangeError,
    Next,
    NoUsableRow,
    Outcome,
    Reason,
    SearchRequest,
    TypeRow,
    TypeTable,
    Unavailable,
    ZeroHit,
    degrade,
    read_body,
    read_response,
)

CASES = Path(__file__).parent / "cases"
GOLDEN = Path(__file__).parent.parent.parent / "shared" / "weknora" / "golden"
REPORTS = Path(__file__).parent.parent.parent / "shared" / "cases" / "reports.jsonl"


@pytest.fixture(scope="module")
def words() -> CardWords:
    return load_card_labels()


# --- requests ----------------------------------------------------------------------------------------------


def test_request_sends_what_the_contract_names_and_nothing_else() -> None:
    assert SearchRequest(" 事件卡库 ", " 找一条 ", labels=("反差",)).arguments() == {
        "kb_id": "事件卡库",
        "query": "找一条",
        "match_count": 3,
        "vector_threshold": 0.5,
    }


def test_threshold_is_a_real_float() -> None:
    assert type(SearchRequest("库", "问", vector_threshold=0).arguments()["vector_threshold"]) is float


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"query": " 　"}, "not blank"),
        ({"kb": ""}, "not blank"),
        ({"query": None}, "not blank"),
        ({"query": "半\ud800个"}, "surrogate"),
        ({"match_count": 0}, "at least 1"),
        ({"match_count": -1}, "at least 1"),
        ({"match_count": 3.0}, "whole number"),
        ({"match_count": True}, "whole number"),
        ({"match_count": "3"}, "whole number"),
        ({"vector_threshold": 0.6}, "above 0.5"),
        ({"vector_threshold": 0.5000001}, "above 0.5"),
        ({"vector_threshold": float("nan")}, "from 0 to 0.5"),
        ({"vector_threshold": -0.1}, "from 0 to 0.5"),
        ({"vector_threshold": None}, "from 0 to 0.5"),
        ({"vector_threshold": "0.5"}, "from 0 to 0.5"),
    ],
)
def test_refused_requests_say_what_to_do(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ExchangeError, match=says):
        SearchRequest(**{"kb": "事件卡库", "query": "找一条", **wrong})


# --- outcomes ----------------------------------------------------------------------------------------------


def _expected(outcome: Outcome) -> dict[str, Any]:
    reason = {"reason": outcome.reason.value} if isinstance(outcome, Unavailable) else {}
    return {"status": outcome.status, **reason, "cards": [card.text for card in outcome.cards]}


@pytest.mark.parametrize("path", sorted((CASES / "responses").glob("*.json")), ids=lambda path: path.stem)
def test_own_responses(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    assert _expected(read_response(case["response"])) == case["expect"]


def test_outcomes_count_what_was_received() -> None:
    text = '{"data": null, "success": true}'
    outcome = read_response({"content": [{"type": "text", "text": text}], "isError": False})
    assert outcome == ZeroHit()
    assert outcome.received == len(text)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimeoutError("read"), Reason.TIMEOUT),
        (ConnectionRefusedError(), Reason.UNAVAILABLE),
        (FileNotFoundError("uvx"), Reason.UNAVAILABLE),
        (KeyboardInterrupt(), Reason.UNAVAILABLE),
        (type("TimeoutException", (Exception,), {})(), Reason.TIMEOUT),
        (type("McpError", (Exception,), {"code": 408})(), Reason.TIMEOUT),
        (type("MCPError", (Exception,), {"code": -32001})(), Reason.TIMEOUT),
        (type("MCPError", (Exception,), {"code": -32000})(), Reason.UNAVAILABLE),
        (ExceptionGroup("", [ExceptionGroup("", [ValueError(), TimeoutError()])]), Reason.TIMEOUT),
        (BaseExceptionGroup("", [KeyboardInterrupt()]), Reason.UNAVAILABLE),
    ],
)
def test_exceptions_are_time_outs_or_outages(error: BaseException, reason: Reason) -> None:
    assert read_response(error) == Unavailable(reason)


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "",
        [],
        {},
        {"content": None},
        {"content": "text"},
        {"content": [None, {"type": "image"}]},
        {"content": [{"type": "text", "text": None}]},
        {"content": [{"type": "text", "text": "[" * 100_000}]},
        {"content": [{"type": "text", "text": '{"success": true}'}]},
        {"content": [{"type": "text", "text": '{"success": 1, "data": null}'}]},
        {"content": [{"type": "text", "text": '{"success": true, "data": {}}'}]},
        {"content": [{"type": "text", "text": '{"data": null, "success": true}'}], "isError": "no"},
    ],
)
def test_what_is_no_answer_is_an_opaque_error(odd: object) -> None:
    assert read_response(odd) == Unavailable(Reason.TOOL_ERROR)


def test_half_a_surrogate_pair_in_a_card_is_replaced() -> None:
    text = '{"success": true, "data": [{"chunk_metadata": {"answers": ["卡\\ud800"]}}]}'
    assert read_response({"content": [{"type": "text", "text": text}]}).cards == (Card("卡?"),)


def test_degradation_is_total_and_asks_nobody_again() -> None:
    outcomes: list[Outcome] = [Cards((Card("卡"),)), ZeroHit(), NoUsableRow(1)]
    outcomes += [Unavailable(reason) for reason in Reason]
    assert len(outcomes) == len(DEGRADATION)
    assert [degrade(outcome) for outcome in outcomes] == [
        Next.USE_CARDS,
        Next.TYPE_GUIDANCE,
        Next.TYPE_GUIDANCE,
        Next.MARKDOWN_LIBRARY,
        Next.MARKDOWN_LIBRARY,
        Next.MARKDOWN_LIBRARY,
        Next.MARKDOWN_LIBRARY,
        Next.AS_IF_OFF,
    ]


# --- the golden records ------------------------------------------------------------------------------------

_HIT, _ZERO, _BARREN, _ERROR, _TIMEOUT, _DOWN = (
    ["ok", "zero_hit", "no_usable_row", "tool_error", "timeout", "unavailable"]
)

# The class that the contract's table gives to each case. Where servers differ it is a function of the label.
GOLDEN_CLASSES: dict[str, str] = {
    **dict.fromkeys(
        ["after_timeout_next_call", "arg_extra", "hit", "hit_by_name", "hit_by_uuid", "hit_count1",
         "hit_defaults",
         "kb_name_duplicate", "odd_rows", "slow_wait_ok"],
        _HIT,
    ),
    **dict.fromkeys(["match_count_0", "zero_by_threshold", "zero_empty_list", "zero_null"], _ZERO),
    **dict.fromkeys(["doc_kb", "kb_name_case"], _BARREN),
    **dict.fromkeys(["client_timeout", "slow_client_timeout"], _TIMEOUT),
    **dict.fromkeys(["no_token", "server_down", "wrong_token"], _DOWN),
    **dict.fromkeys(
        ["arg_match_count_float", "arg_match_count_word", "arg_missing_query", "arg_threshold_null",
         "backend_404",
         "backend_before_v063", "backend_down_by_name", "backend_down_by_uuid", "http_200_not_json",
         "http_200_success_false", "http_401_bad_key_by_name", "http_401_bad_key_by_uuid",
         "http_401_no_key_by_name", "http_401_no_key_by_uuid", "http_403", "http_429", "http_500", "http_503",
         "kb_listed_then_404", "kb_name_shared", "kb_name_space", "kb_name_unknown", "kb_uuid_unknown_404",
         "query_blank", "query_empty", "retrieve_only_key_unknown_name", "tool_unknown"],
        _ERROR,
    ),
}  # fmt: skip


def _golden_class(server: str, case: str) -> str:
    if case == "arg_match_count_string":
        # SDK 2.x coerces "3"; 1.x refuses it.
        return _ERROR if server == "weknora-mcp-1.0.1" else _HIT
    return GOLDEN_CLASSES[case]


def _raised(dump: dict[str, Any]) -> Exception:
    if "subs" in dump:
        return ExceptionGroup(dump["str"], [_raised(sub) for sub in dump["subs"]])
    name = dump["type"].rpartition(".")[2]
    return type(name, (Exception,), {k: dump[k] for k in ("code",) if k in dump})(dump["str"])  # type: ignore[no-any-return]


def test_every_golden_record_ends_in_its_class() -> None:
    if not GOLDEN.is_dir():
        pytest.skip("../shared is not here")
    wrong, seen = [], Counter[str]()
    for path in sorted(GOLDEN.glob("*/*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if path.stem == "list_tools":
            continue
        result = _raised(record["exception"]) if "exception" in record else record["call_tool_result"]
        outcome = read_response(result, record["arguments"].get("match_count", 5))
        got = outcome.reason.value if isinstance(outcome, Unavailable) else outcome.status
        expected = _golden_class(path.parent.name, path.stem)
        seen[got] += 1
        if got != expected or "127.0.0.1" in repr(outcome) or "http" in repr(outcome):
            wrong.append((path.parent.name, path.stem, got, expected))
    assert wrong == []
    assert sum(seen.values()) == 136
    assert set(seen) == {_HIT, _ZERO, _BARREN, _ERROR, _TIMEOUT, _DOWN}


def test_golden_odd_rows_give_the_one_card_there_is() -> None:
    path = GOLDEN / "tencent-1.1.1" / "odd_rows.json"
    if not path.is_file():
        pytest.skip("../shared is not here")
    outcome = read_response(json.loads(path.read_text(encoding="utf-8"))["call_tool_result"])
    assert isinstance(outcome, Cards)
    assert (len(outcome.cards), outcome.skipped) == (1, 2)
    assert outcome.cards[0].text.startswith("【卡 T-003】")


def test_contract_reports() -> None:
    if not REPORTS.is_file():
        pytest.skip("../shared is not here")
    cases = {case["id"]: case for case in map(json.loads, REPORTS.read_text(encoding="utf-8").splitlines())}
    for name in ("qk-168", "qk-202"):
        assert read_body(cases[name]["input"]["response"]).status == cases[name]["expect"]["status"]
    for name in ("qk-206", "qk-213"):
        outcome = read_body({"success": True, "data": [cases[name]["input"]["hit"]]})
        assert list(outcome.cards) == cases[name]["expect"]["cards"]
    outcome = read_body({"success": True, "data": cases["qk-208"]["input"]["hits"]})
    assert [card.text for card in outcome.cards] == cases["qk-208"]["expect"]["cards"]


# --- cards -------------------------------------------------------------------------------------------------

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
    with pytest.raises(ExchangeError, match="begins with schema = 1"):
        build_card_labels({"schema": 2, "role": "cards", "labels": {}})
    with pytest.raises(ExchangeError, match=r"\[labels\] camera is '镜头'"):
        build_card_labels({"labels": {"camera": "镜头"}})
    with pytest.raises(ExchangeError, match="'lables'"):
        build_card_labels({"labels": {}, "lables": {}})
    with pytest.raises(ExchangeError, match=r"nowhere\.toml"):
        load_card_labels(tmp_path / "nowhere.toml")


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
    for split in ("dev", "second", "third", "fresh"):
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


# --- from a type to a base ---------------------------------------------------------------------------------


def test_a_type_leads_to_its_base_and_labels() -> None:
    rows = (
        TypeRow("反差", "库一", ("打脸",), methods=("细节",)),
        TypeRow("共情", "库二", methods=("专业细节",)),
    )
    table = TypeTable(rows, default="反差")
    node = Node("人", "景", "用专业细节顶回去", "留人")
    judged = table.judge(node)
    assert judged is not None
    assert judged.ask("找一条") == SearchRequest("库二", "找一条")
    named = table.judge(Node("人", "景", "用专业细节顶回去", "留人", kind="反差"))
    assert named is not None
    assert named.ask("找一条").labels == ("打脸",)
    assert table.judge(Node("人", "景", "哭", "留人", kind="没有这类")) is None
    assert table.judge(Node("人", "景", "哭", "留人")) is not None
    assert TypeTable(rows).judge(Node("人", "景", "哭", "留人")) is None
