"""The journal: every request that reached the model, raw and decoded.

The raw bytes and the parsed body are the evidence; the decoded views are the same in every wire format, so that one
expectation works for all of them. Views read text only: content given as a list of parts is joined.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as it stands in the history of a request; `arguments` is the string as sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message in the normal form: `developer` counts as role system, a tool result as role tool."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    result_of: str | None = None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request asks for, in the normal form every wire format is read into."""

    model: str = ""
    stream: bool = False
    wants_usage: bool = False
    messages: tuple[Message, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass
class Request:
    """One request: what came, which reply it got, and views for guards and judge.

    `index` counts from 1 over the journal, `reply` from 1 within its lane. Times are seconds since the model started:
    `time` when the request had come in whole, `done` when the last byte of the answer was handed to the kernel (None:
    never), `left` when the client closed its side before the answer was whole (None: it stayed). Header names are
    lower-case; a header that came twice is joined by ", ". `answered` is short: "say", "calls 2", "status 429",
    "fault cut", "unforeseen: REASON".
    """

    index: int
    time: float
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: Any | None = None
    lane: str | None = None
    reply: int | None = None
    answered: str = ""
    stream: bool = False
    done: float | None = None
    left: float | None = None
    ask: Ask = field(default_factory=Ask)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in order."""
        return self.ask.messages

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the request offers, in order."""
        return self.ask.tools

    @property
    def model(self) -> str:
        """The model asked for."""
        return self.ask.model

    @property
    def roles(self) -> tuple[str, ...]:
        """Roles of all messages, in order."""
        return tuple(m.role for m in self.messages)

    @property
    def turn(self) -> int:
        """How many assistant messages the request holds."""
        return sum(m.role == "assistant" for m in self.messages)

    @cached_property
    def system(self) -> str:
        """Text of all system messages, joined by newlines."""
        return "\n".join(m.text for m in self.messages if m.role == "system")

    @property
    def last_user(self) -> str:
        """Text of the last user message; empty if there is none."""
        return next((m.text for m in reversed(self.messages) if m.role == "user"), "")

    @property
    def tool_results(self) -> list[tuple[str, str]]:
        """(call id, text) of each tool message since the last assistant message, in order."""
        results: list[tuple[str, str]] = []
        for message in reversed(self.messages):
            if message.role == "assistant":
                break
            if message.role == "tool":
                results.append((message.result_of or "", message.text))
        return results[::-1]

    @property
    def last_tool_result(self) -> str | None:
        """Text of the last tool message of the request, however far back; None if there is none."""
        return next((m.text for m in reversed(self.messages) if m.role == "tool"), None)

    @cached_property
    def text(self) -> str:
        """Text of all messages, joined by newlines; without reasoning and call arguments, which the model wrote."""
        return "\n".join(m.text for m in self.messages)

    @cached_property
    def all_text(self) -> str:
        """Every string value of the body, decoded, joined by newlines: also tool descriptions and call arguments."""
        return "\n".join(_strings(self.body))

    def record(self) -> dict[str, Any]:
        """The request as JSON-able data; the body as text where it is UTF-8, else as base64."""
        try:
            raw = {"raw": self.raw.decode()}
        except UnicodeDecodeError:
            raw = {"raw_base64": base64.b64encode(self.raw).decode()}
        names = ("index", "lane", "reply", "time", "method", "path", "headers", "answered", "stream", "done", "left")
        return {name: getattr(self, name) for name in names} | raw


def _strings(value: Any) -> list[str]:
    """All strings below a JSON value, in order; without recursion, since a body may be nested deep."""
    found: list[str] = []
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            todo.extend(reversed(item.values()))
        elif isinstance(item, list):
            todo.extend(reversed(item))
    return found
