"""Paths as written and as resolved, the roots they may lie in, and the entries nobody writes by mode or rule."""

from __future__ import annotations

import os
from pathlib import Path

MOST_FILES = 20_000
_START_FILES = frozenset(
    (".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin")
)


def written(path: str, base: str) -> str:
    """`path` made absolute from `base`, without `.`, `..` and doubled slashes; links stay as they are."""
    return "/" + os.path.normpath(os.path.join(base, path)).lstrip("/")


def resolved(path: str, base: str) -> str:
    """`path` after all links, the way the kernel goes: a `..` behind a link leaves the link's target."""
    return os.path.realpath(os.path.join(base, path))


def forms(path: str, base: str) -> tuple[str, ...]:
    """Both forms of a path, or one if they are the same."""
    first, second = written(path, base), resolved(path, base)
    return (first,) if first == second else (first, second)


def lies_in(path: str, folder: str) -> bool:
    """Whether `path` is the folder or below it; both are absolute and clean."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class Roots:
    """The workspace and the added folders, each with and without its links resolved."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = list(dict.fromkeys(form for folder in folders for form in forms(str(folder), "/")))

    def hold(self, path: str) -> bool:
        """Whether this form of a path lies inside; a path is inside only if both its forms are."""
        return any(lies_in(path, folder) for folder in self.folders)

    def protect(self, path: str) -> bool:
        """Whether `path` is one that a mode or an allow rule is not enough to write (PERM-31)."""
        for folder in self.folders:
            if lies_in(path, folder):
                parts = path[len(folder) :].split("/")
                if ".git" in parts or ".harness" in parts or parts[-1] in _START_FILES:
                    return True
        return False


def start_folder(folder: Path, roots: Roots, workspace: Path) -> Path:
    """Where a command starts if the one before ended in `folder`: there, or else in the workspace (FILE-36)."""
    return folder if roots.hold(resolved(str(folder), "/")) and folder.is_dir() else workspace


def files_below(folder: str) -> list[str] | None:
    """Every file below a folder (none below a file), links not followed; None if there are too many to look at."""
    found: list[str] = []
    for place, _, names in os.walk(folder):
        found.extend(os.path.join(place, name) for name in names)
        if len(found) > MOST_FILES:
            return None
    return found
