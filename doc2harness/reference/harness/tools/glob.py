"""List files by a pattern, newest first."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from harness.globs import alternatives, regex, split_plain
from harness.types import Context

from .searching import begin, files_below, note_lines

MOST = 100  # files


def run(context: Context, arguments: dict[str, Any]) -> str:
    """The paths that match, one a line, and notes about those that are not shown."""
    found = begin(context, arguments.get("path"), arguments["pattern"])
    plain, rest = split_plain(arguments["pattern"])
    base = Path(os.path.normpath(found.written / plain))
    ignored = 0
    if not rest:
        paths = [str(base)] if base.is_file() else []
    else:
        choices = "|".join(regex(choice, dots=arguments.get("include_hidden", False)) for choice in alternatives(rest))
        expression = re.compile(choices, re.DOTALL)
        start = len(str(base).rstrip("/")) + 1
        files = files_below(context, base, arguments.get("include_ignored", False))
        matching = [file for file in files if expression.fullmatch(file.path[start:])]
        paths = [file.path for file in matching if not file.ignored]
        ignored = len(matching) - len(paths)
    newest = sorted(paths, key=lambda path: (-_changed(path), path))
    shown = [context.shown(Path(path)) for path in newest[:MOST]]
    if len(newest) > MOST:
        shown.append(f"[{MOST} of {len(newest)} files]")
    return "\n".join([*(shown or ["[no files match]"]), *note_lines(found, ignored=ignored)])


def _changed(path: str) -> int:
    """When the file was last changed, in nanoseconds; a link counts as what it leads to."""
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
