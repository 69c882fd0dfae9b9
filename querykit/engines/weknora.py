"""WeKnora over MCP: a client for its one search tool, on the official SDK (``querykit[weknora]``).

The SDK is asynchronous; here it lives in one background thread with its own event loop, and callers from any
thread get plain outcomes. Whatever goes wrong becomes an `Unavailable` that keeps no text of the server, and
addresses and keys stay out of every repr, error and log line.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shlex
import threading
from collections.abc import Awaitable, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from querykit.exchange import (
    ExchangeError,
    Next,
    Outcome,
    Reason,
    SearchRequest,
    Unavailable,
    degrade,
    first_text,
    read_response,
)

if TYPE_CHECKING:
    from anyio import CancelScope
    from mcp import Client

_T = TypeVar("_T")

# The MCP server itself waits for ever, so the time-out has to be ours. A search takes .1 to 2 s where the
# embedder is local; 20 s leaves room for a remote one.
TIMEOUT_S = 20.0
# The first `uvx` start of the server downloads it.
START_TIMEOUT_S = 30.0


class Tool(Enum):
    """The tools that can be called. ``chat`` and ``agent_chat`` summarise cards away: they are not here."""

    SEARCH = "hybrid_search"
    LIST_BASES = "list_knowledge_bases"


@dataclass(frozen=True, slots=True)
class Launch:
    """A server to start and to talk to over its standard input and output."""

    command: str = field(repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that runs already, at an address of its own (streamable HTTP)."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


# What a server that we launch may inherit beyond the SDK's own short list. Its key and address usually stand
# in the `env` of the configuration; who keeps them in the environment names them as the server does.
_PASSED_ON = ("WEKNORA_BASE_URL", "WEKNORA_API_KEY", "WEKNORA_VERIFY_SSL", "NO_PROXY", "no_proxy")


def find_server(
    environ: Mapping[str, str], config: Path | str | None = None, name: str = "weknora"
) -> Launch | Endpoint | None:
    """Where the server is, or None when nothing says so.

    In this order: *config*, an MCP configuration; of *environ*, QUERYKIT_WEKNORA_URL (with
    QUERYKIT_WEKNORA_TOKEN), QUERYKIT_WEKNORA_COMMAND, QUERYKIT_MCP_CONFIG; last ``~/.workbuddy/mcp.json``.
    A *config* or QUERYKIT_MCP_CONFIG that names no file is an error; the last may be missing.

        >>> find_server({}) is None
        True
        >>> find_server({"QUERYKIT_WEKNORA_URL": "http://secret.example/mcp"})
        Endpoint()
    """
    if config is not None:
        return _configured(_read_config(Path(config)), name, environ)
    if url := environ.get("QUERYKIT_WEKNORA_URL"):
        return Endpoint(url, _bearer(environ.get("QUERYKIT_WEKNORA_TOKEN", "")))
    if command := environ.get("QUERYKIT_WEKNORA_COMMAND"):
        program, *args = shlex.split(command)
        return Launch(program, tuple(args), _passed_on(environ))
    if named := environ.get("QUERYKIT_MCP_CONFIG"):
        return _configured(_read_config(Path(named)), name, environ)
    home = environ.get("HOME") or environ.get("USERPROFILE")
    usual = Path(home) / ".workbuddy" / "mcp.json" if home else None
    return _configured(_read_config(usual), name, environ) if usual and usual.is_file() else None


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    return {key: environ[key] for key in _PASSED_ON if key in environ}


def _read_config(path: Path) -> Mapping[str, Any]:
    try:
        tables = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        said = f"{path.name} cannot be read ({error.strerror}); name your MCP configuration"
        raise ExchangeError(said) from None
    except (ValueError, RecursionError):
        # Without the cause: a JSON error may show the line, and the line may hold the key.
        raise ExchangeError(f"{path.name} cannot be read as JSON; repair it or name another file") from None
    servers = tables.get("mcpServers", {}) if isinstance(tables, dict) else None
    if not isinstance(servers, dict):
        raise ExchangeError(f'{path.name} has no table "mcpServers"; see your MCP client for its format')
    return servers


# ${NAME} and ${NAME:-default}, as MCP clients write them. A bare $ is left alone: keys may hold one.
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def _configured(
    servers: Mapping[str, Any], name: str, environ: Mapping[str, str]
) -> Launch | Endpoint | None:
    entry = servers.get(name)
    if not isinstance(entry, dict) or entry.get("disabled") is True:
        return None

    def text(value: object) -> str:
        return _VARIABLE.sub(lambda found: environ.get(found[1], found[2] or ""), str(value))

    def texts(key: str) -> dict[str, str]:
        table = entry.get(key)
        return {str(k): text(v) for k, v in table.items()} if isinstance(table, dict) else {}

    if url := entry.get("url") or entry.get("serverUrl") or entry.get("httpUrl"):
        # The older SSE transport is another protocol, and one that the SDK is about to drop.
        return None if entry.get("type") == "sse" else Endpoint(text(url), texts("headers"))
    if command := entry.get("command"):
        args = entry.get("args")
        cwd = entry.get("cwd")
        return Launch(
            text(command),
            tuple(map(text, args)) if isinstance(args, list) else (),
            {**_passed_on(environ), **texts("env")},
            text(cwd) if cwd else None,
        )
    return None


class BaseState(Enum):
    """What listing the bases said about the one asked for."""

    EXISTS = "exists"
    MISSING = "missing"
    # Names are not unique; the server silently takes the newest. Configure the id.
    SEVERAL = "several"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Probe:
    """What is there, and what would happen to a request. *server* is the name and version it gives itself."""

    mounted: bool
    server: str | None
    transport: str | None
    base: BaseState
    reason: Reason | None
    next: Next


class _Base(NamedTuple):
    id: str
    name: str


class _NotMounted(Exception):
    """The server has no such tool."""


class _Session:
    """One connection: entered, kept and left by one task, since the SDK's scopes belong to the task."""

    def __init__(self) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended = asyncio.Event()
        self.client: Client
        self.tools: frozenset[str] = frozenset()
        self.server: str | None = None


