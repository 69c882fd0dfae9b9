"""Wrapping a clean topic in 知识库里讲…的笔记 changes nothing."""

from hypothesis import given
from hypothesis import strategies as st

from querykit.lexicon import Lexicon
from querykit.strip import strip
from querykit.text import normalize
from tests.strategies import CLEAN_TOPICS

FRAMES = ["知识库里讲{}的笔记", "这个知识库里有哪些关于{}的文章", "库里有没有写{}的", "请问{}是什么"]


@given(topic=st.sampled_from(CLEAN_TOPICS), frame=st.sampled_from(FRAMES))
def test_wrapping_changes_nothing(topic: str, frame: str, zh: Lexicon) -> None:
    alone = [c.text for c in strip(normalize(topic), zh).chunks]
    assert [c.text for c in strip(normalize(frame.replace("{}", topic)), zh).chunks] == alone == [topic]
