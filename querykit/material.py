"""From the nodes of a beat table to material: one node at a time, read and dropped, with what it cost.

The shell around `querykit.exchange` and `querykit.cards`. It asks an engine only for nodes that have a type
and no scene of their own, keeps nothing of a card but its `Material`, and follows the degradation table
without a word to the reader; every turn it took stands in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from querykit.beats import Node, Persona
from querykit.cards import CardWords, Fits, ParsedCard, parse_card, rescreen, same_structure
from querykit.exchange import (
    MATCH_COUNT,
    Judged,
    Next,
    Outcome,
    Reason,
    SearchRequest,
    TypeTable,
    Unavailable,
    degrade,
)
from querykit.mirror import Elements, Finding, MirrorQuery, MirrorRules, Rejected, elements_of
from querykit.mirror import compose as compose_query
from querykit.taking import Carried, Magnet, Material, anchored, borrowed, calling, magnets, take


class FetchesCards(Protocol):
    """An engine that answers a request with an outcome: WeKnora, a folder of Markdown cards, a test."""

    def fetch(self, request: SearchRequest) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class Refused:
    """Why no query could be made of a node, in words for its writer."""

    reasons: tuple[str, ...]


Compose: TypeAlias = Callable[[Node, Persona], str | MirrorQuery | Refused]
Translate: TypeAlias = Callable[[Node, tuple[Material, ...]], str]


def mirror_queries(rules: MirrorRules) -> Compose:
    """What makes a node's mirror query, or says why there is none.

    >>> from querykit.mirror import load_mirror
    >>> ask = mirror_queries(load_mirror())
    >>> node = Node("被当众考问的新手妈妈", "月子中心", "用一串手上功夫顶回去", "留人")
    >>> ask(node, Persona("亲子", ("保温桶",))).text
    '找一条 月子中心被当众考问的新手妈妈 用一串手上功夫顶回去 保温桶 的 留人型事件素材'
    """

    def ask(node: Node, persona: Persona) -> MirrorQuery | Refused:
        elements = elements_of(node, persona, rules)
        if not isinstance(elements, Elements):
            return Refused((elements.reason,))
        query = compose_query(elements, rules)
        return Refused(_said(query.findings)) if isinstance(query, Rejected) else query

    return ask


def _said(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(f"{finding.rule} [{finding.element}] {finding.message}" for finding in findings)


class Source(Enum):
    """Where a node's material comes from."""

    ENGINE = "engine"
    LIBRARY = "library"
    # Only the guidance of the type; nothing is invented.
    GUIDANCE = "guidance"
    NOTHING = "nothing"


class Skipped(Enum):
    """Why a node was not asked for."""

    OWN_SCENE = "own_scene"
    NO_TYPE = "no_type"
    REFUSED = "refused"
    BUDGET = "budget"


# Chinese JSON as models count it: the source measured 11 KB as 3.5 k tokens and 18 KB as 6 k.
BYTES_PER_TOKEN = 3.1


@dataclass(frozen=True, slots=True)
class Cost:
    """Requests made, to the library too, and bytes of text received for them. The tokens are an estimate."""

    requests: int = 0
    received: int = 0

    @property
    def tokens(self) -> int:
        return round(self.received / BYTES_PER_TOKEN)

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.requests + other.requests, self.received + other.received)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend. It ends before the request that would follow the limit, so that the last answer
    may go over; None is no limit.

        >>> Budget(requests=2).allows(Cost(requests=1)), Budget(requests=2).allows(Cost(requests=2))
        (True, False)
    """

    requests: int | None = None
    tokens: int | None = None

    def allows(self, spent: Cost) -> bool:
        within_requests = self.requests is None or spent.requests < self.requests
        return within_requests and (self.tokens is None or spent.tokens < self.tokens)


@dataclass(frozen=True, slots=True)
class Draft:
    """A translation of material into a passage, checked against the cards while they were at hand."""

    text: str
    borrowed: tuple[Carried, ...]
    anchored: bool

    @property
    def ok(self) -> bool:
        return self.anchored and not self.borrowed


@dataclass(frozen=True, slots=True)
class NodeMaterial:
    """What one node got, from where, and why.

    *reasons* say why no query could be made, *warnings* what is doubtful about the one that was. *status* is
    the engine's outcome (``ok``, ``zero_hit``, ``no_usable_row``, or the reason it was
    unavailable), *fallback* the library's where it was asked. *returned* cards came back, *kept* of them have
    the node's structure.
    """

    node: Node
    source: Source
    material: tuple[Material, ...] = ()
    guidance: str = ""
    skipped: Skipped | None = None
    reasons: tuple[str, ...] = ()
    type: str = ""
    query: str = ""
    warnings: tuple[str, ...] = ()
    status: str = ""
    fallback: str = ""
    next: Next | None = None
    returned: int = 0
    kept: int = 0
    cost: Cost = Cost()
    draft: Draft | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """All nodes in order, what they cost together, and the cards that came back for most of them."""

    nodes: tuple[NodeMaterial, ...]
    cost: Cost
    magnets: tuple[Magnet, ...]


def fetch_material(
    nodes: Iterable[Node],
    engine: FetchesCards,
    fallback: FetchesCards | None = None,
    *,
    persona: Persona,
    table: TypeTable,
    words: CardWords,
    compose: Compose,
    translate: Translate | None = None,
    fits: Fits = same_structure,
    keep: int = 2,
    match_count: int = MATCH_COUNT,
    budget: Budget = Budget(),
) -> Report:
    """The material for *nodes*, one after the other.

    *compose* makes the query or refuses (`mirror_queries`); *translate*, where given, turns a node's material
    into a passage, which is checked for what it carries over before the cards are dropped. *fallback* is the
    authoritative Markdown library. Nothing is asked twice, and an engine that is not there is not asked for
    the next node.

        >>> from querykit.cards import Card, load_card_labels
        >>> from querykit.exchange import Cards, TypeRow
        >>> from querykit.mirror import load_mirror
        >>> class Library:
        ...     def fetch(self, request):
        ...         return Cards((Card("[等着看他出丑]—被真功夫打破→[服气]"),), received=3500)
        >>> report = fetch_material(
        ...     [Node("被当众考问的新手", "厨房", "用一串手上功夫顶回去", "留人")], Library(),
        ...     persona=Persona("亲子", ("保温桶",)), words=load_card_labels(),
        ...     table=TypeTable((TypeRow("反差", "事件卡库", methods=("功夫",)),)),
        ...     compose=mirror_queries(load_mirror()))
        >>> report.nodes[0].material[0].gap.result, report.cost
        ('服气', Cost(requests=1, received=3500))
    """
    reading = _Reading(persona, words, translate, fits, keep)
    done: list[NodeMaterial] = []
    called: list[tuple[str, ...]] = []
    spent = Cost()
    down: Outcome | None = None
    for node in nodes:
        step = _step(node, persona, table, compose, match_count)
        if isinstance(step, _Ask) and not budget.allows(spent):
            step = NodeMaterial(node, Source.NOTHING, skipped=Skipped.BUDGET, type=step.judged.row.name)
        if isinstance(step, _Ask):
            # An engine that is down has tried to restart by itself; every further node would only wait.
            answer = _Answer(step, down) if down else _ask(engine, step)
            down = answer.outcome if answer.outcome in _DOWN else None
            step, names = _settle(answer, fallback, reading)
            called += [names] if names is not None else []
        spent += step.cost
        done.append(step)
    return Report(tuple(done), spent, magnets(called))


# Outcomes after which the engine is left alone for the rest of the run. A time-out is none: one slow query
# does not make the next one slow.
_DOWN = (Unavailable(Reason.NOT_MOUNTED), Unavailable(Reason.UNAVAILABLE))


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the cards of every node are read."""

    persona: Persona
    words: CardWords
    translate: Translate | None
    fits: Fits
    keep: int


