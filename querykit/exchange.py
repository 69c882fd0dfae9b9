"""WeKnora from both sides of the wire, without the wire: the request, the answer, what to do next.

The caller carries `SearchRequest.arguments` to the tool ``hybrid_search`` and hands whatever came back, a
result or an exception, to `read_response`. Where nothing usable came back, `degrade` says what to do next,
and it is the only place that knows. What becomes of a card is in `querykit.cards`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, TypeAlias

from querykit.beats import Node
from querykit.cards import Card
from querykit.lexicon import QuerykitError


class ExchangeError(QuerykitError):
    """A request or a table that cannot be right, with what to do about it."""


# --- from a node to a request -----------------------------------------------------------------------------

# The tool's own default today, sent all the same so that a new default changes nothing. Measured in the
# source: at 0.6 most cards that fit are no longer found (concrete queries score 0.50 to 0.61).
VECTOR_THRESHOLD = 0.5
# The tool's default is 5; three keep one answer near 11 KB, and re-screening keeps two of them.
MATCH_COUNT = 3


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question to a base, by its name or its id.

    *labels* are for a library that can filter by them (Markdown cards). WeKnora drops arguments that it does
    not know, so they never travel in `arguments`.

        >>> SearchRequest("事件卡库", "找一条被考问的新手").arguments()["vector_threshold"]
        0.5
        >>> SearchRequest("事件卡库", "找一条被考问的新手", vector_threshold=0.6)
        Traceback (most recent call last):
        querykit.exchange.ExchangeError: vector_threshold is 0.6; above 0.5 most fitting cards go; omit it
    """

    kb: str
    query: str
    match_count: int = MATCH_COUNT
    vector_threshold: float = VECTOR_THRESHOLD
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # The server compares names without stripping them; a blank query is an error of newer back ends only.
        object.__setattr__(self, "kb", _sendable("kb", self.kb))
        object.__setattr__(self, "query", _sendable("query", self.query))
        object.__setattr__(self, "match_count", _count(self.match_count))
        object.__setattr__(self, "vector_threshold", _threshold(self.vector_threshold))

    def arguments(self) -> dict[str, Any]:
        """The tool's arguments, as JSON's own types; *keyword_threshold* is left out, never None."""
        return {
            "kb_id": self.kb,
            "query": self.query,
            "match_count": self.match_count,
            "vector_threshold": self.vector_threshold,
        }


