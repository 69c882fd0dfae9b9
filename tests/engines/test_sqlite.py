"""The index file: whole or not at all, and a clear word when it is not ours."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from querykit.building import update_index
from querykit.engines.memory import Document
from querykit.engines.sqlite import IndexFileError, SqliteEngine, Stored, write_index
from querykit.plan import Part, Query

TEA = Query("茶", (Part("茶", ("茶",)),))


def notes(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def docs(db: Path) -> list[str]:
    with SqliteEngine(db) as engine:
        return sorted(h.doc for h in engine.search(TEA, 99))


def test_indexing_again_reads_only_what_changed(tmp_path: Path) -> None:
    folder, db = notes(tmp_path / "n", a="茶一", b="茶二", c="茶三"), tmp_path / "kb.db"
    first, _ = update_index(folder, db)
    assert (len(first.read), len(first.kept)) == (3, 0)
    again, written = update_index(folder, db)
    assert (again.read, len(again.kept), written) == ([], 3, False)
    notes(folder, b="茶二改了")
    (folder / "c.md").unlink()
    third, written = update_index(folder, db)
    assert (third.read, third.kept, third.gone, written) == (["b.md"], ["a.md"], ["c.md"], True)
    assert docs(db) == ["a.md", "b.md"]


def test_one_db_belongs_to_one_source(tmp_path: Path) -> None:
    a, b, db = notes(tmp_path / "a", x="茶"), notes(tmp_path / "b", y="茶"), tmp_path / "kb.db"
    update_index(a, db)
    with pytest.raises(IndexFileError, match="--replace"):
        update_index(b, db)
    assert docs(db) == ["x.md"]
    update_index(b, db, replace=True)
    assert docs(db) == ["y.md"]


def test_line_stays_with_the_corpus(tmp_path: Path) -> None:
    folder, db = notes(tmp_path / "n", a="茶"), tmp_path / "kb.db"
    update_index(folder, db, line=0.3)
    notes(folder, b="茶")
    update_index(folder, db)
    with SqliteEngine(db) as engine:
        assert engine.line == 0.3


def test_missing_index_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(IndexFileError, match="querykit index NOTES --db"):
        SqliteEngine(tmp_path / "no.db")


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\x00" + b"\xff" * 200])
def test_what_is_no_index_says_so(tmp_path: Path, content: bytes) -> None:
    db = tmp_path / "kb.db"
    db.write_bytes(content)
    with pytest.raises(IndexFileError, match="index"):
        SqliteEngine(db)


def test_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    db = tmp_path / "other.db"
    with sqlite3.connect(db) as connection:
        connection.execute("create table mine(x)")
    connection.close()
    before = db.read_bytes()
    with pytest.raises(IndexFileError, match="no index of querykit"):
        update_index(notes(tmp_path / "n", a="茶"), db)
    assert db.read_bytes() == before


def test_index_of_another_version_says_so(tmp_path: Path) -> None:
    db = tmp_path / "kb.db"
    write_index(db, [Stored(Document("a.md", "茶", ""), "1")], "here")
    connection = sqlite3.connect(db)
    connection.execute("update meta set value = '0' where key = 'schema'")
    connection.commit()
    connection.close()
    with pytest.raises(IndexFileError, match="another version"):
        SqliteEngine(db)


def test_damaged_index_says_so(tmp_path: Path) -> None:
    db = tmp_path / "kb.db"
    write_index(db, [Stored(Document(f"{i}.md", "茶", "茶" * 500), "1") for i in range(200)], "here")
    data = bytearray(db.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    db.write_bytes(data)
    with pytest.raises(IndexFileError, match="damaged"), SqliteEngine(db) as engine:
        engine.search(TEA, 3)


def test_no_write_permission_leaves_nothing_behind(tmp_path: Path) -> None:
    place = tmp_path / "missing" / "kb.db"
    with pytest.raises(IndexFileError, match="cannot be written"):
        write_index(place, [Stored(Document("a.md", "茶", ""), "1")], "here")
    assert list(tmp_path.iterdir()) == []


def test_killed_build_leaves_the_old_index(tmp_path: Path) -> None:
    folder, db = notes(tmp_path / "n", **{f"n{i}": "茶叶和水 " * 4000 for i in range(60)}), tmp_path / "kb.db"
    write_index(db, [Stored(Document("old.md", "茶", ""), "1")], str(folder.resolve()))
    process = subprocess.Popen([sys.executable, "-m", "querykit.cli", "index", str(folder), "--db", str(db)])
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None and not list(tmp_path.glob(".kb.db.*")):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if process.returncode == -signal.SIGKILL:
        assert docs(db) == ["old.md"]
    update_index(folder, db, replace=True)
    assert len(docs(db)) == 60
    assert [p.name for p in tmp_path.glob(".kb.db*")] == []


def test_readers_go_on_while_one_indexes(tmp_path: Path) -> None:
    folder, db = notes(tmp_path / "n", a="茶"), tmp_path / "kb.db"
    update_index(folder, db)
    with SqliteEngine(db) as reader:
        notes(folder, b="茶")
        update_index(folder, db)
        assert [h.doc for h in reader.search(TEA, 9)] == ["a.md"]
    assert docs(db) == ["a.md", "b.md"]


def test_one_engine_serves_many_threads(tmp_path: Path) -> None:
    db = tmp_path / "kb.db"
    write_index(
        db, [Stored(Document(f"{i}.md", f"茶{i}", "绿茶 红茶 " * i), "1") for i in range(1, 60)], "here"
    )
    queries = [Query(t, (Part(t, (t,)),)) for t in ("茶", "绿茶", "红茶", "绿", "叶")] * 20
    with SqliteEngine(db) as engine, ThreadPoolExecutor(8) as pool:
        threaded = list(pool.map(lambda q: engine.search(q, 6), queries))
        assert threaded == [engine.search(q, 6) for q in queries]


def test_a_path_of_any_characters(tmp_path: Path) -> None:
    db = tmp_path / "知识 库?#%20.db"
    write_index(db, [Stored(Document("a.md", "茶", ""), "1")], "here")
    assert docs(db) == ["a.md"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_full_disk_leaves_the_old_index(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True
    ).returncode:
        pytest.skip("no mounting here")
    try:
        db = disk / "kb.db"
        write_index(db, [Stored(Document("a.md", "茶", ""), "1")], "here")
        big = [
            Stored(Document(f"{i}.md", "茶", "".join(map(chr, range(0x4E00, 0x9000)))), "1")
            for i in range(40)
        ]
        with pytest.raises(IndexFileError, match="cannot be written"):
            write_index(db, big, "here")
        assert docs(db) == ["a.md"]
        assert [p.name for p in disk.iterdir()] == ["kb.db"]
    finally:
        subprocess.run(["umount", disk], check=False)


@pytest.mark.parametrize(
    "content", [b"my diary", b"SQLite format 3\0" + bytes(200)], ids=["text", "database"]
)
def test_what_is_no_index_is_never_written_over(tmp_path: Path, content: bytes) -> None:
    db = tmp_path / "mine"
    db.write_bytes(content)
    with pytest.raises(IndexFileError, match="name another file"):
        write_index(db, [], "here")
    assert db.read_bytes() == content
    with pytest.raises(IndexFileError, match="name another file"):
        SqliteEngine(db)
