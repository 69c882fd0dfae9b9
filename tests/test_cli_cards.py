"""``querykit cards`` and ``querykit probe``: what goes in, what comes out, with which exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from querykit import cli_cards
from querykit.cli_cards import cards, probe, read_beats
from querykit.engines.weknora import BaseState, Probe
from querykit.exchange import (
    Card,
    Cards,
    ExchangeError,
    Next,
    Outcome,
    Reason,
    SearchRequest,
    Unavailable,
    ZeroHit,
)

ROOT = Path(__file__).parent.parent
SAMPLE, LIBRARY = ROOT / "sample_cards" / "beats.toml", ROOT / "sample_cards" / "library"
SECRET = "sk-geheim-0815"

ROW = {
    "event": "被当众考问的新手妈妈",
    "scene": "月子中心",
    "method": "用一串手上功夫顶回去",
    "function": "留人",
}
OWN = {"event": "自己有场的人", "own_scene": True}
ABSTRACT = {**ROW, "method": "制造反差"}
BEATS = {"persona": {"track": "亲子", "items": ["保温桶"]}, "nodes": [ROW]}
CARD = Card(
    "编号：T-1\n内容含义：[满屋人等着看小学徒出丑]—被一套真功夫打破→[起身]\n人物：小学徒\n原话：“水还没到呢，急什么”"
)


class Server:
    """In the place of WeKnora: answers from a list, the last again and again."""

    def __init__(self, *outcomes: Outcome, listed: bool = True) -> None:
        self.outcomes = list(outcomes)
        self.seen: list[SearchRequest] = []
        self.probed: list[str | None] = []
        self.listed = listed

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def fetch(self, request: SearchRequest) -> Outcome:
        self.seen.append(request)
        return self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]

    def probe(self, kb: str | None) -> Probe:
        self.probed.append(kb)
        state = BaseState.EXISTS if self.listed else BaseState.MISSING
        reason = None if self.listed else Reason.NO_SUCH_BASE
        return Probe(True, "weknora 1.1.1", "stdio", state, reason, Next.USE_CARDS)


@pytest.fixture(autouse=True)
def nothing_mounted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever runs the tests may have a server of their own."""
    for name in list(os.environ):
        if name.startswith(("QUERYKIT_", "WEKNORA_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def node_file(tmp_path: Path) -> Callable[[object], str]:
    def write(tables: object) -> str:
        path = tmp_path / "nodes.json"
        path.write_text(json.dumps(tables, ensure_ascii=False), encoding="utf-8")
        return str(path)

    return write


NodeFile = Callable[[object], str]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Server]:
    def start(*outcomes: Outcome, **how: Any) -> Server:
        server = Server(*outcomes, **how)
        monkeypatch.setattr(cli_cards, "_server", lambda *_: server)
        return server

    return start


Serve = Callable[..., Server]


def run(*args: object) -> Result:
    return CliRunner().invoke(cards, [str(arg) for arg in args])


def answer(*args: object) -> dict[str, Any]:
    result = run(*args, "--json")
    assert result.exit_code in (0, 1), result.output
    loaded: dict[str, Any] = json.loads(result.stdout)
    return loaded


# --- the whole way -----------------------------------------------------------------------------------------


def test_the_sample_works_with_nothing_running() -> None:
    result = run(SAMPLE, "--library", LIBRARY)
    assert result.exit_code == 0
    assert result.stderr == ""
    found = answer(SAMPLE, "--library", LIBRARY)
    assert [(n["source"], n["status"], n["fallback"], n["skipped"]) for n in found["nodes"]] == [
        ("library", "not_mounted", "ok", None),
        ("library", "not_mounted", "ok", None),
        ("nothing", None, None, "own_scene"),
        ("guidance", None, None, "refused"),
    ]
    assert found["library"]["cards"] == 10
    assert all(1 <= len(n["material"]) <= 2 for n in found["nodes"][:2])


def test_material_and_nothing_else_of_a_card_comes_out(node_file: NodeFile, serve: Serve) -> None:
    server = serve(Cards((CARD,), received=3100))
    result = run(node_file(BEATS), "--base", "事件卡库", "--json")
    node = json.loads(result.stdout)["nodes"][0]
    assert node["material"] == [
        {
            "gap": {"expected": "满屋人等着看某人出丑", "breaker": "一套真功夫", "result": "起身"},
            "technique": "skill",
            "setup": None,
            "camera": None,
        }
    ]
    assert (node["source"], node["cost"]) == ("engine", {"requests": 1, "received": 3100, "tokens": 1000})
    assert not any(word in result.output for word in ("小学徒", "水还没到"))
    assert [request.kb for request in server.seen] == ["事件卡库"]


def test_for_people_every_node_says_where_it_comes_from(node_file: NodeFile, serve: Serve) -> None:
    serve(Cards((CARD,), received=3100))
    out = run(node_file({**BEATS, "nodes": [ROW, OWN]}), "--base", "事件卡库").stdout
    assert "engine [weknora ok; 1 of 1 cards kept; 1 request, 3100 bytes]" in out
    assert "自己有场的人: has a scene of its own" in out
    assert out.endswith("cost: 1 request, 3100 bytes, about 1000 tokens\n")


def test_a_dry_run_prints_the_requests_and_sends_none(node_file: NodeFile, serve: Serve) -> None:
    server = serve(ZeroHit())
    found = answer(node_file({**BEATS, "nodes": [OWN, ROW, ABSTRACT]}), "--base", "事件卡库", "--dry-run")
    assert [(n["skipped"], n["request"]) for n in found["nodes"]] == [
        ("own_scene", None),
        (
            None,
            {
                "kb_id": "事件卡库",
                "query": "找一条 月子中心被当众考问的新手妈妈 用一串手上功夫顶回去 保温桶 的 留人型事件素材",
                "match_count": 3,
                "vector_threshold": 0.5,
            },
        ),
        ("refused", None),
    ]
    assert server.seen == []
    assert run(node_file({**BEATS, "nodes": [ABSTRACT]}), "--base", "库", "--dry-run").exit_code == 1


def test_what_needs_nothing_starts_nothing(node_file: NodeFile, serve: Serve) -> None:
    server = serve(ZeroHit())
    assert run(node_file({**BEATS, "nodes": [OWN]}), "--base", "事件卡库").exit_code == 0
    assert (server.seen, server.probed) == ([], [])


@pytest.mark.parametrize(
    ("outcome", "source", "status"),
    [
        (Cards((CARD,)), "engine", 0),
        (ZeroHit(), "guidance", 1),
        (Unavailable(Reason.UNAVAILABLE), "library", 0),
        (Unavailable(Reason.TIMEOUT), "library", 0),
        (Unavailable(Reason.TOOL_ERROR), "library", 0),
        (Unavailable(Reason.NO_SUCH_BASE), "nothing", 1),
    ],
    ids=lambda value: value.reason.value if isinstance(value, Unavailable) else None,
)
def test_the_degradation_table(
    outcome: Outcome, source: str, status: int, node_file: NodeFile, serve: Serve
) -> None:
    serve(outcome)
    result = run(node_file(BEATS), "--base", "事件卡库", "--library", LIBRARY, "--json")
    assert (json.loads(result.stdout)["nodes"][0]["source"], result.exit_code) == (source, status)
    assert result.stderr == ""


def test_an_opaque_error_is_told_from_a_missing_base_by_listing_once(
    node_file: NodeFile, serve: Serve
) -> None:
    server = serve(Unavailable(Reason.TOOL_ERROR), listed=False)
    found = answer(node_file({**BEATS, "nodes": [ROW, ROW]}), "--base", "没有库", "--library", LIBRARY)
    assert (found["nodes"][0]["status"], found["nodes"][0]["next"]) == ("no_such_base", "as_if_off")
    assert server.probed == ["没有库"]


def test_budgets(node_file: NodeFile, serve: Serve) -> None:
    serve(Cards((CARD,), received=3100))
    for budget in (("--budget-requests", 1), ("--budget-tokens", 900)):
        found = answer(node_file({**BEATS, "nodes": [ROW, ROW]}), "--base", "库", *budget)
        assert [node["skipped"] for node in found["nodes"]] == [None, "budget"]


def test_types_lead_to_bases_and_a_base_of_ones_own_wins(
    node_file: NodeFile, serve: Serve, tmp_path: Path
) -> None:
    types = tmp_path / "types.toml"
    types.write_text(
        '[types."反差"]\nbase = "库一"\nmethods = ["功夫"]\nlabels = ["打脸"]\n', encoding="utf-8"
    )
    server = serve(ZeroHit())
    run(node_file(BEATS), "--types", types)
    run(node_file(BEATS), "--types", types, "--base", "0b0c")
    assert [(request.kb, request.labels) for request in server.seen] == [
        ("库一", ("打脸",)),
        ("0b0c", ("打脸",)),
    ]
    found = answer(node_file({**BEATS, "nodes": [{**ROW, "method": "大哭一场把伞塞给他"}]}), "--types", types)
    assert found["nodes"][0]["skipped"] == "no_type"


def test_a_warning_is_said_and_does_not_stop(node_file: NodeFile, serve: Serve) -> None:
    serve(Cards((CARD,)))
    beats = {**BEATS, "persona": {"track": "剧情", "items": ["剧情片场"]}}
    node = answer(node_file(beats), "--base", "库")["nodes"][0]
    assert [warning.split()[0] for warning in node["warnings"]] == ["track-common"]
    assert node["source"] == "engine"


def test_skipped_files_of_the_library_are_named(node_file: NodeFile, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "坏.md").write_bytes(b"\0")
    result = run(node_file(BEATS), "--base", "库", "--library", tmp_path / "lib")
    assert result.exit_code == 1
    assert result.stderr.startswith("library: 坏.md was passed over: is binary, not text")
    assert result.stderr.count("\n") == 1


# --- bad calls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ([], "is no table"),
        ({}, "has no nodes"),
        ({"nodes": []}, "has no nodes"),
        ({"nodes": {"event": "人"}}, "has no nodes"),
        ({"nodes": ["人"]}, "nodes 1 is '人'"),
        ({"nodes": [{}]}, "nodes 1 has no event"),
        ({"nodes": [{**ROW, "evnt": "人"}]}, "nodes 1 has an unknown key 'evnt'"),
        ({"nodes": [{**ROW, "event": 3}]}, "nodes 1: event is 3; write text in quotes"),
        ({"nodes": [{**ROW, "own_scene": "yes"}]}, "own_scene is 'yes'; write true or false"),
        ({"nodes": [ROW], "persona": "亲子"}, "persona is '亲子'"),
        ({"nodes": [ROW], "persona": {"items": "保温桶"}}, "items is '保温桶'; write a list"),
        ({"nodes": [ROW], "persona": {"items": [1]}}, "items is [1]; write a list"),
        ({"nodes": [ROW], "node": []}, "unknown key 'node'"),
        ({"nodes": [{"evnt": 1}]}, "(and 1 more)"),
        ({"nodes": [ROW]}, "no base to ask"),
        ({"nodes": [ROW], "types": []}, "has no types"),
        ({"nodes": [ROW], "types": {"反差": {}}}, "types.反差 has no base"),
        ({"nodes": [ROW], "types": {"反差": {"base": "库", "lables": []}}}, "unknown key 'lables'"),
        ({"nodes": [ROW], "types": {"反差": {"base": "库", "labels": "打脸"}}}, "labels is '打脸'"),
        ({"nodes": [ROW], "types": {"反差": {"base": 3}}}, "base is 3"),
        ({"nodes": [ROW], "types": {"反差": {"base": "库"}}, "default_type": "无"}, "default_type is '无'"),
        ({"nodes": [ROW], "types": {"反差": {"base": "库"}}, "default_type": []}, "default_type is []"),
        ({"nodes": [ROW], "default_type": "反差"}, "default_type stands without types"),
    ],
)
def test_bad_node_files_are_one_line(tables: object, says: str, node_file: NodeFile) -> None:
    result = run(node_file(tables))
    said = result.stderr if result.exit_code == 2 else f"Error: {result.exception}\n"
    assert isinstance(result.exception, ExchangeError) or result.exit_code == 2
    assert says in said
    assert said.count("\n") == 1


