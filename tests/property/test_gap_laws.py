"""The line lies inside its interval; permuting or duplicating the corpus changes nothing it should not; one
rate, equal rates, rates of 0 and 1, NaN and empty input give an answer or a clear error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querykit.gap import METHODS, Gap, GapError, Method, choose_line, find_gap
from querykit.tiers import DEFAULT_LINE, CorpusStats

methods = st.sampled_from(METHODS)
hit_rates = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.4, 0.35, 5e-324]))
named = st.dictionaries(st.text(min_size=1, max_size=4), hit_rates, max_size=40)
lines = st.floats(0, 1, exclude_min=True)


@given(rates=named, method=methods, line=lines)
def test_line_lies_inside_its_interval(rates: dict[str, float], method: Method, line: float) -> None:
    gap = find_gap(rates, method, line=line)
    assert 0 <= gap.low <= gap.line <= 1
    assert gap.line < gap.high <= 1 or gap.n_above == 0
    assert gap.n_above == sum(rate > gap.line for rate in rates.values())
    assert gap.n_terms == sum(rate > 0 for rate in rates.values())


@given(rates=named, method=methods, line=lines)
def test_the_answer_can_be_told(rates: dict[str, float], method: Method, line: float) -> None:
    gap = find_gap(rates, method, line=line)
    assert str(gap).startswith(f"{method}: {'gap' if gap.is_gap else 'no gap here'}")
    assert 0 < choose_line([gap], n_docs=100).line <= 1


@given(rates=named, method=methods, data=st.data())
def test_order_does_not_matter(rates: dict[str, float], method: Method, data: st.DataObject) -> None:
    keys = data.draw(st.permutations(sorted(rates)))
    mixed = {key: rates[key] for key in keys}
    assert find_gap(mixed, method, n_docs=50, resamples=5) == find_gap(rates, method, n_docs=50, resamples=5)


@given(values=st.lists(hit_rates, max_size=30), method=methods)
def test_names_do_not_matter(values: list[float], method: Method) -> None:
    names = {f"t{i:02}": value for i, value in enumerate(values)}
    bare, told = find_gap(values, method), find_gap(names, method)
    assert without_names(bare) == without_names(told)


def without_names(gap: Gap) -> dict[str, Any]:
    return {name: getattr(gap, name) for name in Gap.__slots__ if name not in ("below", "above")}


documents = st.lists(st.sets(st.sampled_from("abcdefghij")), min_size=1, max_size=25)


def rates_of(corpus: list[set[str]]) -> Mapping[str, float]:
    return {word: sum(word in note for note in corpus) / len(corpus) for word in "abcdefghij"}


@given(corpus=documents, method=methods, times=st.integers(2, 4))
def test_duplicating_the_corpus_moves_no_line(corpus: list[set[str]], method: Method, times: int) -> None:
    once, often = find_gap(rates_of(corpus), method), find_gap(rates_of(corpus * times), method)
    assert without_names(once) == without_names(often)


@given(corpus=documents, method=methods, data=st.data())
def test_permuting_the_corpus_moves_no_line(
    corpus: list[set[str]], method: Method, data: st.DataObject
) -> None:
    mixed = data.draw(st.permutations(corpus))
    assert find_gap(rates_of(mixed), method) == find_gap(rates_of(corpus), method)


@given(corpus=documents, method=methods)
def test_resampling_documents_gives_shares(corpus: list[set[str]], method: Method) -> None:
    holders = {
        w: np.array([i for i, note in enumerate(corpus) if w in note], dtype=int) for w in "abcdefghij"
    }
    gap = find_gap(rates_of(corpus), method, n_docs=len(corpus), holders=holders, resamples=10)
    if gap.stability is not None:
        assert 0 <= gap.stability.same <= 1
        assert 0 <= gap.stability.low <= gap.stability.high <= 1
    assert gap.stability is not None or not gap.is_gap


@given(rates=named, bad=st.sampled_from([float("nan"), float("inf"), -0.1, 1.0000001]), method=methods)
def test_what_is_no_rate_is_named(rates: dict[str, float], bad: float, method: Method) -> None:
    with pytest.raises(GapError, match="'坏'"):
        find_gap({**rates, "坏": bad}, method)


@given(rate=hit_rates, copies=st.integers(0, 5), method=methods)
def test_one_rate_and_equal_rates_are_no_gap(rate: float, copies: int, method: Method) -> None:
    gap = find_gap([rate] * copies, method)
    assert not gap.is_gap
    assert gap.line == DEFAULT_LINE


@given(line=lines, line_from=st.text(max_size=20))
def test_stats_keep_a_chosen_line_and_its_origin(line: float, line_from: str) -> None:
    stats = CorpusStats(100, {"茶": 30}, source="s").with_line(line, line_from)
    assert (stats.line, stats.line_from, stats.df) == (line, line_from, {"茶": 30})
    assert CorpusStats.from_dict(stats.to_dict()) == stats
