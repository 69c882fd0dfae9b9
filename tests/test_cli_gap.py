"""The commands that look at a corpus, in real processes: what they name, how they end, what they leave alone."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from querykit.cli import cli
from querykit.lexicon import QuerykitError
from tests.test_cli import ROOT, SAMPLE, run

QUESTIONS = ROOT / "tests" / "cases" / "sample_questions.jsonl"

COUNTS = [
    {"term": "菜谱", "n_docs": 200, "site": 200, "text": 31},
    {"term": "厨房用油", "n_docs": 200, "site": 80, "text": 0},
    {"term": "焯水", "n_docs": 200, "site": 3, "text": 60},
    {"term": "糖醋", "n_docs": 200, "site": 40, "text": 30},
    {"term": "盐", "n_docs": 200, "site": 150, "text": 150},
]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("db") / "kb.db"
    assert CliRunner().invoke(cli, ["index", str(SAMPLE), "--db", str(place)]).exit_code == 0
    return place


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("counts") / "counts.jsonl"
    place.write_text("\n".join(json.dumps(row) for row in COUNTS), encoding="utf-8")
    return place


def call(*args: str | Path) -> Result:
    """The command in this process: a tenth of the time of one of its own."""
    return CliRunner().invoke(cli, [str(arg) for arg in args])


def answer(*args: str | Path) -> dict[str, Any]:
    done = call(*args, "--json")
    assert done.exit_code == 0, done.output
    value: dict[str, Any] = json.loads(done.output)
    return value


def findings(value: dict[str, Any]) -> dict[str, list[str]]:
    return {f["rule"]: [item["name"] for item in f["items"]] for f in value["findings"]}


# ---------------------------------------------------------------- gap


def test_gap_draws_the_rates_and_the_line(db: Path) -> None:
    text = call("gap", "--db", db).output
    assert "── line 40% " in text
    assert "prompt" in text
    for said in ("window: ", "three-means: ", "fixed: ", "recommended line: 40%", "nothing is changed"):
        assert said in text


def test_terms_come_from_titles_a_log_or_a_file(db: Path, tmp_path: Path) -> None:
    terms = tmp_path / "terms.txt"
    terms.write_text("Suno\n\n工作流\n无此词\n", encoding="utf-8")
    plain = tmp_path / "log.txt"
    plain.write_text("知识库里讲工作流的笔记\n", encoding="utf-8")
    assert answer("gap", "--db", db)["source"].endswith("words of the titles")
    assert answer("gap", "--db", db, "--questions", QUESTIONS)["source"].endswith("terms of 51 questions")
    by_file = answer("gap", "--db", db, "--terms", terms)
    assert [r["text"] for r in by_file["rates"]] == ["工作流", "Suno"]
    assert [r["text"] for r in answer("gap", "--db", db, "--questions", plain)["rates"]] == ["工作流"]


def test_gap_as_json(db: Path) -> None:
    value = answer("gap", "--db", db)
    assert (value["line"], value["line_from"]) == (0.4, "default")
    assert [g["method"] for g in value["gaps"]] == ["window", "three-means", "fixed"]
    assert all(g["low"] <= g["line"] < g["high"] for g in value["gaps"])
    assert value["recommended"]["moves"] is False
    rates = [r["hit_rate"] for r in value["rates"]]
    assert rates == sorted(rates, reverse=True)


def test_the_line_a_person_chose_is_told_by_its_origin(tmp_path: Path) -> None:
    notes, db = tmp_path / "n", tmp_path / "own.db"
    notes.mkdir()
    for i in range(12):
        (notes / f"{i}.md").write_text(f"# 泡茶 {i}\n水开", encoding="utf-8")
    call("index", notes, "--db", db, "--line", "0.35")
    assert {
        (v["line"], v["line_from"]) for v in (answer("gap", "--db", db), answer("rates", "茶", "--db", db))
    } == {(0.35, "corpus")}
    (notes / "new.md").write_text("茶", encoding="utf-8")
    call("index", notes, "--db", db)
    assert answer("gap", "--db", db)["line"] == 0.35
    assert answer("gap", "--db", db, "--line", "0.2")["line_from"] == "argument"


def test_gap_changes_nothing(db: Path) -> None:
    before = db.read_bytes()
    call("gap", "--db", db, "--line", "0.2")
    call("doctor", "--db", db)
    call("aliases", "--db", db)
    assert db.read_bytes() == before
    assert [p.name for p in db.parent.iterdir()] == ["kb.db"]


def test_gap_of_a_count_file_leaves_odd_terms_out(counts: Path) -> None:
    value = answer("gap", "--counts", counts)
    assert [r["text"] for r in value["rates"]] == ["盐", "糖醋"]
    assert "3 odd terms left out" in value["source"]


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_pictures(suffix: str, db: Path, tmp_path: Path) -> None:
    for command in (["gap"], ["rates", "工作流", "prompt", "无此词"]):
        place = tmp_path / f"{command[0]}.{suffix}"
        done = call(*command, "--db", db, "--plot", place)
        assert done.exit_code == 0
        assert f"drawn: {place}" in done.output
        assert place.stat().st_size > 5000


def test_terms_that_no_font_has_are_drawn_all_the_same(tmp_path: Path) -> None:
    odd = {"term": "\ud800🎵茶\x00", "n_docs": 20, "site": 9, "text": 8}
    (tmp_path / "odd.jsonl").write_text(json.dumps(odd), encoding="utf-8")
    for suffix in ("svg", "png", "html"):
        done = call("gap", "--counts", tmp_path / "odd.jsonl", "--plot", tmp_path / f"p.{suffix}", "--json")
        assert done.exit_code == 0, done.exception


def test_picture_beside_json_leaves_the_json_alone(db: Path, tmp_path: Path) -> None:
    assert answer("gap", "--db", db, "--plot", tmp_path / "p.svg")["line"] == 0.4
    assert answer("rates", "茶", "--db", db, "--plot", tmp_path / "p.svg")["line"] == 0.4


def test_one_note_is_too_few_to_say(tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.md").write_text("", encoding="utf-8")
    call("index", tmp_path / "n", "--db", tmp_path / "x.db")
    for command in ("gap", "doctor", "aliases"):
        done = call(command, "--db", tmp_path / "x.db")
        assert done.exit_code == 0, (command, done.output, done.exception)
    assert "name what readers ask with --questions" in call("gap", "--db", tmp_path / "x.db").output
    few = answer("gap", "--db", tmp_path / "x.db")["recommended"]["reasons"][0]
    assert "terms are not tiered below 10" in few


# ---------------------------------------------------------------- doctor


def test_doctor_names_what_is_odd_in_a_count_file(counts: Path) -> None:
    found = findings(answer("doctor", "--counts", counts))
    assert found["furniture"] == ["菜谱"]
    assert found["chance"] == ["厨房用油"]
    assert found["invisible"] == ["焯水"]
    text = call("doctor", "--counts", counts).output
    assert "furniture (1)" in text
    assert "→ leave header, footer and navigation out of the index" in text


def test_doctor_of_an_index(db: Path) -> None:
    value = answer("doctor", "--db", db, "--questions", QUESTIONS)
    found = findings(value)
    assert value["n_docs"] == 44
    assert found["corpus"] == ["fields", "kinds", "filters"]
    assert "VIDEO_INDEX.md" in found["index-pages"]
    assert "questions" in found["line"]


def test_doctor_on_the_site_of_the_source(shared: Path) -> None:
    done = run("doctor", "--counts", shared / "corpora" / "spiderweb" / "counts.jsonl")
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    rows = text.splitlines()
    for rule, wanted in {
        "furniture": ["AI", "prompt", "笔记", "音乐", "GitHub"],
        "chance": ["里讲工作流", "音乐生成", "整理方法"],
        "invisible": ["剪辑", "复盘", "蒙眼剪辑法"],
    }.items():
        at = next(i for i, row in enumerate(rows) if row.startswith(rule))
        assert set(wanted) <= set(rows[at + 1].strip().split(" · "))


def test_what_stands_in_notes_is_text(tmp_path: Path) -> None:
    """Markup and escapes in notes are printed, not obeyed."""
    notes = tmp_path / "n"
    notes.mkdir()
    for i in range(12):
        (notes / f"[bold]{i}.md").write_text("# [red]茶[/red] \x1b[31m泡茶\n## [/nope]\n", encoding="utf-8")
    call("index", notes, "--db", tmp_path / "x.db")
    done = run("doctor", "--db", tmp_path / "x.db")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "[/nope]" in done.stdout.decode()
    assert b"\x1b[31m" not in done.stdout


# ---------------------------------------------------------------- aliases


def test_aliases_are_a_word_file(tmp_path: Path) -> None:
    notes, words = tmp_path / "n", tmp_path / "mine.toml"
    notes.mkdir()
    for i in range(3):
        (notes / f"{i}.md").write_text(f"检索增强生成（RAG）之 {i}", encoding="utf-8")
    call("index", notes, "--db", tmp_path / "x.db")
    bare = tmp_path / "bare.toml"
    bare.write_text("[replace]\naliases = []\n", encoding="utf-8")
    text = call("aliases", "--db", tmp_path / "x.db", "--words", bare).output
    assert tomllib.loads(text) == {"add": {"aliases": [["RAG", "检索增强生成"]]}}
    words.write_text(text, encoding="utf-8")
    assert "RAG" not in tomllib.loads(call("aliases", "--db", tmp_path / "x.db", "--words", words).output)
    assert "known already" in call("aliases", "--db", tmp_path / "x.db", "--words", words, "--all").output


# ---------------------------------------------------------------- bad calls and bad data

BAD = {
    "no source": (["gap"], "name one of them: --db INDEX or --counts FILE"),
    "two sources": (["doctor", "--db", "a", "--counts", "b"], "name one of them"),
    "no index": (["gap", "--db", "no.db"], "no index there"),
    "not an index": (["doctor", "--db", "log.txt"], "is no index"),
    "no counts": (["doctor", "--counts", "no.jsonl"], "cannot be read"),
    "no questions": (["gap", "--db", "DB", "--questions", "no.txt"], "cannot be read"),
    "no terms": (["gap", "--db", "DB", "--terms", "no.txt"], "cannot be read"),
    "terms twice": (
        ["gap", "--db", "DB", "--terms", "log.txt", "--questions", "log.txt"],
        "name one of them",
    ),
    "terms for counts": (["gap", "--counts", "c.jsonl", "--terms", "log.txt"], "--terms goes with --db"),
    "questions for counts": (["gap", "--counts", "c.jsonl", "--questions", "log.txt"], "goes with --db"),
    "engine for db": (["gap", "--db", "DB", "--engine", "x"], "--engine goes with --counts"),
    "text for db": (["doctor", "--db", "DB", "--text", "x"], "--text goes with --counts"),
    "bad line": (["gap", "--db", "DB", "--line", "2"], "a hit rate above 0 and at most 1"),
    "nan line": (["gap", "--db", "DB", "--line", "nan"], "a hit rate above 0 and at most 1"),
    "bad window": (["gap", "--db", "DB", "--window", "0.5", "0.3"], "the lower first"),
    "bad resamples": (["gap", "--db", "DB", "--resamples", "0"], "resamples"),
    "bad picture": (["gap", "--db", "DB", "--plot", "p.jpg"], "name a file that ends so"),
    "picture in no folder": (["rates", "茶", "--db", "DB", "--plot", "no/p.svg"], "cannot be written"),
    "no JSON": (["doctor", "--counts", "log.txt"], "log.txt:1: is no JSON"),
    "no object": (["doctor", "--counts", "list.jsonl"], "list.jsonl:1: write a JSON object a line"),
    "no count": (["doctor", "--counts", "bad.jsonl"], "row 1: site is -1"),
    "no such column": (["doctor", "--counts", "c.jsonl", "--engine", "x"], "name one with --engine"),
    "same column": (
        ["doctor", "--counts", "c.jsonl", "--text", "site", "--engine", "site"],
        "c.jsonl: 'site' beside itself shows nothing",
    ),
    "no counts of the text": (["gap", "--counts", "bare.jsonl"], "name one with --text: site"),
    "too many documents": (["gap", "--counts", "huge.jsonl"], 'needs "term"'),
    "deep JSON": (["gap", "--counts", "deep.jsonl"], "deep.jsonl:1: is no JSON"),
    "bad seed": (["gap", "--db", "DB", "--seed", "-1"], "is not in the range"),
    "empty log": (["doctor", "--db", "DB", "--questions", "empty.jsonl"], "empty.jsonl: is empty"),
    "empty terms": (["gap", "--db", "DB", "--terms", "empty.jsonl"], "empty.jsonl: is empty"),
    "empty counts": (["gap", "--counts", "empty.jsonl"], "empty.jsonl: no counts"),
    "no question in a row": (["gap", "--db", "DB", "--questions", "c.jsonl"], "row 1 has no question"),
    "not UTF-8": (["gap", "--db", "DB", "--questions", "bytes.txt"], "no text in UTF-8"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "log.txt").write_text("茶", encoding="utf-8")
    (tmp_path / "list.jsonl").write_text("[1]", encoding="utf-8")
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "c.jsonl").write_text(json.dumps(COUNTS[0]), encoding="utf-8")
    (tmp_path / "bare.jsonl").write_text('{"term": "茶", "n_docs": 9, "site": 1}', encoding="utf-8")
    (tmp_path / "huge.jsonl").write_text(json.dumps(COUNTS[0] | {"n_docs": 10**30}), encoding="utf-8")
    (tmp_path / "deep.jsonl").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text(json.dumps(COUNTS[0] | {"site": -1}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", BAD)
def test_bad_calls_and_bad_data_say_what_to_do(name: str, db: Path, place: Path) -> None:
    args, says = BAD[name]
    before = sorted(place.iterdir())
    done = call(*(db if arg == "DB" else arg for arg in args))
    told = str(done.exception) if isinstance(done.exception, QuerykitError) else done.output
    assert done.exit_code != 0
    assert isinstance(done.exception, QuerykitError | SystemExit)
    assert says in told
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("name", ["no index", "no JSON", "engine for db", "bad window"])
def test_bad_calls_end_with_2_and_one_line(name: str, db: Path, place: Path) -> None:
    done = run(*(db if arg == "DB" else arg for arg in BAD[name][0]), cwd=place, PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(b"querykit: ")
