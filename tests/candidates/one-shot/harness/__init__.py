"""One request, prints the reply: no tools, no flags, no session."""

import os
import sys

from harness.wire import ask


def main(words: list[str]) -> int:
    """The word after `-p` is the prompt, else what stands on standard input."""
    place = next((n for n, word in enumerate(words) if word in ("-p", "--print")), len(words))
    if place == len(words) and (sys.stdin.isatty() or not words or not words[0].startswith("-")):
        print("only -p is there: no terminal, no other command", file=sys.stderr)
        return 2
    prompt = words[place + 1] if place + 1 < len(words) else sys.stdin.read()
    system = {"role": "system", "content": f"You work in {os.getcwd()}."}
    try:
        print(ask([system, {"role": "user", "content": prompt}], [])["content"] or "")
    except (OSError, ValueError, LookupError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
