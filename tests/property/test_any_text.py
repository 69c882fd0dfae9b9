"""Any Unicode string gives a value, never an exception; case, width and script change no decision."""

from hypothesis import given
from hypothesis import strategies as st

from querykit.lexicon import Lexicon
from querykit.run import rewrite
from querykit.strip import strip
from querykit.terms import terms
from querykit.text import fold, normalize
from tests.strategies import TOPICS, questions


@given(raw=st.text(st.characters(), max_size=60) | questions)
def test_any_string_gives_a_value(raw: str, zh: Lexicon) -> None:
    stripped, _, planned = rewrite(raw, zh)
    assert len(planned.queries) <= len(stripped.chunks)
    for term in terms(stripped):
        assert raw[term.span.start : term.span.end] == term.text


@given(topic=st.sampled_from(TOPICS))
def test_width_changes_no_decision(topic: str, zh: Lexicon) -> None:
    narrow, wide = f"知识库里讲 MJ {topic}的笔记?", f"知识库里讲　ＭＪ　{topic}的笔记？"
    assert [c.folded for c in strip(normalize(narrow), zh).chunks] == [
        c.folded for c in strip(normalize(wide), zh).chunks
    ]


@given(raw=questions)
def test_offsets_lead_back(raw: str) -> None:
    question = normalize(raw)
    at = 0
    for i in range(len(question.text)):
        span = question.typed(i, i + 1)
        assert at <= span.start < span.end <= len(raw)
        at = span.start


@given(raw=st.text(st.characters(), max_size=60) | questions)
def test_notes_are_folded_as_questions_are(raw: str) -> None:
    assert fold(raw) == normalize(raw).text.lower()
