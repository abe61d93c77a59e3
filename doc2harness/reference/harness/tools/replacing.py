"""Literal replacement of text, with the line ends of the file it stands in."""

from __future__ import annotations

import re

from harness.types import ToolError

_BARE_LF = re.compile(r"(?<!\r)\n")


def replaced(text: str, old: str, new: str, replace_all: bool) -> tuple[str, int]:
    """`text` with `old` replaced by `new`, and how often; ToolError unless `old` occurs once, or often enough.

    In a text whose line ends are all CRLF an LF stands for CRLF. Where ends are mixed an LF in `old` stands for
    either, and one in `new` becomes the first end of the part that it replaces.
    """
    crlf = text.count("\r\n")
    mixed = 0 < crlf < text.count("\n")
    if crlf and not mixed:
        old, new = _BARE_LF.sub("\r\n", old), _BARE_LF.sub("\r\n", new)
    pattern = re.compile("\r?\n".join(map(re.escape, _BARE_LF.split(old))) if mixed else re.escape(old))

    def replacement(found: re.Match[str]) -> str:
        end = re.search("\r?\n", found[0]) if mixed else None
        return _BARE_LF.sub(end[0], new) if end else new

    count = sum(1 for _ in pattern.finditer(text))
    if count == 0:
        raise ToolError("the old text occurs 0 times: it has to match to the blank")
    if count > 1 and not replace_all:
        raise ToolError(f"the old text occurs {count} times: give more of its surroundings, or replace_all")
    return pattern.sub(replacement, text), count


def check_pair(old: str, new: str) -> None:
    """Raise ToolError for a replacement that changes nothing."""
    if old == new:
        raise ToolError("the old and the new text are the same")
