"""The commands, in real processes: what they print, how they end, what they never do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "sample"


def run(
    *args: str | Path, stdin: bytes | None = None, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-W", "error::SyntaxWarning", "-m", "querykit.cli", *map(str, args)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **env},
        timeout=120,
    )


def lines(*questions: str) -> bytes:
    return "".join(json.dumps({"question": q}) + "\n" for q in questions).encode()


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("db") / "kb.db"
    done = run("index", SAMPLE, "--db", place)
    assert (done.returncode, done.stderr) == (0, b"")
    return place


def test_first_command_of_the_readme() -> None:
    done = run("ask", "这个知识库里有哪些关于 Midjourney 的笔记", "--notes", SAMPLE)
    text = done.stdout.decode()
    assert done.returncode == 0
    assert "1. MJ" in text or "1. Midjourney" in text
    assert "维护" not in text


def test_ask_json(db: Path) -> None:
    answer = json.loads(run("ask", "库里有没有讲 Suno 音乐生成的笔记?", "--db", db, "--json").stdout)
    assert [c["text"] for c in answer["chunks"]] == ["Suno", "音乐生成"]
    assert {"queries", "combined", "last_resort", "basis", "seats", "coverage"} <= answer.keys()
    assert len(answer["seats"]) == 6
    assert {"doc", "title", "query", "why"} <= answer["seats"][0].keys()
    assert "Suno" in answer["seats"][0]["doc"]


def test_explain_prints_every_decision(db: Path) -> None:
    text = run("ask", "知识库里讲工作流的笔记", "--db", db, "--explain").stdout.decode()
    for word in ("strip", "basis", "term", "query", "seat", "coverage", "container"):
        assert word in text


def test_jsonl_keeps_the_order_and_goes_on_after_a_bad_line(db: Path) -> None:
    stdin = lines("Suno", "sref") + b'not json\n{"ask": 1}\n\xff\xfe\n\n' + lines("")
    for command in (["strip"], ["rewrite"], ["ask", "--db", db]):
        done = run(*command, "--jsonl", stdin=stdin)
        out = [json.loads(line) for line in done.stdout.splitlines()]
        assert (done.returncode, len(out)) == (0, 6)
        assert [o.get("question") for o in out] == ["Suno", "sref", None, None, None, ""]
        assert all("error" in o for o in out[2:5])


def test_data_nested_too_deep_is_bad_data(tmp_path: Path) -> None:
    deep = "[" * 100_000
    (line,) = run("strip", "--jsonl", stdin=f'{{"question": {deep}\n'.encode()).stdout.splitlines()
    assert "error" in json.loads(line)
    for name, text, command in (
        ("notes.jsonl", f'{{"path": {deep}', ["index", "{}", "--db", str(tmp_path / "kb.db")]),
        ("words.toml", f"add = {deep}", ["strip", "茶", "--words", "{}"]),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        done = run(*(part.format(tmp_path / name) for part in command))
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1


def test_rewrite_with_and_without_a_corpus(db: Path) -> None:
    bare = json.loads(run("rewrite", "Skill 是怎么用的", "--json").stdout)
    rated = json.loads(run("rewrite", "Skill 是怎么用的", "--json", "--db", db).stdout)
    assert [(q["text"], q["tier"]) for q in bare["queries"]] == [("Skill", "unrated")]
    assert rated["queries"][0]["tier"] == "specific"


def test_spans_are_of_the_typed_string() -> None:
    asked = "¾ 這個知識庫裡講遞迴的筆記"
    answer = json.loads(run("strip", asked, "--json").stdout)
    for piece in (*answer["chunks"], *answer["removed"]):
        assert asked[piece["start"] : piece["end"]] == piece["text"]
    assert "遞迴" in [c["text"] for c in answer["chunks"]]


def test_rates(db: Path) -> None:
    out = json.loads(run("rates", "prompt", "Suno", "--db", db, "--json").stdout)
    rates = {t["text"]: t["hit_rate"] for t in out["terms"]}
    assert rates["prompt"] > 0.4 > rates["Suno"]
    assert "prompt" in run("rates", "prompt", "--db", db).stdout.decode()
    assert (
        json.loads(run("rates", "prompt", "--notes", "sample", "--json").stdout)["terms"] == out["terms"][:1]
    )


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (["strip", "知识库里讲工作流的笔记"], 0),
        (["strip", "你好"], 1),
        (["rewrite", "？？"], 1),
        (["strip"], 2),
        (["ask", "茶"], 2),
        (["ask", "茶", "--db", "no.db"], 2),
        (["ask", "茶", "--notes", "no-folder"], 2),
        (["ask", "茶", "--db", "a", "--notes", "b"], 2),
        (["ask", "茶", "--notes", ".", "--seats", "0"], 2),
        (["ask", "茶", "--notes", ".", "--line", "2"], 2),
        (["index", "no-folder", "--db", "x.db"], 2),
        (["index", "."], 2),
        (["strip", "茶", "--words", "no.toml"], 2),
        (["no-such-command"], 2),
        (["--no-such-option"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_exit_status_and_one_line_of_error(args: list[str], status: int, tmp_path: Path) -> None:
    done = run(*args, cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == status
    if status == 2:
        assert done.stdout == b""
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith(b"querykit: ")
    assert b"Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "asked",
    [
        "",
        " ",
        "？！",
        "😀",
        "AND",
        "*",
        "NEAR(",
        '"',
        "a:b*",
        "'; drop table docs; --",
        "\x07\x1b[31m",
        "{0}%s",
        "[bold]",
    ],
)
def test_odd_questions_are_questions(asked: str, db: Path) -> None:
    done = run("ask", asked, "--db", db)
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr
    assert b"\x1b[31m" not in done.stdout


def test_lone_surrogates_and_long_questions(db: Path) -> None:
    stdin = b'{"question": "\\ud800 Suno"}\n' + lines("知识库里讲工作流的笔记" * 9000)
    done = run("ask", "--db", db, "--jsonl", stdin=stdin)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["seats"]
    assert len(second["queries"]) <= 32


def test_own_words(tmp_path: Path) -> None:
    words = tmp_path / "mine.toml"
    words.write_text('[add]\nitems = ["菜谱"]\n', encoding="utf-8")
    out = json.loads(run("strip", "菜谱里有没有讲凉拌菜的", "--words", words, "--json").stdout)
    assert [c["text"] for c in out["chunks"]] == ["凉拌菜"]


def test_faulty_words_give_a_line_a_fault(tmp_path: Path) -> None:
    words = tmp_path / "mine.toml"
    words.write_text('[add]\nitem = []\nkeep = ""\n[drop]\n', encoding="utf-8")
    done = run("strip", "茶", "--words", words)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 3)


def test_index_says_what_it_did_and_names_what_it_skipped(tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.md").write_text("茶", encoding="utf-8")
    (tmp_path / "n" / "b.md").write_bytes(b"\x00\x01")
    done = run("index", tmp_path / "n", "--db", tmp_path / "kb.db")
    assert done.returncode == 0
    assert b"1 read" in done.stdout
    assert b"skipped b.md" in done.stderr
    assert b"1 unchanged" in run("index", tmp_path / "n", "--db", tmp_path / "kb.db").stdout


def test_pipe_closed_early_is_no_error(db: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "querykit.cli", "ask", "--db", str(db), "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    try:
        process.stdin.write(lines("Suno") * 2000)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait(30)


def test_interrupt_says_that_nothing_changed(db: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "querykit.cli", "ask", "--db", str(db), "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has them ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(lines("Suno"))
    process.stdin.flush()
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error.decode().strip() == "querykit: stopped; nothing was changed"


def test_another_locale_still_speaks_utf8(db: Path) -> None:
    done = run("ask", "知识库里讲工作流的笔记", "--db", db, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="")
    assert "工作流" in done.stdout.decode()


def test_help_lists_every_command() -> None:
    text = run("--help").stdout.decode()
    for command in (
        "index",
        "ask",
        "strip",
        "rewrite",
        "rates",
        "lint",
        "mirror",
        "cards",
        "probe",
        "gap",
        "doctor",
    ):
        assert command in text


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (["index", SAMPLE, "--db", "x.db", "--encoding", "nosuch"], "is no text encoding"),
        (["index", SAMPLE, "--db", SAMPLE], "name a file for the index"),
        (["strip", "工作流", "--jsonl"], "leave the question and --json out"),
        (["rewrite", "工作流", "--line", "0.3"], "name one with --db"),
        (
            ["ask", "--sref 怎么用", "--notes", SAMPLE],
            "a question that begins with a dash goes last, behind --",
        ),
        (["strip", "有没有", "讲", "Suno", "的笔记"], "put the question in quotes"),
        (["strip", "茶", "--words", "nope.toml"], "nope.toml: cannot be read"),
    ],
)
def test_wrong_calls_say_what_to_do(call: list[str | Path], says: str, tmp_path: Path) -> None:
    done = run(*call, cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1


def test_words_with_mistakes_name_each(tmp_path: Path) -> None:
    words = tmp_path / "w.toml"
    words.write_text('[add]\nplace = ["资料仓"]\n[without]\nplaces = ["没有的词"]\n', encoding="utf-8")
    said = run("strip", "茶", "--words", words).stderr.decode()
    assert "did you mean 'places'?" in said
    words.write_text('[without]\nplaces = ["没有的词"]\n', encoding="utf-8")
    assert "is not on that list" in run("strip", "茶", "--words", words).stderr.decode()


def test_own_container_is_seen_inside_what_the_dictionary_cuts(tmp_path: Path) -> None:
    words = tmp_path / "w.toml"
    words.write_text('[add]\nplaces = ["小黑屋"]\n', encoding="utf-8")
    out = json.loads(run("strip", "小黑屋里有没有讲红酒的", "--words", words, "--json").stdout)
    assert [c["text"] for c in out["chunks"]] == ["红酒"]


def test_terms_in_a_locale_without_utf8(db: Path) -> None:
    out = run(
        "rates", "工作流", "--db", db, "--json", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    ).stdout
    assert json.loads(out)["terms"][0]["df"] > 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_said(db: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "querykit.cli", "ask", "工作流", "--db", str(db)],
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert done.stderr.decode().startswith("querykit: cannot write: ")
    assert len(done.stderr.splitlines()) == 1


def test_zero_columns_print_all_the_same(db: Path) -> None:
    assert "工作流".encode() in run("ask", "工作流", "--db", db, COLUMNS="0").stdout


def test_names_of_files_move_no_cursor(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("茶", encoding="utf-8")
    (tmp_path / "e\x1b[31m\nb.md").write_bytes(b"caf\xe9 \xb4")
    said = run("index", tmp_path, "--db", tmp_path / "x.db").stderr
    assert b"\x1b" not in said
    assert len(said.splitlines()) == 1
