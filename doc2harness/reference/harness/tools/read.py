"""Read a text file as numbered lines."""

from __future__ import annotations

from typing import Any

from harness.textfile import decode, is_binary, lines_of, locate, read_bytes
from harness.types import Context

MOST_LINES = 2000
LONGEST_LINE = 2000  # characters
LONGEST_RESULT = 100_000  # characters


def run(context: Context, arguments: dict[str, Any]) -> str:
    """The lines from `offset` on; notes about the file stand behind them."""
    found = locate(arguments["path"], context.workspace)
    data = read_bytes(found.path, context.shown(found.written))
    context.files.saw(found.path, data)
    if is_binary(data):
        return found.noted(f"[binary file of {len(data)} bytes]")
    file = decode(data)
    result = _lines(file.text, arguments.get("offset", 1), min(arguments.get("limit", MOST_LINES), MOST_LINES))
    if file.encoding != "utf-8":
        result += f"\n[decoded as {file.encoding.removesuffix('-le').removesuffix('-be')}]"
    return found.noted(result)


def _lines(text: str, offset: int, limit: int) -> str:
    lines = lines_of(text)
    if not lines:
        return "[empty file]"
    if offset > len(lines):
        return f"[offset {offset} is past the end: the file has {len(lines)} line{'s' * (len(lines) != 1)}]"
    shown = _numbered(lines, offset, limit)
    last = offset + len(shown) - 1
    if last < len(lines):
        shown.append(f"[lines {offset}-{last} of {len(lines)}; continue with offset {last + 1}]")
    return "\n".join(shown)


def _numbered(lines: list[str], offset: int, limit: int) -> list[str]:
    shown: list[str] = []
    length = 0
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], offset):
        if len(line) > LONGEST_LINE:
            line = f"{line[:LONGEST_LINE]} [cut: {len(line)} characters]"
        line = f"{number}\t{line}"
        length += len(line) + 1
        if shown and length > LONGEST_RESULT:
            break
        shown.append(line)
    return shown
