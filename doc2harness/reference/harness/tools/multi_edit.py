"""Make several replacements in a file, all or none."""

from __future__ import annotations

from typing import Any

from harness.textfile import decode, locate
from harness.types import Context, ToolError

from .changing import put, seen_bytes
from .replacing import check_pair, replaced


def run(context: Context, arguments: dict[str, Any]) -> str:
    """Apply the edits in order, each to the result of the one before; the file is written once, at the end."""
    found = locate(arguments["path"], context.workspace)
    name = context.shown(found.written)
    file = decode(seen_bytes(context, found.path, name))
    text, total = file.text, 0
    for number, edit in enumerate(arguments["edits"], 1):
        try:
            check_pair(edit["old"], edit["new"])
            if not edit["old"]:
                raise ToolError("the old text is empty")
            text, count = replaced(text, edit["old"], edit["new"], edit.get("replace_all") or False)
            data = file.encode(text)
        except ToolError as error:
            raise ToolError(f"edit {number}: {error}; nothing was changed") from None
        total += count
    put(context, found.path, name, data)
    return found.noted(f"{name}: {total} replacement{'s' * (total != 1)}")
