"""One server process and the messages to and from it: JSON-RPC 2.0, an object a line."""

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .types import Cancel

FAREWELL = 1.0  # seconds a server gets to end by itself


class Failed(Exception):
    """The server did not do what it was asked; the message says why."""


class Connection:
    """A running server. Answers are taken from a thread that reads, so that several callers can wait at once."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        """Failed: it cannot be started."""
        import subprocess

        from .processes import start

        try:
            self._process = start(
                argv, cwd, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except (OSError, ValueError) as error:
            raise Failed(f"it cannot be started: {error}") from None
        assert self._process.stdin is not None
        self._to = self._process.stdin.fileno()
        os.set_blocking(self._to, False)
        self._news = threading.Condition()
        self._sending = threading.Lock()
        self._answers: dict[int, dict[str, Any]] = {}
        self._next = 0
        self._problem = ""  # why nothing more will come
        self._starting = True
        threading.Thread(target=self._read, daemon=True).start()

    def is_up(self) -> None:
        """The start-up is over: what is not JSON is from now on passed over."""
        self._starting = False

    def ask(self, method: str, params: Any, seconds: float, cancel: Cancel | None = None) -> dict[str, Any]:
        """Send a request and wait for its result. Failed: an error, no answer in time, the server's end, `cancel`."""
        deadline = time.monotonic() + seconds
        with self._news:
            self._next += 1
            id = self._next
        self._send({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, deadline)
        handle = cancel.on_set(self._wake) if cancel else None
        try:
            with self._news:
                while id not in self._answers:
                    left = deadline - time.monotonic()
                    if self._problem or left <= 0 or (cancel is not None and cancel.is_set()):
                        raise Failed(self._problem or f"no answer to {method} for {seconds:g} s")
                    self._news.wait(left)
                answer = self._answers.pop(id)
        finally:
            if cancel and handle is not None:
                cancel.forget(handle)
        if "error" in answer:
            error = answer["error"]
            raise Failed(str(error.get("message", error) if isinstance(error, dict) else error))
        if not isinstance(answer.get("result"), dict):
            raise Failed(f"its answer to {method} has no result")
        result: dict[str, Any] = answer["result"]
        return result

    def tell(self, method: str, seconds: float) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method}, time.monotonic() + seconds)

    def hang_up(self) -> None:
        """Close the server's stdin, which tells it to end."""
        with self._sending:
            if self._process.stdin is not None and not self._process.stdin.closed:
                self._process.stdin.close()

    def end(self) -> None:
        """See to it that the server, and all it started, is gone."""
        import subprocess

        from .processes import kill_group

        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            pass
        kill_group(self._process.pid)
        self._process.wait()

    def _wake(self) -> None:
        with self._news:
            self._news.notify_all()

    def _send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Write a line, even if the server reads slowly; Failed if it does not read at all."""
        data = json.dumps(message).encode() + b"\n"
        with self._sending:
            while data:
                try:
                    data = data[os.write(self._to, data) :]
                except BlockingIOError:
                    left = deadline - time.monotonic()
                    if left <= 0 or not select.select([], [self._to], [], left)[1]:
                        raise Failed("it does not read what it is sent") from None
                except (OSError, ValueError):
                    raise Failed("it has ended") from None

    def _read(self) -> None:
        assert self._process.stdout is not None
        problem = "it has ended"
        with self._process.stdout as lines:
            for line in lines:
                try:
                    message = json.loads(line)
                except (ValueError, RecursionError):
                    message = None
                if isinstance(message, dict):
                    self._take(message)
                elif self._starting:
                    problem = f"it wrote a line that is not a JSON object: {line[:80]!r}"
                    break
        with self._news:
            self._problem = problem
            self._news.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        """An answer of the server, or a request of its own."""
        if "method" not in message:
            with self._news:
                if isinstance(message.get("id"), int):
                    self._answers[message["id"]] = message
                self._news.notify_all()
        elif "id" in message:
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
            if message["method"] == "ping":
                reply["result"] = {}
            else:
                reply["error"] = {"code": -32601, "message": f"there is no method {message['method']}"}
            try:
                self._send(reply, time.monotonic() + FAREWELL)
            except Failed:
                pass
