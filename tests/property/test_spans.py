"""Spans slice the typed question and never overlap; chunks, removed spans and marks cover it once."""

from hypothesis import given

from querykit.lexicon import Lexicon
from querykit.strip import Basis, strip
from querykit.text import normalize
from tests.strategies import questions


@given(raw=questions)
def test_spans_slice_and_never_overlap(raw: str, zh: Lexicon) -> None:
    stripped = strip(normalize(raw), zh)
    pieces = sorted([(p.span, p.text) for p in (*stripped.chunks, *stripped.removed)])
    at = 0
    for span, text in pieces:
        assert at <= span.start < span.end <= len(raw)
        assert raw[span.start : span.end] == text
        at = span.end


@given(raw=questions)
def test_what_nobody_claims_is_no_letter(raw: str, zh: Lexicon) -> None:
    stripped = strip(normalize(raw), zh)
    claimed = {i for p in (*stripped.chunks, *stripped.removed) for i in range(*p.span)}
    rest = "".join(c for i, c in enumerate(raw) if i not in claimed)
    folded = normalize(rest).text
    assert stripped.basis is Basis.NOTHING or not any(c.isalnum() for c in folded), rest