def test_files_that_are_not_there_or_no_toml(tmp_path: Path) -> None:
    odd = tmp_path / "odd.toml"
    odd.write_text("nodes = [", encoding="utf-8")
    (tmp_path / "odd.json").write_bytes(b"\xff")
    (tmp_path / "odd.yaml").write_text("", encoding="utf-8")
    for path, says in {
        tmp_path / "nowhere.toml": "cannot be read (No such file",
        tmp_path: "give a .toml or a .json file",
        odd: "is no TOML: ",
        tmp_path / "odd.json": "is not in UTF-8; save it as UTF-8",
        tmp_path / "odd.yaml": "give a .toml or a .json file",
    }.items():
        result = run(path)
        assert (result.exit_code, says in result.stderr, result.stderr.count("\n")) == (2, True, 1)
    assert run(SAMPLE, "--library", tmp_path / "没有").exit_code == 2
    assert run(SAMPLE, "--base", " ").exit_code == 2
    assert run(SAMPLE, "--timeout", "0").exit_code == 2
    assert run(SAMPLE, "--budget-requests", "-1").exit_code == 2


def test_a_row_may_leave_elements_out_and_is_told(node_file: NodeFile) -> None:
    beats = read_beats({"nodes": [{"event": "人"}]})
    assert (beats.nodes[0].scene, beats.types) == ("", None)
    node = answer(node_file({"nodes": [{"event": "被当众考问的新手妈妈"}]}), "--base", "库")["nodes"][0]
    assert [reason.split("]")[0] for reason in node["reasons"]] == [
        "missing-element [break_by",
        "missing-element [anchor",
        "missing-element [function",
    ]


