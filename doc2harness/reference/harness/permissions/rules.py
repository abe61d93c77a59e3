"""Permission rules: `tool` or `tool(pattern)`, how they are read and what they match."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import NamedTuple

from harness.globs import alternatives, regex
from harness.types import UsageError

TEXT_TOOLS = frozenset({"bash", "fetch", "task", "skill"})
EDIT_TOOLS = frozenset({"edit", "write", "multi_edit"})
PATH_TOOLS = frozenset({"read", "glob", "grep"}) | EDIT_TOOLS
BARE_TOOLS = frozenset({"bash_output", "bash_kill", "todo", "ask", "exit_plan"})
LONGEST_SAVED = 200
_RULE = re.compile(r"([^()\s]+)(?:\((.+)\))?", re.DOTALL)


class Rule(NamedTuple):
    """One rule. `source` is the rule as it was given; `pattern` is None for a bare rule."""

    source: str
    tool: str
    pattern: str | None

    @property
    def family(self) -> str:
        """The tool whose patterns these are: `edit`, `write` and `multi_edit` are one."""
        return "edit" if self.tool in EDIT_TOOLS else self.tool

    def is_bare_for(self, tool: str) -> bool:
        """Whether the rule means every use of `tool`."""
        if self.pattern is not None:
            return False
        if not self.tool.startswith("mcp__"):
            return self.tool == tool.lower()
        return _server_rule(self.tool).fullmatch(tool.lower()) is not None

    @property
    def names_servers_by_pattern(self) -> bool:
        return self.tool.startswith("mcp__") and "*" in self.tool.removeprefix("mcp__").split("__")[0]


def parse(text: str) -> Rule:
    """Read one rule; raises UsageError, naming it, if it is not one."""
    source = text.strip()
    found = _RULE.fullmatch(source)
    if not found:
        raise UsageError(f"not a permission rule: {text!r}; write tool or tool(pattern)")
    tool, pattern = found[1].lower(), found[2]
    known = TEXT_TOOLS | PATH_TOOLS | BARE_TOOLS
    if tool not in known and not tool.startswith("mcp__"):
        raise UsageError(f"permission rule {source!r}: there is no tool {found[1]!r}")
    if pattern is not None and tool not in TEXT_TOOLS | PATH_TOOLS:
        raise UsageError(f"permission rule {source!r}: {tool} takes no pattern")
    return Rule(source, tool, pattern)


def text_matches(pattern: str, text: str) -> bool:
    """Match a shell pattern: `*` is any text, ` *` at the end also the end of the text (PERM-12)."""
    return _text(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _text(pattern: str) -> re.Pattern[str]:
    ends_open = pattern.endswith(" *")
    tokens = re.findall(r"\\[*\\]|.", pattern.removesuffix(" *"), re.DOTALL)
    signs = "".join(".*" if token == "*" else re.escape(token[-1]) for token in tokens)
    return re.compile(signs + ("(?: .*)?" if ends_open else ""), re.DOTALL)


def text_pattern(text: str) -> str:
    """`text` as a pattern that matches only it."""
    return re.sub(r"([\\*])", r"\\\1", text)


@lru_cache(maxsize=1024)
def path_pattern(pattern: str, workspace: str, home: str) -> re.Pattern[str]:
    """A path pattern as an expression over clean absolute paths; what lies below a match matches too."""
    choices = []
    for choice in alternatives(pattern):
        choice = choice.removeprefix("./")
        if choice.startswith("~/"):
            choices.append(_from_base(home, choice[2:]))
        elif choice.startswith("/"):
            choices.append(_from_base("/", choice))
        elif "/" in choice[:-1]:
            choices.extend(_from_base(base, choice) for base in dict.fromkeys((workspace, os.path.realpath(workspace))))
        else:
            choices.append("/(?:.*/)?" + regex(choice.rstrip("/")))
    return re.compile("(?:" + "|".join(choices) + ")(?:/.*)?", re.DOTALL)


def _from_base(base: str, pattern: str) -> str:
    """The pattern below a folder whose name has no signs; `.`, `..` and doubled slashes are worked out."""
    literal = [part for part in base.split("/") if part]
    parts: list[str] = []
    for part in pattern.split("/"):
        if part == "..":
            (parts or literal or [""]).pop()
        elif part not in ("", "."):
            parts.append(part)
    whole = [re.escape(part) for part in literal] + ([regex("/".join(parts))] if parts else [])
    return "/" + "/".join(whole) if whole else ""


@lru_cache(maxsize=256)
def _server_rule(tool: str) -> re.Pattern[str]:
    """`mcp__S`, `mcp__S__*`, `mcp__S__tool`, with `*` as any text."""
    whole = ".*".join(re.escape(part) for part in tool.split("*"))
    return re.compile(f"{whole}(?:__.*)?")
