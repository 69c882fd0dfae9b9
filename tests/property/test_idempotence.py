"""A chunk stripped again is itself."""

from hypothesis import given
from hypothesis import strategies as st

from querykit.lexicon import Lexicon, Role
from querykit.strip import strip
from querykit.text import fold, normalize
from tests.strategies import CLEAN_TOPICS, questions


@given(topic=st.sampled_from(CLEAN_TOPICS), before=st.sampled_from(["", "知识库里讲", "请问", "有没有关于"]))
def test_chunk_stripped_again_is_itself(topic: str, before: str, zh: Lexicon) -> None:
    for chunk in strip(normalize(before + topic + "的笔记"), zh).chunks:
        assert [c.text for c in strip(normalize(chunk.text), zh).chunks] == [chunk.text]


@given(raw=questions)
def test_content_word_is_never_taken_from_a_chunk(raw: str, zh: Lexicon) -> None:
    """Stripping a chunk again takes at most words that are on a list: content of its own is safe."""
    for chunk in strip(normalize(raw), zh).chunks:
        for removed in strip(normalize(chunk.text), zh).removed:
            assert zh.roles(fold(removed.text)) - {Role.KEEP}
