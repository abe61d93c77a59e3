"""Replace the list of what is to be done."""

from __future__ import annotations

from typing import Any

from harness.types import Context

_MARKS = {"pending": "[ ]", "active": "[>]", "done": "[x]"}


def run(context: Context, arguments: dict[str, Any]) -> str:
    context.todo[:] = [{"text": item["text"], "status": item["status"]} for item in arguments["items"]]
    lines = [f"{_MARKS[item['status']]} {item['text']}" for item in context.todo]
    return "\n".join(["the list is now:", *lines] if lines else ["the list is empty"])
