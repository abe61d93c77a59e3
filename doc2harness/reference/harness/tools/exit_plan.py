"""Hand a plan to the user, who may end plan mode."""

from __future__ import annotations

from typing import Any

from harness.types import Answer, Context, ToolError


def run(context: Context, arguments: dict[str, Any]) -> str:
    if context.permissions.mode != "plan":
        raise ToolError("not in plan mode")
    answer = Answer("no")
    if context.user is not None:
        with context.asking:
            answer = context.user.plan(arguments["plan"])
        context.cancel.check()
    if answer.verdict in ("no", "unanswered"):
        raise ToolError("refused: plan not approved" + (f": {answer.reason}" if answer.reason else ""))
    context.permissions.mode = "default"
    return "plan approved: the mode is now default"
