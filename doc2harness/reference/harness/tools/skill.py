"""Load the instructions of a skill."""

from __future__ import annotations

from typing import Any

from harness.prompts import with_arguments
from harness.skills import load
from harness.types import Context, ToolError


def run(context: Context, arguments: dict[str, Any]) -> str:
    skills = load(context.workspace, lambda warning: None)  # what is wrong with them was said at the start
    name = arguments["name"]
    if name not in skills:
        raise ToolError(f"there is no skill {name}; there are: {', '.join(sorted(skills)) or 'none'}")
    return with_arguments(skills[name].body, arguments.get("arguments", ""))
