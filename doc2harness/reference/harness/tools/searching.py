"""What `glob` and `grep` have in common: where a search begins, and the notes about what it left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.ignore import Found, top_of, walk
from harness.textfile import Located, check_path, locate
from harness.types import Context, ToolError


def begin(context: Context, path: str | None, *patterns: str) -> Located:
    """The file or folder a search is asked for; ToolError if there is none, or a pattern cannot be one."""
    for pattern in patterns:
        check_path(pattern)
    found = locate("." if path is None else path, context.workspace)
    if not found.path.exists():
        raise ToolError(f"{context.shown(found.written)}: no such file or folder")
    return found


def files_below(context: Context, base: Path, include_ignored: bool) -> Iterator[Found]:
    """All files below a folder, with whether they are ignored."""
    repository = top_of(context.workspace)
    top = repository if base.is_relative_to(repository) else top_of(base)
    roots = [str(root.resolve()) for root in (*context.roots, base)]
    return walk(base, top, roots, include_ignored=include_ignored)


def note_lines(found: Located, **counts: int) -> list[str]:
    """`[3 ignored]` and the like for what was left out, and which name stood in for the one that was given."""
    return [f"[{count} {word}]" for word, count in counts.items() if count] + ([found.note] if found.note else [])
