"""The session file: one JSON object a line, read with tolerance and written with care."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class InUse(Exception):
    """Another live process, or another session object of this one, holds the file."""


def read(path: Path) -> tuple[list[Record], int]:
    """All readable records, and the number of lines that are not one JSON object (cut, NULs, two on a line)."""
    records: list[Record] = []
    broken = 0
    for line in path.read_bytes().split(b"\n"):
        if line.strip():
            record = parse(line)
            if record is None:
                broken += 1
            else:
                records.append(record)
    return records, broken


def last(path: Path) -> Record | None:
    """The last readable record, found without reading all of a long file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 65536))
        lines = file.read().split(b"\n")
    readable = (record for line in reversed(lines) if line.strip() and (record := parse(line)) is not None)
    return next(readable, None)


def parse(line: bytes) -> Record | None:
    """The record of one line, or None if it is broken."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return None
    return record if record["type"] != "message" or _is_message(record.get("message")) else None


def _is_message(message: Any) -> bool:
    """Whether this can be sent: a role, a text, calls with ids, and of a result the id of its call."""
    if not isinstance(message, dict) or not isinstance(message.get("content", 0), str | None):
        return False
    calls = message.get("tool_calls", [])
    if not isinstance(calls, list) or not all(isinstance(call, dict) and "id" in call for call in calls):
        return False
    return message.get("role") in ("user", "assistant") or "tool_call_id" in message


class Journal:
    """A session file open for appending, locked until it is closed or the process ends."""

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises InUse, OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise InUse(str(path)) from error
        size = os.fstat(self._file).st_size
        self._fresh_line = size == 0 or os.pread(self._file, 1, size - 1) == b"\n"

    def append(self, record: Record) -> None:
        """Write one record as one line, at once; a broken last line is ended first."""
        line = json.dumps(record).encode("ascii") + b"\n"
        rest = memoryview(line if self._fresh_line else b"\n" + line)
        while rest:
            rest = rest[os.write(self._file, rest) :]
        self._fresh_line = True

    def size(self) -> int:
        return os.fstat(self._file).st_size

    def close(self) -> None:
        os.close(self._file)


def in_use(path: Path) -> bool:
    """Whether somebody holds the file."""
    try:
        Journal(path).close()
    except InUse:
        return True
    return False