# --- probe -------------------------------------------------------------------------------------------------


def test_probe_without_a_server() -> None:
    result = CliRunner().invoke(probe, ["--base", "事件卡库", "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "mounted": False,
        "server": None,
        "transport": None,
        "base": "unknown",
        "reason": "not_mounted",
        "next": "markdown_library",
        "hint": cli_cards._NO_SERVER,
    }


def test_probe_tells_whether_the_base_is_there(serve: Serve) -> None:
    serve(ZeroHit())
    result = CliRunner().invoke(probe, ["--base", "事件卡库"])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "weknora: weknora 1.1.1 over stdio",
        "base: 事件卡库 is there",
        "next: cards would come from WeKnora",
    ]
    serve(ZeroHit(), listed=False)
    assert CliRunner().invoke(probe, ["--base", "事件卡库"]).exit_code == 1
    assert CliRunner().invoke(probe, []).exit_code == 0
    assert CliRunner().invoke(probe, ["--base", " "]).exit_code == 2


@pytest.mark.parametrize(
    ("reason", "transport", "says"),
    [
        (Reason.NOT_MOUNTED, None, "QUERYKIT_WEKNORA_COMMAND"),
        (Reason.NOT_MOUNTED, "stdio", "hybrid_search"),
        (Reason.UNAVAILABLE, "http", "by hand"),
        (Reason.TIMEOUT, "stdio", "--timeout"),
    ],
)
def test_probe_says_what_to_do(
    reason: Reason, transport: str | None, says: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(ZeroHit())
    gone = Probe(False, None, transport, BaseState.UNKNOWN, reason, Next.MARKDOWN_LIBRARY)
    monkeypatch.setattr(server, "probe", lambda _: gone)
    result = CliRunner().invoke(probe, [])
    assert (result.exit_code, says in result.stdout.splitlines()[-1]) == (1, True)


def test_probe_without_the_sdk_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYKIT_WEKNORA_COMMAND", "uvx tencent-weknora-mcp")
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = CliRunner().invoke(probe, [])
    assert (result.exit_code, "pip install" in result.stdout) == (1, True)


# --- as processes ------------------------------------------------------------------------------------------


def process(*args: object, **env: str) -> subprocess.CompletedProcess[bytes]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("QUERYKIT_", "WEKNORA_"))}
    command = [sys.executable, "-m", "querykit.cli", *map(str, args)]
    return subprocess.run(command, capture_output=True, env={**clean, **env}, timeout=60, check=False)


