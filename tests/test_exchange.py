"""The exchange with WeKnora: requests, outcomes, cards, and what may leave them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from querykit.beats import Node
from querykit.cards import (
    Card,
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
        (type("ReadTimeout", (type("Timeout", (Exception,), {}),), {})(), Reason.TIMEOUT),
        (type("McpError", (Exception,), {"code": 408})(), Reason.TIMEOUT),
        (type("McpError", (Exception,), {"error": SimpleNamespace(code=408)})(), Reason.TIMEOUT),
        (type("McpError", (Exception,), {"error": SimpleNamespace(code=-32603)})(), Reason.UNAVAILABLE),
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
        {"content": [{"type": "text", "text": '{"success": true, "data": ""}'}]},
        {"content": [{"type": "text", "text": '{"success": true, "data": 0}'}]},
        {"content": [{"type": "text", "text": '{"success": "true", "data": null}'}]},
        {"content": [{"type": "text", "text": '{"success": true, "data": null} and more'}]},
        {"content": [{"type": "text", "text": '{"success": true, "success": false, "data": null}'}]},
        {"content": [{"type": "text", "text": '```json\n{"success": true, "data": null}\n```'}]},
        {
            "content": [
                {"type": "text", "text": ""},
                {"type": "text", "text": '{"success": true, "data": null}'},
            ]
        },
        {"content": [], "structuredContent": {"success": True, "data": None}},
        {"content": [{"type": "text", "text": '{"success": true, "data": null}'}], "is_error": True},
        {"content": [{"type": "text", "text": '{"data": null, "success": true}'}], "isError": "no"},
    ],
)
def test_what_is_no_answer_is_an_opaque_error(odd: object) -> None:
    assert read_response(odd) == Unavailable(Reason.TOOL_ERROR)


@pytest.mark.parametrize(
    "row",
    [
        None, 1, "x", [], {},
        {"chunk_metadata": None, "content": "全文", "matched_content": "全文"},
        {"answers": ["卡"], "standard_question": "问"},
        {"chunk_metadata": {"answers": "卡"}},
        {"chunk_metadata": {"answers": {"0": "卡"}}},
        {"chunk_metadata": '{"answers": ["卡"]}'},
        {"chunk_metadata": {"answers": [None, "卡"]}},
        {"chunk_metadata": {"answers": [["卡"]]}},
        {"chunk_metadata": {"answers": [" \n"]}},
        {"chunk_metadata": {"generated_questions": ["问"]}},
        {"chunk_metadata": {"answers": ["卡"], "is_enabled": False}},
    ],
)  # fmt: skip
def test_a_row_without_a_first_answer_is_passed_over(row: object) -> None:
    assert read_body({"success": True, "data": [row]}) == NoUsableRow(1)
    good = {"chunk_metadata": {"answers": ["好卡", "备注"]}, "score": 0}
    assert read_body({"success": True, "data": [row, good]}) == Cards((Card("好卡"),), skipped=1)


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

_HIT, _ZERO, _BARREN, _ERROR, _TIMEOUT, _DOWN = [
    "ok",
    "zero_hit",
    "no_usable_row",
    "tool_error",
    "timeout",
    "unavailable",
]

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
