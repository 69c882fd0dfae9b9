"""Never empty when the question holds content."""

from hypothesis import given
from hypothesis import strategies as st

from querykit.lexicon import Lexicon
from querykit.strip import strip
from querykit.text import normalize
from tests.strategies import ASKING, ATTACHED, CLEAN_TOPICS, CONTAINERS

shells = st.lists(st.sampled_from([*CONTAINERS, *ATTACHED, *ASKING]), max_size=6).map("".join)


@given(before=shells, topic=st.sampled_from(CLEAN_TOPICS), behind=shells)
def test_never_empty(before: str, topic: str, behind: str, zh: Lexicon) -> None:
    assert strip(normalize(before + topic + behind), zh).chunks
