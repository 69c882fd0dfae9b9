"""A WeKnora back end for tests: the two REST routes that the MCP server calls for a search, on loopback.

What a base does is in its name. All card text is invented.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD_KEY = "sk-stub-good-key"
SLOW_S = 6.0

CARD_A = """【卡 S-001】
内容含义：[满屋子人等着看他出丑]—被一套点茶手法打破→[老茶客起身续杯]
铺垫：约5秒
镜头：只拍手，不给脸
原话：“水还没到呢”
人物：老茶客、小学徒（学徒）
道具：一把旧铜壶"""
CARD_B = "内容含义：【等了一下午的人】——一张字条→【原来早就来过】\n铺垫：短\n人物：收发员"


def row(*answers: str, enabled: bool | None = None) -> dict[str, Any]:
    """A row as the back end lays it out, with the noise around the card."""
    meta: dict[str, Any] = {
        "standard_question": "找一条…的事件素材",
        "similar_questions": ["…"],
        "version": 1,
    }
    if answers:
        meta["answers"] = list(answers)
    if enabled is not None:
        meta["is_enabled"] = enabled
    text = "\n".join(answers)
    return {
        "id": "0b0c0d0e-0000-4000-8000-0000000000aa",
        "content": f"Q: …\nAnswers:\n- {text}",
        "score": 0.51,
        "match_type": 0,
        "chunk_type": "faq",
        "chunk_metadata": meta,
        "matched_content": text,
    }


def _ok(data: Any) -> tuple[int, str, bytes]:
    return 200, "application/json", json.dumps({"data": data, "success": True}, ensure_ascii=False).encode()


def _status(code: int) -> tuple[int, str, bytes]:
    body = {"success": False, "error": {"code": 1000, "message": "internal-host.example"}}
    return code, "application/json", json.dumps(body).encode()


# What each base answers to a search.
ANSWERS: dict[str, tuple[int, str, bytes]] = {
    "事件库": _ok([row(CARD_A, "备注"), row(CARD_B), row("一张没有落差结构的卡")]),
    "零命中库": _ok(None),
    "空数组库": _ok([]),
    "无答案库": _ok([row(), {"content": "文档段落", "score": 0.01}]),
    "半满库": _ok([row(), row(CARD_B), row("停用", enabled=False)]),
    "403库": _status(403),
    "404库": _status(404),
    "429库": _status(429),
    "500库": _status(500),
    "503库": _status(503),
    "网页库": (200, "text/html", b"<html>gateway</html>"),
    "假成功库": (200, "application/json", b'{"error":{"code":1007,"message":"x"},"success":false}'),
    "慢库": _ok(None),
    "重名库": _ok([row(CARD_B)]),
}
# The newest of two equal names comes first, and is the one that answers.
LISTED = [*ANSWERS, "重名库"]


def base_id(index: int) -> str:
    return f"0b0c0d0e-0000-4000-8000-{index:012d}"


class Stub:
    """A running back end. `url` is what WEKNORA_BASE_URL wants, `seen` the requests so far."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, Any]] = []
        self.before_answer: Callable[[], object] = lambda: None
        handler = type("Handler", (_Handler,), {"stub": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; a second call does nothing."""
        if not self._thread.is_alive():
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # The default of 5 makes the sixth of several callers at once wait a second.
    request_queue_size = 64


class _Handler(BaseHTTPRequestHandler):
    stub: Stub

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0))))

    def _answer(self, body: Any) -> None:
        self.stub.seen.append((self.command, self.path, body))
        if self.headers.get("X-API-Key") != GOOD_KEY:
            return self._send(401, "application/json", b'{"error":"Unauthorized: invalid API key"}')
        if self.command == "GET" and self.path == "/api/v1/knowledge-bases":
            return self._send(*_ok([{"id": base_id(i), "name": name} for i, name in enumerate(LISTED)]))
        kb = self.path.removeprefix("/api/v1/knowledge-bases/").removesuffix("/hybrid-search")
        name = next((name for i, name in enumerate(LISTED) if base_id(i) == kb), None)
        if self.command != "POST" or name is None:
            return self._send(*_status(404))
        if name == "慢库":
            time.sleep(SLOW_S)
        self.stub.before_answer()
        return self._send(*ANSWERS[name])

    def _send(self, code: int, kind: str, body: bytes) -> None:
        try:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # whoever asked was killed meanwhile

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test run's output is no access log."""
