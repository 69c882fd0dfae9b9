"""The WeKnora client against the real server package over stdio and HTTP, with a stub back end on loopback.

The server lives in a virtual environment of its own, since its wheel installs top-level modules named
``main`` and ``run``. QUERYKIT_WEKNORA_VENV names one that exists; otherwise one is built once in the
temporary folder. Where it cannot be built the tests skip, or fail if QUERYKIT_WEKNORA_REQUIRED is set.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from querykit.beats import Node, Persona
from querykit.cards import (
    load_card_labels,
)
from querykit.cli_cards import cards as cards_command
from querykit.engines import weknora
from querykit.engines.weknora import BaseState, Endpoint, Launch, Probe, Tool, WeKnora, find_server
from querykit.exchange import (
    Cards,
    ExchangeError,
    Next,
    NoUsableRow,
    Outcome,
    Reason,
    SearchRequest,
    TypeRow,
    TypeTable,
    Unavailable,
    ZeroHit,
)
from querykit.material import Source, fetch_material

_spec = importlib.util.spec_from_file_location("weknora_stub", Path(__file__).with_name("weknora_stub.py"))
assert _spec is not None
assert _spec.loader is not None
stub_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(stub_module)

PACKAGE = "tencent-weknora-mcp==1.1.1"
TOKEN = "tok-stub-secret"
KEY: str = stub_module.GOOD_KEY
# Enough for a loaded machine, and for the calls that are meant to run into it.
TIMEOUT_S, SHORT_S = 15.0, 1.0


# --- the server --------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def server_python() -> Path:
    given = os.environ.get("QUERYKIT_WEKNORA_VENV")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    venv = Path(given) if given else Path(tempfile.gettempdir()) / f"querykit-weknora-1.1.1-py{version}"
    python = venv / "bin" / "python"
    if not given:
        try:
            _build(venv, python)
        except (OSError, subprocess.SubprocessError) as error:
            if os.environ.get("QUERYKIT_WEKNORA_REQUIRED"):
                raise
            pytest.skip(f"the WeKnora server's environment cannot be built: {type(error).__name__}")
    return python


def _build(venv: Path, python: Path) -> None:
    """Build *venv* unless it is there. The lock is for test workers that start at the same time."""
    done = venv / "querykit-built"
    with venv.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists():
            return
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True, timeout=120)
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", PACKAGE]
        subprocess.run(install, check=True, timeout=300, capture_output=True)
        done.touch()


@pytest.fixture
def stub() -> Iterator[Any]:
    with contextlib.closing(stub_module.Stub()) as running:
        yield running


@pytest.fixture(scope="module")
def shared_stub() -> Iterator[Any]:
    with contextlib.closing(stub_module.Stub()) as running:
        yield running


def launch(python: Path, url: str, key: str = KEY) -> Launch:
    env = {"WEKNORA_BASE_URL": url, "WEKNORA_API_KEY": key, "NO_PROXY": "127.0.0.1"}
    return Launch(str(python), ("-m", "weknora_mcp_server"), env)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextlib.contextmanager
def http_server(python: Path, url: str, port: int, key: str = KEY) -> Iterator[subprocess.Popen[bytes]]:
    env = {**os.environ, **launch(python, url, key).env, "MCP_SERVER_AUTH_TOKEN": TOKEN}
    command = [str(python), "-m", "weknora_mcp_server", "--transport", "http", "--port", str(port)]
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.1):
                break
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()


def endpoint(port: int, token: str = TOKEN) -> Endpoint:
    return Endpoint(f"http://127.0.0.1:{port}/mcp", {"Authorization": f"Bearer {token}"})


def _launched(python: Path) -> set[int]:
    """The servers on stdio that this process has started and that still run."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            command = stat.with_name("cmdline").read_bytes()
            if parent == os.getpid() and command.startswith(str(python).encode()) and b"http" not in command:
                found.add(int(stat.parent.name))
    return found


@pytest.fixture
def launched(server_python: Path) -> Callable[[], set[int]]:
    """The servers started since the test began, beside that of the module's own engine."""
    before = _launched(server_python)
    return lambda: _launched(server_python) - before


@contextlib.contextmanager
def over(transport: str, python: Path, stub: Any, timeout: float, key: str = KEY) -> Iterator[WeKnora]:
    if transport == "stdio":
        with WeKnora(launch(python, stub.url, key), timeout=timeout) as stdio:
            yield stdio
        return
    port = free_port()
    with http_server(python, stub.url, port, key), WeKnora(endpoint(port), timeout=timeout) as http:
        yield http


