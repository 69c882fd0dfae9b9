"""From notes to an index: bring an index file up to date, or hold the notes in memory."""

from __future__ import annotations

import contextlib
from pathlib import Path

from querykit.engines.memory import MemoryEngine
from querykit.engines.notes import Advance, Reading, check_encoding, read_notes
from querykit.engines.sqlite import IndexFileError, SqliteEngine, write_index


def update_index(
    notes: Path | str,
    db: Path | str,
    *,
    replace: bool = False,
    encoding: str | None = None,
    line: float | None = None,
    advance: Advance = lambda _done, _of: None,
) -> tuple[Reading, bool]:
    """Bring the index *db* up to date with *notes*; returns what was read and whether a file was written.

    Only what changed is read again. Raises `IndexFileError` when *db* belongs to other notes, unless
    *replace*, and when a damaged index or one of another version would have to be compared with.
    """
    notes, db = Path(notes), Path(db)
    source = str(notes.resolve())
    if line is not None and not 0 < line <= 1:
        raise IndexFileError(f"line {line}: a hit rate above 0 and at most 1, such as 0.40")
    check_encoding(encoding)
    reading = Reading()
    with contextlib.ExitStack() as stack:
        old = None if replace or not db.exists() else stack.enter_context(SqliteEngine(db))
        if old is not None and old.source != source:
            raise IndexFileError(
                f"{db}: belongs to {old.source}; name another file, or write over it with --replace"
            )
        documents = read_notes(
            notes,
            reading,
            stamps=old.stamps() if old else None,
            stored=old.stored if old else None,
            encoding=encoding,
            advance=advance,
        )
        own_line = line if line is not None else (old.line if old else None)
        if old is not None and not reading.changed and own_line == old.line:
            return reading, False
    write_index(db, documents, source, line=own_line)
    return reading, True


def index_in_memory(notes: Path | str, *, encoding: str | None = None) -> MemoryEngine:
    """An engine over *notes* held in memory, for one question or a notebook."""
    notes = Path(notes)
    check_encoding(encoding)
    documents = [stored.document for stored in read_notes(notes, Reading(), encoding=encoding)]
    return MemoryEngine(documents, name=f"memory:{notes.name}")