class WeKnora:
    """A WeKnora server, asked from any thread. Nothing is started before the first call; `close` ends it all.

    >>> with WeKnora(None) as engine:
    ...     engine.fetch(SearchRequest("事件卡库", "找一条被考问的新手"))
    Unavailable(reason=<Reason.NOT_MOUNTED: 'not_mounted'>, received=0)
    """

    def __init__(
        self,
        server: Launch | Endpoint | None,
        *,
        timeout: float = TIMEOUT_S,
        start_timeout: float = START_TIMEOUT_S,
    ) -> None:
        self._server = server
        self._timeout = timeout
        self._start_timeout = start_timeout
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        # The rest belongs to the loop's thread.
        self._session: _Session | None = None
        self._keepers: dict[_Session, asyncio.Task[None]] = {}
        self._connecting = asyncio.Lock()
        self._bases: tuple[_Base, ...] | None = None
        self._quiet = _Quiet()
        self._ending = False

    @classmethod
    def from_environment(cls, config: Path | str | None = None, **settings: float) -> WeKnora:
        """The server that the environment or the MCP configuration names (see `find_server`)."""
        return cls(find_server(os.environ, config), **settings)

    def __repr__(self) -> str:
        return f"WeKnora({self._server!r})"

    def __enter__(self) -> WeKnora:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fetch(self, request: SearchRequest) -> Outcome:
        """What the base answers; never raises. A server that died is started anew and asked again, once."""
        if self._server is None:
            return Unavailable(Reason.NOT_MOUNTED)
        # Twice, since a server that died is started again.
        return self._run(self._fetch(request), limit=2 * (self._start_timeout + self._timeout))

    def probe(self, kb: str | None = None) -> Probe:
        """Whether a server with the search tool is there, and whether it lists the base *kb*.

        The bases are listed once; from then on an opaque error for a base that was not among them is known as
        `Reason.NO_SUCH_BASE`. Nothing is searched. Servers list only the bases of the key's own account: one
        that is shared with it counts as missing here, and is found all the same where the server can.
        """
        if self._server is None:
            return _unmounted(Reason.NOT_MOUNTED, None)
        found = self._run(self._probe(kb), limit=self._start_timeout + self._timeout)
        return _unmounted(found.reason, self._transport()) if isinstance(found, Unavailable) else found

    def close(self) -> None:
        """End the session, the server if it was launched, and the thread. May be called twice."""
        with self._starting:
            self._closed = True
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._end_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    # --- the bridge from callers to the loop ---------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, _T], limit: float) -> _T | Unavailable:
        try:
            future: Future[_T] = asyncio.run_coroutine_threadsafe(work, self._running_loop())
        except RuntimeError:
            work.close()
            return Unavailable(Reason.UNAVAILABLE)
        try:
            # The work has time-outs of its own; this one is for a loop that no longer turns.
            return future.result(limit + 5.0)
        except TimeoutError:
            future.cancel()
            return Unavailable(Reason.TIMEOUT)
        except CancelledError:
            return Unavailable(Reason.UNAVAILABLE)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._closed:
                raise RuntimeError("closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_turn, args=(self._loop,), name="querykit-weknora", daemon=True
                )
                self._thread.start()
            return self._loop

    # --- in the loop's thread ------------------------------------------------------------------------------

    async def _fetch(self, request: SearchRequest) -> Outcome:
        result = await self._guarded(self._call(Tool.SEARCH, request.arguments()))
        outcome = result if isinstance(result, Unavailable) else read_response(result, request.match_count)
        if outcome == Unavailable(Reason.TOOL_ERROR) and self._state(request.kb) is BaseState.MISSING:
            return Unavailable(Reason.NO_SUCH_BASE)
        return outcome

    async def _probe(self, kb: str | None) -> Probe | Unavailable:
        session = await self._guarded(self._connected())
        if isinstance(session, Unavailable):
            return session
        if Tool.SEARCH.value not in session.tools:
            return Unavailable(Reason.NOT_MOUNTED)
        if self._bases is None and Tool.LIST_BASES.value in session.tools:
            listed = await self._guarded(self._call(Tool.LIST_BASES, {}))
            self._bases = None if isinstance(listed, Unavailable) else _bases(listed)
        base = self._state(kb) if kb else BaseState.UNKNOWN
        reason = Reason.NO_SUCH_BASE if base is BaseState.MISSING else None
        then = degrade(Unavailable(reason)) if reason else Next.USE_CARDS
        return Probe(True, session.server, self._transport(), base, reason, then)

    def _state(self, kb: str) -> BaseState:
        """What the listing says, matched as the server does: the id, or the name whatever its case."""
        if self._bases is None:
            return BaseState.UNKNOWN
        if any(base.id.lower() == kb.lower() for base in self._bases):
            return BaseState.EXISTS
        named = sum(base.name.lower() == kb.lower() for base in self._bases)
        return (BaseState.MISSING, BaseState.EXISTS)[named] if named < 2 else BaseState.SEVERAL

    def _transport(self) -> str:
        return "http" if isinstance(self._server, Endpoint) else "stdio"

    async def _guarded(self, attempt: Awaitable[_T]) -> _T | Unavailable:
        try:
            return await attempt
        except (_NotMounted, ImportError):
            # ImportError: the SDK is not installed, or one older than 2.x is.
            return Unavailable(Reason.NOT_MOUNTED)
        except Exception as error:
            return _failure(error)

    async def _call(self, tool: Tool, arguments: dict[str, Any]) -> Mapping[str, Any]:
        """The dumped result of *tool*. A connection lost on the way is made anew and the call repeated, once;
        a server that does not come up is not tried again: it did not die, it is not there."""
        for last in (False, True):
            session = await self._connected()
            if tool.value not in session.tools:
                raise _NotMounted
            try:
                result = await session.client.call_tool(
                    tool.value, arguments, read_timeout_seconds=self._timeout
                )
            except Exception as error:
                if _lost(error) or self._is_stuck(error):
                    self._leave(session)
                if last or not _lost(error):
                    raise
            else:
                return result.model_dump(mode="json", by_alias=True)
        raise AssertionError("unreachable")

    def _is_stuck(self, error: Exception) -> bool:
        """Whether a server of ours now waits for ever, for a call that nobody waits for any more. Servers on
        SDK 1.x answer nothing else meanwhile; a new one is there in half a second."""
        return isinstance(self._server, Launch) and _failure(error).reason is Reason.TIMEOUT

    async def _connected(self) -> _Session:
        async with self._connecting:
            if self._session is None:
                if self._ending:
                    raise ConnectionError
                self._session = await self._start()
            return self._session

    async def _start(self) -> _Session:
        session = _Session()
        scope = _cancel_scope()
        self._keepers[session] = asyncio.create_task(self._keep(session, scope))
        try:
            await asyncio.wait_for(asyncio.shield(session.ready), self._start_timeout)
        except TimeoutError:
            scope.cancel()
            raise
        return session

    async def _keep(self, session: _Session, scope: CancelScope) -> None:
        """Hold *session* open until it is left. What goes wrong before it is ready is told to who waits for
        it; what goes wrong later shows in the calls."""
        try:
            with scope:
                async with AsyncExitStack() as stack:
                    session.client = await stack.enter_async_context(await self._client(stack))
                    session.tools = await _tool_names(session.client)
                    session.server = _server_name(session.client)
                    if not session.ready.done():
                        session.ready.set_result(None)
                    await session.ended.wait()
        except Exception as error:
            if not session.ready.done():
                session.ready.set_exception(error)
        finally:
            if not session.ready.cancel() and not session.ready.cancelled():
                # Looked at, so that nobody logs that it was not: its text may hold the address.
                session.ready.exception()
            self._leave(session)
            self._keepers.pop(session, None)

    async def _client(self, stack: AsyncExitStack) -> Client:
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        if isinstance(self._server, Endpoint):
            import httpx2

            # Longer than ours, which is to end a call first and to be known as a time-out.
            patience = httpx2.Timeout(self._timeout + 5.0)
            http = httpx2.AsyncClient(headers=dict(self._server.headers), timeout=patience)
            await stack.enter_async_context(http)
            transport = streamable_http_client(self._server.url, http_client=http)
        else:
            assert self._server is not None
            launch = self._server
            parameters = StdioServerParameters(
                command=launch.command, args=list(launch.args), env=dict(launch.env), cwd=launch.cwd
            )
            # The server logs failed requests with their address to its standard error.
            nowhere = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (the stack closes)
            transport = stdio_client(parameters, errlog=nowhere)
        # Last, since the libraries make their loggers when the client above is built.
        self._quiet.install()
        return Client(transport, read_timeout_seconds=self._start_timeout, cache=None)

    def _leave(self, session: _Session) -> None:
        session.ended.set()
        if self._session is session:
            self._session = None

    async def _end_all(self) -> None:
        self._ending = True
        for session in list(self._keepers):
            self._leave(session)
        # The keepers, and calls of other threads that learn only now that it is over.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)
        self._quiet.remove()


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _cancel_scope() -> CancelScope:
    from anyio import CancelScope

    return CancelScope()


