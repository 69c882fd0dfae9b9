"""The commands that look at a corpus: ``gap``, ``doctor`` and ``aliases``. They show; they change nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from querykit.lexicon import QuerykitError

if TYPE_CHECKING:
    from querykit.diagnose import Counts, Diagnosis, Knows
    from querykit.engines.sqlite import SqliteEngine
    from querykit.gap import Gap, Recommendation
    from querykit.lexicon import Lexicon
    from querykit.tiers import CorpusStats

_FILE = click.Path(path_type=Path)

_WORDS = click.option("--words", type=_FILE, help="Your own word lists (TOML).")
_QUESTIONS = click.option(
    "--questions", type=_FILE, help='A question log: a question a line, or lines of {"question": …}.'
)
_COUNTS = click.option(
    "--counts", type=_FILE, help="A count file instead: JSON lines of term, n_docs, and counts by engine."
)
_TERMS = click.option(
    "--terms", type=_FILE, help="A file with a term a line (default: the words of the titles)."
)
_TEXT = click.option("--text", help="Which of them count the text (default: text, phrase_df or substring).")
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")


class _Rates(NamedTuple):
    """Rates of terms: whose, of how many documents, and the line that is drawn among them and who chose it."""

    source: str
    n_docs: int
    rates: dict[str, float]
    line: float
    line_from: str
    holders: dict[str, Any] | None = None
    ranks_terms: bool = False


class InputError(QuerykitError):
    """A file of questions, terms or counts that cannot be read."""


@click.command()
@click.option("--db", type=_FILE, help="The index whose rates to look at.")
@_COUNTS
@click.option("--engine", help="Which counts of the count file (default: the first).")
@_TEXT
@_QUESTIONS
@_TERMS
@click.option("--line", type=float, help="The line to draw (default: the corpus's own, else 0.40).")
@click.option("--window", type=(float, float), help="Where to look for a gap (default: 0.35 0.45).")
@click.option("--resamples", type=click.IntRange(min=1), default=200, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the resampling.")
@click.option("--plot", type=_FILE, help="Also draw it: FILE.svg, FILE.png or FILE.html.")
@_JSON
@_WORDS
def gap(
    db: Path | None,
    counts: Path | None,
    engine: str | None,
    text: str | None,
    questions: Path | None,
    terms: Path | None,
    line: float | None,
    window: tuple[float, float] | None,
    resamples: int,
    seed: int,
    plot: Path | None,
    as_json: bool,
    words: Path | None,
) -> None:
    """Hit rates of a corpus, sorted, the gap among them, and where the line lies.

    Terms come from a question log (--questions), a file (--terms), or the titles of the notes.
    """
    from querykit.gap import METHODS, WINDOW, choose_line, find_gap

    _check_sources(
        db, counts, {"--questions": questions, "--terms": terms}, {"--engine": engine, "--text": text}
    )
    if questions is not None and terms is not None:
        raise click.UsageError("name one of them: --questions FILE or --terms FILE")
    lexicon = _lexicon(words)
    seen = (
        _from_counts(cast(Path, counts), engine, text, lexicon)
        if db is None
        else _from_index(db, questions, terms, lexicon)
    )
    if line is not None:
        seen = seen._replace(line=line, line_from="argument")
    found = [
        find_gap(
            seen.rates,
            method,
            window=window or WINDOW,
            line=seen.line,
            n_docs=seen.n_docs or None,
            holders=seen.holders,
            resamples=resamples,
            seed=seed,
        )
        for method in METHODS
    ]
    chosen = choose_line(found, n_docs=seen.n_docs, ranks_terms=seen.ranks_terms)
    if plot is not None:
        _plot(plot, seen, found, chosen)
    if as_json:
        _print_json(_gap_json(seen, found, chosen))
    else:
        _show_gap(seen, found, chosen)
        if plot is not None:
            click.echo(f"drawn: {plot}")


@click.command()
@click.option("--db", type=_FILE, help="The index to examine.")
@_COUNTS
@click.option("--engine", help="Which counts of the count file to examine (default: the first).")
@_TEXT
@_QUESTIONS
@_TERMS
@click.option("--most", type=click.IntRange(min=1), default=200, show_default=True, help="Names per finding.")
@_JSON
@_WORDS
def doctor(
    db: Path | None,
    counts: Path | None,
    engine: str | None,
    text: str | None,
    questions: Path | None,
    terms: Path | None,
    most: int,
    as_json: bool,
    words: Path | None,
) -> None:
    """What is odd about a corpus and its engine, and what to do about it.

    With --counts, any engine's counts beside counts of the text; with --db, the index beside its notes.
    """
    from querykit.diagnose import diagnose

    _check_sources(db, counts, {"--terms": terms}, {"--engine": engine, "--text": text})
    if questions is not None and terms is not None:
        raise click.UsageError("name one of them: --questions FILE or --terms FILE")
    lexicon = _lexicon(words)
    asked = _questions(questions) if questions is not None else ()
    if counts is not None:
        found = diagnose(_counts(counts, engine, text), lexicon, questions=asked)
    else:
        found = _examine(cast(Path, db), asked, terms, lexicon)
    if as_json:
        _print_json(_diagnosis_json(found))
    else:
        _show_diagnosis(found, most)


@click.command()
@click.option("--db", type=_FILE, required=True, help="The index whose notes to read.")
@click.option("--all", "known", is_flag=True, help="Also pairs that are aliases already, as comments.")
@_WORDS
def aliases(db: Path, known: bool, words: Path | None) -> None:
    """Aliases that the notes give away, as TOML with the evidence in comments; nothing is applied.

    Keep what is right in a file and name it with --words.
    """
    from querykit.engines.sqlite import SqliteEngine
    from querykit.mining import load_mining, mine_aliases, proposals_toml

    with SqliteEngine(db) as engine:
        notes = _notes(engine)
    click.echo(proposals_toml(mine_aliases(notes, _lexicon(words), load_mining(), known=known)))


# ---------------------------------------------------------------- reading


def _check_sources(
    db: Path | None, counts: Path | None, of_db: Mapping[str, object], of_counts: Mapping[str, object]
) -> None:
    """One source, and no option that the other one would need: nothing is ignored in silence."""
    if (db is None) == (counts is None):
        raise click.UsageError("name one of them: --db INDEX or --counts FILE")
    needed, other = ("--counts", of_counts) if counts is None else ("--db", of_db)
    for option, value in other.items():
        if value is not None:
            raise click.UsageError(f"{option} goes with {needed}: leave one of them out")


def _lexicon(words: Path | None) -> Lexicon:
    from querykit.lexicon import load_lexicon

    return load_lexicon(words=words)


def _notes(engine: SqliteEngine) -> list[tuple[str, str, str]]:
    return [engine.stored(path).document for path in engine.stamps()]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no text in UTF-8") from None


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}:{number}: is no JSON ({error})") from None
            if not isinstance(row, dict):
                raise InputError(f"{path}:{number}: write a JSON object a line")
            rows.append(row)
    return rows


def _counts(path: Path, engine: str | None, text: str | None) -> Counts:
    from querykit.diagnose import DiagnoseError, read_counts

    try:
        return read_counts(_rows(path), engine=engine, text=text)
    except DiagnoseError as error:
        raise InputError(f"{path}: {error}") from None


def _filled(path: Path) -> list[str]:
    """The lines that say something; a file without any was meant to say something too."""
    filled = [text for line in _lines(path) if (text := line.strip())]
    if not filled:
        raise InputError(f"{path}: is empty; write a question or a term a line")
    return filled


def _questions(path: Path) -> list[str]:
    """Questions a line, plain or as JSON objects with a question."""
    filled = _filled(path)
    if path.suffix not in (".jsonl", ".json"):
        return filled
    rows = _rows(path)
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get("question"), str):
            raise InputError(f'{path}: row {number} has no question: write {{"question": "…"}}')
    return [row["question"] for row in rows]


def _terms(
    engine: SqliteEngine, questions: Sequence[str], terms: Path | None, lexicon: Lexicon
) -> tuple[str, tuple[str, ...]]:
    """Where the terms come from, in words, and the terms."""
    from querykit.gap import corpus_terms, question_terms

    if terms is not None:
        return f"terms of {terms.name}", tuple(_filled(terms))
    if questions:
        return f"terms of {len(questions)} questions", question_terms(questions, lexicon)
    return "words of the titles", corpus_terms((title for _, title, _ in _notes(engine)), lexicon)


def _from_index(db: Path, questions: Path | None, terms: Path | None, lexicon: Lexicon) -> _Rates:
    """Rates of terms as they stand, each with the documents that hold it; absent terms are left out."""
    from querykit.engines.sqlite import SqliteEngine
    from querykit.text import fold
    from querykit.tiers import DEFAULT_LINE

    with SqliteEngine(db) as engine:
        asked = _questions(questions) if questions is not None else ()
        source, texts = _terms(engine, asked, terms, lexicon)
        holders = {text: docs for text in texts if len(docs := engine.counts(fold(text)).docs)}
        rates = {text: len(docs) / engine.n_docs for text, docs in holders.items()}
        line, line_from = (DEFAULT_LINE, "default") if engine.line is None else (engine.line, "corpus")
        named = f"{engine.name}, {source}"
        return _Rates(named, engine.n_docs, rates, line, line_from, holders, engine.ranks_terms)


def _from_counts(path: Path, engine: str | None, text: str | None, lexicon: Lexicon) -> _Rates:
    from querykit.diagnose import diagnose
    from querykit.tiers import DEFAULT_LINE

    counts = _counts(path, engine, text)
    findings = diagnose(counts, lexicon).findings
    odd = {name for f in findings if f.rule in ("furniture", "chance", "invisible") for name in f.names}
    rates = {c.term: c.found / counts.n_docs for c in counts.terms if c.term not in odd and c.found}
    source = f"{path.name}: {counts.engine}, {len(odd)} odd terms left out (querykit doctor names them)"
    return _Rates(source, counts.n_docs, rates, DEFAULT_LINE, "default")


def _examine(db: Path, questions: Sequence[str], terms: Path | None, lexicon: Lexicon) -> Diagnosis:
    from querykit.diagnose import Knows, count_text, diagnose
    from querykit.engines.sqlite import SqliteEngine
    from querykit.mining import load_mining, mine_aliases
    from querykit.text import fold
    from querykit.tiers import DEFAULT_LINE

    with SqliteEngine(db) as engine:
        notes = _notes(engine)
        source, texts = _terms(engine, questions, terms, lexicon)
        df = engine.df(fold(t) for t in texts)
        holders = {t: engine.counts(fold(t)).docs for t in texts}
        counts: Counts = count_text(texts, notes, df, f"{engine.name} ({source})")
        line = engine.line if engine.line is not None else DEFAULT_LINE
        knows: Knows = Knows(("title and path (as one head)", "text"), ranks_terms=engine.ranks_terms)
    return diagnose(
        counts,
        lexicon,
        knows=knows,
        notes=notes,
        questions=questions,
        proposals=mine_aliases(notes, lexicon, load_mining()),
        line=line,
        holders=holders,
    )


# ---------------------------------------------------------------- showing


def _print_json(value: Mapping[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    click.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _gap_json(seen: _Rates, found: Sequence[Gap], chosen: Recommendation) -> dict[str, Any]:
    return {
        "source": seen.source,
        "n_docs": seen.n_docs,
        "line": seen.line,
        "line_from": seen.line_from,
        "gaps": [{**asdict(g), "width": g.width, "is_gap": g.is_gap} for g in found],
        "recommended": {"line": chosen.line, "moves": chosen.moves, "reasons": list(chosen.reasons)},
        "rates": [{"text": t, "hit_rate": seen.rates[t]} for t in _sorted(seen.rates)],
    }


def _sorted(rates: Mapping[str, float]) -> list[str]:
    return sorted(rates, key=lambda term: (-rates[term], term))


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


_BLANKS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


def _line(*parts: tuple[str, str] | str) -> Any:
    """Parts with their styles; what came from notes and files is text, never markup."""
    from rich.text import Text

    pairs = (part if isinstance(part, tuple) else (part, "") for part in parts)
    return Text.assemble(*((text.translate(_BLANKS), style) for text, style in pairs))


# Rows of bars that fit a terminal; the plot and --json have the rest.
_ROWS = 32


def _show_gap(seen: _Rates, found: Sequence[Gap], chosen: Recommendation) -> None:
    from querykit.plots import around

    console = _console()
    rates, line = seen.rates, seen.line
    counted = f"{seen.n_docs} documents, {len(rates)} terms stand in them"
    console.print(_line((f"{seen.source}: {counted}, line {line:.0%} ({seen.line_from})", "dim")))
    if not rates:
        of_db = seen.holders is not None
        to_do = ": name what readers ask with --questions FILE or --terms FILE" if of_db else ""
        console.print(f"no rate to look at{to_do}")
        return
    ordered = _sorted(rates)
    start, stop = around(ordered, rates, line, most=_ROWS)
    widest = next((g for g in found if g.method == "window" and g.is_gap), None)
    drawn = False
    if start:
        console.print(_line((f"  … {start} higher", "dim")))
    for term in ordered[start:stop]:
        rate = rates[term]
        if rate <= line and not drawn:
            drawn = True
            console.print(_line((_rule(line, widest), "red")))
        style = "yellow" if rate > line else "cyan"
        console.print(_line((_bar(rate), style), f" {rate:6.1%}  ", (term, "bold")))
    if not drawn:
        console.print(_line((_rule(line, widest), "red")))
    if stop < len(ordered):
        console.print(_line((f"  … {len(ordered) - stop} lower", "dim")))
    console.print()
    for g in found:
        head, *rest = str(g).split("; ")
        console.print(_line((head, "bold")))
        console.print(_line((f"    {'; '.join(rest)}", "dim")))
    console.print(_line((f"recommended line: {chosen.line:.0%}", "bold"), f"; {chosen.reasons[-1]}"))
    console.print(_line(("nothing is changed; keep a line: querykit index NOTES --db … --line …", "dim")))


def _bar(rate: float, width: int = 40) -> str:
    filled = round(rate * width)
    return "█" * filled + "·" * (width - filled)


def _rule(line: float, widest: Gap | None) -> str:
    at = f"── line {line:.0%} "
    if widest is not None:
        at += f"── gap {widest.low:.1%} … {widest.high:.1%} "
    return at + "─" * max(56 - len(at), 4)


def _plot(path: Path, seen: _Rates, found: Sequence[Gap], chosen: Recommendation) -> None:
    widest = next(g for g in found if g.method == "window")
    title = f"{seen.source}\n{'gap' if widest.is_gap else 'no gap'}: {widest.low:.1%} … {widest.high:.1%}"
    rows = [("term", "hit rate"), *((term, f"{seen.rates[term]:.1%}") for term in _sorted(seen.rates))]
    head = f"querykit gap: {seen.source}; recommended line {chosen.line:.0%}"
    _draw(path, seen.rates, seen.line, title, rows, head=head, gap=widest)


def plot_rates(path: Path, terms: Sequence[str], stats: CorpusStats) -> None:
    """Draw the hit rates of *terms* against the line of *stats*, as the suffix of *path* says."""
    from querykit.text import fold

    rates = {term: stats.rate(fold(term)) or 0.0 for term in terms}
    title = f"{stats.source}: {stats.n_docs} documents, line {stats.line:.0%} ({stats.line_from})"
    rows = [("term", "hit rate", "found", "as it stands")]
    for term in _sorted(rates):
        found, as_it_stands = (str(counts.get(fold(term))) for counts in (stats.df, stats.phrase_df))
        rows.append((term, f"{rates[term]:.1%}", found, as_it_stands))
    _draw(path, rates, stats.line, title, rows, head=f"querykit rates: {title}")


def _draw(
    path: Path,
    rates: Mapping[str, float],
    line: float,
    title: str,
    rows: Sequence[tuple[str, ...]],
    *,
    head: str,
    gap: Gap | None = None,
) -> None:
    from querykit.plots import MOST_LABELS, draw_rates, drawable, new_axes, save

    figure, axes = new_axes(9, 1.6 + 0.19 * min(max(len(rates), 4), MOST_LABELS))
    draw_rates(axes, rates, line, gap)
    axes.set_title(drawable(title), fontsize=9, loc="left")
    save(figure, path, title=head, rows=rows)


def _diagnosis_json(found: Diagnosis) -> dict[str, Any]:
    return {
        "n_docs": found.n_docs,
        "engine": found.engine,
        "findings": [
            {
                "rule": f.rule,
                "says": f.says,
                "items": [{"name": i.name, "evidence": i.evidence} for i in f.items],
                "advice": f.advice,
            }
            for f in found.findings
        ],
    }


# Findings whose items are many and short: names in a row, with the evidence of the first few.
_IN_A_ROW = {"furniture", "chance", "invisible", "absent"}
_LISTED = 20


def _show_diagnosis(found: Diagnosis, most: int) -> None:
    console = _console()
    for finding in found.findings:
        count = f" ({len(finding.items)})" if finding.rule not in ("corpus", "line") else ""
        console.print(_line((f"{finding.rule}{count}", "bold"), f"  {finding.says}"))
        if finding.rule in _IN_A_ROW:
            console.print(_line("  ", " · ".join(finding.names[:most])))
            items: Iterable[Any] = [item for item in finding.items[:3] if item.evidence]
        else:
            items = finding.items[:_LISTED]
        for row in _items(items):
            console.print(row)
        hidden = len(finding.items) - (most if finding.rule in _IN_A_ROW else _LISTED)
        if hidden > 0:
            console.print(_line((f"    and {hidden} more; --json has all", "dim")))
        if finding.advice:
            console.print(_line(("  → ", "green"), finding.advice))


def _items(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        yield _line("    ", (item.name, "cyan"), (f"  {item.evidence}" if item.evidence else "", "dim"))
