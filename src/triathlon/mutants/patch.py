"""Unified diffs of a few lines: made from an edit, read, and applied where their lines stand."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from triathlon.errors import UsageError

CONTEXT = 2
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*")


class DoesNotApply(UsageError):
    """The lines that a patch changes are not in the tree, or stand there several times."""


@dataclass(frozen=True)
class Hunk:
    """Lines before and after; `line` is where they stood when the patch was made, from 1."""

    file: str
    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def changed(self) -> int:
        """How many lines it removes and adds."""
        matcher = difflib.SequenceMatcher(a=self.before, b=self.after, autojunk=False)
        return sum(max(j - i, n - m) for tag, i, j, m, n in matcher.get_opcodes() if tag != "equal")


def read_hunks(text: str, where: str) -> tuple[Hunk, ...]:
    """The hunks of a unified diff with `a/` and `b/` names. Raises UsageError that names `where`."""
    hunks: list[Hunk] = []
    file, lines, at = "", text.split("\n"), 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("+++ "):
            file = line[4:].split("\t")[0].removeprefix("b/")
            if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
                raise UsageError(f"{where}: {file} is no place inside the tree")
        elif found := _HUNK.fullmatch(line):
            before: list[str] = []
            after: list[str] = []
            while at < len(lines) and lines[at][:1] in (" ", "+", "-") and not lines[at].startswith("--- "):
                sign, rest = lines[at][0], lines[at][1:]
                before += [rest] if sign != "+" else []
                after += [rest] if sign != "-" else []
                at += 1
            if not file or before == after:
                raise UsageError(f"{where}: a hunk without a file, or one that changes nothing")
            hunks.append(Hunk(file, int(found[1]), tuple(before), tuple(after)))
        elif line and not line.startswith("--- "):
            raise UsageError(f"{where}: not a line of a unified diff: {line[:60]!r}")
    if not hunks:
        raise UsageError(f"{where}: it has no hunk")
    return tuple(hunks)


def apply(hunks: tuple[Hunk, ...], tree: Path) -> None:
    """Change the files of a tree. Raises DoesNotApply and then has changed nothing."""
    changed: dict[Path, list[str]] = {}
    for hunk in hunks:
        path = tree / hunk.file
        try:
            lines = changed.get(path) or path.read_text("utf-8").split("\n")
        except OSError as error:
            raise DoesNotApply(f"{hunk.file}: {error.strerror}") from error
        at = place_of(hunk, lines)
        changed[path] = [*lines[:at], *hunk.after, *lines[at + len(hunk.before) :]]
    for path, lines in changed.items():
        path.write_text("\n".join(lines), "utf-8")


def place_of(hunk: Hunk, lines: list[str]) -> int:
    """Where the hunk's lines stand: wherever they are, if that is one place, else just where the patch says."""
    length = len(hunk.before)
    found = [at for at in range(len(lines) - length + 1) if tuple(lines[at : at + length]) == hunk.before]
    if len(found) == 1:
        return found[0]
    if hunk.line - 1 in found:
        return hunk.line - 1
    raise DoesNotApply(f"{hunk.file}:{hunk.line}: the lines of the patch stand there {len(found)} times")


def make(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The unified diff between two trees, given as texts by name."""
    parts: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name, "").split("\n"), after.get(name, "").split("\n")
        parts += difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=CONTEXT, lineterm="")
    return "\n".join(parts) + ("\n" if parts else "")


def texts_of(tree: Path) -> dict[str, str]:
    """The text files of a tree by relative name; what Python leaves behind is passed over."""
    found: dict[str, str] = {}
    for path in sorted(tree.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            try:
                found[path.relative_to(tree).as_posix()] = path.read_text("utf-8")
            except UnicodeDecodeError:
                continue
    return found
