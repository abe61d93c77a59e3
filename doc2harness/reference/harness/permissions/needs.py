"""What a tool call needs: each shell part, file, address or name that the rules have a say in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.globs import escaped, split_plain

from .paths import Roots, forms
from .rules import EDIT_TOOLS, text_pattern

AT_ONCE = frozenset({"todo", "task", "skill", "ask", "exit_plan", "bash_output", "bash_kill"})


class Need(NamedTuple):
    """One thing a call needs. The engine asks of each what the rules and the mode say.

    `tool`: whose bare rules count; nothing for a file that a shell command names or redirects to. `family`: whose
    patterns count (`bash fetch task skill read edit glob grep`). `texts` or `path` are what deny and ask patterns are
    matched against, `allowed_by` the texts for allow patterns, each with the assignments in front of it.
    """

    tool: str
    family: str
    shown: str
    texts: tuple[str, ...] = ()
    allowed_by: tuple[tuple[str, str], ...] = ()
    path: str = ""
    below: bool = False  # the path is a folder and stands for every file in it
    save: str = ""  # the rule that "always" saves
    changes: bool = False  # refused in `plan`
    at_once: bool = False  # runs without approval in `default`
    edits_inside: bool = False  # runs without approval in `accept-edits`
    guarded: bool = False
    protected: bool = False
    unknown: str = ""  # why it cannot be known what this would be
    hints: str = ""  # of what is unknown, the text in which a rule's command would have to stand; nothing: anywhere


class Place(NamedTuple):
    """Where calls are judged: the roots, the workspace, the home folder, and the folder with whole outputs."""

    roots: Roots
    workspace: str
    home: str
    outputs: Roots

    def needs(self, tool: str, arguments: Mapping[str, Any], cwd: Path, locate: Callable[[str], str]) -> list[Need]:
        """All needs of a call with right arguments. `locate` turns a path argument into the path that will be used."""
        if tool == "bash":
            from .commands import CommandNeeds

            return list(CommandNeeds(self, arguments["command"], str(cwd)).needs())
        if tool in EDIT_TOOLS:
            return list(self.writes(tool, locate(arguments["path"]), self.workspace))
        if tool in ("read", "glob", "grep"):
            return list(self._looks(tool, _searched(tool, arguments, locate)))
        if tool in ("fetch", "task", "skill"):
            text = arguments[{"fetch": "url", "task": "agent", "skill": "name"}[tool]]
            return [self._named(tool, text)]
        save = "" if tool in AT_ONCE else tool
        return [Need(tool, "", tool, save=save, changes=tool.startswith("mcp__"), at_once=tool in AT_ONCE)]

    def _named(self, tool: str, text: str) -> Need:
        return Need(
            tool,
            tool,
            text,
            texts=(text,),
            allowed_by=(("", text),),
            save=f"{tool}({text_pattern(text)})",
            at_once=tool in AT_ONCE,
        )

    def _looks(self, tool: str, path: str) -> Iterator[Need]:
        for form in forms(path, self.workspace):
            inside = self.roots.hold(form) or (tool in ("read", "grep") and self.outputs.hold(form))
            yield Need(tool, tool, form, path=form, save=f"{tool}({escaped(form)})", at_once=inside)

    def writes(self, tool: str, path: str, base: str) -> Iterator[Need]:
        """A write by a file tool, or by a redirect, for which `tool` is empty and `accept-edits` is no reason."""
        for form in forms(path, base):
            yield Need(
                tool,
                "edit",
                form,
                path=form,
                save=f"edit({escaped(form)})",
                changes=True,
                edits_inside=bool(tool) and self.roots.hold(form),
                protected=self.roots.protect(form),
            )


def _searched(tool: str, arguments: Mapping[str, Any], locate: Callable[[str], str]) -> str:
    """The file read, or the folder a search begins in: that of an absolute pattern too."""
    path = locate(arguments["path"]) if arguments.get("path") is not None else "."
    return os.path.join(path, split_plain(arguments["pattern"])[0]) if tool == "glob" else path
