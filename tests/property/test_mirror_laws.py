"""Laws of mirror queries: compose and parse are inverse, lint sees through width, script and blanks, every
finding has its characters, and any text has an answer."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from opencc import OpenCC

from querykit.lexicon import load_lexicon
from querykit.mirror import (
    Elements,
    Finding,
    MirrorQuery,
    compose,
    lint,
    lint_text,
    load_mirror,
    parse_mirror,
)

ZH = load_lexicon()
RULES = load_mirror()
# One to one and back again: what a reader of either script would type.
TRADITIONAL = OpenCC("s2t")

PERSONS = [
    "被嘲笑的妈妈",
    "等了一整天的人",
    "化妆师",
    "所有人",
    "亲子",
    "剧情类",
    "亲子餐厅里的服务员",
    "大家",
]
BREAKS = ["掏出急救证", "把地址发错了还先发火", "制造反差", "一句话让所有人沉默", "用专业细节顶回去", "反转"]
PLACES = [
    "试妆镜前",
    "小区快递柜前",
    "亲子餐厅",
    "剧情片场",
    "生活",
    "iPhone 15 柜台",
    "凌晨3:20的便利店",
    "亲子",
]
FUNCTIONS = ["钩子", "留人型", "转粉", "勾子", "鉤子", "型"]
JOINTS = [
    "",
    " ",
    "，",
    "的",
    "里",
    "。",
    "：",
    "tag=",
    "赛道：",
    "「",
    "」",
    "型",
    " 的 ",
    "\u00a0",
    "\u200b",
    "{anchor}",
]

raw = st.text(st.characters(exclude_categories=()), max_size=12)


def fragments(*lists: list[str]) -> st.SearchStrategy[str]:
    pieces = st.sampled_from([piece for group in lists for piece in group]) | raw
    return st.lists(pieces, min_size=1, max_size=4).map("".join)


elements = st.builds(
    Elements,
    contrast=fragments(PERSONS, JOINTS),
    break_by=fragments(BREAKS, JOINTS),
    anchor=fragments(PLACES, JOINTS),
    function=st.sampled_from(FUNCTIONS) | raw,
    material=st.sampled_from(["事件素材", "", "型材", " 口播 素材 "]) | raw,
)
queries = fragments(PERSONS, BREAKS, PLACES, FUNCTIONS, JOINTS, ["找一条", "找一条 "])

# Words set apart by blanks, with a mark where a writer would put one: nothing to be cut differently.
plain = st.lists(st.sampled_from(PERSONS + BREAKS + PLACES[:5]), min_size=1, max_size=4).map("，".join)


def rules_of(findings: tuple[Finding, ...]) -> list[tuple[str, bool]]:
    return [(finding.rule, finding.fatal) for finding in findings]


def widened(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@given(elements)
def test_parse_gives_back_what_compose_was_made_from(given_elements: Elements) -> None:
    outcome = compose(given_elements, RULES)
    if isinstance(outcome, MirrorQuery):
        assert parse_mirror(outcome.text, RULES) == outcome.elements
        assert compose(outcome.elements, RULES) == MirrorQuery(
            outcome.text, outcome.elements, lint(outcome.elements, RULES)
        )


@given(elements)
def test_a_composed_query_is_fine_as_free_text(given_elements: Elements) -> None:
    outcome = compose(given_elements, RULES)
    if isinstance(outcome, MirrorQuery):
        assert not any(finding.fatal for finding in lint_text(outcome.text, RULES, ZH))


@given(
    plain,
    st.sampled_from([widened, TRADITIONAL.convert, lambda t: f" \u3000{t}\t", lambda t: "\u200b".join(t)]),
)
def test_lint_is_stable_under_width_script_and_spacing(text: str, change: Any) -> None:
    assert rules_of(lint_text(change(text), RULES, ZH)) == rules_of(lint_text(text, RULES, ZH))


@given(elements)
def test_a_finding_shows_characters_of_its_element(given_elements: Elements) -> None:
    for finding in lint(given_elements, RULES):
        typed = getattr(given_elements, finding.element)
        assert 0 <= finding.span.start <= finding.span.end <= len(typed)
        assert typed[slice(*finding.span)] == finding.text
        assert finding.text or not typed
        assert finding.message


@given(queries | st.text(st.characters(exclude_categories=())))
def test_any_text_has_an_answer_with_its_characters(query: str) -> None:
    for finding in lint_text(query, RULES, ZH):
        assert finding.element == "query"
        assert query[slice(*finding.span)] == finding.text
    parse_mirror(query, RULES)


@given(elements)
def test_an_accepted_query_has_all_four_and_a_known_function(given_elements: Elements) -> None:
    outcome = compose(given_elements, RULES)
    if isinstance(outcome, MirrorQuery):
        made = outcome.elements
        assert all((made.contrast.strip(), made.break_by.strip(), made.anchor.strip(), made.material.strip()))
        assert made.function in ("钩子", "留人", "转粉", "鉤子")
