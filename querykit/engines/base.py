"""What an engine is to the core: small protocols, so that anything that searches can stand behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from querykit.lexicon import QuerykitError
from querykit.plan import Query
from querykit.seats import Hit


class EngineError(QuerykitError):
    """An engine did not answer. It is not the same as finding nothing."""


@runtime_checkable
class CountsDocuments(Protocol):
    """Knows how many documents there are and how many hold a term, by key."""

    @property
    def name(self) -> str: ...

    @property
    def n_docs(self) -> int: ...

    def df(self, keys: Iterable[str]) -> dict[str, int]:
        """Documents the engine finds for each term."""
        ...

    def phrase_df(self, keys: Iterable[str]) -> dict[str, int]:
        """Documents that hold each term as it stands."""
        ...


@runtime_checkable
class Searches(Protocol):
    """Finds documents, best first."""

    def search(self, query: Query, limit: int) -> tuple[Hit, ...]: ...


@runtime_checkable
class KnowsWords(Protocol):
    """Can list words of the corpus that look like one."""

    def vocabulary(self, like: str) -> dict[str, int]:
        """Latin words within two edits of *like*, with their document frequencies."""
        ...


@runtime_checkable
class RanksTerms(Protocol):
    """Ranks by the weighted parts of a query, so that the combined query may take the seats."""

    ranks_terms: bool