def _sendable(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ExchangeError(f"{name} is {value!r}; give text that is not blank")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise ExchangeError(f"{name} {value!r} holds half a surrogate pair, which cannot be sent; remove it")
    return value.strip()


def _count(value: object) -> int:
    # 0 is answered with null although there are hits, and a negative number with a server error.
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ExchangeError(f"match_count is {value!r}; give a whole number of at least 1")
    return int(value)


def _threshold(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
        raise ExchangeError(f"vector_threshold is {value!r}; give a number from 0 to {VECTOR_THRESHOLD}")
    if value > VECTOR_THRESHOLD:
        raise ExchangeError(
            f"vector_threshold is {value!r}; above {VECTOR_THRESHOLD} most fitting cards go; omit it"
        )
    return float(value)


@dataclass(frozen=True, slots=True)
class TypeRow:
    """What a type (极致类型) leads to: the base to ask, labels for a library that filters, guidance in words.

    *methods* are the names of techniques (手法) that produce this type.
    """

    name: str
    base: str
    labels: tuple[str, ...] = ()
    guidance: str = ""
    methods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A node with its type, made by `TypeTable.judge` alone: method, then type, then base, then material."""

    node: Node
    row: TypeRow

    def ask(self, query: str, match_count: int = MATCH_COUNT) -> SearchRequest:
        """The request to the base of this type."""
        return SearchRequest(self.row.base, query, match_count=match_count, labels=self.row.labels)


@dataclass(frozen=True, slots=True)
class TypeTable:
    """The user's table from types to bases. It answers for a node and for nothing else: there is no way to
    look at the material first and to think of a story afterwards.

        >>> table = TypeTable((TypeRow("反差打脸", "事件卡库", methods=("专业细节",)),))
        >>> table.judge(Node("被刁难的人", "厨房", "用一连串专业细节顶回去", "留人")).row.name
        '反差打脸'
        >>> table.judge(Node("被刁难的人", "厨房", "大哭一场", "留人")) is None
        True
    """

    rows: tuple[TypeRow, ...]
    default: str = ""

    def judge(self, node: Node) -> Judged | None:
        """*node* with the type it names, else that of its method (longest name first), else the default."""
        row = (
            self._named(node.kind) if node.kind else self._by_method(node.method) or self._named(self.default)
        )
        return Judged(node, row) if row else None

    def _named(self, name: str) -> TypeRow | None:
        return next((row for row in self.rows if row.name == name), None)

    def _by_method(self, method: str) -> TypeRow | None:
        named = [(len(name), row) for row in self.rows for name in row.methods if name and name in method]
        return max(named, key=lambda pair: pair[0])[1] if named else None


def build_types(tables: object, file: str = "types", base: str | None = None) -> TypeTable:
    """The table in *tables*: ``types``, each with base, labels, guidance and methods, and a ``default_type``.

    *base*, where given, takes the place of every row's own. Raises `ExchangeError` with what is wrong.

        >>> build_types({"types": {"反差打脸": {"base": "事件卡库", "methods": ["专业细节"]}}}).rows[0].base
        '事件卡库'
        >>> build_types({"types": {"反差打脸": {"labels": ["打脸"]}}})
        Traceback (most recent call last):
        querykit.exchange.ExchangeError: types: types.反差打脸 has no base; write base = "name or id"
    """
    problems = list(_type_problems(tables, base))
    if problems or not isinstance(tables, Mapping):
        rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ExchangeError(f"{file}: {problems[0]}{rest}")
    rows = tuple(
        TypeRow(
            name,
            base or row["base"],
            tuple(row.get("labels", ())),
            row.get("guidance", ""),
            tuple(row.get("methods", ())),
        )
        for name, row in tables["types"].items()
    )
    return TypeTable(rows, tables.get("default_type", ""))


_TYPE_KEYS: Mapping[str, type] = {"base": str, "labels": list, "guidance": str, "methods": list}


def _type_problems(tables: object, base: str | None) -> Iterator[str]:
    types = tables.get("types") if isinstance(tables, Mapping) else None
    if not isinstance(tables, Mapping) or not isinstance(types, Mapping) or not types:
        yield "has no types; write a table [types.NAME] with base, labels, guidance, methods"
        return
    for key in tables.keys() - {"types", "default_type"}:
        yield f"has an unknown key {key!r}; it takes types, default_type"
    default = tables.get("default_type", "")
    if default != "" and default not in list(types):
        yield f"default_type is {default!r}; name one of {', '.join(types)}"
    for name, row in types.items():
        if not isinstance(row, Mapping):
            yield f"types.{name} is {row!r}; write a table with {', '.join(_TYPE_KEYS)}"
            continue
        for key, value in row.items():
            if key not in _TYPE_KEYS:
                yield f"types.{name} has an unknown key {key!r}; it takes {', '.join(_TYPE_KEYS)}"
            elif not _is_a(value, _TYPE_KEYS[key]):
                wanted = "text in quotes" if _TYPE_KEYS[key] is str else "a list of texts"
                yield f"types.{name}.{key} is {value!r}; write {wanted}"
        if base is None and not str(row.get("base", "")).strip():
            yield f'types.{name} has no base; write base = "name or id"'


def _is_a(value: object, kind: type) -> bool:
    """Text, or a list of texts that are not blank."""
    if kind is str or not isinstance(value, list):
        return isinstance(value, kind)
    return all(isinstance(item, str) and item.strip() for item in value)


# --- from an answer to an outcome --------------------------------------------------------------------------


class Reason(Enum):
    """Why no answer came. It keeps nothing of what the server said: old servers put their address into it."""

    NOT_MOUNTED = "not_mounted"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    TOOL_ERROR = "tool_error"
    NO_SUCH_BASE = "no_such_base"


@dataclass(frozen=True, slots=True)
class Cards:
    """At least one card, in the server's order; *skipped* rows had none. *received* counts bytes of text."""

    status: ClassVar[str] = "ok"
    cards: tuple[Card, ...]
    skipped: int = 0
    received: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ZeroHit:
    """The base answered that it has nothing. An answer, not an error: it is not asked again."""

    status: ClassVar[str] = "zero_hit"
    cards: ClassVar[tuple[Card, ...]] = ()
    received: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class NoUsableRow:
    """Rows came back and none holds a card: a document base, most likely. Neither a miss nor an outage, hence
    an outcome of its own: the service works, and the base is the wrong one or badly filled."""

    status: ClassVar[str] = "no_usable_row"
    cards: ClassVar[tuple[Card, ...]] = ()
    skipped: int
    received: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No answer, and the one thing known about it."""

    status: ClassVar[str] = "unavailable"
    cards: ClassVar[tuple[Card, ...]] = ()
    reason: Reason
    received: int = field(default=0, compare=False)


Outcome: TypeAlias = Cards | ZeroHit | NoUsableRow | Unavailable

# A timed-out request in the official SDK 2.x and 1.x.
_TIMEOUT_CODES = (-32001, 408)


def read_response(result: object, match_count: int = MATCH_COUNT) -> Outcome:
    """What *result* amounts to: a mapping like a dumped CallToolResult, or the exception that came instead.

    Six steps, in the order in which the servers differ: exception, isError, text that is no JSON object (old
    servers report errors so, with isError false), success not true, null or an empty list, rows. It never
    raises, and keeps no text of the server but the cards.

        >>> answer = '{"data": null, "success": true}'
        >>> read_response({"content": [{"type": "text", "text": answer}], "isError": False})
        ZeroHit(received=31)
        >>> read_response(TimeoutError("…"))
        Unavailable(reason=<Reason.TIMEOUT: 'timeout'>, received=0)
    """
    try:
        if isinstance(result, BaseException):
            return Unavailable(Reason.TIMEOUT if _timed_out(result) else Reason.UNAVAILABLE)
        return _read_result(result, match_count)
    except Exception:
        # Whatever a foreign mapping or exception does when it is looked at, the reader of the answer must not
        # be the thing that fails. Nothing else is expected here: JSON is caught where it is parsed.
        return Unavailable(Reason.TOOL_ERROR)


def _timed_out(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_timed_out(inner) for inner in error.exceptions)
    # HTTP clients' own timeouts are no TimeoutError; known by name, since the core imports no HTTP client.
    by_name = any(cls.__name__ in ("TimeoutException", "Timeout") for cls in type(error).__mro__)
    # SDK 1.x keeps the code one level deeper.
    codes = (getattr(place, "code", None) for place in (error, getattr(error, "error", None)))
    return isinstance(error, TimeoutError) or by_name or any(code in _TIMEOUT_CODES for code in codes)


def _read_result(result: object, match_count: int) -> Outcome:
    if not isinstance(result, Mapping) or result.get("isError", result.get("is_error")) not in (None, False):
        return Unavailable(Reason.TOOL_ERROR)
    text = first_text(result.get("content"))
    received = len(text.encode("utf-8", "replace"))
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return Unavailable(Reason.TOOL_ERROR, received)
    return read_body(body, match_count, received=received)


def first_text(content: object) -> str:
    """The first block of text in the content of a tool's result, or ""."""
    blocks = content if isinstance(content, Sequence) and not isinstance(content, str | bytes) else ()
    texts = (b.get("text") for b in blocks if isinstance(b, Mapping) and b.get("type") == "text")
    return next((text for text in texts if isinstance(text, str)), "")


def read_body(body: object, match_count: int = MATCH_COUNT, *, received: int = 0) -> Outcome:
    """What the JSON inside the answer amounts to (the last three of the six steps).

    >>> read_body({"success": True, "data": []})
    ZeroHit(received=0)
    >>> read_body({"success": True, "data": [{"content": "全文"}]})
    NoUsableRow(skipped=1, received=0)
    """
    if not isinstance(body, Mapping) or body.get("success") is not True or "data" not in body:
        return Unavailable(Reason.TOOL_ERROR, received)
    rows = body["data"]
    if rows is None or rows == []:
        return ZeroHit(received)
    if not isinstance(rows, list):
        return Unavailable(Reason.TOOL_ERROR, received)
    # A document base appends neighbours of its hits beyond match_count, in random order.
    asked = rows[: match_count if isinstance(match_count, int) and match_count > 0 else MATCH_COUNT]
    cards = tuple(Card(text) for row in asked if (text := _answer(row)))
    skipped = len(asked) - len(cards)
    return Cards(cards, skipped, received) if cards else NoUsableRow(skipped, received)


def _answer(row: object) -> str:
    """The first answer of *row*, or "" where there is none or the row is switched off.

    Never ``content`` or ``matched_content``: they repeat the card between questions that are of no use here.
    """
    meta = row.get("chunk_metadata") if isinstance(row, Mapping) else None
    if not isinstance(row, Mapping) or not isinstance(meta, Mapping) or _disabled(row) or _disabled(meta):
        return ""
    answers = meta.get("answers")
    first = answers[0] if isinstance(answers, list) and answers else None
    if not isinstance(first, str) or not first.strip():
        return ""
    # JSON may escape half a surrogate pair, which no file and no terminal takes.
    return first.encode("utf-8", "replace").decode("utf-8")


def _disabled(row: Mapping[str, Any]) -> bool:
    # Current servers drop such rows themselves; the field's name is a guess from their own table.
    off = any(row.get(key) is False for key in ("is_enabled", "enabled"))
    return off or any(row.get(key) is True for key in ("is_disabled", "disabled"))


class Next(Enum):
    """What a workflow does after an outcome."""

    USE_CARDS = "use_cards"
    MARKDOWN_LIBRARY = "markdown_library"
    AS_IF_OFF = "as_if_off"
    TYPE_GUIDANCE = "type_guidance"


# The whole matrix. Silent for the reader, visible in the result; no row of it asks again.
DEGRADATION: Mapping[type[Cards | ZeroHit | NoUsableRow] | Reason, Next] = {
    Cards: Next.USE_CARDS,
    ZeroHit: Next.TYPE_GUIDANCE,
    NoUsableRow: Next.TYPE_GUIDANCE,
    Reason.NOT_MOUNTED: Next.MARKDOWN_LIBRARY,
    Reason.UNAVAILABLE: Next.MARKDOWN_LIBRARY,
    Reason.TIMEOUT: Next.MARKDOWN_LIBRARY,
    # Current servers say no more than this, a wrong key and an unknown base included.
    Reason.TOOL_ERROR: Next.MARKDOWN_LIBRARY,
    # Known only where the bases were listed once, by a probe.
    Reason.NO_SUCH_BASE: Next.AS_IF_OFF,
}


def degrade(outcome: Outcome) -> Next:
    """What to do after *outcome*.

    >>> degrade(ZeroHit()), degrade(Unavailable(Reason.NO_SUCH_BASE))
    (<Next.TYPE_GUIDANCE: 'type_guidance'>, <Next.AS_IF_OFF: 'as_if_off'>)
    """
    return DEGRADATION[outcome.reason if isinstance(outcome, Unavailable) else type(outcome)]