@pytest.fixture(scope="module", params=["stdio", "http"])
def engine(request: pytest.FixtureRequest, server_python: Path, shared_stub: Any) -> Iterator[WeKnora]:
    """One engine a transport for all cases that end nothing: one session, reused."""
    with over(request.param, server_python, shared_stub, TIMEOUT_S) as running:
        yield running


def ask(engine: WeKnora, kb: str) -> Outcome:
    return engine.fetch(SearchRequest(kb, "找一条被考问的新手、用手上功夫顶回去、在后厨的留人型事件素材"))


# --- what the real server answers, over both transports ----------------------------------------------------

ERROR = Unavailable(Reason.TOOL_ERROR)


@pytest.mark.live_server
@pytest.mark.parametrize(
    ("kb", "outcome"),
    [
        ("零命中库", ZeroHit()),
        ("空数组库", ZeroHit()),
        ("无答案库", NoUsableRow(2)),
        ("没有这个库", ERROR),
        ("403库", ERROR),
        ("404库", ERROR),
        ("429库", ERROR),
        ("500库", ERROR),
        ("503库", ERROR),
        ("网页库", ERROR),
        ("假成功库", ERROR),
    ],
)
def test_outcomes(engine: WeKnora, kb: str, outcome: Outcome) -> None:
    assert ask(engine, kb) == outcome


@pytest.mark.live_server
def test_hit(engine: WeKnora) -> None:
    outcome = ask(engine, "事件库")
    assert isinstance(outcome, Cards)
    assert [card.text for card in outcome.cards][:2] == [stub_module.CARD_A, stub_module.CARD_B]
    assert outcome.received > 1000


@pytest.mark.live_server
def test_rows_without_answers_and_switched_off_ones_are_skipped(engine: WeKnora) -> None:
    outcome = ask(engine, "半满库")
    assert isinstance(outcome, Cards)
    assert ([card.text for card in outcome.cards], outcome.skipped) == ([stub_module.CARD_B], 2)


@pytest.mark.live_server
def test_two_equal_names_answer_as_the_newest_and_the_probe_says_so(
    engine: WeKnora, shared_stub: Any
) -> None:
    assert isinstance(ask(engine, "重名库"), Cards)
    newest = stub_module.base_id(stub_module.LISTED.index("重名库"))
    assert shared_stub.seen[-1][1] == f"/api/v1/knowledge-bases/{newest}/hybrid-search"
    assert engine.probe("重名库").base is BaseState.SEVERAL


@pytest.mark.live_server
def test_an_id_saves_the_listing(engine: WeKnora, shared_stub: Any) -> None:
    before = len(shared_stub.seen)
    assert ask(engine, stub_module.base_id(1)) == ZeroHit()
    assert [seen[0] for seen in shared_stub.seen[before:]] == ["POST"]


@pytest.mark.live_server
def test_the_back_end_gets_what_we_send(engine: WeKnora, shared_stub: Any) -> None:
    ask(engine, "零命中库")
    body = shared_stub.seen[-1][2]
    # Not passing keyword_threshold makes the server send its own default, which a FAQ base ignores.
    assert (body["match_count"], body["vector_threshold"], body["keyword_threshold"]) == (3, 0.5, 0.3)


@pytest.mark.live_server
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_slow_base_times_out_and_the_next_call_is_answered(
    transport: str, server_python: Path, stub: Any
) -> None:
    with over(transport, server_python, stub, SHORT_S) as engine:
        assert ask(engine, "慢库") == Unavailable(Reason.TIMEOUT)
        assert ask(engine, "零命中库") == ZeroHit()


@pytest.mark.live_server
def test_callers_from_many_threads_share_the_session(engine: WeKnora) -> None:
    kbs = ["零命中库", "事件库", "403库", "无答案库"] * 4
    expected = [ask(engine, kb) for kb in kbs[:4]] * 4
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda kb: ask(engine, kb), kbs)) == expected


@pytest.mark.live_server
def test_the_way_through_us_is_short(engine: WeKnora) -> None:
    ask(engine, "零命中库")
    times = []
    for _ in range(20):
        start = time.perf_counter()
        ask(engine, "零命中库")
        times.append(time.perf_counter() - start)
    # The server's own two REST calls are in it: 5 to 10 ms here.
    assert sorted(times)[10] < 0.1


