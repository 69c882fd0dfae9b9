"""The commands. Each loads what it needs when it runs, so that the command line starts fast."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

if TYPE_CHECKING:
    from querykit.engines.memory import Index
    from querykit.lexicon import Lexicon
    from querykit.run import Answer

# Commands that live in modules of their own, loaded when they are called.
_ELSEWHERE = {
    "lint": "querykit.cli_mirror:lint",
    "mirror": "querykit.cli_mirror:mirror",
    "cards": "querykit.cli_cards:cards",
    "probe": "querykit.cli_cards:probe",
    "gap": "querykit.cli_gap:gap",
    "doctor": "querykit.cli_gap:doctor",
    "aliases": "querykit.cli_gap:aliases",
}


class _Commands(click.Group):
    """A group that imports a command's module when the command is called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_ELSEWHERE]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in _ELSEWHERE:
            module, _, function = _ELSEWHERE[name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), function)
            return command
        return super().get_command(ctx, name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="querykit")
def cli() -> None:
    """Turn questions in everyday Chinese into the queries that find what they are about.

    Start with:  querykit ask "问题" --notes FOLDER
    """


_FILE = click.Path(path_type=Path)


def _words(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--words", type=_FILE, help="Your own word lists: a TOML file with [add], [replace], [without]."
    )(command)


