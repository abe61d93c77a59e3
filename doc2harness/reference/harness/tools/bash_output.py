"""The new output of a command in the background."""

from __future__ import annotations

from typing import Any

from harness.shelloutput import with_notes
from harness.types import Context

from .background import find


def run(context: Context, arguments: dict[str, Any]) -> str:
    code, text = find(context, arguments["id"]).report()
    return with_notes("running" if code is None else f"exit code: {code}", text, [])
