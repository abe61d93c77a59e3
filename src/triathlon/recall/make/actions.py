"""What a rule would change in a session: governed places inside the shell commands that the session really ran."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from triathlon.recall.make.catalogue import Rule
from triathlon.recall.make.chat import Action

COMMAND = re.compile(r"(?:^|(?<=&&)|(?<=\|\|)|(?<=[;|]))( *)([A-Za-z_][A-Za-z0-9_.-]*)(?=\s|$)")
WORD = re.compile(r" +([^\s|;&<>]+)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule would change an action: `text[char:]` starts with `original`, the rule implies `expected`."""

    char: int
    original: str
    expected: str
    old: str  # the command
    user_end: int  # end of the user message before the action


def commands(text: str, action: Action) -> list[tuple[int, str, int]]:
    """(start of the word with its space, word, end) of every simple command on an action's first line.

    Quoted text is blanked first, so a `|` inside a pattern starts no command.
    """
    start, end = action.char
    line = text[start:end]
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", lambda m: "\0" * len(m.group()), line)
    return [(start + m.start(1), m.group(2), start + m.end(2)) for m in COMMAND.finditer(bare)]


def governed(rule: Rule, text: str, actions: Sequence[Action]) -> list[Place]:
    """Every place of a session that a rule governs, in order; a command that already complies is none."""
    found: list[Place] = []
    for action in actions:
        for begin, word, end in commands(text, action):
            if word not in rule.old:
                continue
            lead = text[begin : end - len(word)][-1:]  # one space or nothing
            char = end - len(word) - len(lead)
            if rule.place in ("command", "prefix"):
                found.append(Place(char, lead + word, lead + rule.new, word, action.user_end))
                continue
            argument = WORD.match(text, end, action.char[1])
            if argument is None or argument.end() - argument.start() != len(argument.group(1)) + 1:
                continue
            value = argument.group(1)
            if rule.new in (value, "--") and value.startswith("-"):
                continue
            if rule.place == "argument" and (value[0] in "-\"'$\\(" or value.startswith(rule.new)):
                continue
            found.append(Place(end, " " + value, " " + rule.new, word, action.user_end))
    return found