@pytest.mark.live_server
def test_the_whole_way_from_nodes_to_material(engine: WeKnora) -> None:
    nodes = [
        Node("被当众考问的新手", "试妆镜前", "用一串手上功夫顶回去", "留人", kind="反差"),
        Node("已有桥段", "厨房", "手上功夫", "钩子", own_scene=True),
        Node("等了一整天的人", "校门口", "门卫递来一封信", "钩子", kind="空库"),
        Node("被误会的人", "楼道", "一段监控", "留人", kind="坏库"),
    ]
    bases = {"反差": "事件库", "空库": "零命中库", "坏库": "503库"}
    table = TypeTable(tuple(TypeRow(name, base, guidance="先抑后扬") for name, base in bases.items()))
    report = fetch_material(
        nodes,
        engine,
        persona=Persona("美妆", ("试妆镜",)),
        table=table,
        words=load_card_labels(),
        compose=lambda node, _: f"找一条{node.event}、{node.method}、在{node.scene}的事件素材",
    )
    assert [(node.source, node.status) for node in report.nodes] == [
        (Source.ENGINE, "ok"),
        (Source.NOTHING, ""),
        (Source.GUIDANCE, "zero_hit"),
        (Source.GUIDANCE, "tool_error"),
    ]
    assert report.nodes[0].material[0].gap.breaker == "一套点茶手法"
    assert (report.cost.requests, report.nodes[0].returned, report.nodes[0].kept) == (3, 3, 1)
    assert not any(word in repr(report) for word in ("老茶客", "小学徒", "旧铜壶", "水还没到"))


# --- servers that are not there, or go --------------------------------------------------------------------


@pytest.mark.live_server
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_bad_key_and_back_end_down_are_opaque(transport: str, server_python: Path, stub: Any) -> None:
    kbs = ["事件库", "0b0c0d0e-0000-4000-8000-000000000000"]
    with over(transport, server_python, stub, TIMEOUT_S, key="sk-wrong") as engine:
        assert [ask(engine, kb) for kb in kbs] == [ERROR, ERROR]
        stub.close()
        assert [ask(engine, kb) for kb in kbs] == [ERROR, ERROR]


Pids = Callable[[], set[int]]


@pytest.mark.live_server
def test_one_session_is_reused_and_ended(server_python: Path, stub: Any, launched: Pids) -> None:
    threads = threading.active_count()
    with WeKnora(launch(server_python, stub.url), timeout=TIMEOUT_S) as engine:
        assert launched() == set()
        ask(engine, "零命中库")
        first = launched()
        ask(engine, "事件库")
        assert launched() == first
        assert len(first) == 1
    assert launched() == set()
    assert ask(engine, "事件库") == Unavailable(Reason.UNAVAILABLE)
    engine.close()
    stub.close()
    assert threading.active_count() < threads


@pytest.mark.live_server
def test_a_server_that_died_is_restarted(server_python: Path, stub: Any, launched: Pids) -> None:
    with WeKnora(launch(server_python, stub.url), timeout=TIMEOUT_S) as engine:
        assert ask(engine, "零命中库") == ZeroHit()
        for pid in launched():
            os.kill(pid, signal.SIGKILL)
        assert ask(engine, "零命中库") == ZeroHit()


@pytest.mark.live_server
@pytest.mark.parametrize(("deaths", "outcome"), [(1, ZeroHit()), (9, Unavailable(Reason.UNAVAILABLE))])
def test_dying_in_the_middle_is_tried_again_once(
    server_python: Path, stub: Any, launched: Pids, deaths: int, outcome: Outcome
) -> None:
    died = 0

    def die() -> None:
        nonlocal died
        if died < deaths:
            died += 1
            for pid in launched():
                os.kill(pid, signal.SIGKILL)

    stub.before_answer = die
    with WeKnora(launch(server_python, stub.url), timeout=TIMEOUT_S) as engine:
        assert ask(engine, "零命中库") == outcome
    assert died == min(deaths, 2)


