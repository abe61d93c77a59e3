"""Where settings are found, and what a wrong file is told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .schema import problem
from .settings import SCHEMA, Settings, Source, effective, known
from .types import UsageError

Warn = Callable[[str], None]


def state_folder() -> Path:
    """`$HARNESS_HOME`, else `~/.harness`. Not made here."""
    return Path.cwd() / (os.environ.get("HARNESS_HOME") or home() / ".harness")


def home() -> Path:
    """The user's home folder; not Path.home, which fails where there is none."""
    return Path(os.path.expanduser("~"))  # noqa: PTH111


def upward(workspace: Path) -> list[Path]:
    """The workspace and its parents up to the root of its repository, nearest first; outside one the workspace only."""
    folders = [workspace, *workspace.parents]
    for number, folder in enumerate(folders, 1):
        if (folder / ".git").exists():
            return folders[:number]
    return [workspace]


def project_folders(workspace: Path) -> list[Path]:
    """The project's `.harness` folders, nearest first. The user's own state folder is not one of them."""
    state = state_folder()
    return [folder / ".harness" for folder in upward(workspace) if folder / ".harness" != state]


def read(workspace: Path, trusted: bool, flags: Mapping[str, Any], warn: Warn) -> Settings:
    """The effective settings of a workspace. Raises UsageError for a wrong file."""
    sources = _managed(warn)
    sources.append(Source("flag", flags))
    if model := os.environ.get("HARNESS_MODEL"):
        sources.append(Source("environment", {"model": model}))
    for name, file in (("local", "settings.local.json"), ("project", "settings.json")):
        for folder in project_folders(workspace):
            values = from_file(folder / file, warn)
            if values is not None:
                values = values if trusted else _only_forbidding(values, folder / file, warn)
                sources.append(Source(name, values))
    if values := from_file(state_folder() / "settings.json", warn):
        sources.append(Source("user", values))
    return effective(sources)


def check_flags(values: Mapping[str, Any]) -> None:
    """Raise UsageError if values that count as flags are not settings."""
    if found := problem(dict(values), SCHEMA):
        raise UsageError(found)
    unknown: list[str] = []
    known(values, SCHEMA, unknown)
    if unknown:
        raise UsageError(f"unknown setting {unknown[0]}")


def load_json(path: Path) -> Any:
    """A JSON file's value, None if there is no such file. UsageError names the file and the line."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not valid JSON: {error}") from error


def from_file(path: Path, warn: Warn) -> dict[str, Any] | None:
    """A settings file's known values, None if there is no such file."""
    values = load_json(path)
    if values is None and not path.is_file():
        return None
    found = problem(values, SCHEMA)
    if found:
        raise UsageError(f"{path}: {found}")
    unknown: list[str] = []
    cleaned: dict[str, Any] = known(values, SCHEMA, unknown)
    for key in unknown:
        warn(f"{path}: unknown key {key} is ignored")
    return cleaned


def _managed(warn: Warn) -> list[Source]:
    named = os.environ.get("HARNESS_MANAGED_SETTINGS")
    path = Path(named or "/etc/harness/settings.json")
    values = from_file(path, warn)
    if values is None and named:
        raise UsageError(f"{path}: named by HARNESS_MANAGED_SETTINGS, does not exist")
    return [] if values is None else [Source("managed", values)]


def _only_forbidding(values: Mapping[str, Any], path: Path, warn: Warn) -> dict[str, Any]:
    """What a file of a folder that is not trusted may say: deny and ask rules."""
    rules = values.get("permissions", {})
    rest = {key: rules[key] for key in ("deny", "ask") if key in rules}
    if set(values) - {"permissions"} or set(rules) - set(rest):
        warn(f"{path}: this folder is not trusted, only the deny and ask rules of the file are used")
    return {"permissions": rest} if rest else {}
