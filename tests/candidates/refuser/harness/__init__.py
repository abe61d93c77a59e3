"""Refuses every call in well-formed words: the mode and all rules that it was given, by flag or in a settings file."""

import itertools
import json
import os
import sys

from harness.wire import ask

NAMES = ["read", "write", "edit", "multi_edit", "glob", "grep", "bash", "bash_output", "bash_kill", "fetch", "todo"]
NAMES += ["task", "skill", "ask", "exit_plan"]
SCHEMA = {"type": "object", "properties": {}, "required": []}
TOOLS = [{"type": "function", "function": {"name": n, "description": n, "parameters": SCHEMA}} for n in NAMES]


def main(words: list[str]) -> int:
    """Talk until the model calls nothing more; print its last text."""
    place = next((n for n, word in enumerate(words) if word in ("-p", "--print")), len(words))
    if place == len(words) and (sys.stdin.isatty() or not words or not words[0].startswith("-")):
        print("only -p is there: no terminal, no other command", file=sys.stderr)
        return 2
    prompt = words[place + 1] if place + 1 < len(words) else sys.stdin.read()
    refusal = refusal_of(words)
    system = {"role": "system", "content": f"You work in {os.getcwd()}."}
    messages = [system, {"role": "user", "content": prompt}]
    try:
        while True:
            reply = ask(messages, TOOLS)
            calls = reply.get("tool_calls") or []
            if not calls:
                break
            messages += [reply, *({"role": "tool", "tool_call_id": c["id"], "content": refusal} for c in calls)]
    except (OSError, ValueError, LookupError) as error:
        print(error, file=sys.stderr)
        return 1
    print(reply.get("content") or "")
    return 0


def refusal_of(words: list[str]) -> str:
    """The one refusal that fits whatever it is given for."""
    given = [("mode", "default")]
    for name, value in itertools.pairwise(words):
        if name == "--permission-mode":
            given[0] = ("mode", value)
        if name in ("--allow", "--ask", "--deny"):
            given.append((f"{name[2:]} rule", value))
    for path in settings():
        try:
            with open(path, encoding="utf-8") as file:
                permissions = json.load(file).get("permissions", {})
            given += [("mode", permissions["mode"])] if "mode" in permissions else []
            given += [(f"{kind} rule", rule) for kind in ("deny", "ask", "allow") for rule in permissions.get(kind, [])]
        except (OSError, ValueError, AttributeError):
            continue
    said = [f"{kind} {text}" for kind, text in given]
    return "error: refused: " + "; ".join([*said, "plan not approved", "user said no"])


def settings() -> list[str]:
    """Where rules may stand."""
    home = os.environ.get("HARNESS_HOME") or os.path.expanduser("~/.harness")
    managed = os.environ.get("HARNESS_MANAGED_SETTINGS") or "/etc/harness/settings.json"
    return [managed, f"{home}/settings.json", ".harness/settings.json", ".harness/settings.local.json"]
