"""The serve driver: `harness serve`, and HTTP requests to it from outside."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from triathlon.harness.channels import HttpAnswer
from triathlon.harness.running import Late, Running, Server, StepFailed

if TYPE_CHECKING:
    from triathlon.harness.stage import Stage
    from triathlon.harness.steps import Http, Start

CHUNK = 1 << 16


def start(stage: Stage, order: Start, until: float) -> Running:
    """Start it and read the line that says port and token; raises Late or StepFailed if there is none."""
    arguments = order.args if order.args is not None else ["serve", "--port", "0", *order.flags]
    running = stage.spawn(order, [stage.harness, *arguments])
    stage.keep(running)
    sink = running.stdout
    if not stage.pump.wait(lambda: b"\n" in sink.data or sink.ended, until):
        raise Late(f"{running.name}: no line with port and token in time")
    line = sink.data.partition(b"\n")[0]
    try:
        said = json.loads(line)
        running.server = Server(int(said["port"]), str(said["token"]))
    except (ValueError, TypeError, KeyError):
        raise StepFailed(
            f"{running.name}: the first line is no JSON object with port and token: {line[:200]!r}"
        ) from None
    return running


def ask(stage: Stage, running: Running, step: Http) -> Exchange:
    """Send one request in a thread of its own; `Exchange.answer` is there when it is done."""
    if running.server is None:
        raise StepFailed(f"{running.name} is no server")
    server = running.server
    headers = dict(step.headers)
    if step.token is not False:
        token = server.token if step.token is True else step.token
        headers.setdefault("Authorization", f"Bearer {token}")
    body: bytes | None = None
    if step.body is not None:
        body = step.body.encode("utf-8", "surrogateescape")
    elif "as_json" in step.model_fields_set:
        body = json.dumps(step.as_json).encode()
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    exchange = Exchange(
        lambda: stage.box.connect(server.port),
        (step.method, step.path, body, headers),
        until_text=step.until,
        max_bytes=stage.max_bytes,
        done=stage.pump.notify,
    )
    running.exchanges[step.name] = exchange
    exchange.start()
    return exchange


class Exchange:
    """One request and its answer."""

    def __init__(
        self,
        connect: Callable[[], socket.socket],
        request: tuple[str, str, bytes | None, dict[str, str]],
        *,
        until_text: str | None,
        max_bytes: int,
        done: Callable[[], None],
    ) -> None:
        self.answer: HttpAnswer | None = None
        self.seconds = 0.0
        self._connect, self._request, self._done = connect, request, done
        self._until = until_text.encode() if until_text is not None else None
        self._max_bytes = max_bytes
        self._sock: socket.socket | None = None
        self._broken_off = False
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        """Send it."""
        self._thread.start()

    def break_off(self) -> None:
        """Hang up, whatever has come so far; the answer is there when this returns."""
        self._broken_off = True
        if self._sock is not None:
            try:
                self._sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has hung up already
        self._thread.join()

    def _run(self) -> None:
        began = time.monotonic()
        body = bytearray()
        status: int | None = None
        headers: dict[str, str] = {}
        error: str | None = None
        try:
            self._sock = self._connect()
            with self._sock:
                # The waiting step has the deadline, and breaks the exchange off: perhaps before this line.
                self._sock.settimeout(None if not self._broken_off else 0.1)
                with self._send(self._sock) as response:
                    status = response.status
                    headers = {name.lower(): value for name, value in response.getheaders()}
                    self._read(response, body)
        except (OSError, http.client.HTTPException) as problem:
            error = f"{type(problem).__name__}: {problem}"
        self.seconds = time.monotonic() - began
        self.answer = HttpAnswer(status, headers, bytes(body), _json(bytes(body)), error)
        self._done()

    def _send(self, sock: socket.socket) -> http.client.HTTPResponse:
        method, path, body, headers = self._request
        connection = http.client.HTTPConnection("127.0.0.1")
        connection.sock = sock
        connection.request(method, path, body, {"Connection": "close", **headers})
        return connection.getresponse()

    def _read(self, response: http.client.HTTPResponse, body: bytearray) -> None:
        while len(body) < self._max_bytes:
            data = response.read1(CHUNK)
            if not data:
                return
            body += data
            if self._until is not None and self._until in body:
                return


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
