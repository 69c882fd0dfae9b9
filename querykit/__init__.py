"""Turns a question in everyday Chinese into the queries that find what the question is about.

>>> import querykit as qk
>>> zh = qk.load_lexicon()
>>> notes = [qk.Document("维护.md", "知识库怎么维护", "这个知识库的笔记怎么整理"),
...          qk.Document("mj.md", "MJ 入门", "画人物用的提示词")]
>>> found = qk.answer("这个知识库里有哪些关于 Midjourney 的笔记", qk.MemoryEngine(notes), zh)
>>> [seat.doc for seat in found.seats]
['mj.md']
>>> [(r.text, r.rule) for r in found.stripped.removed][:2]
[('这个', 'determiner'), ('知识库', 'container')]
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from querykit.building import index_in_memory, update_index
    from querykit.engines.base import EngineError
    from querykit.engines.memory import Document, MemoryEngine
    from querykit.engines.notes import NotesError
    from querykit.engines.sqlite import IndexFileError, SqliteEngine
    from querykit.lexicon import (
        Lexicon,
        LexiconError,
        Problem,
        QuerykitError,
        Role,
        build_lexicon,
        check_lexicon,
        load_lexicon,
    )
    from querykit.plan import Part, Query, QueryPlan, plan
    from querykit.run import Answer, answer, rewrite, warm_up
    from querykit.seats import Coverage, Hit, Result, Seat, allocate, cover, is_index_page
    from querykit.strip import Basis, Chunk, Removed, Stripped, strip
    from querykit.suggest import Suggestion
    from querykit.terms import Level, Term, terms
    from querykit.text import Question, Span, normalize
    from querykit.tiers import CorpusStats, RatedTerm, StatsError, Tier, tier
    from querykit.trace import Row, replay, trace

# Where each name lives; it is loaded when it is first used, so that a service that only rewrites loads no numpy
# and importing the package costs nothing.
_HOME = {
    "Answer": "run",
    "Basis": "strip",
    "Chunk": "strip",
    "CorpusStats": "tiers",
    "Coverage": "seats",
    "Document": "engines.memory",
    "EngineError": "engines.base",
    "Hit": "seats",
    "IndexFileError": "engines.sqlite",
    "Level": "terms",
    "Lexicon": "lexicon",
    "LexiconError": "lexicon",
    "MemoryEngine": "engines.memory",
    "NotesError": "engines.notes",
    "Part": "plan",
    "Problem": "lexicon",
    "Query": "plan",
    "QueryPlan": "plan",
    "QuerykitError": "lexicon",
    "Question": "text",
    "RatedTerm": "tiers",
    "Removed": "strip",
    "Result": "seats",
    "Role": "lexicon",
    "Row": "trace",
    "Seat": "seats",
    "Span": "text",
    "SqliteEngine": "engines.sqlite",
    "StatsError": "tiers",
    "Stripped": "strip",
    "Suggestion": "suggest",
    "Term": "terms",
    "Tier": "tiers",
    "allocate": "seats",
    "answer": "run",
    "build_lexicon": "lexicon",
    "check_lexicon": "lexicon",
    "cover": "seats",
    "index_in_memory": "building",
    "is_index_page": "seats",
    "load_lexicon": "lexicon",
    "normalize": "text",
    "plan": "plan",
    "replay": "trace",
    "rewrite": "run",
    "strip": "strip",
    "terms": "terms",
    "tier": "tiers",
    "trace": "trace",
    "update_index": "building",
    "warm_up": "run",
}

__all__ = [
    "Answer",
    "Basis",
    "Chunk",
    "CorpusStats",
    "Coverage",
    "Document",
    "EngineError",
    "Hit",
    "IndexFileError",
    "Level",
    "Lexicon",
    "LexiconError",
    "MemoryEngine",
    "NotesError",
    "Part",
    "Problem",
    "Query",
    "QueryPlan",
    "QuerykitError",
    "Question",
    "RatedTerm",
    "Removed",
    "Result",
    "Role",
    "Row",
    "Seat",
    "Span",
    "SqliteEngine",
    "StatsError",
    "Stripped",
    "Suggestion",
    "Term",
    "Tier",
    "allocate",
    "answer",
    "build_lexicon",
    "check_lexicon",
    "cover",
    "index_in_memory",
    "is_index_page",
    "load_lexicon",
    "normalize",
    "plan",
    "replay",
    "rewrite",
    "strip",
    "terms",
    "tier",
    "trace",
    "update_index",
    "warm_up",
]


class _Menu(ModuleType):
    """The package, whose names are the menu's: loading the module `strip` does not hide the function."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'querykit' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"querykit.{_HOME[name]}"), name)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Menu
