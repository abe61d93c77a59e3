"""Replace text in a file."""

from __future__ import annotations

from typing import Any

from harness.textfile import decode, locate
from harness.types import Context, ToolError

from .changing import put, seen_bytes, utf8
from .replacing import check_pair, replaced


def run(context: Context, arguments: dict[str, Any]) -> str:
    """One replacement, or with `replace_all` every one; an empty `old` makes or fills the file."""
    found = locate(arguments["path"], context.workspace)
    name, old, new = context.shown(found.written), arguments["old"], arguments["new"]
    check_pair(old, new)
    if not old and not found.path.exists():
        put(context, found.path, name, utf8(new))
        return f"created {name} ({len(new.encode())} bytes)"
    file = decode(seen_bytes(context, found.path, name))
    if old:
        text, count = replaced(file.text, old, new, arguments.get("replace_all", False))
    elif not file.text:
        text, count = new, 1
    else:
        raise ToolError(f"the old text is empty, and {name} is not")
    put(context, found.path, name, file.encode(text))
    return found.noted(f"{name}: {count} replacement{'s' * (count != 1)}")
