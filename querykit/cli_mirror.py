"""The commands for mirror queries: ``querykit lint`` and ``querykit mirror``."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

import click

from querykit.lexicon import QuerykitError
from querykit.mirror import (
    Elements,
    Finding,
    MirrorQuery,
    MirrorRules,
    compose,
    lint_text,
    load_mirror,
)

_NAMES = tuple(field.name for field in fields(Elements))


class BadCall(click.ClickException):
    """A call or a file that cannot be used: one line on stderr, exit status 2."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        # A file name in it may hold what no terminal takes.
        super().__init__(printable(message))


class _Text(click.types.StringParamType):
    """Text as it was typed: where the locale is no UTF-8, Python hands its bytes over as lone surrogates."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = super().convert(value, param, ctx)
        with contextlib.suppress(UnicodeError):
            text = os.fsencode(text).decode("utf-8", "surrogateescape")
        return text


TEXT = _Text()
PATH = click.Path(path_type=Path)


@click.command()
@click.argument("question", type=TEXT, required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--jsonl", is_flag=True, help="Read {question} or {elements} lines, write one object a line.")
@click.option(
    "--lexicons", type=PATH, help="A folder with word lists of your own, in place of the shipped ones."
)
def lint(question: str | None, as_json: bool, jsonl: bool, lexicons: Path | None) -> None:
    """Say what is wrong with QUESTION as a mirror query, and what to write instead."""
    if (question is None) != jsonl:
        raise BadCall("give a QUESTION, or --jsonl and lines on stdin, not both")
    rules = _load(lexicons)
    if jsonl:
        for line in sys.stdin.buffer:
            if line.strip():
                write_json(_answer_line(line, rules))
        return
    answer = _answer_text(question or "", rules)
    if as_json:
        write_json(answer)
    else:
        _print_findings(answer["findings"] or [{"rule": "ok", "message": rules.messages["accepted"]}])
    _finish(answer)


@click.command()
@click.option("--contrast", type=TEXT, help="落差对象: who, in what situation.")
@click.option("--break-by", type=TEXT, help="打破方式: what breaks it.")
@click.option("--anchor", type=TEXT, help="具象锚点: a place or thing of the account's own.")
@click.option("--function", type=TEXT, help="段落功能: 钩子, 留人, 转粉.")
@click.option("--material", type=TEXT, help="素材类型, 事件素材 unless given.")
@click.option("--file", "path", type=PATH, help="A .toml or .json file; options win.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option(
    "--lexicons", type=PATH, help="A folder with word lists of your own, in place of the shipped ones."
)
def mirror(path: Path | None, as_json: bool, lexicons: Path | None, **options: str | None) -> None:
    """Print the mirror query for the five elements, or what keeps them from being one."""
    typed = {name: value for name, value in options.items() if value is not None}
    if path is None and not typed:
        raise BadCall("give --contrast, --break-by, --anchor and --function, or --file")
    values = {**(_elements_in(path) if path else {}), **typed}
    answer = _answer_elements(values, _load(lexicons))
    if "error" in answer:
        raise BadCall(f"{path}: {answer['error']}" if path else answer["error"])
    if as_json:
        write_json(answer)
    else:
        if answer["ok"]:
            say(answer["query"])
        _print_findings(answer["findings"], err=answer["ok"])
    _finish(answer)


def _load(folder: Path | None) -> MirrorRules:
    try:
        return load_mirror(folder)
    except QuerykitError as error:
        raise BadCall(str(error)) from None


def read_table(path: Path) -> Any:
    """What the .toml or .json file *path* holds; a file that cannot be used is a `BadCall`."""
    import tomllib

    read = {".toml": tomllib.loads, ".json": json.loads}.get(path.suffix.lower())
    if read is None:
        raise BadCall(f"{path}: give a .toml or a .json file")
    try:
        return read(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadCall(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise BadCall(f"{path}: is not in UTF-8; save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise BadCall(f"{path}: is no {path.suffix[1:].upper()}: {error}") from None


def _elements_in(path: Path) -> Mapping[str, Any]:
    table = read_table(path)
    elements = table.get("elements", table) if isinstance(table, Mapping) else table
    if not isinstance(elements, Mapping):
        raise BadCall(f"{path}: write a table with {', '.join(_NAMES)}")
    return elements


def _answer_line(line: bytes, rules: MirrorRules) -> dict[str, Any]:
    """The answer to one line of a batch; a line that cannot be read is answered with its error."""
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return {"error": f"no JSON in UTF-8: {type(error).__name__}"}
    if isinstance(row, dict) and isinstance(row.get("elements"), dict):
        return _answer_elements(row["elements"], rules)
    if isinstance(row, dict) and isinstance(row.get("question"), str):
        return _answer_text(row["question"], rules)
    return {"error": 'write {"question": "text"} or {"elements": {…}}'}


def _answer_text(question: str, rules: MirrorRules) -> dict[str, Any]:
    findings = lint_text(question, rules, rules.lexicon)
    ok = not any(finding.fatal for finding in findings)
    return _answer(question if ok else None, findings)


def _answer_elements(values: Mapping[str, Any], rules: MirrorRules) -> dict[str, Any]:
    """An element that is missing or null is a finding; one that is unknown or no text is an error."""
    unknown = [name for name in values if name not in _NAMES]
    if unknown:
        return {"error": f"unknown element {unknown[0]!r}: the elements are {', '.join(_NAMES)}"}
    given = {name: value for name, value in values.items() if value is not None}
    for name, value in given.items():
        if not isinstance(value, str):
            return {"error": f"element {name} is no text: put it in quotes"}
    blank = dict.fromkeys(_NAMES, "") | {"material": rules.material}
    outcome = compose(Elements(**(blank | given)), rules)
    return _answer(outcome.text if isinstance(outcome, MirrorQuery) else None, outcome.findings)


def _answer(query: str | None, findings: Iterable[Finding]) -> dict[str, Any]:
    return {
        "ok": query is not None,
        "query": query,
        "findings": [
            {
                "rule": finding.rule,
                "element": finding.element,
                "start": finding.span.start,
                "end": finding.span.end,
                "text": finding.text,
                "message": finding.message,
                "fatal": finding.fatal,
            }
            for finding in findings
        ],
    }


def _finish(answer: Mapping[str, Any]) -> NoReturn:
    raise click.exceptions.Exit(0 if answer["ok"] else 1)


def _print_findings(findings: Iterable[Mapping[str, Any]], err: bool = False) -> None:
    for finding in findings:
        where = f"[{finding['element']}] " if "element" in finding else ""
        say(f"{finding['rule']} {where}{finding['message']}", err=err)


def write_json(answer: Mapping[str, Any]) -> None:
    """Write one line of JSON in UTF-8. Half a surrogate pair becomes the escape that JSON has for it."""
    line = json.dumps(answer, ensure_ascii=False).encode("utf-8", "backslashreplace")
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()


def say(text: str, err: bool = False) -> None:
    """Write *text* as one line in UTF-8, whatever the locale is."""
    stream = sys.stderr if err else sys.stdout
    stream.buffer.write(printable(text).encode("utf-8") + b"\n")
    stream.flush()


def printable(text: str) -> str:
    """*text* on one line, without what would steer a terminal or break its encoding."""
    return "".join(c if c.isprintable() or c in "\u00a0\u3000" else repr(c)[1:-1] for c in text)
