"""The embedded engine: notes, statistics and postings in one SQLite file.

The file is built whole beside its place and put there in one step, so that readers see the old index or the new
one, and a build that is killed leaves the old one in place. Everything a question needs is counted at build
time; a reader opens the file, loads the names of the documents, and fetches the few rows its terms are in.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from querykit.engines.memory import Document, Index, head_of
from querykit.engines.postings import FIRST_WORD, Layout, Row, Units, build
from querykit.lexicon import QuerykitError
from querykit.suggest import look_alikes

# Changes with every change to tables, units or folding; an index of another version is built again.
SCHEMA = 1

_APPLICATION_ID = 0x514B4954  # "QKIT", so that another program's database is told from an index of ours
_CACHED_ROWS = 1024

_TABLES = """
create table meta(key text primary key, value text) without rowid;
create table docs(id integer primary key, path text unique, title text, text text, stamp text);
create table words(word text primary key, unit integer) without rowid;
create table postings(unit integer primary key, row blob);
create table arrays(name text primary key, data blob) without rowid;
"""


_AGAIN = "index the notes again, with --replace"


class IndexFileError(QuerykitError):
    """An index file that is missing, damaged, of another version, or cannot be written."""


class Stored(NamedTuple):
    """A document with the stamp by which a later run sees whether it changed."""

    document: Document
    stamp: str


def write_index(db: Path, documents: Iterable[Stored], source: str, *, line: float | None = None) -> int:
    """Build an index of *documents* in the place of *db*, whole or not at all; returns how many there are.

    Raises `IndexFileError` when the place cannot be written, or holds a file that is no index of ours; what was
    there stays.
    """
    db = Path(os.path.realpath(db))  # a link stays a link
    if db.is_file() and db.stat().st_size and not _is_ours(db):
        raise IndexFileError(f"{db}: is no index of querykit, and is not written over; name another file")
    temporary = db.with_name(f".{db.name}.{os.getpid()}.building")
    try:
        _clear_leftovers(db)
        with contextlib.closing(sqlite3.connect(temporary)) as connection:
            count = _fill(connection, documents, source, line)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, db)
    except (sqlite3.Error, OSError) as error:
        raise IndexFileError(
            f"{db}: cannot be written ({error}); the old index, if any, is untouched"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return count


def _clear_leftovers(db: Path) -> None:
    """Files of builds that were killed: those whose process is gone."""
    for path in db.parent.glob(f".{db.name}.*.building*"):
        pid = path.name.removeprefix(f".{db.name}.").partition(".")[0]
        if pid.isdigit() and not _is_alive(int(pid)):
            with contextlib.suppress(OSError):
                path.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _fill(
    connection: sqlite3.Connection, documents: Iterable[Stored], source: str, line: float | None
) -> int:
    connection.executescript("pragma journal_mode = off; pragma synchronous = off; pragma page_size = 8192;")
    connection.executescript(_TABLES)
    units = Units()
    kept = list(documents)
    layout, rows = build(((head_of(s.document), s.document.text) for s in kept), units)
    connection.executemany(
        "insert into docs values (?, ?, ?, ?, ?)", ((i, *s.document, s.stamp) for i, s in enumerate(kept))
    )
    connection.executemany("insert into words values (?, ?)", units.words.items())
    connection.executemany("insert into postings values (?, ?)", ((unit, _pack(row)) for unit, row in rows))
    connection.executemany("insert into arrays values (?, ?)", ((n, a.tobytes()) for n, a in _arrays(layout)))
    meta = {"schema": str(SCHEMA), "source": source, "n_docs": str(len(kept))}
    if line is not None:
        meta["line"] = repr(line)
    connection.executemany("insert into meta values (?, ?)", meta.items())
    connection.execute(f"pragma application_id = {_APPLICATION_ID}")
    connection.commit()
    return len(kept)


def _arrays(layout: Layout) -> Iterator[tuple[str, np.ndarray]]:
    yield "starts", layout.starts
    yield "title_ends", layout.title_ends


def _pack(row: Row) -> bytes:
    return np.int32(len(row.followers)).tobytes() + b"".join(part.tobytes() for part in row)


def _unpack(data: bytes) -> Row:
    numbers = np.frombuffer(data, dtype=np.int32)
    n = int(numbers[0])
    return Row(numbers[1 : n + 1], numbers[n + 1 : 2 * n + 1], numbers[2 * n + 1 :])


class SqliteEngine(Index):
    """Counts, finds and ranks over an index file; one engine serves many threads.

    Raises `IndexFileError` when *db* is no index of this version. Close it, or use it in a ``with``.
    """

    def __init__(self, db: Path | str) -> None:
        self.path = Path(db)
        self._connection = _open(self.path)
        self._rows: dict[int, Row | None] = {}
        self._read = Lock()
        with self._reading() as connection:
            meta = dict(connection.execute("select key, value from meta"))
            arrays = dict(connection.execute("select name, data from arrays"))
            names = connection.execute("select path, title from docs order by id").fetchall()
            layout = Layout(*(np.frombuffer(arrays[n], dtype=np.int32) for n in ("starts", "title_ends")))
        self.source = meta["source"]
        self.line = float(meta["line"]) if "line" in meta else None
        super().__init__(f"sqlite:{self.path.name}", names, layout, self._row, self._word)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._read:
            try:
                yield self._connection
            except (sqlite3.Error, KeyError, ValueError) as error:
                raise IndexFileError(f"{self.path}: is damaged ({error}); {_AGAIN}") from None

    def _row(self, unit: int) -> Row | None:
        if unit not in self._rows:
            with self._reading() as connection:
                found = connection.execute("select row from postings where unit = ?", (unit,)).fetchone()
            if len(self._rows) >= _CACHED_ROWS:
                self._rows.clear()
            self._rows[unit] = _unpack(found[0]) if found else None
        return self._rows[unit]

    def _word(self, word: str) -> int | None:
        with self._reading() as connection:
            found = connection.execute("select unit from words where word = ?", (word,)).fetchone()
        return found[0] if found else None

    def vocabulary(self, like: str) -> dict[str, int]:
        """Latin words that look like *like*, with their document frequencies."""
        with self._reading() as connection:
            words = connection.execute(
                "select word from words where length(word) between ? and ?", (len(like) - 2, len(like) + 2)
            ).fetchall()
        return self.phrase_df(look_alikes(like, [w for (w,) in words]))

    def stamps(self) -> dict[str, str]:
        """The stamp of every document, by path: what a later run compares with."""
        with self._reading() as connection:
            return dict(connection.execute("select path, stamp from docs"))

    def stored(self, path: str) -> Stored:
        """The document of *path* as it was indexed."""
        with self._reading() as connection:
            row = connection.execute(
                "select path, title, text, stamp from docs where path = ?", (path,)
            ).fetchone()
        return Stored(Document(*row[:3]), row[3])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> SqliteEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _is_ours(path: Path) -> bool:
    """Does the head of *path* say that it is an index, whatever became of the rest?"""
    with open(path, "rb") as file:
        head = file.read(72)
    return head[:16] == b"SQLite format 3\0" and head[68:] == _APPLICATION_ID.to_bytes(4, "big")


def _open(path: Path) -> sqlite3.Connection:
    """A read-only connection to an index of ours; the file is never changed in place, so it needs no locks."""
    if path.exists() and not path.is_file():
        raise IndexFileError(f"{path}: is a folder or a device; name a file for the index, such as kb.db")
    if not path.is_file():
        raise IndexFileError(f"{path}: no index there; make one with: querykit index NOTES --db {path}")
    try:
        if not _is_ours(path):
            raise IndexFileError(f"{path}: is no index of querykit; name another file")
        uri = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        schema = connection.execute("select value from meta where key = 'schema'").fetchone()
    except OSError as error:
        raise IndexFileError(f"{path}: cannot be read ({error.strerror})") from None
    except sqlite3.Error as error:
        raise IndexFileError(f"{path}: is damaged ({error}); {_AGAIN}") from None
    if schema != (str(SCHEMA),):
        connection.close()
        raise IndexFileError(f"{path}: was made by another version of querykit; {_AGAIN}")
    return connection


# Units at and above this number are words; rows of single characters have the character's own number.
assert FIRST_WORD > 0x10FFFF