@pytest.mark.live_server
def test_dying_in_the_middle_over_http(server_python: Path, stub: Any) -> None:
    port = free_port()
    with WeKnora(endpoint(port), timeout=TIMEOUT_S) as engine:
        with http_server(server_python, stub.url, port) as process:
            stub.before_answer = process.kill
            assert ask(engine, "零命中库") == Unavailable(Reason.UNAVAILABLE)
        stub.before_answer = lambda: None
        with http_server(server_python, stub.url, port):
            assert ask(engine, "零命中库") == ZeroHit()


@pytest.mark.live_server
def test_closing_answers_who_still_waits(server_python: Path, stub: Any, launched: Pids) -> None:
    engine = WeKnora(launch(server_python, stub.url), timeout=TIMEOUT_S)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, engine, "慢库")
        while not any(method == "POST" for method, *_ in stub.seen):
            time.sleep(0.02)
        engine.close()
        assert waiting.result(TIMEOUT_S) == Unavailable(Reason.UNAVAILABLE)
    assert launched() == set()


@pytest.mark.live_server
def test_over_http_a_server_may_be_down_refuse_us_and_come_back(server_python: Path, stub: Any) -> None:
    port = free_port()
    with WeKnora(endpoint(port), timeout=TIMEOUT_S) as engine:
        assert ask(engine, "零命中库") == Unavailable(Reason.UNAVAILABLE)
        with http_server(server_python, stub.url, port):
            with WeKnora(endpoint(port, token="wrong"), timeout=TIMEOUT_S) as stranger:
                assert ask(stranger, "零命中库") == Unavailable(Reason.UNAVAILABLE)
            assert ask(engine, "零命中库") == ZeroHit()
        assert ask(engine, "零命中库") == Unavailable(Reason.UNAVAILABLE)
        with http_server(server_python, stub.url, port):
            assert ask(engine, "零命中库") == ZeroHit()


# --- probing -----------------------------------------------------------------------------------------------


@pytest.mark.live_server
def test_probing_lists_once_and_explains_later_errors(server_python: Path, stub: Any) -> None:
    with WeKnora(launch(server_python, stub.url), timeout=TIMEOUT_S) as engine:
        assert ask(engine, "没有这个库") == ERROR
        stub.seen.clear()
        assert engine.probe("事件库") == Probe(
            True, "weknora-server 1.1.1", "stdio", BaseState.EXISTS, None, Next.USE_CARDS
        )
        missing = engine.probe("没有这个库")
        assert (missing.base, missing.reason, missing.next) == (
            BaseState.MISSING, Reason.NO_SUCH_BASE, Next.AS_IF_OFF,
        )  # fmt: skip
        assert stub.seen == [("GET", "/api/v1/knowledge-bases", None)]
        assert ask(engine, "没有这个库") == Unavailable(Reason.NO_SUCH_BASE)
        assert ask(engine, "500库") == ERROR


@pytest.mark.live_server
def test_probing_with_a_key_that_may_not_list(server_python: Path, stub: Any) -> None:
    with WeKnora(launch(server_python, stub.url, key="sk-wrong"), timeout=TIMEOUT_S) as engine:
        assert engine.probe("事件库").base is BaseState.UNKNOWN
        assert ask(engine, "没有这个库") == ERROR


def test_probing_without_a_server() -> None:
    with WeKnora(None) as engine:
        probe = engine.probe("事件库")
        assert probe == Probe(False, None, None, BaseState.UNKNOWN, Reason.NOT_MOUNTED, Next.MARKDOWN_LIBRARY)


def _program(tmp_path: Path, code: str) -> Launch:
    script = tmp_path / "server.py"
    script.write_text(code, encoding="utf-8")
    return Launch(sys.executable, (str(script),))


TOOLS = """
import mcp.server
server = mcp.server.MCPServer('other')
@server.tool()
def chat(x: str) -> str:
    return x
"""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (TOOLS + "server.run()", Reason.NOT_MOUNTED),
        ("raise SystemExit(1)", Reason.UNAVAILABLE),
        ("import time; time.sleep(60)", Reason.TIMEOUT),
        ("print('banner', flush=True)\nimport sys; sys.stdin.read()", Reason.TIMEOUT),
    ],
    ids=["no such tool", "exits at once", "says nothing", "banner only"],
)
def test_servers_that_are_none(tmp_path: Path, code: str, reason: Reason) -> None:
    start_timeout = 0.4 if reason is Reason.TIMEOUT else 20.0
    with WeKnora(_program(tmp_path, code), timeout=TIMEOUT_S, start_timeout=start_timeout) as engine:
        assert ask(engine, "事件库") == Unavailable(reason)
        assert engine.probe("事件库").reason is reason


