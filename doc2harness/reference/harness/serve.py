"""`harness serve`: the sessions over HTTP, for clients on this machine that know the token."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from . import output, signals
from .model import Client
from .options import Options
from .output import Output
from .serve_api import Api, Problem
from .turn import ENDS
from .types import Cancel, Interrupted
from .workplace import Workplace


def run(options: Options) -> int:
    """Listen until a signal comes; the exit code that the signal stands for."""
    here = Path.cwd().resolve()
    Client.of_environment(Workplace(here, options, output.warn).settings, output.warn)
    cancel = Cancel()
    signals.heed(cancel)
    api = Api(options, here)
    server = _Server(("127.0.0.1", options.port), _Handler)
    server.api, server.token = api, secrets.token_urlsafe(24)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    try:
        Output(cancel).line({"port": server.server_address[1], "token": server.token})
        while True:
            cancel.wait(3600)
    except Interrupted as end:
        api.close(str(end))
        return ENDS[str(end)][0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    api: Api
    token: str


class _Handler(BaseHTTPRequestHandler):
    """Turns requests into calls of the API, and what it returns or raises into JSON."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def _serve(self) -> None:
        try:
            if not secrets.compare_digest(self.headers.get("Authorization", ""), f"Bearer {self.server.token}"):
                raise Problem(401, "the token is missing or wrong")
            parts = [part for part in urlsplit(self.path).path.split("/") if part]
            found = self.server.api.handle(self.command, parts, self._body)
            if callable(found):
                self._stream(found)
            else:
                self._answer(*found)
        except Problem as problem:
            self._answer(problem.status, {"error": str(problem)})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except Exception as error:  # a fault of ours must not end the server
            self._answer(500, {"error": f"{type(error).__name__}: {error}"})

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = do_HEAD = do_OPTIONS = _serve

    def _body(self) -> dict[str, Any]:
        """The request's JSON object; nothing at all counts as an empty one."""
        try:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(data or b"{}")
        except (ValueError, RecursionError) as error:
            raise Problem(400, f"the body is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise Problem(400, "the body is not a JSON object")
        return body

    def _answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data if self.command != "HEAD" else b"")

    def _stream(self, follow: Callable[[], Any]) -> None:
        """One JSON object a line until the client goes away."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        for event in follow():
            if event is None:
                if self._is_gone():
                    return
                continue
            line = json.dumps(event).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _is_gone(self) -> bool:
        """Whether the client closed its side: it has nothing more to say, so there is an end to read."""
        import select
        import socket

        readable = select.select([self.connection], [], [], 0)[0]
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Errors of the HTTP layer have a JSON body too."""
        self.close_connection = True
        self._answer(code, {"error": message or explain or "bad request"})

    def log_message(self, format: str, *args: Any) -> None:
        """Every request is told on stderr with --debug only: it is for warnings."""
        if self.server.api.options.debug:
            print("debug:", format % args, file=sys.stderr)
