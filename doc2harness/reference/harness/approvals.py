"""Before a call runs: the permission engine decides, and where it says "ask", the user does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from . import trust
from .sources import load_json, project_folders
from .types import Answer, Call, Context, Decision, ToolError


def settle(context: Context, call: Call) -> None:
    """Return if the call may run; raise ToolError("refused: ...") if not."""
    decision = _decide(context, call)
    if decision.verdict == "ask" and context.user is not None and context.permissions.mode != "dont-ask":
        with context.asking:  # subagents run side by side, the user answers one after the other
            decision = _decide(context, call)  # an answer to the question before may have settled this one
            if decision.verdict == "ask":
                answer = context.user.approve(call, decision)
                context.cancel.check()
                _heed(context, decision, answer)
                return
    if decision.verdict != "allow":
        raise ToolError(f"refused: {decision.reason}")


def _decide(context: Context, call: Call) -> Decision:
    return context.permissions.decide(call.name, call.arguments or {}, context.cwd)


def _heed(context: Context, decision: Decision, answer: Answer) -> None:
    if answer.verdict == "unanswered":
        raise ToolError("refused: no answer in time")
    if answer.verdict == "no":
        raise ToolError("refused: the user said no" + (f": {answer.reason}" if answer.reason else ""))
    if answer.verdict == "session" or (answer.verdict == "always" and not _may_save(context)):
        context.permissions.allow_for_session(decision.parts)
    elif answer.verdict == "always":
        lasting = [rule for rule in decision.parts if _can_be_saved(rule)]
        if len(lasting) < len(decision.parts):
            context.warn("not saved: a part of the command is too long or has several lines")
        if lasting:
            save(context, lasting)
            context.permissions.allow_for_session(lasting)


def save(context: Context, rules: list[str]) -> None:
    """Add allow rules to the workspace's local settings; what else the file says stays."""
    from .textfile import write_atomically

    path = context.workspace / ".harness" / "settings.local.json"
    values: dict[str, Any] = load_json(path) or {}
    allow = values.setdefault("permissions", {}).setdefault("allow", [])
    allow.extend(rule for rule in rules if rule not in allow)
    try:
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        context.warn(f"not saved: {path}: {error.strerror}")
        return
    if not context.trusted:
        trust.trust(context.state, context.workspace)
        context.trusted = True


def has_project_files(workspace: Path) -> bool:
    """Whether the project has a settings or server file, which only a trusted folder's harness heeds."""
    names = ("settings.json", "settings.local.json", "mcp.json")
    return any((folder / name).exists() for folder in project_folders(workspace) for name in names)


def _may_save(context: Context) -> bool:
    """A rule saved in a folder that stays untrusted would be ignored, and trusting it would let its files in."""
    return context.trusted or not has_project_files(context.workspace)


def _can_be_saved(rule: str) -> bool:
    inner = re.fullmatch(r"\w+\((.*)\)", rule, re.DOTALL)
    text = re.sub(r"\\(.)", r"\1", inner[1], flags=re.DOTALL) if inner else rule
    return len(text) <= 200 and "\n" not in text
