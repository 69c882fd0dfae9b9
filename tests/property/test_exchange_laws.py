"""Laws of the exchange: a request never carries ``keyword_threshold``; no input makes `read_response` raise;
no secret reaches an output, whichever field of whichever error it stands in."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from querykit.beats import Node, Persona
from querykit.cards import load_card_labels, parse_card, parse_contrast, parse_setup, rescreen
from querykit.exchange import (
    Cards,
    ExchangeError,
    NoUsableRow,
    SearchRequest,
    Unavailable,
    ZeroHit,
    degrade,
    read_response,
)
from querykit.taking import anchored, borrowed, take

SECRET = "sk-geheim-4711"
WORDS = load_card_labels()

_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
)
_key = st.sampled_from(["chunk_metadata", "answers", "content", "is_enabled", "score", "disabled"])
_row = (
    st.dictionaries(_key, _json | st.dictionaries(_key, _json | st.lists(_json, max_size=3)), max_size=4)
    | _json
)
_body = st.fixed_dictionaries(
    {}, optional={"success": st.just(True) | _json, "data": st.none() | st.lists(_row, max_size=5) | _json}
)
_text = _body.map(json.dumps) | st.text(max_size=40)
_block = st.fixed_dictionaries({"type": st.just("text") | _json, "text": _text | _json}) | _json
_result = (
    st.fixed_dictionaries(
        {}, optional={"content": st.lists(_block, max_size=3) | _json, "isError": st.booleans() | _json}
    )
    | _json
)


@given(
    st.text(), st.text(), st.integers(-2, 200), st.floats() | st.integers(), st.lists(st.text(), max_size=2)
)
def test_a_request_never_carries_keyword_threshold(
    kb: str, query: str, count: int, threshold: float, labels: list[str]
) -> None:
    try:
        request = SearchRequest(kb, query, count, threshold, tuple(labels))
    except ExchangeError:
        return
    arguments = request.arguments()
    assert set(arguments) == {"kb_id", "query", "match_count", "vector_threshold"}
    assert [type(arguments[name]) for name in ("match_count", "vector_threshold")] == [int, float]
    assert arguments["match_count"] >= 1
    assert 0 <= arguments["vector_threshold"] <= 0.5
    json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()


@given(_result, st.integers(-3, 10))
def test_no_result_makes_read_response_raise(result: object, match_count: int) -> None:
    outcome = read_response(result, match_count)
    degrade(outcome)
    assert isinstance(outcome, Cards | ZeroHit | NoUsableRow | Unavailable)
    for card in outcome.cards:
        card.text.encode()


class Hostile(dict[str, Any]):
    def get(self, *_: Any) -> Any:
        raise RuntimeError(SECRET)


class Trap(Exception):
    @property
    def code(self) -> int:
        raise RuntimeError(SECRET)


def test_hostile_values_do_not_make_it_raise() -> None:
    for odd in (Hostile(a=1), Trap(), {"content": [Hostile(a=1)]}, object(), type, b"", 1.0, "x" * 10):
        assert SECRET not in repr(read_response(odd))


_errors = st.sampled_from(
    [ValueError, OSError, TimeoutError, KeyError, ConnectionError, type("MCPError", (Exception,), {})]
)


@st.composite
def _error(draw: st.DrawFn) -> BaseException:
    error: Exception = draw(_errors)(f"{draw(st.text(max_size=9))} http://{SECRET}@h/ {SECRET}")
    error.__notes__ = [SECRET]
    for name in ("code", "message", "data", "request", "url"):
        if draw(st.booleans()):
            setattr(error, name, draw(st.sampled_from([SECRET, -32001, -32000, 408, {"url": SECRET}])))
    error.__cause__ = ValueError(SECRET)
    return ExceptionGroup(SECRET, [error]) if draw(st.booleans()) else error


@given(_error())
def test_no_secret_of_an_exception_comes_out(error: BaseException) -> None:
    assert SECRET not in repr(read_response(error))


_texts = st.sampled_from(
    ["Error executing tool hybrid_search", f"Error executing hybrid_search: 401 for url: http://{SECRET}/api"]
) | st.just({"success": False, "error": {"message": SECRET, "details": SECRET}, SECRET: SECRET}).map(
    json.dumps
)


@given(
    _texts, st.booleans() | st.just(SECRET), st.dictionaries(st.just("_meta") | st.just("x"), st.just(SECRET))
)
def test_no_secret_of_an_error_result_comes_out(text: str, is_error: object, more: dict[str, str]) -> None:
    result = {"content": [{"type": "text", "text": text, "_meta": SECRET}], "isError": is_error, **more}
    assert SECRET not in repr(read_response(result))


def test_no_field_of_a_row_but_the_first_answer_comes_out() -> None:
    meta = {
        "standard_question": SECRET,
        "similar_questions": [SECRET],
        "answers": ["卡", SECRET],
        "source": SECRET,
    }
    row = {
        "id": SECRET,
        "content": SECRET,
        "matched_content": SECRET,
        "chunk_metadata": meta,
        "score": SECRET,
    }
    text = json.dumps({"success": True, "data": [row], "error": SECRET})
    outcome = read_response({"content": [{"type": "text", "text": text}], "isError": False})
    assert [card.text for card in outcome.cards] == ["卡"]
    assert SECRET not in repr(outcome)


# --- cards ---

_pieces = st.sampled_from(
    ["[", "]", "【", "】", "—", "——", "-", "→", "->", "被", "打破", "内容含义：", "铺垫：", "约5秒", "短",
     "人物：掌柜、伙计", "镜头", "：", "\n", "；", "原话：“水还没到”", "道具：一把旧伞", "没人看好",
     "都服了", " ", "Ａ", "3", "旧伞", "掌柜"]
)  # fmt: skip
_cards = st.lists(_pieces, max_size=25).map("".join) | st.text(max_size=60)


@given(_cards, _cards)
def test_any_card_and_any_draft_give_values(text: str, draft: str) -> None:
    card = parse_card(text, WORDS)
    parse_setup(text, WORDS.setup)
    for carried in borrowed(card, draft):
        assert draft[carried.start : carried.end] == carried.text
    rescreen([card], Node(draft, draft, draft, draft))
    anchored(draft, Persona(text, (text,)))


@given(_cards)
def test_material_names_no_person_or_prop_of_its_card(text: str) -> None:
    card = parse_card(text, WORDS)
    material = take(card)
    if material is None:
        return
    handed_on = " ".join(
        filter(None, [material.gap.expected, material.gap.breaker, material.gap.result, material.camera])
    )
    for name in (*(card.persons or ()), *(card.props or ()), *(card.identities or ())):
        if len(name) > 1 and name not in WORDS.masks.values():
            assert name not in handed_on


_part = st.text(st.sampled_from("没人看好他都服了一把快刀"), min_size=1, max_size=6)


@given(
    _part, _part, _part, st.sampled_from(["[]", "【】", "［］", "〔〕", "（）", "()"]),
    st.sampled_from(["—", "——", "-", "－", "–", "--"]), st.sampled_from(["→", "->", "＞", "⇒", "——>"]),
    st.sampled_from(["", " ", "　"]), st.booleans(),
)  # fmt: skip
def test_any_spelling_of_a_gap_parses_to_the_same(
    a: str, x: str, b: str, brackets: str, dash: str, arrow: str, space: str, passive: bool
) -> None:
    left, right = brackets[0], brackets[1]
    middle = f"被{x}打破" if passive else x
    text = f"{left}{a}{right}{space}{dash}{space}{middle}{space}{arrow}{space}{left}{b}{right}"
    contrast = parse_contrast(text, WORDS.contrast)
    assert contrast is not None
    assert (contrast.expected, contrast.breaker, contrast.result) == (a, x, b)


@given(st.text(st.sampled_from("掌柜旧伞ＡＢab１ ，"), max_size=30))
def test_borrowing_does_not_depend_on_width_or_case(draft: str) -> None:
    card = parse_card("人物：掌柜、ab\n道具：旧伞", WORDS)
    wide = "".join(unicodedata.normalize("NFKC", c).upper() for c in draft)
    assert [c[2:] for c in borrowed(card, draft)] == [c[2:] for c in borrowed(card, wide)]
