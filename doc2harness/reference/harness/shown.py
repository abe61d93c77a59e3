"""How a call is shown to a person who is to allow it."""

from __future__ import annotations

import json

from .types import Call, Decision


def target(call: Call, decision: Decision) -> str:
    """The real path after links, the whole command, the URL, or the arguments."""
    arguments = call.arguments or {}
    if call.name in ("bash", "fetch"):
        return str(arguments["command" if call.name == "bash" else "url"])
    if "path" in arguments and not call.name.startswith("mcp__"):
        return decision.target
    return json.dumps(arguments, ensure_ascii=False)
