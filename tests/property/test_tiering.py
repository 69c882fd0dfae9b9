"""`tier` is a permutation: nothing is dropped, absent terms never lead, common ones ascend."""

from hypothesis import given
from hypothesis import strategies as st

from querykit.lexicon import Lexicon
from querykit.strip import strip
from querykit.terms import terms
from querykit.text import normalize
from querykit.tiers import CorpusStats, Tier, tier
from tests.strategies import questions


@given(raw=questions, data=st.data())
def test_tier_is_a_permutation(raw: str, data: st.DataObject, zh: Lexicon) -> None:
    found = terms(strip(normalize(raw), zh))
    n = data.draw(st.integers(0, 500))
    keys = sorted({t.key for t in found})
    df = {k: data.draw(st.integers(0, n)) for k in keys if data.draw(st.booleans())}
    phrase_df = {k: data.draw(st.integers(0, df[k])) for k in df}
    rated = tier(found, CorpusStats(n, df, phrase_df))
    assert sorted(map(repr, (r.term for r in rated))) == sorted(map(repr, found))
    common = [r.df or 0 for r in rated if r.tier is Tier.COMMON]
    assert common == sorted(common)
    if any(r.tier is not Tier.ABSENT for r in rated):
        assert rated[0].tier is not Tier.ABSENT


counts = st.dictionaries(st.sampled_from(["茶", "酒", "sref"]), st.integers(0, 20))


@given(a=counts, b=counts, c=counts)
def test_merging_is_associative(a: dict[str, int], b: dict[str, int], c: dict[str, int]) -> None:
    x, y, z = (CorpusStats(20, d, source="s") for d in (a, b, c))
    assert (x + y) + z == x + (y + z)
    assert CorpusStats.from_dict(x.to_dict()) == x
