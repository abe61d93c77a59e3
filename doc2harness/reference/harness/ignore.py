"""What `.gitignore` files and `.git/info/exclude` leave out, and walks that know it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from .globs import regex


class _Line(NamedTuple):
    """One pattern of an ignore file, as an expression over paths relative to the file's folder."""

    expression: re.Pattern[str]
    brings_back: bool
    folders_only: bool


class Ignores:
    """The ignore files from `top`, which is an ancestor of all paths asked about, down to each path."""

    def __init__(self, top: Path) -> None:
        self.top = str(top)
        self._files: dict[str, list[_Line]] = {}

    def ignored(self, path: str, is_folder: bool) -> bool:
        """Whether `path` itself is named; whether a folder above it is has to be asked for that folder."""
        if path == self.top:
            return False
        folder = path.rpartition("/")[0] or "/"
        while True:
            for line in reversed(self._lines(folder)):
                below = path[len(folder.rstrip("/")) + 1 :]
                if (is_folder or not line.folders_only) and line.expression.fullmatch(below):
                    return not line.brings_back
            if folder == self.top:
                return False
            folder = folder.rpartition("/")[0] or "/"

    def lies_in_ignored(self, path: str) -> bool:
        """Whether the folder `path` or one above it is named."""
        while path != self.top:
            if self.ignored(path, True):
                return True
            path = path.rpartition("/")[0] or "/"
        return False

    def _lines(self, folder: str) -> list[_Line]:
        if folder not in self._files:
            lines = _read(Path(folder, ".gitignore"))
            if folder == self.top:
                lines = _read(Path(folder, ".git/info/exclude")) + lines
            self._files[folder] = lines
        return self._files[folder]


def _read(file: Path) -> list[_Line]:
    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return []
    lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    return [parsed for parsed in map(_parse, lines) if parsed]


def _parse(text: str) -> _Line | None:
    text = re.sub(r"(?<!\\) +$", "", text)
    if not text or text.startswith("#"):
        return None
    brings_back = text.startswith("!")
    pattern = text[1:] if brings_back else text
    folders_only = pattern.endswith("/")
    pattern = pattern.rstrip("/") if folders_only else pattern
    if not pattern:
        return None
    anchored = "/" in pattern
    expression = regex(pattern.removeprefix("/"))
    return _Line(re.compile(expression if anchored else f"(?:.*/)?{expression}", re.DOTALL), brings_back, folders_only)


def top_of(path: Path) -> Path:
    """The root of the repository that holds `path`, or `path` itself outside of one."""
    return next((folder for folder in (path, *path.parents) if (folder / ".git").exists()), path)


class Found(NamedTuple):
    """A file that a walk came by."""

    path: str
    ignored: bool


def walk(base: Path, top: Path, roots: list[str], *, include_ignored: bool) -> Iterator[Found]:
    """All files below the folder `base`, those in `.git` left out.

    Links to folders are followed inside `roots` only, and after all real folders, so that each folder is visited once
    and by its own name where it has one. Below a `base` that is itself ignored nothing counts as ignored.
    """
    ignores = Ignores(top if base.is_relative_to(top) else base)
    heed = not include_ignored and not ignores.lies_in_ignored(str(base))
    visited: set[str] = set()
    links: list[tuple[str, bool]] = []
    waiting = [(str(base), False)]
    while waiting or links:
        folder, inside_ignored = waiting.pop() if waiting else links.pop(0)
        real = os.path.realpath(folder)
        if real in visited:
            continue
        visited.add(real)
        for entry in _entries(folder):
            is_folder = _is(entry.is_dir)
            if entry.name == ".git" or not (is_folder or _is(entry.is_file)):
                continue
            ignored = inside_ignored or (heed and ignores.ignored(entry.path, is_folder and not entry.is_symlink()))
            if not is_folder:
                yield Found(entry.path, ignored)
            elif not entry.is_symlink():
                waiting.append((entry.path, ignored))
            elif _lies_in_one(os.path.realpath(entry.path), roots):
                links.append((entry.path, ignored))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """A folder's entries by name; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return []


def _is(question: Callable[[], bool]) -> bool:
    """Ask an entry what it is; a link that leads to itself is nothing."""
    try:
        return question()
    except OSError:
        return False


def _lies_in_one(path: str, roots: list[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
