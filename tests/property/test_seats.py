"""`allocate(k)` begins `allocate(k + 1)`; no document twice; no place empty while hits remain; every query that
found a note nobody else found is seated when places >= queries; index pages only fill what notes leave free."""

from hypothesis import given
from hypothesis import strategies as st

from querykit.plan import Query
from querykit.seats import Hit, Result, allocate

docs = st.sampled_from([f"n{i}" for i in range(9)] + [f"栏目{i}索引" for i in range(4)])
found = st.lists(st.lists(docs, unique=True, max_size=8), max_size=6)


def results(lists: list[list[str]]) -> list[Result]:
    return [Result(Query(f"q{i}", ()), tuple(map(Hit, hits))) for i, hits in enumerate(lists)]


def is_index(doc: str) -> bool:
    return doc.endswith("索引")


@given(lists=found, k=st.integers(0, 12))
def test_fewer_seats_are_the_first_of_more(lists: list[list[str]], k: int) -> None:
    assert (
        allocate(results(lists), k, is_index=is_index)
        == allocate(results(lists), k + 1, is_index=is_index)[:k]
    )


@given(lists=found, k=st.integers(0, 12))
def test_no_document_twice_and_no_place_left_empty(lists: list[list[str]], k: int) -> None:
    seated = [s.doc for s in allocate(results(lists), k, is_index=is_index)]
    every = {doc for hits in lists for doc in hits}
    assert len(seated) == len(set(seated)) == min(k, len(every))


@given(lists=found)
def test_every_query_with_a_note_of_its_own_is_seated(lists: list[list[str]]) -> None:
    seats = allocate(results(lists), max(len(lists), 1), is_index=is_index)
    for i, hits in enumerate(lists):
        others = {doc for j, other in enumerate(lists) if j != i for doc in other}
        if any(doc not in others and not is_index(doc) for doc in hits):
            assert any(s.query == f"q{i}" for s in seats)


@given(lists=found, k=st.integers(0, 12))
def test_index_pages_come_behind_every_note(lists: list[list[str]], k: int) -> None:
    kinds = [is_index(s.doc) for s in allocate(results(lists), k, is_index=is_index)]
    assert kinds == sorted(kinds)
