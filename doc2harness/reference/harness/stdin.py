"""What stands on standard input besides, or instead of, the prompt."""

from __future__ import annotations

import os
import select
import stat
import time
from collections.abc import Iterator

from .types import Cancel, UsageError

LIMIT = 10_000_000  # bytes
PATIENCE = 1.0  # seconds for a pipe's first byte, when there is a prompt without it


def text(cancel: Cancel, have_prompt: bool) -> str:
    """All of stdin as text; empty for a terminal, a closed one, and a pipe that is silent beside a prompt.

    Raises UsageError if it is too large or no text.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    if os.isatty(0):
        return ""
    patient = not have_prompt or stat.S_ISREG(mode)
    data = bytearray()
    for chunk in _chunks(cancel, None if patient else PATIENCE):
        data += chunk
        if len(data) > LIMIT:
            raise UsageError(f"standard input is over {LIMIT} bytes")
    return _decoded(bytes(data))


def lines(cancel: Cancel) -> Iterator[str]:
    """The lines of stdin as they come, without their ends; UsageError as for `text`."""
    rest = b""
    for chunk in _chunks(cancel, None):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from map(_decoded, whole)
    if rest:
        yield _decoded(rest)


def _chunks(cancel: Cancel, patience: float | None) -> Iterator[bytes]:
    """What can be read, until the end; nothing if the first byte takes longer than `patience` seconds."""
    deadline = None if patience is None else time.monotonic() + patience
    try:
        while True:
            cancel.check()
            if select.select([0], [], [], 0.1)[0]:
                chunk = os.read(0, 65536)
                if not chunk:
                    return
                deadline = None
                yield chunk
            elif deadline is not None and time.monotonic() >= deadline:
                return
    except OSError:
        return  # not readable: as good as closed


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        raise UsageError("standard input is not text: it has NUL bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 text ({error.reason})") from error
