"""The conversation as the model sees it, folded from the session's records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .records import Record

Message = dict[str, Any]
INTERRUPTED = "error: interrupted: the call did not finish; what it did so far is not known"


@dataclass
class History:
    """Messages after the system message, and what else a resumed conversation must know."""

    messages: list[Message] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)  # the user's own, for lists and rewinds
    seen: dict[str, str | None] = field(default_factory=dict)  # file -> sha256 last seen
    todo: list[dict[str, str]] = field(default_factory=list)
    last_input: int = 0  # tokens of the latest request, as the endpoint reported them

    def apply(self, record: Record) -> None:
        """Take in one record; kinds that say nothing about the conversation are passed over."""
        kind = record["type"]
        if kind == "message":
            self.messages.append(record["message"])
            if "prompt" in record:
                self.prompts.append(record["prompt"])
            if "usage" in record:
                self.last_input = record["usage"].get("input_tokens") or self.last_input
        elif kind == "compaction":
            self.messages = list(record["messages"])
            self.last_input = 0
        elif kind == "seen":
            self.seen[record["path"]] = record["sha256"]
        elif kind == "todo":
            self.todo = record["items"]


def fold(records: list[Record]) -> History:
    """The conversation after all records."""
    history = History()
    for record in effective(records):
        history.apply(record)
    return history


def effective(records: list[Record]) -> list[Record]:
    """The records without those that a later rewind took back."""
    kept: list[Record] = []
    for record in records:
        if record["type"] == "rewind":
            del kept[start_of_prompt(kept, record["to"]) :]
        else:
            kept.append(record)
    return kept


def start_of_prompt(records: list[Record], number: int) -> int:
    """The index of the record that begins prompt `number` (1 is the first); the end if there is none."""
    count = 0
    for index, record in enumerate(records):
        if record["type"] == "message" and "prompt" in record:
            count += 1
            if count == number:
                return index
    return len(records)


def repaired(messages: list[Message]) -> list[Message]:
    """Messages in which every call has exactly one result, right after it; stray results are left out."""
    fixed: list[Message] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if message["role"] == "tool":
            continue  # a result whose call is lost
        fixed.append(message)
        if not message.get("tool_calls"):
            continue
        results: dict[str, Message] = {}
        while index < len(messages) and messages[index]["role"] == "tool":
            results.setdefault(messages[index]["tool_call_id"], messages[index])
            index += 1
        for call in message["tool_calls"]:
            fixed.append(results.get(call["id"]) or result(call["id"], INTERRUPTED))
    return fixed


def result(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}
