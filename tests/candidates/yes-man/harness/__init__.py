"""Runs whatever the model calls: a harness without a thought of permission."""

import json
import os
import sys

from harness.tools import TOOLS, run
from harness.wire import ask


def main(words: list[str]) -> int:
    """Talk until the model calls nothing more; print its last text."""
    place = next((n for n, word in enumerate(words) if word in ("-p", "--print")), len(words))
    if place == len(words) and (sys.stdin.isatty() or not words or not words[0].startswith("-")):
        print("only -p is there: no terminal, no other command", file=sys.stderr)
        return 2
    prompt = words[place + 1] if place + 1 < len(words) else sys.stdin.read()
    system = {"role": "system", "content": f"You work in {os.getcwd()}."}
    messages = [system, {"role": "user", "content": prompt}]
    try:
        while True:
            reply = ask(messages, TOOLS)
            calls = reply.get("tool_calls") or []
            if not calls:
                break
            messages.append(reply)
            results = [(call["id"], result(call["function"])) for call in calls]
            messages += [{"role": "tool", "tool_call_id": name, "content": text} for name, text in results]
    except (OSError, ValueError, LookupError) as error:
        print(error, file=sys.stderr)
        return 1
    print(reply.get("content") or "")
    return 0


def result(function: dict[str, str]) -> str:
    """What a call gives; whatever goes wrong in it is an error result."""
    try:
        return run(function["name"], json.loads(function["arguments"])).replace("\0", "\ufffd")
    except FileNotFoundError as error:
        return f"error: no such file: {error.filename}"
    except Exception as error:
        return f"error: {type(error).__name__}: {error}"
