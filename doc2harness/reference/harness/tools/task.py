"""Let a subagent do a piece of work."""

from __future__ import annotations

from typing import Any

from harness.types import Context


def run(context: Context, arguments: dict[str, Any]) -> str:
    return context.spawn(arguments["agent"], arguments["prompt"])