@dataclass(frozen=True, slots=True)
class _Ask:
    judged: Judged
    request: SearchRequest
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Answer:
    ask: _Ask
    outcome: Outcome
    cost: Cost = Cost()


def _step(
    node: Node, persona: Persona, table: TypeTable, compose: Compose, match_count: int
) -> NodeMaterial | _Ask:
    """The request for *node*, or why there is none: method, type and base come before any material."""
    if node.own_scene:
        return NodeMaterial(node, Source.NOTHING, skipped=Skipped.OWN_SCENE)
    judged = table.judge(node)
    if judged is None:
        return NodeMaterial(node, Source.NOTHING, skipped=Skipped.NO_TYPE)
    query = compose(node, persona)
    if isinstance(query, Refused):
        return NodeMaterial(
            node,
            Source.GUIDANCE,
            guidance=judged.row.guidance,
            skipped=Skipped.REFUSED,
            reasons=query.reasons,
            type=judged.row.name,
        )
    if isinstance(query, MirrorQuery):
        return _Ask(judged, judged.ask(query.text, match_count), _said(query.findings))
    return _Ask(judged, judged.ask(query, match_count))


def _ask(engine: FetchesCards, ask: _Ask) -> _Answer:
    outcome = engine.fetch(ask.request)
    sent = 0 if outcome == Unavailable(Reason.NOT_MOUNTED) else 1
    return _Answer(ask, outcome, Cost(sent, outcome.received))


def _settle(
    answer: _Answer, fallback: FetchesCards | None, reading: _Reading
) -> tuple[NodeMaterial, tuple[str, ...] | None]:
    """The material in *answer*, or in the library's where the table sends us there, and what to call the
    cards that came back (None where nobody answered). The cards themselves end here."""
    node, row, then = answer.ask.judged.node, answer.ask.judged.row, degrade(answer.outcome)
    library = _ask(fallback, answer.ask) if fallback is not None and then is Next.MARKDOWN_LIBRARY else None
    used = library.outcome if library else answer.outcome
    cards = [parse_card(card.text, reading.words) for card in used.cards]
    fitting = rescreen(cards, node, reading.fits, reading.keep)
    material = tuple(taken for card in fitting if (taken := take(card)))
    source = _source(bool(material), library is not None, then)
    result = NodeMaterial(
        node,
        source,
        material,
        guidance="" if source is Source.NOTHING else row.guidance,
        type=row.name,
        query=answer.ask.request.query,
        warnings=answer.ask.warnings,
        status=_status(answer.outcome),
        fallback=_status(library.outcome) if library else "",
        next=then,
        returned=len(cards),
        kept=len(fitting),
        cost=answer.cost + library.cost if library else answer.cost,
        draft=_draft(node, material, fitting, reading) if material else None,
    )
    return result, None if isinstance(used, Unavailable) else tuple(calling(card) for card in cards)


def _source(found: bool, from_library: bool, then: Next) -> Source:
    if found:
        return Source.LIBRARY if from_library else Source.ENGINE
    return Source.NOTHING if then is Next.AS_IF_OFF else Source.GUIDANCE


def _status(outcome: Outcome) -> str:
    return outcome.reason.value if isinstance(outcome, Unavailable) else outcome.status


def _draft(
    node: Node, material: tuple[Material, ...], cards: tuple[ParsedCard, ...], reading: _Reading
) -> Draft | None:
    if reading.translate is None:
        return None
    text = reading.translate(node, material)
    carried = (found for card in cards for found in borrowed(card, text, own=reading.persona))
    return Draft(text, tuple(sorted(set(carried), key=lambda c: c[2:])), anchored(text, reading.persona))