async def _tool_names(client: Client) -> frozenset[str]:
    """The tools of the server. Listed once: a client that did not list them asks again after each call."""
    names: set[str] = set()
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        names.update(tool.name for tool in page.tools)
        cursor = page.next_cursor
        if cursor is None:
            break
    return frozenset(names)


# WeKnora has 28 tools on one page; a server that pages for ever is not followed.
_PAGES = 20


def _server_name(client: Client) -> str | None:
    info = client.server_info
    return f"{info.name} {info.version}"[:80] if info is not None else None


def _failure(error: Exception) -> Unavailable:
    # A TimeoutError of ours and the SDK's codes are one thing to the reader of the outcome.
    outcome = read_response(error)
    return outcome if isinstance(outcome, Unavailable) else Unavailable(Reason.UNAVAILABLE)


def _lost(error: Exception) -> bool:
    """Whether the connection is gone: the SDK says so (-32000), or something else than an answer came."""
    return getattr(error, "code", -32000) == -32000 and not isinstance(error, TimeoutError)


def _unmounted(reason: Reason, transport: str | None) -> Probe:
    return Probe(False, None, transport, BaseState.UNKNOWN, reason, degrade(Unavailable(reason)))


def _bases(result: Mapping[str, Any]) -> tuple[_Base, ...] | None:
    """The bases in a listing, or None when it is none: an error in text, a key that may not list."""
    try:
        listing = json.loads(first_text(result.get("content")))
    except (ValueError, RecursionError):
        return None
    found = listing.get("data") if isinstance(listing, dict) and listing.get("success") is True else None
    if not isinstance(found, list):
        return None
    rows = (row for row in found if isinstance(row, dict))
    return tuple(_Base(str(row.get("id", "")), str(row.get("name", ""))) for row in rows)


class _Quiet(logging.Filter):
    """Drops what the SDK and its HTTP client log in our thread: their lines name the address."""

    _NAMES = ("mcp", "httpx2", "httpcore2", "asyncio")

    def __init__(self) -> None:
        super().__init__()
        self._thread = 0
        self._on: list[logging.Logger] = []

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread != self._thread

    def install(self) -> None:
        """Called in our thread, once the libraries are imported and their loggers exist."""
        self._thread = threading.get_ident()
        known = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict)]
        for logger in known:
            if logger.name.split(".")[0] in self._NAMES and logger not in self._on:
                logger.addFilter(self)
                self._on.append(logger)

    def remove(self) -> None:
        while self._on:
            self._on.pop().removeFilter(self)
