"""The shell for cards: order, degradation, cost, budget, and that nothing of a card stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from querykit.beats import Node, Persona
from querykit.cards import Card, CardWords, load_card_labels
from querykit.exchange import (
    Cards,
    Next,
    NoUsableRow,
    Outcome,
    Reason,
    SearchRequest,
    TypeRow,
    TypeTable,
    Unavailable,
    ZeroHit,
)
from querykit.material import Budget, Cost, Refused, Report, Skipped, Source, fetch_material
from querykit.taking import Magnet, Material

CARD = Card(
    "编号：T-1\n内容含义：[满屋人等着看小学徒出丑]—被一套真功夫打破→[起身]\n人物：小学徒\n原话：“水还没到呢，急什么”"
)
OTHER = Card("编号：T-2\n内容含义：[等了一天的人]—被一把旧伞打破→[他来过]")
NODE = Node("被当众考问的新手妈妈", "厨房", "用一串手上功夫顶回去", "留人")
OWN = Node("自己有场的", "厨房", "手上功夫", "钩子", own_scene=True)
PERSONA = Persona("亲子", ("保温桶",))
TABLE = TypeTable((TypeRow("反差", "事件卡库", ("打脸",), "先抑后扬", ("功夫",)),))


class Engine:
    """Answers from a list, the last again and again, and remembers the requests."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.seen: list[SearchRequest] = []

    def fetch(self, request: SearchRequest) -> Outcome:
        self.seen.append(request)
        return self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]


def compose(node: Node, persona: Persona) -> str | Refused:
    return f"找一条{node.event}、{node.method}、{persona.items[0]}的事件素材"


@pytest.fixture(scope="module")
def words() -> CardWords:
    return load_card_labels()


@pytest.fixture
def run(words: CardWords) -> Callable[..., Report]:
    def fetch(nodes: list[Node], engine: Engine, fallback: Engine | None = None, **how: Any) -> Report:
        settings = {"persona": PERSONA, "table": TABLE, "words": words, "compose": compose, **how}
        return fetch_material(nodes, engine, fallback, **settings)

    return fetch


Run = Callable[..., Report]


def test_the_first_two_that_fit_are_kept(run: Run) -> None:
    engine = Engine(Cards((OTHER, CARD), received=3100))
    node = run([NODE], engine).nodes[0]
    assert (node.source, node.status, node.next) == (Source.ENGINE, "ok", Next.USE_CARDS)
    assert (node.returned, node.kept, node.type) == (2, 1, "反差")
    assert node.material[0].gap.breaker == "一套真功夫"
    assert engine.seen == [SearchRequest("事件卡库", node.query, labels=("打脸",))]


def test_nothing_of_a_card_but_its_material_stays(run: Run) -> None:
    report = run([NODE], Engine(Cards((CARD, OTHER))))
    assert not any(word in repr(report) for word in ("小学徒", "水还没到", "旧伞"))


def test_a_node_with_a_scene_of_its_own_is_not_asked_for(run: Run) -> None:
    engine = Engine(ZeroHit())
    report = run([OWN], engine)
    assert report.nodes[0].skipped is Skipped.OWN_SCENE
    assert (engine.seen, report.cost) == ([], Cost())


def test_type_comes_before_material(run: Run) -> None:
    engine = Engine(ZeroHit())
    assert run([Node("人", "景", "哭", "留人")], engine).nodes[0].skipped is Skipped.NO_TYPE
    assert engine.seen == []


def test_a_refused_query_says_why(run: Run) -> None:
    engine = Engine(ZeroHit())
    node = run([NODE], engine, compose=lambda *_: Refused(("没有具象锚点",))).nodes[0]
    assert (node.skipped, node.reasons, node.guidance) == (Skipped.REFUSED, ("没有具象锚点",), "先抑后扬")
    assert engine.seen == []


@pytest.mark.parametrize("reason", [r for r in Reason if r is not Reason.NO_SUCH_BASE])
def test_without_an_answer_the_library_is_asked(reason: Reason, run: Run) -> None:
    library = Engine(Cards((CARD,)))
    node = run([NODE], Engine(Unavailable(reason)), library).nodes[0]
    assert (node.source, node.status, node.fallback) == (Source.LIBRARY, reason.value, "ok")
    assert len(node.material) == 1
    assert library.seen[0].labels == ("打脸",)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(ZeroHit(), "zero_hit"), (NoUsableRow(3), "no_usable_row"), (Cards((OTHER,)), "ok")],
)
def test_where_nothing_fits_only_guidance_is_left(outcome: Outcome, status: str, run: Run) -> None:
    engine, library = Engine(outcome), Engine(Cards((CARD,)))
    node = run([NODE], engine, library).nodes[0]
    assert (node.source, node.status, node.guidance, node.material) == (
        Source.GUIDANCE,
        status,
        "先抑后扬",
        (),
    )
    assert (len(engine.seen), library.seen) == (1, [])


