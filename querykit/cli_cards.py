"""The commands for event cards: ``querykit cards``, from nodes to material, and ``querykit probe``."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from querykit.beats import Node, Persona
from querykit.cards import CardWords, load_card_labels
from querykit.cli_mirror import PATH, TEXT, BadCall, printable, read_table, say, write_json
from querykit.exchange import Outcome, Reason, SearchRequest, TypeTable, Unavailable, ZeroHit, build_types
from querykit.material import (
    Budget,
    Cost,
    FetchesCards,
    NodeMaterial,
    Report,
    Skipped,
    fetch_material,
    mirror_queries,
)
from querykit.mirror import MirrorRules, load_mirror
from querykit.taking import Magnet, Material

if TYPE_CHECKING:
    from querykit.engines.markdown_cards import MarkdownCards
    from querykit.engines.weknora import Probe, WeKnora

_SECONDS = click.FloatRange(min=0, min_open=True)


@click.command()
@click.argument("nodes", type=PATH)
@click.option("--library", type=PATH, help="The folder of Markdown cards to fall back on.")
@click.option(
    "--types", type=PATH, help="The table from types to bases, in place of that in NODES: .toml or .json."
)
@click.option("--base", type=TEXT, help="The base to ask, by name or id, whatever the types say.")
@click.option(
    "--budget-requests", type=click.IntRange(min=0), help="Stop before the request after this many."
)
@click.option(
    "--budget-tokens", type=click.IntRange(min=0), help="Stop once this many tokens came back (estimated)."
)
@click.option("--timeout", type=_SECONDS, help="Seconds to wait for the server to start, and for an answer.")
@click.option("--config", type=PATH, help="The MCP configuration that names the server.")
@click.option(
    "--lexicons", type=PATH, help="A folder with word lists of your own, in place of the shipped ones."
)
@click.option("--dry-run", is_flag=True, help="Print the requests and send none.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def cards(
    nodes: Path,
    library: Path | None,
    types: Path | None,
    base: str | None,
    budget_requests: int | None,
    budget_tokens: int | None,
    timeout: float | None,
    config: Path | None,
    lexicons: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Fetch material for NODES, a .toml or .json file with a persona and the rows of a beat table.

    Asks WeKnora one node at a time; where it is not there, the Markdown library. Nodes with a scene of their
    own are not asked for.
    """
    beats = read_beats(read_table(nodes), str(nodes))
    table = _table(beats, read_table(types) if types else None, types or nodes, base)
    if library is not None and not library.is_dir():
        raise BadCall(f"{library}: no such folder; name the one your Markdown cards are in")
    rules = load_mirror(lexicons)
    own = lexicons / "cards.toml" if lexicons else None
    words = load_card_labels(own if own and own.is_file() else None)
    fallback = _Library(library, words, rules) if library else None

    def fetch(engine: FetchesCards) -> Report:
        return fetch_material(
            beats.nodes,
            engine,
            fallback,
            persona=beats.persona,
            table=table,
            words=words,
            compose=mirror_queries(rules),
            budget=Budget(budget_requests, budget_tokens),
        )

    if dry_run:
        recorder = _Recorder()
        _finish_dry(fetch(recorder), recorder.requests, as_json)
    with _server(config, timeout) as server:
        report = fetch(_Telling(server))
    if as_json:
        write_json({**_report_json(report), "library": fallback.as_json() if fallback else None})
    else:
        _show_report(report, fallback)
    needed = [node for node in report.nodes if node.skipped is not Skipped.OWN_SCENE]
    raise click.exceptions.Exit(int(bool(needed) and not any(node.material for node in needed)))