def _many(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for one answer as JSON, or many questions in and out."""
    command = click.option("--json", "as_json", is_flag=True, help="One JSON object.")(command)
    command = click.option(
        "--jsonl",
        is_flag=True,
        help='Read {"question": …} lines from standard input, write an object a line.',
    )(command)
    return click.argument("question", required=False)(command)


@cli.command()
@click.argument("notes", type=_FILE)
@click.option("--db", type=_FILE, required=True, help="The index file to write.")
@click.option("--replace", is_flag=True, help="Write over an index of other notes.")
@click.option("--encoding", help="The encoding of files that are not UTF-8 (default: told from the bytes).")
@click.option(
    "--line", type=float, help="The hit rate above which a term is common in these notes, such as 0.40."
)
def index(notes: Path, db: Path, replace: bool, encoding: str | None, line: float | None) -> None:
    """Index NOTES, a folder of .md files or a .jsonl / .jsonl.gz file; again reads only what changed."""
    from querykit.building import update_index

    with _progress() as advance:
        reading, written = update_index(
            notes, db, replace=replace, encoding=encoding, line=line, advance=advance
        )
    counted = f"{len(reading.read)} read, {len(reading.kept)} unchanged, {len(reading.gone)} gone"
    _say(f"{db}: {counted}{'' if written else '; nothing to do'}")
    for path, reason in reading.skipped:
        _say(f"skipped {_one_line(path)}: {reason}", err=True)
    for warning in reading.warnings:
        _say(f"warning: {_one_line(warning)}", err=True)


@cli.command()
@_many
@click.option("--db", type=_FILE, help="The index to ask.")
@click.option("--notes", type=_FILE, help="Notes to index on the fly instead.")
@click.option("--seats", type=click.IntRange(min=1), default=6, show_default=True, help="How many sources.")
@click.option(
    "--mode",
    type=click.Choice(["auto", "terms", "sentence"]),
    default="auto",
    show_default=True,
    help="auto: all terms in one ranked query; terms: one query per term; sentence: the question as it is.",
)
@click.option("--line", type=float, help="The hit rate above which a term is common.")
@click.option("--explain", is_flag=True, help="Every decision, one row each.")
@_words
@click.pass_context
def ask(
    ctx: click.Context,
    question: str | None,
    as_json: bool,
    jsonl: bool,
    db: Path | None,
    notes: Path | None,
    seats: int,
    mode: Any,
    line: float | None,
    explain: bool,
    words: Path | None,
) -> None:
    """The sources that answer QUESTION, with the story of why."""
    from querykit.run import answer

    lexicon = _lexicon(words)
    engine = _engine(db, notes, line)

    def one(text: str) -> Answer:
        return answer(text, engine, lexicon, seats=seats, mode=mode, line=line)

    if jsonl:
        from querykit.render import answer_json

        _each_line(question, as_json, lambda text: answer_json(one(text)))
        return
    found = one(_asked(question))
    if as_json:
        from querykit.render import answer_json

        _print_json(answer_json(found))
    else:
        from querykit.render import show_answer

        show_answer(found, explain=explain)
    ctx.exit(0 if found.seats else 1)


@cli.command()
@_many
@_words
@click.pass_context
def strip(ctx: click.Context, question: str | None, as_json: bool, jsonl: bool, words: Path | None) -> None:
    """What of QUESTION goes, and by which rule; what stays."""
    from querykit.render import show_stripped, strip_json
    from querykit.strip import strip as run
    from querykit.text import normalize

    lexicon = _lexicon(words)
    if jsonl:
        _each_line(question, as_json, lambda text: strip_json(run(normalize(text), lexicon)))
        return
    stripped = run(normalize(_asked(question)), lexicon)
    if as_json:
        _print_json(strip_json(stripped))
    else:
        show_stripped(stripped)
    ctx.exit(0 if stripped.chunks else 1)


@cli.command()
@_many
@click.option("--db", type=_FILE, help="An index whose counts put the terms into tiers.")
@click.option("--line", type=float, help="The hit rate above which a term is common.")
@_words
@click.pass_context
def rewrite(
    ctx: click.Context,
    question: str | None,
    as_json: bool,
    jsonl: bool,
    db: Path | None,
    line: float | None,
    words: Path | None,
) -> None:
    """The queries for QUESTION, strongest first; needs no corpus, --db adds the tiers."""
    from querykit.render import rewrite_json, show_rewrite
    from querykit.run import rewrite as run

    if line is not None and db is None:
        raise click.UsageError("--line tells common terms by the counts of an index: name one with --db")
    lexicon = _lexicon(words)
    engine = _engine(db, None, line) if db else None
    if jsonl:
        _each_line(question, as_json, lambda text: rewrite_json(*run(text, lexicon, engine, line=line)))
        return
    result = run(_asked(question), lexicon, engine, line=line)
    if as_json:
        _print_json(rewrite_json(*result))
    else:
        show_rewrite(*result)
    ctx.exit(0 if result[2].queries else 1)


@cli.command()
@click.argument("terms", nargs=-1, required=True)
@click.option("--db", type=_FILE, help="The index to count in.")
@click.option("--notes", type=_FILE, help="Notes to index on the fly instead.")
@click.option("--line", type=float, help="The hit rate above which a term is common.")
@click.option("--plot", type=_FILE, help="Also draw them: FILE.svg, FILE.png or FILE.html.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def rates(
    terms: tuple[str, ...],
    db: Path | None,
    notes: Path | None,
    line: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """The hit rates of TERMS: documents found, and documents that hold the term as it stands."""
    from querykit.render import rates_json, show_rates
    from querykit.run import rate_terms

    terms = tuple(map(_typed, terms))
    if not all(term.strip() for term in terms):
        raise click.UsageError("a term is empty: name words to count")
    stats = rate_terms(terms, _engine(db, notes, line), line=line)
    if plot is not None:
        from querykit.cli_gap import plot_rates

        plot_rates(plot, terms, stats)
    if as_json:
        _print_json(rates_json(terms, stats))
        return
    show_rates(terms, stats)
    if plot is not None:
        _say(f"drawn: {plot}")


# ---------------------------------------------------------------- shared


def _lexicon(words: Path | None) -> Lexicon:
    from querykit.lexicon import load_lexicon

    return load_lexicon(words=words)


def _engine(db: Path | None, notes: Path | None, line: float | None) -> Index:
    if (db is None) == (notes is None):
        raise click.UsageError("name one of them: --db INDEX or --notes FOLDER")
    if line is not None and not 0 < line <= 1:
        raise click.UsageError(f"--line {line}: a hit rate above 0 and at most 1, such as 0.40")
    if db is not None:
        from querykit.engines.sqlite import SqliteEngine

        return SqliteEngine(db)
    from querykit.building import index_in_memory

    assert notes is not None
    return index_in_memory(notes)


def _asked(question: str | None) -> str:
    if question is None:
        raise click.UsageError("ask something: give a question, or --jsonl with questions on standard input")
    return _typed(question)


def _typed(text: str) -> str:
    """*text* as it was typed: where the locale is no UTF-8, Python hands over its bytes as lone surrogates."""
    with contextlib.suppress(UnicodeError):
        return os.fsencode(text).decode("utf-8", "surrogateescape")
    return text


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _each_line(question: str | None, as_json: bool, one: Callable[[str], dict[str, Any]]) -> None:
    """An answer for each line of standard input, in order; a bad line gets an error in its place."""
    if question is not None or as_json:
        raise click.UsageError(
            "--jsonl reads its questions from standard input: leave the question and --json out"
        )
    if sys.stdin is None:
        raise click.UsageError("--jsonl reads its questions from standard input, which is closed")
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        text, error = _question_of(line)
        _write_json(out, {"error": error} if text is None else one(text))


def _question_of(line: bytes) -> tuple[str | None, str]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return None, f"is no JSON in UTF-8: {error}"
    if not isinstance(row, dict) or not isinstance(row.get("question"), str):
        return None, 'has no question: write {"question": "…"}'
    return row["question"], ""


def _print_json(value: dict[str, Any]) -> None:
    _write_json(sys.stdout.buffer, value)


def _write_json(out: BinaryIO, value: dict[str, Any]) -> None:
    """One line of JSON in UTF-8; a lone surrogate stays the escape it was."""
    text = json.dumps(value, ensure_ascii=False)
    out.write(text.encode("utf-8", "backslashreplace") + b"\n")
    out.flush()


def _say(text: str, *, err: bool = False) -> None:
    """A line for people: names of files are data, and move no cursor."""
    shown = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    click.echo(shown.encode("utf-8", "backslashreplace").decode("utf-8"), err=err)


class _progress:
    """A progress bar on a terminal, silence in a pipe."""

    def __enter__(self) -> Callable[[int, int], None]:
        self.bar: Any = None
        if not sys.stderr.isatty():
            return lambda _done, _of: None
        from rich.console import Console
        from rich.progress import Progress

        self.bar = Progress(console=Console(stderr=True), transient=True)
        self.bar.start()
        task = self.bar.add_task("reading notes", total=None)
        return lambda done, of: self.bar.update(task, completed=done, total=of)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def _encodable(stream: Any) -> None:
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def main() -> None:
    """The command line: exit status 0 answered, 1 nothing found or refused, 2 bad call or bad data."""
    from querykit.lexicon import QuerykitError

    _encodable(sys.stdout)
    _encodable(sys.stderr)
    try:
        status = cli.main(standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Abort:
        _say("querykit: stopped; nothing was changed", err=True)
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        _say(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _say(f"querykit: {_helped(error.format_message())}", err=True)
        sys.exit(2)
    except QuerykitError as error:
        for line in _lines(error):
            _say(f"querykit: {line}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # a full disk under standard output
        _say(f"querykit: cannot write: {error.strerror or error}", err=True)
        with contextlib.suppress(OSError):  # what is left in the buffer would fail again, with a trace
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(2)


_HINTS = {
    "No such command": "querykit --help lists them",
    "No such option": "a question that begins with a dash goes last, behind --",
    "unexpected extra argument": "put the question in quotes, and options before --",
}


def _helped(message: str) -> str:
    """A message of the option parser, with what to do about it."""
    hint = next((hint for sign, hint in _HINTS.items() if sign in message), "")
    return f"{message} ({hint})" if hint else message


def _lines(error: Exception) -> Iterator[str]:
    problems = getattr(error, "problems", ())
    yield from map(str, problems or (error,))


if __name__ == "__main__":
    main()
