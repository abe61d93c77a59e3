"""Programs that run inside the sandbox, standard library only; they are handed over as text, never imported there."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def text(name: str) -> str:
    """The source of one of these programs: `tool_server`, `agent_driver`, `stub`."""
    return Path(__file__).with_name(f"{name}.py").read_text("utf-8")
