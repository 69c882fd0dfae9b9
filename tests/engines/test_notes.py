"""Reading notes: titles, encodings, what is skipped and named."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from querykit.engines.memory import Document
from querykit.engines.notes import NotesError, Reading, check_encoding, decode, parse_markdown, read_notes


def read(source: Path, **options: str) -> tuple[dict[str, Document], Reading]:
    reading = Reading()
    return {s.document.path: s.document for s in read_notes(source, reading, **options)}, reading  # type: ignore[arg-type]


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "子").mkdir()
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / "a.md").write_text("---\ntitle: '题目'\ntags:\n  - 面食\n---\n正文", encoding="utf-8")
    (tmp_path / "子" / "b.MD").write_bytes("\ufeff# 标题 #\r\n正文".encode())
    (tmp_path / "c.md").write_bytes("国标码的笔记，讲怎么编码".encode("gb18030"))
    (tmp_path / "d.md").write_bytes("繁體中文的筆記，講編碼".encode("big5"))
    (tmp_path / "e.md").write_bytes("宽字符".encode("utf-16"))
    (tmp_path / "f.md").write_bytes(b"\x00\x01\x02binary")
    (tmp_path / ".obsidian" / "x.md").write_text("不是笔记")
    (tmp_path / "g.txt").write_text("不是笔记")
    found, reading = read(tmp_path)
    assert sorted(found) == ["a.md", "c.md", "d.md", "e.md", "子/b.MD"]
    assert found["a.md"].title == "题目"
    assert "面食" in found["a.md"].text
    assert found["子/b.MD"].title == "标题"
    assert found["c.md"].text == "国标码的笔记，讲怎么编码"
    assert found["d.md"].text == "繁體中文的筆記，講編碼"
    assert found["e.md"].text == "宽字符"
    assert reading.skipped == [("f.md", "is binary, not text, or UTF-16 without a byte order mark")]


def test_notes_are_only_read(tmp_path: Path) -> None:
    note = tmp_path / "a.md"
    note.write_text("茶", encoding="utf-8")
    note.chmod(0o444)
    before = (note.read_bytes(), note.stat().st_mtime_ns)
    read(tmp_path)
    assert (note.read_bytes(), note.stat().st_mtime_ns) == before


def test_told_encoding() -> None:
    assert decode("茶".encode("euc_jp"), "euc_jp") == ("茶", "euc_jp")
    assert decode("茶".encode(), "gb18030") == ("茶", "")  # told is what the files are that are not UTF-8
    with pytest.raises(ValueError, match="--encoding"):
        decode("茶叶".encode("gb18030"), "utf-8")
    with pytest.raises(NotesError, match="klingon: is no text encoding"):
        check_encoding("klingon")
    with pytest.raises(NotesError, match="base64"):
        check_encoding("base64")


def test_broken_bytes_are_replaced_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("番茄要整枝。".encode() * 20 + b"\xff")
    found, reading = read(tmp_path)
    assert "番茄" in found["a.md"].text
    assert reading.warnings == [
        "not UTF-8, read as UTF-8 with broken bytes, which are replaced: 1 notes (a.md)"
    ]


def test_japanese_bytes_are_not_taken_for_chinese() -> None:
    with pytest.raises(ValueError, match="no encoding we can tell"):
        decode("番茄の整枝についてのノート".encode("shift_jis"))


def test_pipes_and_devices_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.md")
    (tmp_path / "z.md").symlink_to("/dev/zero")
    (tmp_path / "a.md").write_text("茶", encoding="utf-8")
    found, reading = read(tmp_path)
    assert [*found] == ["a.md"]
    assert reading.skipped == [("p.md", "is no regular file"), ("z.md", "is no regular file")]


def test_undecodable_file_name_is_read(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode("坏".encode("gbk") + b".md")).write_text("茶", encoding="utf-8")
    found, _ = read(tmp_path)
    assert next(iter(found)).endswith(".md")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 甲\n---\n# 乙", "甲"),
        ("# 乙\n文", "乙"),
        ("文", "名"),
        ("---\n没有结束", "名"),
        ("## 二级", "名"),
        ("", "名"),
    ],
)
def test_title(text: str, title: str) -> None:
    assert parse_markdown(text, "名")[0] == title


@pytest.mark.parametrize("packed", [False, True])
def test_jsonl(tmp_path: Path, packed: bool) -> None:
    rows = [
        {"path": "a", "title": "甲", "text": "茶"},
        {"path": "b", "text": "酒"},
        {"path": "a", "title": "新", "text": "水"},
    ]
    data = "\n".join(json.dumps(r, ensure_ascii=False) for r in rows).encode()
    file = tmp_path / ("n.jsonl.gz" if packed else "n.jsonl")
    file.write_bytes(gzip.compress(data) if packed else data)
    found, reading = read(file)
    assert (found["a"].title, found["b"].title) == ("新", "b")
    assert len(reading.warnings) == 1
    assert ":3:" in reading.warnings[0]


@pytest.mark.parametrize(
    "line", ['{"title": "无路"}', "[]", "not json", '{"path": 7}', '{"path": "a", "text": 7}', "\ud800"]
)
def test_broken_jsonl_names_the_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "n.jsonl"
    file.write_bytes(b'{"path": "ok", "text": ""}\n' + line.encode("utf-8", "surrogatepass"))
    with pytest.raises(NotesError, match=r"n\.jsonl:[12]:"):
        read(file)


def test_truncated_gzip_says_so(tmp_path: Path) -> None:
    file = tmp_path / "n.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"path": "a"}\n' * 5000)[:-40])
    with pytest.raises(NotesError, match=r"n\.jsonl\.gz"):
        read(file)


def test_places_that_are_no_notes(tmp_path: Path) -> None:
    other = tmp_path / "x.docx"
    other.write_text("")
    for place, says in (
        (tmp_path / "no", "no such folder"),
        (other, "neither"),
        (tmp_path, "no notes there"),
    ):
        with pytest.raises(NotesError, match=says):
            read(place)


def test_links_are_followed_inside_the_notes_only(tmp_path: Path) -> None:
    outside, notes = tmp_path / "outside.md", tmp_path / "notes"
    notes.mkdir()
    outside.write_text("密码", encoding="utf-8")
    (notes / "茶.md").write_text("# 茶", encoding="utf-8")
    (notes / "又.md").symlink_to(notes / "茶.md")
    (notes / "外.md").symlink_to(outside)
    reading = Reading()
    found = read_notes(notes, reading)
    assert sorted(s.document.path for s in found) == ["又.md", "茶.md"]
    assert reading.skipped == [("外.md", "is a link to a place outside the notes")]
