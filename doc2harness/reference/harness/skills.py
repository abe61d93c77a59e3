"""Skills: instructions with a name and a description, loaded when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .frontmatter import BadFrontMatter, files, parse


class Skill(NamedTuple):
    """What the model is told at once (name, description), and what it can load (body)."""

    name: str
    description: str
    body: str


def load(workspace: Path, warn: Callable[[str], None]) -> dict[str, Skill]:
    """All skills by name, the nearer project's before the farther's and the user's; a broken one is skipped."""
    found: dict[str, Skill] = {}
    for _, file in files("skills", "*/SKILL.md", workspace):
        try:
            fields, body = parse(file.read_text(encoding="utf-8"))
            name, description = fields.get("name"), fields.get("description")
            if not (isinstance(name, str) and name and isinstance(description, str) and description):
                raise BadFrontMatter("it has no name or no description")
        except (OSError, UnicodeDecodeError, BadFrontMatter) as error:
            warn(f"{file}: skipped: {error}")
            continue
        found.setdefault(name, Skill(name, description, body))
    return found
