"""Replay of the removals gives the chunks."""

from hypothesis import given

from querykit.lexicon import Lexicon
from querykit.strip import Basis, strip
from querykit.text import normalize
from querykit.trace import replay
from tests.strategies import questions


def letters(text: str) -> str:
    return "".join(c for c in normalize(text).text if c.isalnum())


@given(raw=questions)
def test_replay_gives_the_chunks(raw: str, zh: Lexicon) -> None:
    stripped = strip(normalize(raw), zh)
    if stripped.basis is not Basis.NOTHING:
        assert letters(replay(stripped)) == letters("".join(c.text for c in stripped.chunks))
