"""Small clients to talk to a scripted model, byte by byte where that is the point."""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import dataclass
from typing import Any

from triathlon.scripted.journal import Ask, Message, Request
from triathlon.scripted.server import ScriptedModel

USER = {"role": "user", "content": "go"}


@dataclass
class Served:
    """A running model and its address."""

    model: ScriptedModel
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def connect(self) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.port))
        sock.settimeout(60)
        return sock

    def post(self, messages: list[dict[str, Any]] | None = None, **body: Any) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of one chat request; keys of `body` replace those of a plain one."""
        data = json.dumps({"model": "m", "messages": messages or [USER]} | body)
        return self.send(data.encode())

    def send(
        self, data: bytes, path: str = "/v1/chat/completions", method: str = "POST"
    ) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of a request with this body."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            client.request(method, path, data, {"Content-Type": "application/json"})
            answer = client.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            client.close()

    def stop(self) -> ScriptedModel:
        self.model.stop()
        assert self.model.errors == []
        return self.model


def read_all(sock: socket.socket) -> tuple[bytes, str]:
    """Everything until the end, and how it ended: "closed" or "reset"."""
    data = b""
    while True:
        try:
            piece = sock.recv(65536)
        except ConnectionResetError:
            return data, "reset"
        if not piece:
            return data, "closed"
        data += piece


def request_bytes(body: Any, extra: str = "", path: str = "/v1/chat/completions") -> bytes:
    """A chat request as it stands on the wire."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{extra}Content-Length: {len(data)}\r\n\r\n".encode() + data


def unchunk(data: bytes) -> tuple[bytes, bool]:
    """The body of a chunked answer as far as it came, and whether it came to its end."""
    body = data.partition(b"\r\n\r\n")[2]
    out = b""
    while body:
        size, sep, rest = body.partition(b"\r\n")
        if not sep:
            return out, False
        count = int(size, 16)
        if count == 0:
            return out, rest == b"\r\n"
        out += rest[:count]
        body = rest[count + 2 :]
    return out, False


def events(body: bytes) -> list[Any]:
    """The parsed data of each server-sent event; the end mark as the text `[DONE]`, broken JSON as bytes."""
    found: list[Any] = []
    for block in body.split(b"\n\n")[:-1]:
        assert block.startswith(b"data: ")
        data = block[6:]
        try:
            found.append("[DONE]" if data == b"[DONE]" else json.loads(data))
        except ValueError:
            found.append(data)
    return found


def call(call_id: str, arguments: str = "{}", name: str = "read") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [call(i) for i in ids]}


def result(call_id: str, content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def code(body: bytes) -> Any:
    return json.loads(body)["error"]["code"]


def asked(*messages: tuple[str, str], tools: tuple[str, ...] = (), model: str = "m") -> Request:
    """A request with these (role, text) messages."""
    made = tuple(Message(role, text, result_of="c" if role == "tool" else None) for role, text in messages)
    return Request(1, 0.0, "POST", "/", {}, b"", ask=Ask(model=model, messages=made, tools=tools))


def message(body: bytes) -> Any:
    return json.loads(body)["choices"][0]["message"]
