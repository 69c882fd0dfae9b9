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
    from querykit.beats import Node, Persona
    from querykit.building import index_in_memory, update_index
    from querykit.cards import (
        Card,
        CardWords,
        Contrast,
        ParsedCard,
        load_card_labels,
        parse_card,
        parse_contrast,
        rescreen,
        same_structure,
    )
    from querykit.engines.base import EngineError
    from querykit.engines.markdown_cards import MarkdownCards, load_library
    from querykit.engines.memory import Document, MemoryEngine
    from querykit.engines.notes import NotesError
    from querykit.engines.sqlite import IndexFileError, SqliteEngine
    from querykit.engines.weknora import WeKnora, find_server
    from querykit.exchange import (
        Cards,
        ExchangeError,
        Next,
        NoUsableRow,
        Reason,
        SearchRequest,
        TypeRow,
        TypeTable,
        Unavailable,
        ZeroHit,
        build_types,
        degrade,
        read_response,
    )
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
    from querykit.material import Budget, Draft, Report, fetch_material, mirror_queries
    from querykit.mirror import (
        Elements,
        Finding,
        MirrorQuery,
        MirrorRules,
        Rejected,
        compose,
        elements_of,
        lint,
        lint_text,
        load_mirror,
        parse_mirror,
    )
    from querykit.plan import Part, Query, QueryPlan, plan
    from querykit.run import Answer, answer, rewrite, warm_up
    from querykit.seats import Coverage, Hit, Result, Seat, allocate, cover, is_index_page
    from querykit.strip import Basis, Chunk, Removed, Stripped, strip
    from querykit.suggest import Suggestion
    from querykit.taking import Material, anchored, borrowed, take
    from querykit.terms import Level, Term, terms
    from querykit.text import Question, Span, normalize
    from querykit.tiers import CorpusStats, RatedTerm, StatsError, Tier, tier
    from querykit.trace import Row, replay, trace

# Where each name lives; it is loaded when it is first used, so that a service that only rewrites loads no numpy
# and importing the package costs nothing.
_HOME = {
    "Answer": "run",
    "Basis": "strip",
    "Budget": "material",
    "Card": "cards",
    "CardWords": "cards",
    "Cards": "exchange",
    "Chunk": "strip",
    "Contrast": "cards",
    "CorpusStats": "tiers",
    "Coverage": "seats",
    "Document": "engines.memory",
    "Draft": "material",
    "Elements": "mirror",
    "EngineError": "engines.base",
    "ExchangeError": "exchange",
    "Finding": "mirror",
    "Hit": "seats",
    "IndexFileError": "engines.sqlite",
    "Level": "terms",
    "Lexicon": "lexicon",
    "LexiconError": "lexicon",
    "MarkdownCards": "engines.markdown_cards",
    "Material": "taking",
    "MemoryEngine": "engines.memory",
    "MirrorQuery": "mirror",
    "MirrorRules": "mirror",
    "Next": "exchange",
    "NoUsableRow": "exchange",
    "Node": "beats",
    "NotesError": "engines.notes",
    "ParsedCard": "cards",
    "Part": "plan",
    "Persona": "beats",
    "Problem": "lexicon",
    "Query": "plan",
    "QueryPlan": "plan",
    "QuerykitError": "lexicon",
    "Question": "text",
    "RatedTerm": "tiers",
    "Reason": "exchange",
    "Rejected": "mirror",
    "Removed": "strip",
    "Report": "material",
    "Result": "seats",
    "Role": "lexicon",
    "Row": "trace",
    "SearchRequest": "exchange",
    "Seat": "seats",
    "Span": "text",
    "SqliteEngine": "engines.sqlite",
    "StatsError": "tiers",
    "Stripped": "strip",
    "Suggestion": "suggest",
    "Term": "terms",
    "Tier": "tiers",
    "TypeRow": "exchange",
    "TypeTable": "exchange",
    "Unavailable": "exchange",
    "WeKnora": "engines.weknora",
    "ZeroHit": "exchange",
    "allocate": "seats",
    "anchored": "taking",
    "answer": "run",
    "borrowed": "taking",
    "build_lexicon": "lexicon",
    "build_types": "exchange",
    "check_lexicon": "lexicon",
    "compose": "mirror",
    "cover": "seats",
    "degrade": "exchange",
    "elements_of": "mirror",
    "fetch_material": "material",
    "find_server": "engines.weknora",
    "index_in_memory": "building",
    "is_index_page": "seats",
    "lint": "mirror",
    "lint_text": "mirror",
    "load_card_labels": "cards",
    "load_lexicon": "lexicon",
    "load_library": "engines.markdown_cards",
    "load_mirror": "mirror",
    "mirror_queries": "material",
    "normalize": "text",
    "parse_card": "cards",
    "parse_contrast": "cards",
    "parse_mirror": "mirror",
    "plan": "plan",
    "read_response": "exchange",
    "replay": "trace",
    "rescreen": "cards",
    "rewrite": "run",
    "same_structure": "cards",
    "strip": "strip",
    "take": "taking",
    "terms": "terms",
    "tier": "tiers",
    "trace": "trace",
    "update_index": "building",
    "warm_up": "run",
}

__all__ = [
    "Answer",
    "Basis",
    "Budget",
    "Card",
    "CardWords",
    "Cards",
    "Chunk",
    "Contrast",
    "CorpusStats",
    "Coverage",
    "Document",
    "Draft",
    "Elements",
    "EngineError",
    "ExchangeError",
    "Finding",
    "Hit",
    "IndexFileError",
    "Level",
    "Lexicon",
    "LexiconError",
    "MarkdownCards",
    "Material",
    "MemoryEngine",
    "MirrorQuery",
    "MirrorRules",
    "Next",
    "NoUsableRow",
    "Node",
    "NotesError",
    "ParsedCard",
    "Part",
    "Persona",
    "Problem",
    "Query",
    "QueryPlan",
    "QuerykitError",
    "Question",
    "RatedTerm",
    "Reason",
    "Rejected",
    "Removed",
    "Report",
    "Result",
    "Role",
    "Row",
    "SearchRequest",
    "Seat",
    "Span",
    "SqliteEngine",
    "StatsError",
    "Stripped",
    "Suggestion",
    "Term",
    "Tier",
    "TypeRow",
    "TypeTable",
    "Unavailable",
    "WeKnora",
    "ZeroHit",
    "allocate",
    "anchored",
    "answer",
    "borrowed",
    "build_lexicon",
    "build_types",
    "check_lexicon",
    "compose",
    "cover",
    "degrade",
    "elements_of",
    "fetch_material",
    "find_server",
    "index_in_memory",
    "is_index_page",
    "lint",
    "lint_text",
    "load_card_labels",
    "load_lexicon",
    "load_library",
    "load_mirror",
    "mirror_queries",
    "normalize",
    "parse_card",
    "parse_contrast",
    "parse_mirror",
    "plan",
    "read_response",
    "replay",
    "rescreen",
    "rewrite",
    "same_structure",
    "strip",
    "take",
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
