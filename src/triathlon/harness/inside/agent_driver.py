"""Drives a candidate's Python interface: `python3 -c THIS`, one JSON object a line on standard input.

First {"workspace": PATH, "settings": {...}}, then {"run": PROMPT} as often as wanted. Each line is answered on standard
output by {"ok": VALUE} or {"failed": TEXT}. What the candidate itself prints on standard output goes to standard error.
"""

import json
import os
import sys
import traceback

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def say(**answer):
    try:
        line = json.dumps(answer)
    except (TypeError, ValueError) as error:
        line = json.dumps({"failed": f"the result is not JSON: {error}"})
    answers.write(line + "\n")
    answers.flush()


def guarded(action):
    try:
        say(ok=action())
    except BaseException as error:
        traceback.print_exc()
        say(failed=f"{type(error).__name__}: {error}")
        if not isinstance(error, Exception):
            raise


def make(order):
    global agent
    from harness import Agent

    agent = Agent(workspace=order["workspace"], **order["settings"])


agent = None
for line in sys.stdin:
    order = json.loads(line)
    if "run" in order:
        guarded(lambda prompt=order["run"]: agent.run(prompt))
    else:
        guarded(lambda order=order: make(order))
