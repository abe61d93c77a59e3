"""The wire as the specification has it, and no more than one request takes. The same file in every tree that has it."""

import json
import os
import socket
from typing import Any


def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Send a conversation and read the reply, a stream or not. Raises OSError, ValueError or LookupError."""
    base = os.environ["HARNESS_BASE_URL"].rstrip("/")
    host, _, path = base.partition("://")[2].partition("/")
    name, _, port = host.partition(":")
    body: dict[str, Any] = {"model": os.environ.get("HARNESS_MODEL") or "default", "messages": messages}
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    if tools:
        body["tools"] = tools
    data = json.dumps(body).encode()
    head = f"POST /{path}/chat/completions HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(data)}\r\nAuthorization: Bearer {os.environ.get('HARNESS_API_KEY', '')}\r\n\r\n"
    with socket.create_connection((name, int(port or 80))) as link:
        link.sendall(head.encode() + data)
        whole = b"".join(iter(lambda: link.recv(65536), b""))
    answer, _, rest = whole.partition(b"\r\n\r\n")
    if answer.split()[1:2] != [b"200"]:
        raise ValueError(rest.decode("utf-8", "replace"))
    return _joined(rest.decode()) if b"text/event-stream" in answer.lower() else _whole(json.loads(rest))


def _whole(reply: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = reply["choices"][0]["message"]
    return {"role": "assistant", **{name: value for name, value in message.items() if value or name == "content"}}


def _joined(stream: str) -> dict[str, Any]:
    """One message from the pieces of a stream."""
    text, reasoning, calls = "", "", {}
    for line in stream.splitlines():
        if not line.startswith("data:") or line[5:].strip() == "[DONE]":
            continue
        for choice in json.loads(line[5:]).get("choices", [])[:1]:
            delta = choice["delta"]
            text += delta.get("content") or ""
            reasoning += delta.get("reasoning_content") or ""
            for piece in delta.get("tool_calls") or ():
                call = calls.setdefault(piece["index"], {"type": "function", "function": {"arguments": ""}})
                call |= {"id": piece["id"]} if piece.get("id") else {}
                function = piece.get("function", {})
                call["function"] |= {"name": function["name"]} if function.get("name") else {}
                call["function"]["arguments"] += function.get("arguments") or ""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    message |= {"reasoning_content": reasoning} if reasoning else {}
    return message | ({"tool_calls": [calls[index] for index in sorted(calls)]} if calls else {})
