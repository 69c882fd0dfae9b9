"""The commands for mirror queries: ``querykit lint`` and ``querykit mirror``."""

from __future__ import annotations

import json
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

    def show(self, file: Any = None) -> None:
        """Write the line; a file name in it may hold what no terminal takes."""
        click.echo("Error: " + _printable(self.message), file=file, err=True)


@click.command()
@click.argument("question", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--jsonl", is_flag=True, help="Read {question} or {elements} lines, write one object a line.")
@click.option("--lexicons", type=click.Path(path_type=Path), help="A folder of word lists of your own.")
def lint(question: str | None, as_json: bool, jsonl: bool, lexicons: Path | None) -> None:
    """Say what is wrong with QUESTION as a mirror query, and what to write instead."""
    if (question is None) != jsonl:
        raise BadCall("give a QUESTION, or --jsonl and lines on stdin, not both")
    rules = _load(lexicons)
    if jsonl:
        for line in sys.stdin.buffer:
            if line.strip():
                _write(_answer_line(line, rules))
        return
    answer = _answer_text(question or "", rules)
    if as_json:
        _write(answer)
    else:
        _print_findings(answer["findings"] or [{"rule": "ok", "message": rules.messages["accepted"]}])
    _finish(answer)


@click.command()
@click.option("--contrast", help="落差对象: who, in what situation.")
@click.option("--break-by", help="打破方式: what breaks it.")
@click.option("--anchor", help="具象锚点: a place or thing of the account's own.")
@click.option("--function", help="段落功能: 钩子, 留人, 转粉.")
@click.option("--material", help="素材类型, 事件素材 unless given.")
@click.option("--file", "path", type=click.Path(path_type=Path), help="A .toml or .json file; options win.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--lexicons", type=click.Path(path_type=Path), help="A folder of word lists of your own.")
def mirror(path: Path | None, as_json: bool, lexicons: Path | None, **options: str | None) -> None:
    """Print the mirror query for the five elements, or what keeps them from being one."""
    typed = {name: value for name, value in options.items() if value is not None}
    if path is None and not typed:
        raise BadCall("give --contrast, --break-by, --anchor and --function, or --file")
    values = {**(_read_file(path) if path else {}), **typed}
    answer = _answer_elements(values, _load(lexicons))
    if "error" in answer:
        raise BadCall(answer["error"])
    if as_json:
        _write(answer)
    else:
        if answer["ok"]:
            _print(answer["query"])
        _print_findings(answer["findings"], err=answer["ok"])
    _finish(answer)


def _load(folder: Path | None) -> MirrorRules:
    try:
        return load_mirror(folder)
    except QuerykitError as error:
        raise BadCall(str(error)) from None


def _read_file(path: Path) -> Mapping[str, Any]:
    import tomllib

    readers = {".toml": tomllib.loads, ".json": json.loads}
    if path.suffix.lower() not in readers:
        raise BadCall(f"{path}: give a .toml or a .json file")
    try:
        table = readers[path.suffix.lower()](path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadCall(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise BadCall(f"{path}: is no {path.suffix[1:].upper()} in UTF-8: {error}") from None
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


def _write(answer: Mapping[str, Any]) -> None:
    """One line of JSON in UTF-8. Half a surrogate pair becomes the escape that JSON has for it."""
    line = json.dumps(answer, ensure_ascii=False).encode("utf-8", "backslashreplace")
    sys.stdout.buffer.write(line + b"\n")


def _print_findings(findings: Iterable[Mapping[str, Any]], err: bool = False) -> None:
    for finding in findings:
        where = f"[{finding['element']}] " if "element" in finding else ""
        _print(f"{finding['rule']} {where}{finding['message']}", err=err)


def _print(text: str, err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    stream.buffer.write(_printable(text).encode("utf-8") + b"\n")


def _printable(text: str) -> str:
    """*text* without what would steer a terminal or break its encoding; blanks of all widths stay."""
    return "".join(c if c.isprintable() or c in "\u00a0\u3000" else repr(c)[1:-1] for c in text)
