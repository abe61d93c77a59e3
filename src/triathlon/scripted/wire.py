"""What a wire format is: how requests are read into the normal form, and how an answer becomes bytes.

One format is one object with the methods of `Wire`. It knows JSON and event framing; it does not know HTTP, faults or
scripts. Chat completions is in `chat.py`; responses, messages and Gemini are further objects of the same kind: what
they need beyond chat completions (the model or the streaming in the path, events with names, results without ids) is
why `read` gets the path and why an event's framing is the format's own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Protocol

from triathlon.scripted.journal import Ask, Message

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
CREATED = 1_735_689_600  # 2025-01-01: the same script gives the same bytes


@dataclass(frozen=True, slots=True)
class AnswerCall:
    """A tool call as it goes out; `arguments` is the string, valid JSON or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the answer reports as used."""

    input: int
    output: int
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """An assistant message to be sent. `text` as a list is sent as parts; `finish` None leaves the reason out."""

    number: int
    model: str
    text: str | list[str] | None
    reasoning: str | None
    calls: tuple[AnswerCall, ...]
    finish: str | None
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream, framing included. `end` is the format's end mark, `finish` holds the reason."""

    kind: Literal["content", "finish", "usage", "end"]
    data: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """An error object of the model."""

    message: str
    type: str
    code: str | int | None = None


class Wire(Protocol):
    """One wire format."""

    name: str
    whole_type: str
    """Content type of a whole answer and of errors."""
    stream_type: str
    """Content type of a stream."""

    def misplaced(self, method: str, path: str) -> str | None:
        """Why a request with this method and path is not for this format; None if it is."""

    def read(self, body: Any, path: str) -> tuple[Ask, list[str]]:
        """The normal form of a parsed body, as far as it can be read, and what is not well-formed in it."""

    def events(self, answer: Answer, ask: Ask) -> list[Event]:
        """The answer as a stream: content first, then finish, usage and end mark as far as the format has them."""

    def whole(self, answer: Answer) -> bytes:
        """The answer as one body."""

    def failure(self, failure: Failure) -> bytes:
        """An error as the body of an HTTP error."""

    def failure_event(self, failure: Failure) -> bytes:
        """An error as an event in the middle of a stream."""


def dump(value: Any) -> bytes:
    """Compact JSON in UTF-8; escapes where a lone surrogate leaves no other way."""
    try:
        return _COMPACT.encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def pieces(text: str, most: int = 8, least: int = 8) -> list[str]:
    """A text in the pieces a stream carries: at most 8, of nearly the same length, none shorter than 8 characters
    unless it is the only one. So the number of events depends on the length alone, and is small for a long text."""
    count = max(1, min(most, len(text) // least))
    bounds = [len(text) * i // count for i in range(count + 1)]
    return [text[a:b] for a, b in pairwise(bounds)] if text else []


def cut_short(answer: Answer, keep: int | Literal[True]) -> Answer:
    """The answer as it is when the output limit strikes: in the last call's arguments, else in the text.

    `keep` is how many characters are left of these; True is half.
    """

    def cut(text: str) -> str:
        return text[: len(text) // 2 if keep is True else keep]

    if answer.calls:
        last = answer.calls[-1]
        calls = (*answer.calls[:-1], replace(last, arguments=cut(last.arguments)))
        return replace(answer, calls=calls, finish="length")
    if answer.text is not None:
        text = answer.text if isinstance(answer.text, str) else "".join(answer.text)
        return replace(answer, text=cut(text), finish="length")
    reasoning = None if answer.reasoning is None else cut(answer.reasoning)
    return replace(answer, reasoning=reasoning, finish="length")


def history_faults(messages: Sequence[Message]) -> list[str]:
    """What is wrong with calls and results: each call has one result, right after the message that made it.

    Call ids are unique over the whole history, since a result refers to its call by nothing else.
    """
    faults: list[str] = []
    seen: set[str] = set()
    open_calls: dict[str, str] = {}  # id -> tool name, of the last assistant message
    answered: set[str] = set()

    def close(where: str) -> None:
        faults.extend(f"{where}: the call {call_id} ({name}) has no result" for call_id, name in open_calls.items())
        open_calls.clear()

    for i, message in enumerate(messages):
        where = f"messages[{i}]"
        if message.role != "tool":
            close(where)
            answered.clear()
        elif message.result_of is not None:
            call_id = message.result_of
            if open_calls.pop(call_id, None) is not None:
                answered.add(call_id)
            elif call_id in answered:
                faults.append(f"{where}: a second result for the call {call_id}")
            else:
                faults.append(f"{where}: a result for {call_id}, which is no call of the message before")
        for call in message.calls:
            if call.id in seen:
                faults.append(f"{where}: the call id {call.id} is there twice")
            seen.add(call.id)
            open_calls[call.id] = call.name
    close("at the end")
    return faults
