"""What the way from a node to its material adds to the server's own time: ``python -m benchmarks.exchange``.

The real MCP server runs on stdio before a stub back end. Asked in turns, in both orders: the bare SDK client,
one call of the tool; and the default path, from the node over query, request, call, answer and parsing to the
material. The aim is a difference of at most 5 ms. QUERYKIT_WEKNORA_VENV names an environment that has the
server; otherwise the one that the tests have built is taken. Without either, only the part without a server
is measured.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from querykit.beats import Node, Persona
from querykit.cards import load_card_labels
from querykit.engines.weknora import Launch, WeKnora
from querykit.exchange import Outcome, SearchRequest, TypeRow, TypeTable, read_response
from querykit.material import FetchesCards, Refused, Source, fetch_material
from querykit.mirror import Elements, MirrorQuery, compose, elements_of, load_mirror

AIM = 5.0  # ms
ROUNDS = 100
NODE = Node("被当众考问的新手妈妈", "月子中心", "用一串手上功夫顶回去", "留人")
PERSONA = Persona("亲子", ("接送孩子", "保温桶"))
TABLE = TypeTable((TypeRow("", "事件库"),))
STUB = Path(__file__).parent.parent / "tests" / "engines" / "weknora_stub.py"


def default_path(engine: FetchesCards) -> Callable[[], None]:
    """One node, from its row to its material."""
    rules, words = load_mirror(), load_card_labels()

    def ask(node: Node, persona: Persona) -> str | Refused:
        elements = elements_of(node, persona, rules)
        assert isinstance(elements, Elements)
        query = compose(elements, rules)
        assert isinstance(query, MirrorQuery)
        return query.text

    def run() -> None:
        report = fetch_material([NODE], engine, persona=PERSONA, table=TABLE, words=words, compose=ask)
        assert report.nodes[0].source is Source.ENGINE, report.nodes[0].status

    return run


class Canned:
    """An engine without a server: the answer is there at once, and is read like any other."""

    def __init__(self, text: str) -> None:
        self._result = {"content": [{"type": "text", "text": text}], "isError": False}

    def fetch(self, request: SearchRequest) -> Outcome:
        return read_response(self._result, request.match_count)


def milliseconds(run: Callable[[], object]) -> float:
    """How long one *run* takes."""
    start = perf_counter()
    run()
    return (perf_counter() - start) * 1e3


def server_python() -> Path | None:
    """The Python that has the server, or None."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    built = Path(tempfile.gettempdir()) / f"querykit-weknora-1.1.1-py{version}"
    python = Path(os.environ.get("QUERYKIT_WEKNORA_VENV") or built) / "bin" / "python"
    return python if python.exists() else None


async def measure(launch: Launch) -> tuple[list[float], list[float]]:
    """Times of bare calls and of the default path, each on a server process of its own, in turns."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=launch.command, args=list(launch.args), env=dict(launch.env))
    arguments = SearchRequest(
        "事件库", "找一条 被当众考问的新手妈妈 用一串手上功夫顶回去 保温桶 的 留人型事件素材"
    ).arguments()
    bare: list[float] = []
    ours: list[float] = []
    with Path(os.devnull).open("w") as nowhere, WeKnora(launch) as engine:
        run = default_path(engine)
        async with Client(stdio_client(parameters, errlog=nowhere), cache=None) as client:
            await client.list_tools()

            async def call() -> float:
                start = perf_counter()
                await client.call_tool("hybrid_search", arguments)
                return (perf_counter() - start) * 1e3

            async def go() -> float:
                return await asyncio.to_thread(milliseconds, run)

            for _ in range(5):
                await call()
                await go()
            for turn in range(ROUNDS):
                if turn % 2:
                    bare.append(await call())
                    ours.append(await go())
                else:
                    ours.append(await go())
                    bare.append(await call())
    return bare, ours


def main() -> int:
    """Print the figures; 1 when the default path adds more than the aim."""
    spec = importlib.util.spec_from_file_location("weknora_stub", STUB)
    assert spec is not None
    assert spec.loader is not None
    stub_module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stub_module)

    answer = stub_module.ANSWERS["事件库"][2].decode()
    run = default_path(Canned(answer))
    run()
    times = [milliseconds(run) for _ in range(ROUNDS)]
    slow = quantiles(times, n=20)[-1]
    print(f"without a server: median {median(times):.2f} ms, 95 % {slow:.2f} ms ({ROUNDS} nodes)")
    worst = median(times)

    python = server_python()
    if python is None:
        print("with the server: not measured; QUERYKIT_WEKNORA_VENV names no environment that has it")
    else:
        stub = stub_module.Stub()
        env = {"WEKNORA_BASE_URL": stub.url, "WEKNORA_API_KEY": stub_module.GOOD_KEY, "NO_PROXY": "127.0.0.1"}
        try:
            bare, ours = asyncio.run(measure(Launch(str(python), ("-m", "weknora_mcp_server"), env)))
        finally:
            stub.close()
        server, path = median(bare), median(ours)
        worst = max(worst, path - server)
        print(f"bare SDK call: median {server:.2f} ms; default path: median {path:.2f} ms ({ROUNDS} each)")
        print(f"adds {path - server:.2f} ms, {path / server:.2f} times the bare call")
    print(f"aim: at most {AIM:.0f} ms more: {'met' if worst <= AIM else 'MISSED'}")
    return int(worst > AIM)


if __name__ == "__main__":
    sys.exit(main())
