"""The shell: one question, one engine, six sources, and the story of why.

Everything here that decides is in the core; this module asks the engine for what the core needs and hands
it over. It keeps no state: engine and lexicon come in as arguments, so that several live in one process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from querykit.engines.base import CountsDocuments, EngineError, KnowsWords, Searches
from querykit.lexicon import Lexicon, Role
from querykit.plan import Query, QueryPlan, plan, sentence_query
from querykit.seats import DEFAULT_SEATS, Coverage, Hit, Result, Seat, allocate, cover, is_index_page
from querykit.segment import load_segmenter
from querykit.strip import Basis, Stripped, strip
from querykit.suggest import (
    Suggestion,
    aliases,
    homophones,
    load_sounds,
    nearest_han,
    nearest_latin,
    questionable,
)
from querykit.terms import Level, Term, chunk_terms, terms
from querykit.text import fold, normalize
from querykit.tiers import CorpusStats, RatedTerm, Tier, tier

if TYPE_CHECKING:
    from querykit.material import fetch_material as fetch_material


def __getattr__(name: str) -> Any:
    """The other half of the shell, `fetch_material`, loaded when it is asked for: an answer needs none of it."""
    if name != "fetch_material":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from querykit.material import fetch_material

    return fetch_material


Mode = Literal["auto", "terms", "sentence"]

# How many hits of a query are looked at for every seat: index pages and notes already seated are passed over.
_DEPTH = 8

# Spelling costs the engine some hundred counts per term; a question with more unknown words is not a misspelling.
_MOST_SPELLED = 4

# A chunk of so few characters may be one misspelt word (提示次), however the dictionary cuts it.
_ONE_WORD = 4


class Answer(NamedTuple):
    """Six sources and everything that led to them.

    *stats* is None where nobody counted. *failed* names the queries that the engine could not answer, with the
    reason: empty seats then mean that something is broken, not that the base knows nothing.
    *used_last_resort* says that only the whole sentence found anything.
    """

    stripped: Stripped
    rated: tuple[RatedTerm, ...]
    plan: QueryPlan
    seats: tuple[Seat, ...]
    coverage: Coverage
    stats: CorpusStats | None = None
    failed: tuple[str, ...] = ()
    used_last_resort: bool = False

    @property
    def degraded(self) -> bool:
        """Did the engine fail on any query?"""
        return bool(self.failed)


def warm_up(lexicon: Lexicon | None = None) -> None:
    """Load the segmenter and the table of sounds (1 s) now, so that the first question costs what the second does."""
    load_segmenter()
    load_sounds()
    if lexicon is not None:
        strip(normalize("预热一下知识库里的笔记"), lexicon)


def rewrite(
    question: str, lexicon: Lexicon, engine: object = None, *, line: float | None = None
) -> tuple[Stripped, tuple[RatedTerm, ...], QueryPlan]:
    """What `answer` would ask, without asking: stripped, rated and planned; *engine* only counts.

    >>> _, _, planned = rewrite("这个知识库里有哪些关于 Midjourney 的笔记", zh)
    >>> [q.text for q in planned.queries]
    ['Midjourney']
    """
    stripped = strip(normalize(question), lexicon)
    if engine is None:
        rated = tier(chunk_terms(stripped))
        return stripped, rated, plan(stripped, rated, lexicon)
    found = terms(stripped)
    stats = _count(engine, found, line)
    suggestions = _suggest(engine, found, stats, lexicon)
    rated = tier(found, stats)
    return stripped, rated, plan(stripped, rated, lexicon, suggestions=suggestions)


def answer(
    question: str,
    engine: Searches,
    lexicon: Lexicon,
    *,
    seats: int = DEFAULT_SEATS,
    mode: Mode = "auto",
    line: float | None = None,
) -> Answer:
    """Return the *seats* sources that answer *question*, with the story of why.

    An engine that ranks terms gets the combined query, any other one query per term (*mode* "terms" asks any
    engine so, "sentence" asks the whole sentence: the baseline). Thread-safe; an engine that fails is a
    named part of the answer, never an exception, and never sets off the last resort.

    >>> from querykit.engines.memory import Document, MemoryEngine
    >>> notes = [Document("维护.md", "知识库怎么维护", "这个知识库的笔记怎么整理"),
    ...          Document("mj.md", "MJ 入门", "画人物")]
    >>> [seat.doc for seat in answer("这个知识库里有哪些关于 Midjourney 的笔记", MemoryEngine(notes), zh).seats]
    ['mj.md']
    """
    stripped = strip(normalize(question), lexicon)
    found = terms(stripped)
    failed: list[str] = []
    try:
        stats = _count(engine, found, line)
        suggestions = _suggest(engine, found, stats, lexicon)
    except EngineError as error:
        stats, suggestions = None, ()
        failed.append(f"counting: {error}")
    rated = tier(found, stats)
    planned = plan(stripped, rated, lexicon, suggestions=suggestions)

    wants_index = any(Role.BROWSE in lexicon.roles(r.term.key) for r in rated)

    def is_index(doc: str) -> bool:
        """Index pages stand back, unless the question names one (绘图笔记的目录)."""
        return not wants_index and is_index_page(doc, lexicon)

    if planned.basis is Basis.BROWSE:
        results, used_last_resort = _browse(engine, planned, seats, failed), False
    else:
        results = _search(engine, _questions(planned, engine, mode, stripped, lexicon), seats, failed)
        if len(results) < len(planned.queries):
            results += _search(engine, _names_unheard(planned, rated, results, seats), seats, failed)
        used_last_resort = False
        if planned.queries and planned.last_resort and not failed and not any(r.hits for r in results):
            results = _search(engine, (sentence_query(stripped, lexicon),), seats, failed)
            used_last_resort = any(r.hits for r in results)
    seated = allocate(results, seats, is_index=is_index, index_first=planned.basis is Basis.BROWSE)
    coverage = _coverage(rated, seated, stats, planned)
    return Answer(stripped, rated, planned, seated, coverage, stats, tuple(failed), used_last_resort)


def rate_terms(texts: Sequence[str], engine: CountsDocuments, *, line: float | None = None) -> CorpusStats:
    """The statistics of *texts* in the corpus of *engine*."""
    keys = [fold(text) for text in texts]
    return _with_line(
        CorpusStats(engine.n_docs, engine.df(keys), engine.phrase_df(keys), source=engine.name), engine, line
    )


def _questions(
    planned: QueryPlan, engine: object, mode: Mode, stripped: Stripped, lexicon: Lexicon
) -> tuple[Query, ...]:
    if mode == "sentence":
        return (sentence_query(stripped, lexicon),)
    if mode == "auto" and planned.combined and getattr(engine, "ranks_terms", False):
        return (planned.combined,)
    return planned.queries


def _names_unheard(
    planned: QueryPlan, rated: Sequence[RatedTerm], results: Sequence[Result], seats: int
) -> tuple[Query, ...]:
    """Queries for the tools that the question names and that none of the best hits holds: each gets its seat.

    Redis 突然卡住 is about Redis, however rare 卡住 is. For other words this would cost recall: what rare words
    of a long question share is what it is about.
    """
    heard = {key for result in results for hit in result.hits[:seats] for key in hit.matched}
    names = {r.term.key for r in rated if r.term.is_name and r.df}
    return tuple(q for q in planned.queries if q.parts[0].key in names - heard)


def _search(engine: Searches, queries: Sequence[Query], seats: int, failed: list[str]) -> list[Result]:
    results = []
    for query in queries:
        hits: tuple[Hit, ...] = ()
        try:
            hits = engine.search(query, seats * _DEPTH)
        except (EngineError, TimeoutError) as error:
            failed.append(f"{query.text}: {error}")
        results.append(Result(query, hits))
    return results


def _browse(engine: Searches, planned: QueryPlan, seats: int, failed: list[str]) -> list[Result]:
    """Pages whose title or path says that they are an index, for a reader who asks for one."""
    in_titles = getattr(engine, "in_titles", None)
    if in_titles is None:
        return []
    query = Query(" ".join(planned.browse), (), why="names of index pages, in titles")
    try:
        return [Result(query, in_titles(planned.browse, seats * _DEPTH))]
    except EngineError as error:
        failed.append(f"browsing: {error}")
        return []


def _count(engine: object, found: Sequence[Term], line: float | None) -> CorpusStats | None:
    if not isinstance(engine, CountsDocuments):
        return None
    keys = list(dict.fromkeys(term.key for term in found))
    stats = CorpusStats(engine.n_docs, engine.df(keys), engine.phrase_df(keys), source=engine.name)
    return _with_line(stats, engine, line)


def _with_line(stats: CorpusStats, engine: object, line: float | None) -> CorpusStats:
    """The line of the call, else the one kept with the corpus, else the default."""
    own_line = getattr(engine, "line", None)
    if line is not None:
        return stats.with_line(line, "argument")
    return stats if own_line is None else stats.with_line(own_line, "corpus")


def _suggest(
    engine: object, found: Sequence[Term], stats: CorpusStats | None, lexicon: Lexicon
) -> tuple[Suggestion, ...]:
    """Spellings for terms that no document holds, unless the notes know them by another name."""
    if stats is None or not isinstance(engine, CountsDocuments):
        return ()
    apart = {t.chunk for t in found if t.level is Level.WORD}
    unknown = [
        t
        for t in questionable(found, stats.phrase_df)
        if t.level is Level.WORD
        or (t.level is Level.CHUNK and (t.chunk not in apart or len(t.key) <= _ONE_WORD))
    ]
    suggestions = []
    for term in unknown[:_MOST_SPELLED]:
        others = engine.phrase_df(aliases(term.key, lexicon))
        if not any(others.values()):
            spelled = _spelling(engine, term)
            if spelled is not None:
                suggestions.append(spelled)
    return tuple(suggestions)


def _spelling(engine: CountsDocuments, term: Term) -> Suggestion | None:
    if term.key.isascii():
        return (
            nearest_latin(term.key, engine.vocabulary(term.key)) if isinstance(engine, KnowsWords) else None
        )
    return nearest_han(term.key, engine.phrase_df(homophones(term.key)))


def _coverage(
    rated: Sequence[RatedTerm], seated: Sequence[Seat], stats: CorpusStats | None, planned: QueryPlan
) -> Coverage:
    """Coverage by words, not by their pieces: 链 in a note is no evidence of 区块链."""
    with_words = {r.term.chunk for r in rated if r.term.level is Level.WORD}
    words = [
        r
        for r in rated
        if r.term.level is Level.WORD or (r.term.level is Level.CHUNK and r.term.chunk not in with_words)
    ]
    weights = [(r.term.key, 0.5 if r.term.is_soft else 1.0) for r in words]
    spelled = {s.key: s.df or 0 for s in planned.suggestions}
    df = {r.term.key: spelled.get(r.term.key, r.phrase_df or 0) for r in words if r.tier is not Tier.UNRATED}
    return cover(weights, seated, df, stats.n_docs if stats else len(seated))
