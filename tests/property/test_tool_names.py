"""Every Latin tool name survives."""

from hypothesis import given
from hypothesis import strategies as st

from querykit.lexicon import Lexicon
from querykit.strip import strip
from querykit.text import normalize
from tests.strategies import ASKING, ATTACHED, CONTAINERS, TOPICS, tools

shells = st.lists(st.sampled_from([*CONTAINERS, *ATTACHED, *ASKING, *TOPICS]), max_size=6).map("".join)


@given(before=shells, tool=tools, behind=shells)
def test_tool_name_survives(before: str, tool: str, behind: str, zh: Lexicon) -> None:
    stripped = strip(normalize(before + tool + behind), zh)
    assert any(tool in chunk.text for chunk in stripped.chunks)
