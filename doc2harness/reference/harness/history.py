"""The conversation as the model sees it, folded from the session's records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .records import Record

Message = dict[str, Any]
INTERRUPTED = "error: interrupted"
SUMMARY = "Summary of the conversation so far:"


@dataclass
class History:
    """Messages after the system message, and what else a resumed conversation must know."""

    messages: list[Message] = field(default_factory=list)
    prompts: int = 0  # the number of the newest prompt
    seen: dict[str, str | None] = field(default_factory=dict)  # file -> sha256 last seen
    todo: list[dict[str, str]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)  # of all calls, those before a compaction too
    last_input: int = 0  # tokens, as reported with the latest reply; 0 after a compaction
    mode: str | None = None  # the one the session was last in

    def apply(self, record: Record) -> None:
        """Take in one record; kinds that say nothing about the conversation are passed over."""
        kind = record["type"]
        if kind == "message":
            message = record["message"]
            self.messages.append(message)
            self.prompts = record.get("prompt", self.prompts)
            self.ids.update(call["id"] for call in message.get("tool_calls") or [])
            if message["role"] == "assistant":
                self.last_input = record.get("usage", {}).get("input_tokens", 0)
        elif kind == "compaction":
            self.messages = [self._summary(record["summary"]), *kept(self.messages, record["keep"])]
            self.last_input = 0
        elif kind == "seen":
            self.seen[record["path"]] = record["sha256"]
        elif kind == "todo":
            self.todo = record["items"]
        elif kind in ("session", "mode"):
            self.mode = record["mode"]

    def _summary(self, text: str) -> Message:
        """The message that stands for what was dropped; the todo list would be lost with it, so it is added."""
        content = f"{SUMMARY}\n{text}"
        if self.todo:
            content += "\n\nTodo list:\n" + "\n".join(f"- [{item['status']}] {item['text']}" for item in self.todo)
        return {"role": "user", "content": content}


def fold(records: Iterable[Record]) -> History:
    """The conversation after all records; one that has its type but not its fields is passed over."""
    history = History()
    for record in effective(records):
        try:
            history.apply(record)
        except (LookupError, TypeError, AttributeError):
            continue
    return history


def effective(records: Iterable[Record]) -> list[Record]:
    """The records without those that a later rewind took back."""
    result: list[Record] = []
    for record in records:
        if record["type"] == "rewind":
            starts = (index for index, one in enumerate(result) if one.get("prompt") == record.get("prompt"))
            del result[next(starts, len(result)) :]
        else:
            result.append(record)
    return result


def kept(messages: list[Message], keep: int) -> list[Message]:
    """The `keep` messages that outlive a compaction: the newest user message, and the others from the end."""
    start = len(messages) - keep
    newest = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=start)
    if keep < 1 or newest >= start:
        return messages[start:] if keep > 0 else []
    return [messages[newest], *messages[start + 1 :]]


def repaired(messages: Iterable[Message]) -> list[Message]:
    """Messages in which every call has exactly one result, right after it; stray results are left out."""
    fixed: list[Message] = []
    results: dict[str, int] = {}  # the calls of the latest reply: id -> index of its result in `fixed`
    for message in messages:
        if message["role"] == "tool":
            index = results.pop(message["tool_call_id"], None)
            if index is not None:
                fixed[index] = message
            continue
        fixed.append(message)
        results = {}
        for call in message.get("tool_calls") or []:
            results[call["id"]] = len(fixed)
            fixed.append(result(call["id"], INTERRUPTED))
    return fixed


def result(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}
