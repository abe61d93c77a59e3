"""Drives a candidate's Python interface: `python3 -c THIS`, one JSON object a line on standard input.

First {"workspace": PATH, "settings": {...}}, then {"run": PROMPT} as often as wanted. Each line is answered on standard
output by {"ok": VALUE} or {"failed": TEXT}. What the candidate itself prints on standard output goes to standard error.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
agents: list[Any] = []


def say(**answer: Any) -> None:
    try:
        line = json.dumps(answer)
    except (TypeError, ValueError) as error:
        line = json.dumps({"failed": f"the result is not JSON: {error}"})
    answers.write(line + "\n")
    answers.flush()


def guarded(action: Callable[[], Any]) -> None:
    try:
        say(ok=action())
    except BaseException as error:
        traceback.print_exc()
        say(failed=f"{type(error).__name__}: {error}")
        if not isinstance(error, Exception):
            raise


def make(order: dict[str, Any]) -> None:
    from harness import Agent  # type: ignore[import-not-found]  # the candidate's

    agents.append(Agent(workspace=order["workspace"], **order["settings"]))


def run(order: dict[str, Any]) -> Any:
    if not agents:
        raise RuntimeError("no Agent was made")
    return agents[0].run(order["run"])


for line in sys.stdin:
    order = json.loads(line)
    action = run if "run" in order else make
    guarded(lambda action=action, order=order: action(order))  # type: ignore[misc]
