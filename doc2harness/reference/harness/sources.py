"""Where settings are found, and what a wrong file is told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .settings import SHAPE, Source
from .types import UsageError

MANAGED = "/etc/harness/settings.json"


def home() -> Path:
    """The state folder: `$HARNESS_HOME`, else `~/.harness`; works without a home folder too."""
    return Path(os.environ.get("HARNESS_HOME") or Path(os.path.expanduser("~")) / ".harness").absolute()


def repository_root(workspace: Path) -> Path:
    """The nearest folder upward with a `.git`, else the workspace itself."""
    return next((folder for folder in (workspace, *workspace.parents) if (folder / ".git").exists()), workspace)


def upward(workspace: Path) -> list[Path]:
    """The workspace and its parents up to the repository root, nearest first."""
    root = repository_root(workspace)
    folders = [workspace, *workspace.parents]
    return folders[: folders.index(root) + 1]


def found(workspace: Path, trusted: bool, flags: Mapping[str, Any], warn: Callable[[str], None]) -> list[Source]:
    """All sources, strongest first. In a folder that is not trusted, project files give only deny and ask rules."""
    managed = Path(os.environ.get("HARNESS_MANAGED_SETTINGS") or MANAGED)
    sources = list(_from_file("managed", managed, warn))
    sources.append(Source("flag", flags))
    sources.append(Source("environment", _from_environment()))
    for name in ("settings.local.json", "settings.json"):
        for folder in upward(workspace):
            for source in _from_file(f".harness/{name}", folder / ".harness" / name, warn):
                sources.append(source if trusted else _restricted(source))
    sources.extend(_from_file("user", home() / "settings.json", warn))
    return sources


def _from_environment() -> dict[str, Any]:
    model = os.environ.get("HARNESS_MODEL")
    return {"model": model} if model else {}


def _restricted(source: Source) -> Source:
    rules = source.values.get("permissions", {})
    return Source(source.name, {"permissions": {key: rules[key] for key in ("ask", "deny") if key in rules}})


def _from_file(name: str, path: Path, warn: Callable[[str], None]) -> Iterator[Source]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise UsageError(f"{path}: not a JSON object")
    unknown: list[str] = []
    problem = check(values, SHAPE, "", unknown)
    if problem:
        raise UsageError(f"{path}: {problem}")
    for key in unknown:
        warn(f"{path}: unknown key {key} is ignored")
    yield Source(name, values)


def check(value: Any, shape: Any, place: str, unknown: list[str]) -> str | None:
    """Compare a value with its shape: the first wrong type in words, or None. Unknown keys are taken out and noted."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return f"{place or 'the file'} must be an object"
        for key in list(value):
            inner = f"{place}.{key}" if place else key
            expected = shape.get(key, shape.get("*"))
            if expected is None:
                unknown.append(inner)
                del value[key]
            elif problem := check(value[key], expected, inner, unknown):
                return problem
        return None
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{place} must be a list"
        problems = (check(item, shape[0], f"{place}[{index}]", unknown) for index, item in enumerate(value))
        return next((problem for problem in problems if problem), None)
    right = isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
    return None if right else f"{place} must be a {_word(shape)}, not {json.dumps(value)[:60]}"


def _word(shape: Any) -> str:
    return {str: "string", bool: "true or false", int: "whole number"}.get(shape, "number")
