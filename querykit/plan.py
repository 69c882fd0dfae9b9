"""The queries, in order, and the one that combines them; the last resort.

An engine that joins words with AND and ranks poorly is asked one query per term; an engine that ranks is
asked the combined query. A plan holds both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from querykit.lexicon import Lexicon
from querykit.strip import Basis, Stripped, unstripped
from querykit.suggest import Suggestion, aliases
from querykit.terms import Level, Term
from querykit.text import Span
from querykit.tiers import RatedTerm, Tier

# A back end dies of a hundred words and nobody asks so many; the most telling stay, the rest is named.
MAX_QUERIES = 32

# Weights in the combined query, chosen on the dev questions of nine corpora (benchmarks/README.md): a soft word
# counts two thirds (.4 costs dureader_demo .008, .9 gains nothing); a single character that stands
# in for a word the notes do not know counts half; a chunk or a pair of words that stands as it is adds something
# to its words. All three sit on plateaus: a third more or less changes recall by < .01. A specific tool name
# counts twice, and the words of a chance combination less: neutral in recall (± .003), they put notes about Suno
# before notes about 音乐 and 生成.
SOFT_WEIGHT = 0.65
PIECE_WEIGHT = 0.5
PHRASE_WEIGHT = 0.4
NAME_WEIGHT = 2.0
CHANCE_WEIGHT = 0.7

_ALL_IN_ONE = "all terms in one"


class Part(NamedTuple):
    """One term of a query: its key, every name it is searched under (the key first), its weight."""

    key: str
    names: tuple[str, ...]
    weight: float = 1.0


class Query(NamedTuple):
    """A query for an engine: *text* as typed, for engines that take text; *parts* for those that rank terms."""

    text: str
    parts: tuple[Part, ...]
    tier: Tier = Tier.UNRATED
    hit_rate: float | None = None
    df: int | None = None
    why: str = ""


class QueryPlan(NamedTuple):
    """What to ask, strongest first, and what was left out or added on the way.

    *queries* has a query per term, never the sentence; *combined* all terms in one; *last_resort* is the
    sentence, for when every keyword query came back empty. *browse* has names of index pages to look for
    when the reader asks for the base itself. A plan without queries has nothing to search for.
    """

    basis: Basis
    queries: tuple[Query, ...] = ()
    combined: Query | None = None
    last_resort: str | None = None
    browse: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()


def plan(
    stripped: Stripped,
    rated: Sequence[RatedTerm],
    lexicon: Lexicon,
    *,
    suggestions: Iterable[Suggestion] = (),
    max_queries: int = MAX_QUERIES,
) -> QueryPlan:
    """Return the plan for *stripped* with its *rated* terms.

    Without counts there is one query per chunk. With them, a chunk that no document holds, or that is a
    chance combination of its words, is taken apart; the most telling query comes first.

    >>> from querykit.strip import strip
    >>> from querykit.terms import terms
    >>> from querykit.text import normalize
    >>> from querykit.tiers import CorpusStats, tier
    >>> asked = strip(normalize("库里有没有讲 Suno 音乐生成的笔记"), zh)
    >>> stats = CorpusStats(442, {"suno": 53, "音乐生成": 38, "音乐": 120, "生成": 310},
    ...                     {"suno": 53, "音乐生成": 0, "音乐": 120, "生成": 310})
    >>> [(q.text, q.tier.value) for q in plan(asked, tier(terms(asked), stats), zh).queries]
    [('Suno', 'specific'), ('音乐', 'specific'), ('生成', 'common')]
    """
    known = {s.key: s for s in suggestions}
    if not stripped.chunks:
        browse = _browse_names(stripped, lexicon) if stripped.basis is Basis.BROWSE else ()
        return QueryPlan(stripped.basis, browse=browse)
    one_each = len(rated) == len(stripped.chunks)
    chosen = _distinct(rated if one_each else _chosen(rated))
    kept, rest = _bounded(chosen, max_queries)
    queries = tuple([_query(r, lexicon, known) for r in kept])
    combined = _together(kept, queries) if one_each else _combined(rated, lexicon, known, max_queries)
    return QueryPlan(
        stripped.basis,
        queries,
        combined,
        stripped.question.raw.strip(),
        left_out=tuple([r.term.text for r in rest]),
        suggestions=tuple(known.values()),
    )


def sentence_query(stripped: Stripped, lexicon: Lexicon) -> Query:
    """The whole question as one query, the last resort: every word of it, nothing weighed.

    >>> from querykit.strip import strip
    >>> from querykit.text import normalize
    >>> [part.key for part in sentence_query(strip(normalize("库里讲茶的笔记"), zh), zh).parts]
    ['库', '里', '讲', '茶', '的', '笔记']
    """
    whole = unstripped(stripped.question, lexicon)
    keys = [chunk.folded[word.start : word.end].lower() for chunk in whole.chunks for word in chunk.words]
    parts = tuple(Part(key, (key,)) for key in dict.fromkeys(keys))
    return Query(whole.question.raw.strip(), parts, why="the whole sentence")


def _browse_names(stripped: Stripped, lexicon: Lexicon) -> tuple[str, ...]:
    asked = [r.text for r in stripped.removed if r.rule == "browse"]
    return tuple(dict.fromkeys([*asked, *lexicon.browse_names]))


def _chosen(rated: Sequence[RatedTerm]) -> list[RatedTerm]:
    """One rated term per chunk, or the words of a chunk that nobody wrote as it stands."""
    by_chunk: dict[int, list[RatedTerm]] = {}
    for r in rated:
        by_chunk.setdefault(r.term.chunk, []).append(r)
    chosen: list[RatedTerm] = []
    for _, group in sorted(by_chunk.items()):
        whole = next(r for r in group if r.term.level is Level.CHUNK)
        words = [r for r in group if r.term.level is Level.WORD]
        apart = whole.tier in (Tier.CHANCE, Tier.ABSENT)
        if not apart or len(group) == 1:
            chosen.append(whole)
            continue
        present: dict[str, list[RatedTerm]] = {}
        for r in group:
            if r.term.level is Level.PIECE and r.tier is not Tier.ABSENT:
                present.setdefault(r.term.word, []).append(r)
        for word in words or [whole]:
            chosen += present.get(word.term.key, [word]) if word.tier is Tier.ABSENT else [word]
    return chosen


def _distinct(rated: Sequence[RatedTerm]) -> list[RatedTerm]:
    """Each term once, as it was typed first; the strongest first."""
    if len(rated) == 1:
        return [*rated]
    first: dict[str, RatedTerm] = {}
    for r in sorted(rated, key=_place):
        first.setdefault(r.term.key, r)
    return sorted(first.values(), key=_strength)


def _place(r: RatedTerm) -> Span:
    return r.term.span


def _strength(r: RatedTerm) -> tuple[int, int, int]:
    """Tier, then fewer hits, then the order of the question."""
    return r.tier.rank, r.df or 0, r.term.span.start


def _bounded(rated: list[RatedTerm], most: int) -> tuple[list[RatedTerm], list[RatedTerm]]:
    """The strongest; where nothing is rated, the first few and the last: people ask at the end of what they paste."""
    if len(rated) <= most:
        return rated, []
    if any(r.df is not None for r in rated):
        return rated[:most], rated[most:]
    head = most // 4
    tail = len(rated) - (most - head)
    return rated[:head] + rated[tail:], rated[head:tail]


def _names(term: Term, lexicon: Lexicon, known: Mapping[str, Suggestion]) -> tuple[str, ...]:
    if term.key not in lexicon.synonyms and term.key not in known:
        return (term.key,)
    names = [term.key, *aliases(term.key, lexicon)]
    if term.key in known:
        spelled = known[term.key].name
        names += [spelled, *aliases(spelled, lexicon)]
    return tuple(dict.fromkeys(names))


def _query(r: RatedTerm, lexicon: Lexicon, known: Mapping[str, Suggestion]) -> Query:
    names = _names(r.term, lexicon, known)
    why = r.tier.value if len(names) == 1 else f"{r.tier.value}, also as {', '.join(names[1:])}"
    return Query(r.term.text, (Part(r.term.key, names),), r.tier, r.rate, r.df, why)


def _together(kept: Sequence[RatedTerm], queries: Sequence[Query]) -> Query:
    """All *queries* in one, in the order of the question, where no chunk has words of its own."""
    pairs = zip(kept, queries, strict=True)
    asked = pairs if len(kept) == 1 else sorted(pairs, key=_place_of_first)
    parts, texts = [], []
    for r, query in asked:
        (part,), weight = query.parts, _own_weight(r)
        parts.append(part if weight == 1 else Part(part.key, part.names, weight))
        texts.append(query.text)
    return Query(" ".join(texts), tuple(parts), why=_ALL_IN_ONE)


def _place_of_first(pair: tuple[RatedTerm, Query]) -> Span:
    return pair[0].term.span


def _own_weight(r: RatedTerm) -> float:
    """What a term weighs, whatever stands beside it."""
    if r.term.is_soft:
        return SOFT_WEIGHT
    return NAME_WEIGHT if r.tier is Tier.SPECIFIC and r.term.is_name else 1


def _combined(
    rated: Sequence[RatedTerm], lexicon: Lexicon, known: Mapping[str, Suggestion], most: int
) -> Query | None:
    parts: dict[str, Part] = {}
    texts: dict[str, str] = {}
    lone = {r.term.chunk for r in rated} - {r.term.chunk for r in rated if r.term.level is Level.WORD}
    absent = {r.term.key for r in rated if r.tier is Tier.ABSENT and r.term.key not in known}
    by_chance = {r.term.chunk for r in rated if r.tier is Tier.CHANCE and r.term.level is Level.CHUNK}
    ordered = _bounded(sorted(rated, key=_strength), 2 * most)[0]
    for r in sorted(ordered, key=_place):
        term = r.term
        names = _names(term, lexicon, known)
        weight = _own_weight(r)
        if weight <= 1 and term.level is Level.WORD and term.chunk in by_chance:
            weight *= CHANCE_WEIGHT
        if term.level is Level.PIECE:
            if term.word not in absent:
                continue
            weight *= PIECE_WEIGHT
        elif term.level is Level.PAIR or (
            term.level is Level.CHUNK and term.chunk not in lone and term.key not in lexicon.synonyms
        ):
            weight = PHRASE_WEIGHT
        if term.key not in parts or parts[term.key].weight < weight:
            parts[term.key] = Part(term.key, names, weight)
            texts.setdefault(term.key, term.text)
    words = [texts[k] for k, p in parts.items() if p.weight != PHRASE_WEIGHT]
    return Query(" ".join(words), tuple(parts.values()), why=_ALL_IN_ONE) if parts else None
