"""Ask the user a question."""

from __future__ import annotations

from typing import Any

from harness.types import Context, ToolError


def run(context: Context, arguments: dict[str, Any]) -> str:
    if context.user is None:
        raise ToolError("no terminal: there is nobody to ask; decide yourself, or say what you would need")
    with context.asking:
        answer = context.user.question(
            arguments["question"], arguments.get("choices", []), arguments.get("secret", False)
        )
    if answer is None:
        raise ToolError("no answer came: decide yourself, or say what you would need")
    return answer
