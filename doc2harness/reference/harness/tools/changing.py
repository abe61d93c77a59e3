"""What `write`, `edit` and `multi_edit` have in common: a file is changed only as it was seen, and all at once."""

from __future__ import annotations

from pathlib import Path

from harness.textfile import read_bytes, write_atomically
from harness.types import Context, ToolError


def seen_bytes(context: Context, path: Path, name: str) -> bytes:
    """The bytes of a file that exists; ToolError unless they are what this conversation saw last."""
    data = read_bytes(path, name)
    if not context.files.knows(path):
        raise ToolError(f"{name} exists and was not read in this conversation: read it first")
    if not context.files.matches(path, data):
        raise ToolError(f"{name} has changed since it was read: read it again")
    return data


def put(context: Context, path: Path, name: str, data: bytes) -> None:
    """Give the file new bytes, which the conversation then knows; missing folders are made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        context.before_change(path, data)
        write_atomically(path, data)
    except OSError as error:
        raise ToolError(f"{name} cannot be written: {error.strerror}") from error
    context.files.saw(path, data)


def utf8(content: str) -> bytes:
    """The bytes of new content."""
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"encoding: {content[error.start]!a} cannot be written in utf-8") from None
