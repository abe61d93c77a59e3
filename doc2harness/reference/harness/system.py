"""The system message: who the model is here, the memory, the skills."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from .memory import Memory

BASE = """\
You are a coding agent. You work in the folder {workspace} and do what the user asks by calling tools.

- Look before you change: read a file before you edit it; what you did not read you do not know.
- File tools take paths relative to that folder, or absolute ones. The shell starts there too, and the folder it is in
  carries over from one command to the next.
- Every change is checked against the user's permission rules. A result that begins `error: refused` means the call was
  not allowed: do not try to get around it; say what you would need, or find an allowed way.
- In plan mode nothing can be changed: look around, then hand in a plan with `exit_plan`.
- Keep a todo list for work of several steps. When the work is done, answer in a few plain sentences: what you did and
  how you know that it works."""


class System:
    """The text of one conversation's system message. It grows only by the memory of subfolders (`seen` files)."""

    def __init__(self, memory: Memory, skills: Mapping[str, str], agents: Mapping[str, str], appended: str) -> None:
        """`skills` and `agents` are names and descriptions; `appended` is the text of `--system-append`."""
        self.memory = memory
        self.lead = ""  # a subagent's own prompt
        parts = [
            BASE.format(workspace=memory.workspace),
            _section("Memory", memory.chain()),
            _section("Skills (load one with the `skill` tool)", _list(skills)),
            _section("Agents (for the `task` tool)", _list(agents)),
            appended,
        ]
        self._text = "\n\n".join(part for part in parts if part)
        self._below: dict[Path, str] = {}
        self._looked_at: set[str] = set()

    def for_agent(self, lead: str) -> System:
        """The system message of a subagent: the same with its own prompt in front, and nothing seen yet."""
        system = copy.copy(self)
        system.lead, system._below, system._looked_at = lead, {}, set()
        return system

    def text(self, seen: Iterable[str]) -> str:
        """The message, with the memory of the folders of all files seen so far."""
        for name in list(seen):
            if name not in self._looked_at:
                self._looked_at.add(name)
                for file, text in self.memory.below(Path(name)):
                    self._below.setdefault(file, text)
        below = [_section(f"Memory of {file.parent}", text) for file, text in self._below.items()]
        return "\n\n".join(part for part in (self.lead, self._text, *below) if part)


def may_import(
    workspace: Path, state: Path, roots: Iterable[Path], trusted: bool, denied: Callable[[Path], bool]
) -> Callable[[Path, Path], str | None]:
    """The rule for memory imports: None, or the reason why `path` may not be imported by `importer`."""
    folders = [*roots, workspace]

    def rule(path: Path, importer: Path) -> str | None:
        if denied(path):
            return "refused by a deny rule"
        allowed = [*folders, state] if importer.is_relative_to(state) else folders
        places = {path.resolve(), Path(os.path.normpath(path))}
        inside = all(any(place.is_relative_to(folder) for folder in allowed) for place in places)
        return None if inside or trusted else "outside the roots, and this folder is not trusted"

    return rule


def _list(entries: Mapping[str, str]) -> str:
    return "\n".join(f"- {name}: {description}" for name, description in entries.items())


def _section(title: str, text: str) -> str:
    return f"# {title}\n\n{text}" if text else ""
