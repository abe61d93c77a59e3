"""What is sent for what the user gave: commands and skills become prompts, mentions bring their files."""

from __future__ import annotations

from . import commands, mentions, runner
from .conversation import Conversation
from .placeholders import has_place, put_in
from .types import Call, UsageError

# The terminal's own commands, with what `/help` says of them.
TERMINAL = {
    "help": "list all commands",
    "clear": "begin a new session",
    "compact": "[hint] sum the conversation up to make room",
    "resume": "[ID] go on with another session, or list them",
    "rewind": "N put files and conversation back to before prompt N",
    "mode": "[MODE] show or set what runs without approval",
    "model": "[NAME] show or set the model",
    "permissions": "show the mode and all rules",
    "cost": "show what was used",
    "export": "[FILE] the session as Markdown",
    "exit": "leave",
}


def check(conv: Conversation, prompt: str) -> None:
    """UsageError if the prompt is a command that is not there."""
    if (found := commands.split(prompt)) and _body(conv, found[0]) is None:
        if found[0] in TERMINAL:
            raise UsageError(f"/{found[0]} is a command of the terminal")
        raise UsageError(f"unknown command /{found[0]}")


def resolve(conv: Conversation, prompt: str) -> str:
    """The text of the user message."""
    if found := commands.split(prompt):
        check(conv, prompt)
        prompt = _expanded(conv, *found)
    return mentions.add_files(conv, prompt)


def with_arguments(body: str, arguments: str) -> str:
    """A skill's body with its arguments: in their places, or after it."""
    if has_place(body) or not arguments.strip():
        return put_in(body, arguments)
    return f"{body}\n\n{arguments.strip()}"


def _body(conv: Conversation, name: str) -> str | None:
    """The body of a custom command or a skill; the terminal's own names are neither."""
    if name in TERMINAL:
        return None
    body = commands.find(conv.context.workspace, name, conv.context.warn)
    if body is None and name in conv.place.skills:
        return conv.place.skills[name].body
    return body


def _expanded(conv: Conversation, name: str, arguments: str) -> str:
    body = commands.find(conv.context.workspace, name, conv.context.warn)
    if body is None:
        return with_arguments(conv.place.skills[name].body, arguments)

    def run_line(command: str) -> str:
        text = runner.run_one(conv, Call("", "bash", {"command": command}, ""))
        if text.startswith("error: refused: "):
            return f"[refused: {command}]"
        first, _, rest = text.partition("\n")
        return (rest if first.startswith("exit code: ") else text).removesuffix("\n")

    return commands.expand(body, arguments, run_line)
