"""Values as JSON for programs, and as text for people.

What was typed is data: it goes into JSON strings and rich `Text`, never into markup or a format string.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from querykit.plan import QueryPlan
from querykit.run import Answer
from querykit.strip import Stripped
from querykit.tiers import CorpusStats, RatedTerm, Tier
from querykit.trace import trace


def strip_json(stripped: Stripped) -> dict[str, Any]:
    """The JSON of `querykit strip`."""
    return {
        "question": stripped.question.raw,
        "chunks": [
            {"text": c.text, "start": c.span.start, "end": c.span.end, "folded": c.folded}
            for c in stripped.chunks
        ],
        "removed": [
            {"text": r.text, "start": r.span.start, "end": r.span.end, "rule": r.rule}
            for r in stripped.removed
        ],
        "basis": stripped.basis.value,
    }


def rewrite_json(stripped: Stripped, rated: Sequence[RatedTerm], plan: QueryPlan) -> dict[str, Any]:
    """The JSON of `querykit rewrite`."""
    return {
        **strip_json(stripped),
        "queries": [
            {
                "text": q.text,
                "tier": q.tier.value,
                "hit_rate": q.hit_rate,
                "df": q.df,
                "also": [name for part in q.parts for name in part.names[1:]],
            }
            for q in plan.queries
        ],
        "combined": plan.combined.text if plan.combined else None,
        "last_resort": plan.last_resort,
        "left_out": list(plan.left_out),
        "suggestions": [
            {"term": s.key, "also": s.name, "reason": s.reason, "df": s.df} for s in plan.suggestions
        ],
        "terms": [
            {
                "text": r.term.text,
                "level": r.term.level.value,
                "tier": r.tier.value,
                "hit_rate": r.rate,
                "df": r.df,
                "phrase_df": r.phrase_df,
            }
            for r in rated
        ],
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """The JSON of `querykit ask`."""
    return {
        **rewrite_json(answer.stripped, answer.rated, answer.plan),
        "seats": [
            {
                "doc": s.doc,
                "title": s.title,
                "query": s.query,
                "why": s.why,
                "matched": list(s.matched),
                "missing": list(s.missing),
            }
            for s in answer.seats
        ],
        "coverage": {
            "share": round(answer.coverage.share, 4),
            "matched": list(answer.coverage.matched),
            "missing": list(answer.coverage.missing),
            "weak": answer.coverage.is_weak,
        },
        "degraded": answer.degraded,
        "failed": list(answer.failed),
        "used_last_resort": answer.used_last_resort,
    }


def rates_json(terms: Sequence[str], stats: CorpusStats) -> dict[str, Any]:
    """The JSON of `querykit rates`."""
    from querykit.text import fold

    return {
        **{k: v for k, v in stats.to_dict().items() if k not in ("df", "phrase_df")},
        "terms": [
            {
                "text": term,
                "df": stats.df.get(fold(term)),
                "phrase_df": stats.phrase_df.get(fold(term)),
                "hit_rate": stats.rate(fold(term)),
            }
            for term in terms
        ],
    }


# ---------------------------------------------------------------- for people


def _console() -> Any:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    if console.width < 1:  # COLUMNS=0 would print nothing at all
        console.width = 80
    return console


def _question_line(stripped: Stripped) -> Any:
    """The question as typed, with what went struck through."""
    from rich.text import Text

    line = Text(stripped.question.raw.translate(_BLANKS), style="bold")
    for removed in stripped.removed:
        line.stylize("strike dim not bold", *removed.span)
    return line


# Control characters would move the cursor of a terminal; they are shown as blanks.
_BLANKS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


def _plain(text: str) -> str:
    return text.translate(_BLANKS)


def _line(*parts: tuple[str, str] | str) -> Any:
    from rich.text import Text

    return Text.assemble(*((_plain(p), "") if isinstance(p, str) else (_plain(p[0]), p[1]) for p in parts))


_SAYS = {
    "nothing": "nothing to search for",
    "browse": "asks for the base itself: index pages first",
    "unstripped": "nothing was left, so the question stands as it is",
    "tool_names": "only tool names are left",
}


def show_stripped(stripped: Stripped) -> None:
    """Print what went and what stays."""
    console = _console()
    console.print(_question_line(stripped))
    kept = " · ".join(c.text for c in stripped.chunks) or "—"
    said = _SAYS.get(stripped.basis.value)
    console.print(_line("kept     ", (kept, "bold"), f"   ({said})" if said else ""))
    gone = ", ".join(f"{r.text} ({r.rule})" for r in stripped.removed) or "—"
    console.print(_line("removed  ", (gone, "dim")))


def show_rewrite(stripped: Stripped, rated: Sequence[RatedTerm], plan: QueryPlan) -> None:
    """Print the queries in order."""
    console = _console()
    show_stripped(stripped)
    _show_terms(console, rated, None)
    for place, query in enumerate(plan.queries, 1):
        rate = "" if query.hit_rate is None else f" {query.hit_rate:.1%}"
        console.print(_line(f"{place:>3}. ", (query.text, "bold"), (f"   {query.why}{rate}", "dim")))
    if plan.left_out:
        console.print(_line(("     left out: " + ", ".join(plan.left_out), "dim")))


def _show_terms(console: Any, rated: Sequence[RatedTerm], stats: CorpusStats | None) -> None:
    counted = [r for r in rated if r.df is not None and r.term.level.value != "pair"]
    if not counted:
        return
    line = stats.line if stats else None
    for r in counted:
        rate = r.rate or 0.0
        console.print(
            _line(
                "  ",
                (_bar(rate, line), "yellow" if r.tier is Tier.COMMON else "cyan"),
                f" {rate:6.1%}  ",
                (r.term.text, "bold"),
                (f"  {r.tier.value}, {r.df} found, {r.phrase_df} as it stands", "dim"),
            )
        )


def _bar(rate: float, line: float | None, width: int = 20) -> str:
    """A hit rate as a bar, with the line in it."""
    filled = round(rate * width)
    bar = ["█"] * filled + ["·"] * (width - filled)
    if line is not None:
        bar[min(int(line * width), width - 1)] = "│"
    return "".join(bar)


def show_answer(answer: Answer, *, explain: bool = False) -> None:
    """Print the six sources with their reasons; with *explain*, every decision."""
    console = _console()
    console.print(_question_line(answer.stripped))
    if explain:
        rows = trace(answer.stripped, answer.rated, answer.plan, answer.seats, answer.coverage, answer.stats)
        for row in rows:
            console.print(
                _line(
                    (f"{row.step:<12}", "cyan"),
                    f"{row.what}  ",
                    (row.decision, "bold"),
                    (f"  {row.why}", "dim"),
                )
            )
        return
    said = _SAYS.get(answer.stripped.basis.value)
    if said:
        console.print(_line((f"  {said}", "dim")))
    _show_terms(console, answer.rated, answer.stats)
    for suggestion in answer.plan.suggestions:
        console.print(
            _line(
                ("  also searched: ", "dim"),
                suggestion.name,
                (f" for {suggestion.key} ({suggestion.reason})", "dim"),
            )
        )
    for place, seat in enumerate(answer.seats, 1):
        console.print(_line(f"{place:>3}. ", (seat.title or seat.doc, "bold"), (f"   {seat.doc}", "dim")))
        held = ", ".join(seat.matched)
        lacks = f"; lacks {', '.join(seat.missing)}" if seat.missing and held else ""
        console.print(_line((f"     {seat.why}" + (f"; holds {held}{lacks}" if held else ""), "dim")))
    _show_verdict(console, answer)


def _show_verdict(console: Any, answer: Answer) -> None:
    for failure in answer.failed:
        console.print(_line(("engine failed: ", "red"), failure))
    if not answer.seats:
        console.print(_line("no sources found"))
    elif answer.plan.queries:
        missing = ", ".join(answer.coverage.missing)
        said = f"sources cover {answer.coverage.share:.0%} of the question" + (
            f"; missing: {missing}" if missing else ""
        )
        weak = answer.coverage.is_weak
        console.print(
            _line((said + ("  (likely no evidence here)" if weak else ""), "yellow" if weak else "dim"))
        )
    if answer.used_last_resort:
        console.print(
            _line(("every keyword query came back empty; these come from the whole sentence", "yellow"))
        )


def show_rates(terms: Sequence[str], stats: CorpusStats) -> None:
    """Print hit rates against the line."""
    from querykit.text import fold

    console = _console()
    console.print(
        _line((f"{stats.source}: {stats.n_docs} documents, line {stats.line:.0%} ({stats.line_from})", "dim"))
    )
    for term in sorted(terms, key=lambda t: -stats.df.get(fold(t), 0)):
        key = fold(term)
        rate = stats.rate(key) or 0.0
        console.print(
            _line(
                (_bar(rate, stats.line), "yellow" if rate > stats.line else "cyan"),
                f" {rate:6.1%}  ",
                (term, "bold"),
                (f"  {stats.df.get(key)} found, {stats.phrase_df.get(key)} as it stands", "dim"),
            )
        )
