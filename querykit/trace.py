"""Every decision as a row that a person can read; and the way back from removals to chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from querykit.plan import QueryPlan
from querykit.seats import Coverage, Seat
from querykit.strip import Stripped
from querykit.tiers import CorpusStats, RatedTerm


class Row(NamedTuple):
    """One decision: the step, what it is about, what was decided, and why."""

    step: str
    what: str
    decision: str
    why: str = ""


def trace(
    stripped: Stripped,
    rated: Sequence[RatedTerm],
    plan: QueryPlan,
    seats: Sequence[Seat] = (),
    coverage: Coverage | None = None,
    stats: CorpusStats | None = None,
) -> tuple[Row, ...]:
    """Return the whole story of a question, one row a decision, in the order in which they fell.

    >>> from querykit.run import rewrite
    >>> for row in trace(*rewrite("笔记的整理方法", zh)):
    ...     print(*row[:3])
    strip 笔记 removed
    strip 的 removed
    strip 整理方法 kept
    basis  stripped
    term 整理方法 unrated
    query 整理方法 1
    last resort 笔记的整理方法 only if all else is empty
    """
    return tuple(_rows(stripped, rated, plan, seats, coverage, stats))


def _rows(
    stripped: Stripped,
    rated: Sequence[RatedTerm],
    plan: QueryPlan,
    seats: Sequence[Seat],
    coverage: Coverage | None,
    stats: CorpusStats | None,
) -> Iterator[Row]:
    pieces = [(r.span, Row("strip", r.text, "removed", r.rule)) for r in stripped.removed]
    pieces += [(c.span, Row("strip", c.text, "kept")) for c in stripped.chunks]
    yield from (row for _, row in sorted(pieces))
    yield Row("basis", "", stripped.basis.value)
    if stats is not None:
        yield Row(
            "corpus", stats.source, f"{stats.n_docs} documents", f"line {stats.line:.0%} ({stats.line_from})"
        )
    for r in rated:
        yield Row("term", r.term.text, r.tier.value, _counts(r))
    for suggestion in plan.suggestions:
        why = f"{suggestion.reason}, {suggestion.df} documents"
        yield Row("suggestion", suggestion.key, f"also {suggestion.name}", why)
    for place, query in enumerate(plan.queries, 1):
        yield Row("query", query.text, str(place), query.why)
    for text in plan.left_out:
        yield Row("query", text, "left out", "more terms than a query takes")
    if plan.last_resort is not None:
        yield Row("last resort", plan.last_resort, "only if all else is empty")
    for place, seat in enumerate(seats, 1):
        held = f"holds {', '.join(seat.matched)}" if seat.matched else ""
        lacks = f"lacks {', '.join(seat.missing)}" if seat.missing else ""
        yield Row("seat", seat.doc, str(place), "; ".join(part for part in (seat.why, held, lacks) if part))
    if coverage is not None:
        missing = f"missing {', '.join(coverage.missing)}" if coverage.missing else "nothing missing"
        yield Row("coverage", "", f"{coverage.share:.0%}", missing)


def _counts(r: RatedTerm) -> str:
    if r.df is None:
        return "not counted"
    rate = f"{r.rate:.1%} of documents" if r.rate is not None else "no documents"
    phrase = "" if r.phrase_df is None else f", {r.phrase_df} as it stands"
    return f"{rate} ({r.df}{phrase})"


def replay(stripped: Stripped) -> str:
    """Return the typed question with the removals applied: what is left, marks and blanks included.

    >>> from querykit.strip import strip
    >>> from querykit.text import normalize
    >>> replay(strip(normalize("库里有没有讲 Suno 的笔记？"), zh))
    ' Suno ？'
    """
    raw, out, at = stripped.question.raw, [], 0
    for removed in stripped.removed:
        out.append(raw[at : removed.span.start])
        at = removed.span.end
    return "".join([*out, raw[at:]])
