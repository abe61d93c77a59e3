"""Lets a harness inside a sandbox reach a model outside: chat completions on a listener made inside.

The sandbox needs no network and no key: the requests come in on the listening socket, the model is called in this
process, and what was said is answered whole or as server-sent events, as asked.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from triathlon.oolong.models import Completion, Usage

Complete = Callable[[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], Completion]
#: A request larger than this is refused: a window of a million tokens is about 4 MB.
MAX_BODY = 64 * 1024 * 1024


class Gateway:
    """Serves one sandbox's model requests from `complete`; `usage` sums what was spent, `errors` what went wrong."""

    def __init__(self, listener: socket.socket, complete: Complete, *, max_calls: int | None = None) -> None:
        self.usage = Usage()
        self.errors: list[str] = []
        self._complete, self._max_calls = complete, max_calls
        self._lock = threading.Lock()
        self._server = _Server(listener, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="gateway", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No request is taken after this; the listener stays the sandbox's."""
        self._server.shutdown()
        self._thread.join()

    def answer(self, body: bytes) -> tuple[int, str, bytes]:
        """Status, content type and body for one request's body."""
        try:
            ask = json.loads(body)
            messages, tools = list(ask["messages"]), list(ask.get("tools") or [])
            stream = bool(ask.get("stream"))
        except (ValueError, KeyError, TypeError, RecursionError):
            return _error(400, "not a chat completions request", "invalid_request_error")
        with self._lock:
            if self._max_calls is not None and self.usage.calls >= self._max_calls:
                return _error(400, f"no more than {self._max_calls} calls for one question", "call_limit")
        try:
            completion = self._complete(messages, tools)
        except Exception as error:  # whatever a provider raises is told to the harness, and kept
            said = f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"
            with self._lock:
                self.errors.append(said)
            return _error(502, "the model could not be asked", "upstream_error")
        with self._lock:
            self.usage += completion.usage
            number = self.usage.calls
        if stream:
            return 200, "text/event-stream", _stream(completion, number)
        return 200, "application/json", json.dumps(_whole(completion, number)).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, gateway: Gateway) -> None:
        self.gateway = gateway
        super().__init__(("", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 3600

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self._send(*_error(413 if length.isdecimal() else 411, "the request's length", "invalid_request_error"))
            self.close_connection = True
            return
        body = self.rfile.read(int(length))
        if not self.path.rstrip("/").endswith("/chat/completions"):
            self._send(*_error(404, f"no such path: {self.path}", "invalid_request_error"))
            return
        self._send(*self.server.gateway.answer(body))

    def do_GET(self) -> None:
        self._send(*_error(404, f"no such path: {self.path}", "invalid_request_error"))

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are counted, not logged."""


def _error(status: int, message: str, code: str) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps({"error": {"message": message, "code": code}}).encode()


def _usage(completion: Completion) -> dict[str, int]:
    used = completion.usage
    return {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens,
    }


def _whole(completion: Completion, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": completion.text or None}
    if completion.calls:
        message["tool_calls"] = list(completion.calls)
    return {
        "id": f"gateway-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": "default",
        "choices": [{"index": 0, "message": message, "finish_reason": completion.stop}],
        "usage": _usage(completion),
    }


def _stream(completion: Completion, number: int) -> bytes:
    base = {"id": f"gateway-{number}", "object": "chat.completion.chunk", "created": 0, "model": "default"}
    delta: dict[str, Any] = {"role": "assistant", "content": completion.text}
    if completion.calls:
        delta["tool_calls"] = [{"index": i, **call} for i, call in enumerate(completion.calls)]
    events = [
        base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        base | {"choices": [{"index": 0, "delta": {}, "finish_reason": completion.stop}]},
        base | {"choices": [], "usage": _usage(completion)},
    ]
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"
