"""Hit rates put common terms last, and drop none."""

from __future__ import annotations

import json

import pytest

from querykit.lexicon import Lexicon
from querykit.plan import plan
from querykit.strip import strip
from querykit.terms import terms
from querykit.text import normalize
from querykit.tiers import CorpusStats, StatsError, Tier, tier


def tiers_of(ask: str, stats: CorpusStats, lexicon: Lexicon) -> dict[str, str]:
    return {r.term.text: r.tier.value for r in tier(terms(strip(normalize(ask), lexicon)), stats)}


def test_strictly_above_the_line_is_common(zh: Lexicon) -> None:
    stats = CorpusStats(100, {"suno": 40, "kling": 41})
    assert tiers_of("Suno，Kling", stats, zh) == {"Suno": "specific", "Kling": "common"}


def test_common_terms_go_last_fewer_hits_first(zh: Lexicon) -> None:
    stats = CorpusStats(442, {"prompt": 442, "skill": 190, "sref": 20})
    rated = tier(terms(strip(normalize("prompt，Skill，sref"), zh)), stats)
    assert [r.term.text for r in rated] == ["sref", "Skill", "prompt"]


def test_product_name_in_front_of_everything(zh: Lexicon) -> None:
    stats = CorpusStats(
        300, {"云帆智能门锁旗舰版": 276, "换电池": 9}, {"云帆智能门锁旗舰版": 276, "换电池": 9}
    )
    stripped = strip(normalize("云帆智能门锁旗舰版怎么换电池"), zh)
    queries = plan(stripped, tier(terms(stripped), stats), zh).queries
    assert "电池" in queries[0].text
    assert "云帆" in queries[-1].text


def test_everything_common_keeps_everything(zh: Lexicon) -> None:
    stats = CorpusStats(80, {"mcp": 80})
    assert tiers_of("MCP 是怎么用的", stats, zh) == {"MCP": "common"}


def test_too_few_documents_are_not_tiered(zh: Lexicon) -> None:
    stats = CorpusStats(1, {"霉菌": 1, "毒素检测": 1, "毒素": 1, "检测": 1})
    assert set(tiers_of("霉菌 毒素检测", stats, zh).values()) == {"unrated"}


def test_not_asked_is_not_absent(zh: Lexicon) -> None:
    stats = CorpusStats(200, {"仪表盘": 14})
    assert tiers_of("the Traefik 仪表盘", stats, zh)["Traefik"] == "unrated"
    assert tiers_of("Traefik", CorpusStats(200, {"traefik": 0}), zh)["Traefik"] == "absent"


def test_chance_combination_goes_behind(zh: Lexicon) -> None:
    stats = CorpusStats(442, {"音乐生成": 38, "suno": 53}, {"音乐生成": 0, "suno": 53})
    assert tiers_of("Suno 音乐生成", stats, zh)["音乐生成"] == "chance"
    real = CorpusStats(442, {"角色一致性": 78}, {"角色一致性": 48})
    assert tiers_of("角色一致性", real, zh)["角色一致性"] == "specific"


def test_soft_words_go_behind(zh: Lexicon) -> None:
    stats = CorpusStats(442, {"区别": 3, "sref": 100, "oref": 90})
    rated = tier(terms(strip(normalize("sref 和 oref 的区别"), zh)), stats)
    assert [r.term.text for r in rated] == ["sref", "oref", "区别"]


def test_stats_travel_as_json() -> None:
    stats = CorpusStats(442, {"茶": 3}, {"茶": 3}, 0.35, "pagefind", "a person")
    assert CorpusStats.from_dict(json.loads(json.dumps(stats.to_dict()))) == stats


@pytest.mark.parametrize(
    "bad",
    [
        {"n_docs": -1},
        {"n_docs": 5, "line": 0},
        {"n_docs": 5, "line": 1.5},
        {"n_docs": 5, "df": {"茶": 6}},
        {"docs": 3},
    ],
)
def test_senseless_stats_say_so(bad: dict[str, object]) -> None:
    with pytest.raises(StatsError):
        CorpusStats.from_dict(bad)


def test_only_like_is_added_to_like() -> None:
    with pytest.raises(StatsError, match="one engine under one line"):
        CorpusStats(5, source="a") + CorpusStats(5, source="b")


def test_tiers_are_in_order() -> None:
    assert [t.value for t in sorted(Tier, key=lambda t: t.rank)] == [t.value for t in Tier]
