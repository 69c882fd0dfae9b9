"""Reading notes: a folder of Markdown files, or one .jsonl / .jsonl.gz file. Notes are only ever read."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any

import regex

from querykit.engines.memory import Document
from querykit.engines.sqlite import Stored
from querykit.lexicon import QuerykitError
from querykit.text import simplify

SUFFIXES = (".md", ".markdown")


class NotesError(QuerykitError):
    """A place that is no notes, or a file whose rows are broken: the message names the line."""


@dataclass(slots=True)
class Reading:
    """What a run of `read_notes` did: paths read, kept as they were, gone, and skipped with the reason."""

    read: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.read or self.gone)


Advance = Callable[[int, int], None]


def read_notes(
    source: Path,
    reading: Reading,
    *,
    stamps: Mapping[str, str] | None = None,
    stored: Callable[[str], Stored] | None = None,
    encoding: str | None = None,
    advance: Advance = lambda _done, _of: None,
) -> list[Stored]:
    """The notes of *source*; those whose stamp is in *stamps* come from *stored* and are not read again.

    What happened to each goes into *reading*. Raises `NotesError` when there is nothing to read.
    """
    stamps = stamps or {}
    if source.is_dir():
        documents = _folder(source, reading, stamps, stored, encoding, advance)
    elif source.is_file() and source.name.endswith((".jsonl", ".jsonl.gz")):
        documents = _jsonl(source, reading, stamps, stored)
    elif source.exists():
        raise NotesError(f"{source}: is neither a folder of .md files nor a .jsonl or .jsonl.gz file")
    else:
        raise NotesError(f"{source}: no such folder or file; name the place your notes are in")
    if not documents:
        hint = f"; skipped {len(reading.skipped)} unreadable" if reading.skipped else ""
        raise NotesError(f"{source}: no notes there{hint}; a note is a .md file, or a line of a .jsonl file")
    here = {s.document.path for s in documents}
    reading.gone = [path for path in stamps if path not in here]
    return documents


def _folder(
    folder: Path,
    reading: Reading,
    stamps: Mapping[str, str],
    stored: Callable[[str], Stored] | None,
    encoding: str | None,
    advance: Advance,
) -> list[Stored]:
    root = folder.resolve()
    files = sorted(_files(folder, reading))
    documents = []
    foreign: dict[str, list[str]] = {}
    for number, file in enumerate(files):
        advance(number, len(files))
        path = _name(file.relative_to(folder).as_posix())
        try:
            status = file.stat()
            if not S_ISREG(status.st_mode):
                raise ValueError("is no regular file")
            if file.is_symlink() and not file.resolve().is_relative_to(root):
                raise ValueError("is a link to a place outside the notes")
            stamp = f"{status.st_mtime_ns}-{status.st_size}"
            if stored is not None and stamps.get(path) == stamp:
                documents.append(stored(path))
                reading.kept.append(path)
                continue
            content, read_as = decode(file.read_bytes(), encoding)
            if read_as:
                foreign.setdefault(read_as, []).append(path)
            title, text = parse_markdown(content, file.stem)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            reading.skipped.append((path, reason))
            continue
        documents.append(Stored(Document(path, _clean(title), _clean(text)), stamp))
        reading.read.append(path)
    for read_as, paths in foreign.items():
        some = ", ".join(paths[:3]) + (" …" if len(paths) > 3 else "")
        reading.warnings.append(f"not UTF-8, read as {read_as}: {len(paths)} notes ({some})")
    advance(len(files), len(files))
    return documents


def _files(folder: Path, reading: Reading) -> Iterator[Path]:
    """Markdown files below *folder*; hidden folders (.obsidian, .git) and node_modules hold no notes."""

    def unreadable(error: OSError) -> None:
        name = _name(os.path.relpath(error.filename, folder))
        reading.skipped.append((name, error.strerror or str(error)))

    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "node_modules")
        yield from (Path(root, n) for n in names if n.lower().endswith(SUFFIXES) and not n.startswith("."))


def _name(path: str) -> str:
    """A path that can be stored and printed, even when the file system's bytes are no UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def decode(data: bytes, encoding: str | None = None) -> tuple[str, str]:
    """The text of a note's bytes, and what they were read as: "" for UTF-8, or by a byte order mark.

    What is neither is read as *encoding*, or as GB 18030 or Big5. A few broken bytes in UTF-8 are replaced.

    >>> decode("知识库".encode("gb18030")), decode("知識庫".encode("big5")), decode(b"\\xef\\xbb\\xbfabc")
    (('知识库', 'gb18030'), ('知識庫', 'big5'), ('abc', ''))

    Raises ValueError for what is no text.
    """
    marked = next((name for bom, name in _BOMS if data.startswith(bom)), None)
    if marked is None and b"\0" in data:
        raise ValueError("is binary, not text, or UTF-16 without a byte order mark")
    for name, read_as in ((marked or "utf-8", ""), (encoding, encoding or "")):
        if name:
            with contextlib.suppress(UnicodeDecodeError):
                return data.decode(name), read_as
    mended = data.decode("utf-8", "replace")
    if mended.count("\ufffd") * _RARE < len(mended):
        return mended, "UTF-8 with broken bytes, which are replaced"
    if encoding:
        raise ValueError(f"is not {encoding}; tell its encoding with --encoding")
    return _guess(data)


