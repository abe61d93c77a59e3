"""Custom commands: files whose body becomes the prompt."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from .frontmatter import BadFrontMatter, files, parse
from .placeholders import put_in

# A prompt is a command if it is `/` and a name, followed by a blank or the end: `/etc/passwd` is text.
_COMMAND = re.compile(r"/([\w:-]+)(?:\s+(.*))?", re.DOTALL)
_SHELL_LINE = re.compile(r"!`(.+)`")


def split(prompt: str) -> tuple[str, str] | None:
    """The name and the arguments of a prompt that is a command, else None."""
    match = _COMMAND.fullmatch(prompt.strip())
    return (match[1], (match[2] or "").strip()) if match else None


def find(workspace: Path, name: str, warn: Callable[[str], None]) -> str | None:
    """The body of the command with this name (folders as `a:name`); the nearest project's wins over the user's."""
    for folder, file in files("commands", "**/*.md", workspace):
        if ":".join(file.relative_to(folder).with_suffix("").parts) == name:
            try:
                return parse(file.read_text(encoding="utf-8"))[1]
            except (OSError, UnicodeDecodeError, BadFrontMatter) as error:
                warn(f"{file}: skipped: {error}")
    return None


def expand(body: str, arguments: str, run_line: Callable[[str], str]) -> str:
    """The prompt a body makes: shell lines are run by `run_line`, arguments put into the other lines."""
    lines = []
    text: list[str] = []  # neighbouring lines that are no shell lines

    def flush() -> None:
        if text:
            lines.append(put_in("\n".join(text), arguments))
            text.clear()

    for line in body.split("\n"):
        if shell := _SHELL_LINE.fullmatch(line.strip()):
            flush()
            lines.append(run_line(shell[1]))
        else:
            text.append(line)
    flush()
    return "\n".join(lines)