def test_a_command_that_is_not_there() -> None:
    with WeKnora(Launch("/nowhere/uvx")) as engine:
        assert ask(engine, "事件库") == Unavailable(Reason.UNAVAILABLE)


def test_without_the_sdk_nothing_is_mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with WeKnora(Launch("uvx")) as engine:
        assert ask(engine, "事件库") == Unavailable(Reason.NOT_MOUNTED)
        assert engine.probe().mounted is False


def test_an_old_server_that_reports_errors_without_iserror(tmp_path: Path) -> None:
    code = """
import mcp.server, mcp.types
from mcp.types import CallToolResult, TextContent
server = mcp.server.MCPServer('old')
@server.tool()
def hybrid_search(kb_id: str, query: str, match_count: int = 5) -> CallToolResult:
    text = "Error executing hybrid_search: 404 Client Error: Not Found for url: http://backend.example/api"
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=False)
server.run()
"""
    with WeKnora(_program(tmp_path, code), timeout=5) as engine:
        assert ask(engine, "事件库") == ERROR


def test_chat_cannot_be_called() -> None:
    assert {tool.value for tool in Tool} == {"hybrid_search", "list_knowledge_bases"}
    assert not any("chat" in name for name in dir(weknora) + dir(WeKnora))


# --- from a node file to material --------------------------------------------------------------------------

ROOT = Path(__file__).parent.parent.parent
BEATS = """
[persona]
track = "亲子"
items = ["保温桶"]
[[nodes]]
event = "被当众考问的新手妈妈"
scene = "月子中心"
method = "用一串手上功夫顶回去"
function = "留人"
"""


def _cards(
    python: Path, url: str, folder: Path, *args: str, key: str = KEY
) -> tuple[int, dict[str, Any], str]:
    """`querykit cards`, the server in an MCP configuration: status, answer, all it printed."""
    server = launch(python, url, key)
    entry = {"command": server.command, "args": list(server.args), "env": dict(server.env)}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"weknora": entry}}), encoding="utf-8")
    (folder / "beats.toml").write_text(BEATS, encoding="utf-8")
    where = ["--config", str(folder / "mcp.json"), "--library", str(ROOT / "sample_cards" / "library")]
    done = CliRunner().invoke(cards_command, [str(folder / "beats.toml"), "--json", *where, *args])
    return done.exit_code, json.loads(done.stdout), done.output


@pytest.mark.live_server
def test_from_a_node_file_to_material(server_python: Path, stub: Any, tmp_path: Path) -> None:
    status, found, said = _cards(server_python, stub.url, tmp_path, "--base", "事件库")
    node = found["nodes"][0]
    assert (status, node["source"], node["status"], node["kept"]) == (0, "engine", "ok", 1)
    assert node["material"][0]["gap"] == {
        "expected": "满屋子人等着看他出丑",
        "breaker": "一套点茶手法",
        "result": "某人起身续杯",
    }
    assert found["cost"]["requests"] == 1
    searches = [body for _, path, body in stub.seen if path.endswith("/hybrid-search")]
    assert [body["query_text"] for body in searches] == [node["query"]]
    for secret in (KEY, stub.url, "小学徒", "水还没到", "铜壶"):
        assert secret not in said


@pytest.mark.live_server
@pytest.mark.parametrize(
    ("base", "key", "expected"),
    [
        ("零命中库", KEY, (1, "guidance", "zero_hit")),
        ("500库", KEY, (0, "library", "tool_error")),
        ("没有库", KEY, (1, "nothing", "no_such_base")),
        ("事件库", "sk-wrong", (0, "library", "tool_error")),
    ],
)
def test_from_a_node_file_to_what_is_left(
    base: str, key: str, expected: tuple[int, str, str], server_python: Path, stub: Any, tmp_path: Path
) -> None:
    status, found, said = _cards(server_python, stub.url, tmp_path, "--base", base, key=key)
    assert (status, found["nodes"][0]["source"], found["nodes"][0]["status"]) == expected
    assert key not in said


# --- where the server is -----------------------------------------------------------------------------------