def _guess(data: bytes) -> tuple[str, str]:
    """GB 18030 or Big5, whichever makes more everyday characters of the bytes.

    Both decode nearly any Chinese bytes; a general detector needs a page of text to tell them, a title is less.
    """
    texts = []
    for name in ("gb18030", "big5"):
        with contextlib.suppress(UnicodeDecodeError):
            texts.append((data.decode(name), name))
    best = max(texts, key=lambda text: _everyday(text[0]), default=("", ""))
    if not texts or _everyday(best[0]) < _LEAST_EVERYDAY:
        raise ValueError("is in no encoding we can tell; tell it with --encoding")
    return best


# A text in UTF-8 with at most one broken byte in fifty characters is damaged, not of another encoding: of GB 18030
# or Big5 read as UTF-8, more than half is broken. Chinese read rightly is everyday characters and marks for the
# most part; Japanese and Korean bytes read as GB 18030 are rare ones.
_RARE = 50
_LEAST_EVERYDAY = 0.5


def check_encoding(name: str | None) -> None:
    """Raise `NotesError` unless Python can read text in the encoding *name*."""
    try:
        "".encode(name or "utf-8")
    except LookupError:
        raise NotesError(
            f"--encoding {name}: is no text encoding that Python knows; gb18030 is one"
        ) from None


def _everyday(text: str) -> float:
    """The share of the 3,755 everyday characters (GB 2312, level 1) among those that are not ASCII."""
    other = [c for c in simplify(text) if not c.isascii()]
    common = sum(b"\xb0" <= c.encode("gb2312", "ignore")[:1] < b"\xd8" for c in other)
    return common / len(other) if other else 1.0


_FRONT = regex.compile(r"\A---[ \t]*\n(?P<fields>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", regex.DOTALL)
_TITLE = regex.compile(r"^title[ \t]*:[ \t]*(?P<value>\S.*?)[ \t]*$", regex.MULTILINE | regex.IGNORECASE)
_TAGS = regex.compile(
    r"^(?:tags?|aliases|alias|keywords)[ \t]*:(?P<value>[^\n]*(?:\n[ \t]*-[^\n]*)*)",
    regex.MULTILINE | regex.IGNORECASE,
)
_HEADING = regex.compile(r"^#[ \t]+(?P<value>\S.*?)[ \t#]*$", regex.MULTILINE)


def parse_markdown(text: str, stem: str) -> tuple[str, str]:
    """The title and text of a note: the title of the front matter, else the first heading, else the file name.

    Of the front matter, tags and aliases stay searchable; the rest is about the file.

    >>> parse_markdown("---\\ntitle: 蒸馒头\\ntags: [面食]\\ndate: 2024\\n---\\n# 馒头\\n发面", "a")
    ('蒸馒头', '[面食]\\n# 馒头\\n发面')
    >>> parse_markdown("# 馒头\\n发面", "a")[0], parse_markdown("发面", "a")[0]
    ('馒头', 'a')
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT.match(text)
    fields = front["fields"] if front else ""
    body = text[front.end() :] if front else text
    title = _TITLE.search(fields) or _HEADING.search(body)
    name = title["value"].strip("\"'") if title else stem
    tags = "".join(match["value"].strip() + "\n" for match in _TAGS.finditer(fields))
    return name or stem, tags + body


def _jsonl(
    file: Path, reading: Reading, stamps: Mapping[str, str], stored: Callable[[str], Stored] | None
) -> list[Stored]:
    status = file.stat()
    stamp = f"{status.st_mtime_ns}-{status.st_size}"
    if stored is not None and stamps and set(stamps.values()) == {stamp}:
        reading.kept = list(stamps)
        return [stored(path) for path in stamps]
    documents: dict[str, Stored] = {}
    for number, row in _rows(file):
        document = _document(file, number, row)
        if document.path in documents:
            reading.warnings.append(f"{file}:{number}: {document.path!r} stands twice; the last one counts")
        documents[document.path] = Stored(document, stamp)
    reading.read = list(documents)
    return list(documents.values())


def _rows(file: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        with gzip.open(file, "rb") if file.name.endswith(".gz") else open(file, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError, EOFError, OSError) as error:
        raise NotesError(f"{file}:{number or 1}: is no JSON in UTF-8 ({error})") from None


def _document(file: Path, number: int, row: Any) -> Document:
    if not isinstance(row, dict) or not isinstance(row.get("path"), str) or not row["path"].strip():
        raise NotesError(f'{file}:{number}: has no path; write {{"path": …, "title": …, "text": …}}')
    title, text = row.get("title", ""), row.get("text", "")
    if not isinstance(title, str) or not isinstance(text, str):
        raise NotesError(f"{file}:{number}: title and text must be strings")
    path = _clean(row["path"])
    return Document(path, _clean(title) or Path(path).stem, _clean(text))
