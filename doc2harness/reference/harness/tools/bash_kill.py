"""End a command in the background."""

from __future__ import annotations

from typing import Any

from harness.types import Context

from .background import find


def run(context: Context, arguments: dict[str, Any]) -> str:
    id = arguments["id"]
    return f"killed {id}" if find(context, id).kill() else f"{id} had ended before"