def test_an_unknown_base_is_as_if_the_feature_were_off(run: Run) -> None:
    library = Engine(Cards((CARD,)))
    node = run([NODE], Engine(Unavailable(Reason.NO_SUCH_BASE)), library).nodes[0]
    assert (node.source, node.guidance, node.next, library.seen) == (Source.NOTHING, "", Next.AS_IF_OFF, [])


def test_no_engine_and_no_library_leave_the_guidance(run: Run) -> None:
    node = run([NODE], Engine(Unavailable(Reason.NOT_MOUNTED))).nodes[0]
    assert (node.source, node.status, node.guidance) == (Source.GUIDANCE, "not_mounted", "先抑后扬")


def test_an_engine_that_is_down_is_asked_once(run: Run) -> None:
    engine, library = Engine(Unavailable(Reason.UNAVAILABLE)), Engine(Cards((CARD,)))
    report = run([NODE] * 3, engine, library)
    assert (len(engine.seen), len(library.seen)) == (1, 3)
    assert [node.status for node in report.nodes] == ["unavailable"] * 3


def test_a_time_out_does_not_stop_the_next_node(run: Run) -> None:
    engine = Engine(Unavailable(Reason.TIMEOUT), Cards((CARD,)))
    assert [node.source for node in run([NODE, NODE], engine).nodes] == [Source.GUIDANCE, Source.ENGINE]


def test_cost_and_tokens_per_node_and_in_all(run: Run) -> None:
    engine = Engine(Cards((CARD,), received=3100), ZeroHit(received=31))
    report = run([NODE, OWN, NODE], engine)
    assert [node.cost for node in report.nodes] == [Cost(1, 3100), Cost(), Cost(1, 31)]
    assert (report.cost, report.cost.tokens) == (Cost(2, 3131), 1010)


@pytest.mark.parametrize("budget", [Budget(requests=1), Budget(tokens=900)])
def test_a_budget_ends_the_run_and_says_so(budget: Budget, run: Run) -> None:
    engine = Engine(Cards((CARD,), received=3100))
    report = run([NODE, NODE, OWN], engine, budget=budget)
    assert [node.skipped for node in report.nodes] == [None, Skipped.BUDGET, Skipped.OWN_SCENE]
    assert len(engine.seen) == 1


def test_magnets_are_named(run: Run) -> None:
    engine = Engine(Cards((CARD, OTHER)), Cards((CARD,)), ZeroHit())
    assert run([NODE] * 3, engine).magnets == (Magnet("T-1", 2, 3),)


def test_a_translation_is_checked_while_the_card_is_at_hand(run: Run) -> None:
    def translate(_: Node, material: tuple[Material, ...]) -> str:
        return f"小学徒拧开保温桶：{material[0].gap.result}"

    draft = run([NODE], Engine(Cards((CARD,))), translate=translate).nodes[0].draft
    assert draft is not None
    assert (draft.anchored, draft.ok) == (True, False)
    assert [(c.kind, c.text) for c in draft.borrowed] == [("person", "小学徒")]


def test_a_judgement_of_ones_own_replaces_the_default(run: Run) -> None:
    node = run([NODE], Engine(Cards((OTHER,))), fits=lambda *_: True).nodes[0]
    assert node.kept == 1


def test_nodes_are_taken_one_at_a_time(run: Run) -> None:
    order: list[str] = []

    class Watching(Engine):
        def fetch(self, request: SearchRequest) -> Outcome:
            order.append("fetch")
            return super().fetch(request)

    def note(*_: object) -> str:
        order.append("translate")
        return ""

    run([NODE, NODE], Watching(Cards((CARD,))), translate=note)
    assert order == ["fetch", "translate", "fetch", "translate"]


def test_requests_for_all_nodes_are_json() -> None:
    request = SearchRequest("事件卡库", "找一条")
    assert json.loads(json.dumps(request.arguments())) == request.arguments()