def test_the_sample_as_a_process_in_an_ascii_locale() -> None:
    done = process("cards", SAMPLE, "--library", LIBRARY, "--json", LC_ALL="C", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(json.loads(done.stdout)["nodes"]) == 4


def test_what_is_typed_in_an_ascii_locale_is_what_was_meant() -> None:
    ascii_ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = process("cards", SAMPLE, "--base", "事件库", "--dry-run", "--json", **ascii_)
    assert json.loads(done.stdout)["nodes"][0]["request"]["kb_id"] == "事件库"
    done = process("lint", "亲子 反差", "--json", **ascii_)
    assert [finding["text"] for finding in json.loads(done.stdout)["findings"]] == ["亲子", "反差"]
    typed = (
        "--contrast",
        "被嘲笑的妈妈",
        "--break-by",
        "掏出急救证",
        "--anchor",
        "亲子餐厅",
        "--function",
        "钩子",
    )
    assert process("mirror", *typed, **ascii_).returncode == 0


def test_bad_data_as_a_process(tmp_path: Path) -> None:
    path = tmp_path / "nodes.toml"
    path.write_text('[[nodes]]\nevent = "人"\n[types.a]\nlabels = []\n', encoding="utf-8")
    done = process("cards", path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f'querykit: {path}: types.a has no base; write base = "name or id"\n'


@pytest.mark.parametrize("where", ["config", "url", "command", "broken"])
def test_no_secret_in_any_output(where: str, tmp_path: Path) -> None:
    """A server that is not there, with its address and key in every place they may stand."""
    config = tmp_path / "mcp.json"
    entry = {"url": f"http://127.0.0.1:9/{SECRET}", "headers": {"Authorization": SECRET}}
    text = json.dumps({"mcpServers": {"weknora": entry}})
    config.write_text(text[:-9] if where == "broken" else text, encoding="utf-8")
    env = {
        "config": {},
        "broken": {},
        "url": {"QUERYKIT_WEKNORA_URL": entry["url"], "QUERYKIT_WEKNORA_TOKEN": SECRET},
        "command": {"QUERYKIT_WEKNORA_COMMAND": f"/nowhere/{SECRET}", "WEKNORA_API_KEY": SECRET},
    }[where]
    named = ("--config", config) if where in ("config", "broken") else ()
    told = [process("probe", "--base", "库", "--timeout", 5, *named, **env)]  # type: ignore[arg-type]
    told += [process("cards", SAMPLE, "--library", LIBRARY, "--timeout", 5, *named, **env)]  # type: ignore[arg-type]
    for done in told:
        assert SECRET.encode() not in done.stdout + done.stderr
        assert b"127.0.0.1" not in done.stdout + done.stderr
    assert [done.returncode for done in told] == ([2, 2] if where == "broken" else [1, 0])
