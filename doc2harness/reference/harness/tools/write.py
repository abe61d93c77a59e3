"""Write a whole file."""

from __future__ import annotations

from typing import Any

from harness.textfile import decode, locate
from harness.types import Context, ToolError

from .changing import put, seen_bytes, utf8


def run(context: Context, arguments: dict[str, Any]) -> str:
    """Make the file, or give one that was seen new content; a byte-order mark and its encoding stay."""
    found = locate(arguments["path"], context.workspace, exact=True)
    name, content = context.shown(found.written), arguments["content"]
    if found.path.is_dir():
        raise ToolError(f"{name} is a folder")
    data, verb = utf8(content), "created"
    if found.path.exists():
        before, verb = decode(seen_bytes(context, found.path, name)), "wrote"
        if before.mark:
            data = before.encode(content.removeprefix("\ufeff"))
    put(context, found.path, name, data)
    return f"{verb} {name} ({len(content.encode())} bytes)"
