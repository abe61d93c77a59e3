"""Search files for a regular expression."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.globs import alternatives, regex
from harness.textfile import PROBE, Located, decode, is_binary, lines_of
from harness.types import Context, ToolError

from .searching import begin, files_below, note_lines

MOST = 250  # lines of a result
LONGEST = 500  # characters of a line


def run(context: Context, arguments: dict[str, Any]) -> str:
    """The matches in the form that `mode` says, and notes about what was not searched or is not shown."""
    found = begin(context, arguments.get("path"), arguments["pattern"], arguments.get("glob", ""))
    search = _Search(context, found, arguments)
    lines = search.lines()
    if len(lines) > MOST:
        lines[MOST:] = [f"[{MOST} of {len(lines)} lines]"]
    notes = note_lines(found, ignored=search.ignored, refused=search.refused, binary=search.binary)
    return "\n".join([*(lines or ["[no match]"]), *notes])


class _Search:
    """One search: walks, reads and counts what it passes over."""

    def __init__(self, context: Context, found: Located, arguments: dict[str, Any]) -> None:
        self.context = context
        self.found = found
        self.arguments = arguments
        self.expression = _compiled(arguments["pattern"], arguments.get("ignore_case", False))
        self.ignored = self.refused = self.binary = 0

    def lines(self) -> list[str]:
        """All lines of the result."""
        mode = self.arguments.get("mode", "files")
        around = self.arguments.get("context", 0)
        result: list[str] = []
        for path in sorted(self._files()):
            name = self.context.shown(Path(path))
            lines = self._read(path)
            hits = [number for number, line in enumerate(lines) if self.expression.search(line)]
            if not hits:
                continue
            if mode == "files":
                result.append(name)
            elif mode == "count":
                result.append(f"{name}:{len(hits)}")
            else:
                if around and result:
                    result.append("--")
                result.extend(self._content(name, lines, hits, around))
        return result

    def _files(self) -> Iterator[str]:
        base = self.found.written
        if not base.is_dir():
            yield str(base)
            return
        chosen = _chooser(self.arguments.get("glob"))
        start = len(str(base).rstrip("/")) + 1
        for file in files_below(self.context, base, self.arguments.get("include_ignored", False)):
            if not chosen(file.path[start:]):
                continue
            if file.ignored:
                self.ignored += 1
            elif not self._may_search(file.path):
                self.refused += 1
            else:
                yield file.path

    def _may_search(self, path: str) -> bool:
        """Not what a rule keeps from being read, and nothing that a link brings in from elsewhere."""
        real = Path(os.path.realpath(path))
        places = (*self.context.roots, self.found.written)
        return self.context.permissions.may_read(path) and any(real.is_relative_to(place.resolve()) for place in places)

    def _read(self, path: str) -> list[str]:
        try:
            with open(path, "rb") as file:
                data = file.read(PROBE)
                if is_binary(data):
                    self.binary += 1
                    return []
                return lines_of(decode(data + file.read()).text)
        except OSError as error:
            if path == str(self.found.written):
                raise ToolError(f"{self.context.shown(Path(path))}: {error.strerror}") from error
            return []

    def _content(self, name: str, lines: list[str], hits: list[int], around: int) -> Iterator[str]:
        """The matching lines and those around them; `--` stands between groups that do not touch."""
        matching, next_line = set(hits), 0
        for hit in hits:
            start = max(hit - around, next_line)
            if around and 0 < next_line < start:
                yield "--"
            for number in range(start, min(hit + around + 1, len(lines))):
                sign = ":" if number in matching else "-"
                yield f"{name}{sign}{number + 1}{sign}{self._cut(lines[number])}"
                next_line = number + 1

    def _cut(self, line: str) -> str:
        """A line of at most `LONGEST` characters, with its first match in it."""
        if len(line) <= LONGEST:
            return line
        match = self.expression.search(line)
        first, last = match.span() if match else (0, 0)
        room = LONGEST - 6
        start = max(0, min(first - max(0, room - (last - first)) // 2, len(line) - room))
        end = start + room
        return ("..." if start else "") + line[start:end] + ("..." if end < len(line) else "")


def _compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python about what it may one day read differently
            return re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolError(f"bad pattern: {error}") from None


def _chooser(glob: str | None) -> Any:
    """Whether a path below the searched folder is one of those that `glob` means."""
    if glob is None:
        return lambda path: True
    expression = re.compile("|".join(regex(choice) for choice in alternatives(glob.removeprefix("./"))), re.DOTALL)
    if "/" in glob:
        return lambda path: expression.fullmatch(path)
    return lambda path: expression.fullmatch(path.rpartition("/")[2])
