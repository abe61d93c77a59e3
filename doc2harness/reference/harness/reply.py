"""One reply of the model, put together from a stream or from a whole body."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

FINISHES = ("stop", "tool_calls", "length", "content_filter")


class Broken(Exception):
    """The reply did not arrive whole; the request may be sent again, after `retry_after` seconds at least."""

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass
class RawCall:
    """A tool call as the model wrote it."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Reply:
    """What the model said, and the tokens it says it used."""

    text: str = ""
    reasoning: str = ""
    calls: list[RawCall] = field(default_factory=list)
    finish: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0


def from_body(body: bytes) -> Reply:
    """Read a whole (not streamed) completion; raise Broken if it is not one."""
    reply = Reply()
    try:
        data = json.loads(body)
        choice = data["choices"][0]
        calls: dict[int, RawCall] = {}
        _take(reply, calls, choice["message"], numbered=False)
        reply.calls = list(calls.values())
        _finish(reply, choice)
        _usage(reply, data)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Broken(f"the endpoint's answer is not a completion ({error!r})") from error
    return reply


def from_stream(data: Iterable[str]) -> Reply:
    """Put a stream's deltas together; raise Broken unless it ends with its end mark `[DONE]`."""
    reply = Reply()
    calls: dict[int, RawCall] = {}
    for value in data:
        if value.strip() == "[DONE]":
            reply.calls = [calls[index] for index in sorted(calls)]
            return reply
        try:
            chunk = json.loads(value)
            if "error" in chunk:
                raise Broken(f"the endpoint reported an error in the stream: {json.dumps(chunk['error'])[:500]}")
            _usage(reply, chunk)
            if choices := chunk.get("choices"):
                _take(reply, calls, choices[0].get("delta") or {}, numbered=True)
                _finish(reply, choices[0])
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise Broken(f"the stream is malformed ({error!r})") from error
    raise Broken("the stream ended without its end mark")


def _take(reply: Reply, calls: dict[int, RawCall], message: dict[str, Any], *, numbered: bool) -> None:
    """Add a message or a delta; the calls of a delta are numbered by their `index`."""
    reply.text += _text(message.get("content"))
    reply.reasoning += _text(message.get("reasoning_content"))
    for position, piece in enumerate(message.get("tool_calls") or []):
        call = calls.setdefault(piece.get("index", position) if numbered else position, RawCall())
        function = piece.get("function") or {}
        call.id = call.id or piece.get("id") or ""
        call.name = call.name or function.get("name") or ""
        call.arguments += _arguments(function.get("arguments"))


def _finish(reply: Reply, choice: dict[str, Any]) -> None:
    given = choice.get("finish_reason")
    if given:
        reply.finish = given if given in FINISHES else "stop"


def _usage(reply: Reply, data: dict[str, Any]) -> None:
    usage = data.get("usage")
    if isinstance(usage, dict):
        reply.input_tokens = _count(usage.get("prompt_tokens"))
        reply.output_tokens = _count(usage.get("completion_tokens"))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(content: Any) -> str:
    """Content is a string, nothing, or a list of parts of which the text ones count."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    return content or ""


def _arguments(value: Any) -> str:
    """Some endpoints give the arguments as an object instead of a string."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