@click.command()
@click.option("--base", type=TEXT, help="The base that would be asked, by name or id.")
@click.option("--timeout", type=_SECONDS, help="Seconds to wait for the server to start, and for an answer.")
@click.option("--config", type=PATH, help="The MCP configuration that names the server.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def probe(base: str | None, timeout: float | None, config: Path | None, as_json: bool) -> None:
    """Say whether WeKnora is there, which server, whether it lists the base, and what would happen.

    Searches nothing. Exit status 0 when a request would be answered, 1 when it would not.
    """
    if base is not None and not base.strip():
        raise BadCall("--base is blank; give the name or the id of a base")
    with _server(config, timeout) as server:
        found = server.probe(base.strip() if base else None)
    answer = {
        "mounted": found.mounted,
        "server": found.server,
        "transport": found.transport,
        "base": found.base.value if base else None,
        "reason": found.reason.value if found.reason else None,
        "next": found.next.value,
        "hint": _hint(found),
    }
    if as_json:
        write_json(answer)
    else:
        _show_probe(found, base)
    there = base is None or found.base.value in ("exists", "several")
    raise click.exceptions.Exit(0 if found.mounted and there else 1)


# --- what goes in ------------------------------------------------------------------------------------------


class BeatsError(BadCall):
    """A node file that cannot be used, in one line."""


@dataclass(frozen=True, slots=True)
class Beats:
    """A node file: the account, the rows of its beat table, and the table of types if it has one."""

    persona: Persona
    nodes: tuple[Node, ...]
    types: Mapping[str, Any] | None = None


_BEATS = ("persona", "nodes", "types", "default_type")
_PERSONA: Mapping[str, type] = {"track": str, "items": list}
_NODE: Mapping[str, type] = {
    "event": str, "scene": str, "method": str, "function": str, "type": str, "own_scene": bool,
}  # fmt: skip
_KINDS: Mapping[type, str] = {str: "text in quotes", list: "a list of texts", bool: "true or false"}


def read_beats(tables: object, file: str = "nodes") -> Beats:
    """The persona and the nodes in *tables*, a parsed node file; raises `BeatsError` with what is wrong.

    An element that a row leaves out is blank, and what that means for its query is said when it is made.

        >>> row = {"event": "被考问的新手", "method": "用手艺顶回去", "function": "留人"}
        >>> beats = read_beats({"persona": {"track": "亲子", "items": ["保温桶"]}, "nodes": [row]})
        >>> beats.nodes[0].method, beats.persona.items
        ('用手艺顶回去', ('保温桶',))
        >>> read_beats({"nodes": []})
        Traceback (most recent call last):
        querykit.cli_cards.BeatsError: nodes: has no nodes; write [[nodes]] for each row of the beat table
    """
    problems = list(_problems(tables))
    if problems:
        rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise BeatsError(f"{file}: {problems[0]}{rest}")
    assert isinstance(tables, Mapping)
    persona = tables.get("persona", {})
    rows = (
        {("kind" if key == "type" else key): value for key, value in row.items()} for row in tables["nodes"]
    )
    blank = {"event": "", "scene": "", "method": "", "function": ""}
    types = (
        {"types": tables["types"], "default_type": tables.get("default_type", "")}
        if "types" in tables
        else None
    )
    return Beats(
        Persona(persona.get("track", ""), tuple(persona.get("items", ()))),
        tuple(Node(**{**blank, **row}) for row in rows),
        types,
    )


def _problems(tables: object) -> Iterator[str]:
    if not isinstance(tables, Mapping):
        yield "is no table; write [persona] and [[nodes]]"
        return
    yield from _unknown("the file", tables, _BEATS)
    if "default_type" in tables and "types" not in tables:
        yield "default_type stands without types; write it beside [types.NAME]"
    persona, nodes = tables.get("persona", {}), tables.get("nodes")
    yield from _row_problems("persona", persona, _PERSONA)
    if not isinstance(nodes, list) or not nodes:
        yield "has no nodes; write [[nodes]] for each row of the beat table"
        return
    for number, row in enumerate(nodes, 1):
        yield from _row_problems(f"nodes {number}", row, _NODE)
        if isinstance(row, Mapping) and not row.get("event"):
            yield f"nodes {number} has no event; say who is in what situation"


def _row_problems(name: str, row: object, kinds: Mapping[str, type]) -> Iterator[str]:
    if not isinstance(row, Mapping):
        yield f"{name} is {row!r}; write a table with {', '.join(kinds)}"
        return
    yield from _unknown(name, row, kinds)
    for key, kind in kinds.items():
        value = row.get(key, kind())
        if not isinstance(value, kind) or (
            isinstance(value, list) and not all(isinstance(v, str) for v in value)
        ):
            yield f"{name}: {key} is {value!r}; write {_KINDS[kind]}"


def _unknown(name: str, row: Mapping[str, Any], known: Sequence[str] | Mapping[str, Any]) -> Iterator[str]:
    for key in row:
        if key not in known:
            yield f"{name} has an unknown key {key!r}; it takes {', '.join(known)}"


def _table(beats: Beats, types: object, file: Path, base: str | None) -> TypeTable:
    """The table of types: of the option, else of the node file, else one row for all with the base."""
    if base is not None and not base.strip():
        raise BadCall("--base is blank; give the name or the id of a base")
    tables = beats.types if types is None else types
    if tables is None:
        if base is None:
            raise BadCall(f'{file}: no base to ask; write [types.NAME] with base = "…", or give --base')
        kinds = dict.fromkeys(("", *(node.kind for node in beats.nodes)))
        return build_types({"types": {kind: {"base": base} for kind in kinds}}, str(file))
    return build_types(tables, str(file), base=base)


# --- who is asked ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Recorder:
    """An engine that keeps the requests and has no answer."""

    requests: list[SearchRequest] = field(default_factory=list)

    def fetch(self, request: SearchRequest) -> Outcome:
        self.requests.append(request)
        return ZeroHit()


class _Telling:
    """WeKnora, which after an opaque error lists its bases once to tell whether this one is missing."""

    def __init__(self, server: WeKnora) -> None:
        self._server = server
        self._listed = False

    def fetch(self, request: SearchRequest) -> Outcome:
        outcome = self._server.fetch(request)
        if isinstance(outcome, Unavailable) and outcome.reason is Reason.TOOL_ERROR and not self._listed:
            self._listed = True
            if self._server.probe(request.kb).reason is Reason.NO_SUCH_BASE:
                return replace(outcome, reason=Reason.NO_SUCH_BASE)
        return outcome


class _Library:
    """The Markdown library, read when it is first asked."""

    def __init__(self, folder: Path, words: CardWords, rules: MirrorRules) -> None:
        self._folder, self._words, self._rules = folder, words, rules

    @cached_property
    def _loaded(self) -> MarkdownCards:
        from querykit.engines.markdown_cards import load_library

        return load_library(self._folder, self._words, self._rules)

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        return self._loaded.skipped if "_loaded" in vars(self) else ()

    def fetch(self, request: SearchRequest) -> Outcome:
        return self._loaded.fetch(request)

    def as_json(self) -> dict[str, Any]:
        read = "_loaded" in vars(self)
        return {
            "folder": printable(str(self._folder)),
            "cards": len(self._loaded) if read else None,
            "skipped": [{"file": file, "reason": reason} for file, reason in self.skipped],
        }


def _server(config: Path | None, timeout: float | None) -> WeKnora:
    from querykit.engines.weknora import WeKnora

    settings = {} if timeout is None else {"timeout": timeout, "start_timeout": timeout}
    return WeKnora.from_environment(config, **settings)


# --- what comes out ----------------------------------------------------------------------------------------


def _report_json(report: Report) -> dict[str, Any]:
    return {
        "nodes": [_node_json(node) for node in report.nodes],
        "cost": _cost_json(report.cost),
        "magnets": [magnet._asdict() for magnet in report.magnets],
    }


def _node_json(node: NodeMaterial) -> dict[str, Any]:
    return {
        "event": node.node.event,
        "type": node.type,
        "source": node.source.value,
        "status": node.status or None,
        "fallback": node.fallback or None,
        "next": node.next.value if node.next else None,
        "skipped": node.skipped.value if node.skipped else None,
        "reasons": list(node.reasons),
        "warnings": list(node.warnings),
        "query": node.query or None,
        "returned": node.returned,
        "kept": node.kept,
        "material": [_material_json(material) for material in node.material],
        "guidance": node.guidance,
        "cost": _cost_json(node.cost),
    }


def _material_json(material: Material) -> dict[str, Any]:
    gap = material.gap
    return {
        "gap": {"expected": gap.expected, "breaker": gap.breaker, "result": gap.result},
        "technique": material.technique,
        "setup": material.setup.value if material.setup else None,
        "camera": material.camera,
    }


def _cost_json(cost: Cost) -> dict[str, int]:
    return {"requests": cost.requests, "received": cost.received, "tokens": cost.tokens}


def _finish_dry(report: Report, requests: Sequence[SearchRequest], as_json: bool) -> NoReturn:
    sent = iter(requests)
    rows = [(node, next(sent) if node.query else None) for node in report.nodes]
    if as_json:
        write_json(
            {
                "nodes": [
                    {
                        "event": node.node.event,
                        "type": node.type,
                        "skipped": node.skipped.value if node.skipped else None,
                        "reasons": list(node.reasons),
                        "warnings": list(node.warnings),
                        "request": request.arguments() if request else None,
                        "labels": list(request.labels) if request else [],
                    }
                    for node, request in rows
                ]
            }
        )
    else:
        for number, (node, request) in enumerate(rows, 1):
            _head(number, node, "" if request else _why_not(node))
            _print_all(node.warnings, "warning: ")
            if request:
                say("   " + json.dumps(request.arguments(), ensure_ascii=False))
                _print_all([", ".join(request.labels)] if request.labels else [], "library labels: ")
        say(f"{len(requests)} of {len(rows)} nodes would be asked for; nothing was sent")
    raise click.exceptions.Exit(0 if requests else 1)


def _show_report(report: Report, library: _Library | None) -> None:
    for number, node in enumerate(report.nodes, 1):
        _head(number, node, _why_not(node) if node.skipped else _where_from(node))
        _print_all([node.query] if node.query else [], "")
        _print_all(node.warnings, "warning: ")
        for material in node.material:
            _show_material(material)
        _print_all([node.guidance] if node.guidance and not node.material else [], "guidance: ")
    for magnet in report.magnets:
        say(_magnet(magnet))
    for file, reason in library.skipped if library else ():
        say(f"library: {file} was passed over: {reason}", err=True)
    cost = report.cost
    say(f"cost: {_spent(cost)}, about {cost.tokens} tokens")


def _head(number: int, node: NodeMaterial, said: str) -> None:
    named = f" ({node.type})" if node.type else ""
    say(f"{number}. {node.node.event}{named}{': ' if said else ''}{said}")
    _print_all(node.reasons, "- ")


_WHY_NOT: Mapping[Skipped, str] = {
    Skipped.OWN_SCENE: "has a scene of its own, nothing is asked",
    Skipped.NO_TYPE: "no type fits its method; name one with type = …, or a default_type",
    Skipped.REFUSED: "no query can be made of it",
    Skipped.BUDGET: "the budget is spent, nothing is asked",
}


def _why_not(node: NodeMaterial) -> str:
    return _WHY_NOT[node.skipped] if node.skipped else ""


def _where_from(node: NodeMaterial) -> str:
    library = f", library {node.fallback}" if node.fallback else ""
    kept = f"{node.kept} of {node.returned} cards kept" if node.returned else "no cards"
    return f"{node.source.value} [weknora {node.status}{library}; {kept}; {_spent(node.cost)}]"


def _spent(cost: Cost) -> str:
    return f"{cost.requests} request{'s' if cost.requests != 1 else ''}, {cost.received} bytes"


def _show_material(material: Material) -> None:
    gap = material.gap
    say(f"   gap        [{gap.expected}] —{gap.breaker}→ [{gap.result}]")
    setup = material.setup.value if material.setup else None
    for name, value in (("technique", material.technique), ("setup", setup), ("camera", material.camera)):
        if value:
            say(f"   {name:<10} {value}")


def _magnet(magnet: Magnet) -> str:
    return f"magnet: {magnet.card} came back for {magnet.nodes} of {magnet.of} nodes"


_NEXT: Mapping[str, str] = {
    "use_cards": "cards would come from WeKnora",
    "markdown_library": "cards would come from the Markdown library",
    "as_if_off": "everything would go on as if there were no cards",
    "type_guidance": "only the guidance of the type would be left",
}

_BASE: Mapping[str, str] = {
    "exists": "is there",
    "missing": "is not listed by the server",
    "several": "is there more than once, and the newest answers; use its id",
    "unknown": "may be there: the bases could not be listed",
}


# What to do where no request would be answered.
_HINT: Mapping[Reason, str] = {
    Reason.NOT_MOUNTED: "the server that is named there has no tool hybrid_search",
    Reason.UNAVAILABLE: "the server does not start or refuses us; run its command, or open its address, by hand",
    Reason.TIMEOUT: "the server says nothing; give it longer with --timeout",
    Reason.NO_SUCH_BASE: "querykit cards takes another base with --base, by name or id",
}
_NO_SERVER = (
    "set QUERYKIT_WEKNORA_COMMAND or QUERYKIT_WEKNORA_URL, or name an MCP configuration with --config"
)
_NO_SDK = "the MCP SDK is not installed: pip install 'querykit[weknora]'"


def _hint(found: Probe) -> str | None:
    if found.reason is Reason.NOT_MOUNTED and found.transport is None:
        return _NO_SERVER
    if found.reason is Reason.NOT_MOUNTED and importlib.util.find_spec("mcp") is None:
        return _NO_SDK
    return _HINT[found.reason] if found.reason else None


def _show_probe(found: Probe, base: str | None) -> None:
    reason = f" ({found.reason.value})" if found.reason else ""
    if found.mounted:
        say(f"weknora: {found.server or 'a server without a name'} over {found.transport}")
    else:
        say(f"weknora: not there{reason}")
    if base and found.mounted:
        say(f"base: {base} {_BASE[found.base.value]}")
    say(f"next: {_NEXT[found.next.value]}")
    if hint := _hint(found):
        say(f"hint: {hint}")


def _print_all(lines: Sequence[str], lead: str) -> None:
    for line in lines:
        say(f"   {lead}{line}")
