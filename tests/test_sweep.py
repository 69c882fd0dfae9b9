"""The boundary sweep with its ratchet: every everyday word of the dictionary comes back whole."""

from __future__ import annotations

import pytest

from benchmarks.sweep import damaged, dictionary_words, is_ours
from querykit.lexicon import Lexicon

# Words damaged alone / inside 知识库里讲…的笔记, of 45,996 less our own entries. They may only go down.
RATCHET = {False: 0, True: 0}


@pytest.mark.parametrize("framed", [False, True], ids=["alone", "framed"])
def test_sweep(framed: bool, zh: Lexicon) -> None:
    words = dictionary_words()
    assert len(words) == 45_996
    swept = [w for w in words if not is_ours(w, zh)]
    assert len(words) - len(swept) < 500  # our entries must not grow into a way of passing
    bad = list(damaged(swept, zh, framed=framed))
    assert len(bad) <= RATCHET[framed], bad[:20]