SECRET = "sk-geheim-0815"
CONFIG = {
    "mcpServers": {
        "weknora": {
            "command": "uvx",
            "args": ["tencent-weknora-mcp", "--flag", SECRET],
            "env": {
                "WEKNORA_API_KEY": SECRET,
                "WEKNORA_BASE_URL": f"http://{SECRET}/api/v1",
                "X": "${HIDDEN}",
                "Y": "${NONE:-standard}",
                "Z": "a$HIDDEN",
            },
        },
        "http": {
            "type": "streamable-http",
            "url": f"http://{SECRET}/mcp",
            "headers": {"Authorization": SECRET},
        },
        "old": {"type": "sse", "url": "http://x/sse"},
        "off": {"command": "uvx", "disabled": True},
        "empty": {},
    }
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    return path


def test_the_configuration_of_the_mcp_client_is_read(config: Path) -> None:
    found = find_server({"HIDDEN": "h"}, config)
    assert isinstance(found, Launch)
    assert (found.command, found.args[2]) == ("uvx", SECRET)
    assert [found.env[name] for name in "XYZ"] == ["h", "standard", "a$HIDDEN"]
    http = find_server({}, config, name="http")
    assert isinstance(http, Endpoint)
    assert http.headers == {"Authorization": SECRET}
    assert [find_server({}, config, name=name) for name in ("old", "off", "empty", "none")] == [None] * 4


def test_the_environment_names_a_server_or_a_file(config: Path, tmp_path: Path) -> None:
    url = find_server({"QUERYKIT_WEKNORA_URL": "http://h/mcp", "QUERYKIT_WEKNORA_TOKEN": "t"})
    assert url == Endpoint("http://h/mcp", {"Authorization": "Bearer t"})
    command = {"QUERYKIT_WEKNORA_COMMAND": "uvx 'tencent-weknora-mcp'", "WEKNORA_API_KEY": "k", "OTHER": "no"}
    assert find_server(command) == Launch("uvx", ("tencent-weknora-mcp",), {"WEKNORA_API_KEY": "k"})
    assert isinstance(find_server({"QUERYKIT_MCP_CONFIG": str(config)}), Launch)
    assert find_server({"HOME": str(tmp_path)}) is None
    (tmp_path / ".workbuddy").mkdir()
    config.rename(tmp_path / ".workbuddy" / "mcp.json")
    assert isinstance(find_server({"HOME": str(tmp_path)}), Launch)
    assert find_server({}) is None


@pytest.mark.parametrize(
    "text", [f'{{"mcpServers": "{SECRET}', f'["{SECRET}"]', f'{{"mcpServers": "{SECRET}"}}']
)
def test_a_broken_configuration_is_named_without_its_content(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ExchangeError, match=r"mcp\.json") as caught:
        find_server({}, path)
    assert SECRET not in repr(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(ExchangeError, match=r"nowhere\.json"):
        find_server({"QUERYKIT_MCP_CONFIG": str(tmp_path / "nowhere.json")})


def test_no_secret_in_any_repr(config: Path) -> None:
    for name in ("weknora", "http"):
        server = find_server({}, config, name=name)
        assert SECRET not in f"{server!r} {server} {WeKnora(server)!r} {WeKnora(server)}"


@pytest.mark.live_server
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_no_secret_in_any_log_line_outcome_or_stream(
    transport: str,
    server_python: Path,
    stub: Any,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    port = free_port()
    said: list[object] = []

    def talk(server: Launch | Endpoint) -> None:
        with WeKnora(server, timeout=TIMEOUT_S) as engine:
            said.extend(
                [engine, engine.probe("没有库"), *(ask(engine, kb) for kb in ("零命中库", "500库", "没有库"))]
            )

    if transport == "stdio":
        talk(launch(server_python, stub.url))
    else:
        with http_server(server_python, stub.url, port):
            talk(endpoint(port))
            talk(endpoint(port, token="tok-wrong"))
        talk(endpoint(port))
    spoken = " ".join([repr(said), caplog.text, *capfd.readouterr()])
    for secret in (KEY, TOKEN, "tok-wrong", stub.url, str(port), str(server_python), "/api/v1"):
        assert secret not in spoken


def test_the_filter_is_taken_off_again() -> None:
    def loggers() -> int:
        known = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict)]
        return sum(len(logger.filters) for logger in known)

    before = loggers()
    with WeKnora(Launch(sys.executable, ("-c", ""))) as engine:
        ask(engine, "事件库")
        assert loggers() > before
    assert loggers() == before
