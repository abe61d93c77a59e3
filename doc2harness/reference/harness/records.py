"""The session file: one JSON object a line, read with tolerance and written with care."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class InUse(Exception):
    """Another live process holds the session file."""


def read(path: Path) -> tuple[list[Record], int]:
    """All readable records and the number of broken lines (cut, NULs, two objects on one line)."""
    records: list[Record] = []
    broken = 0
    for line in path.read_bytes().split(b"\n"):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict) or not isinstance(record.get("type"), str):
                raise ValueError("not a record")
            records.append(record)
        except ValueError:
            broken += 1
    return records, broken


class Journal:
    """A session file open for appending, locked until it is closed or the process ends."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise InUse(str(path)) from error
        self._fresh_line = self._ends_in_newline()

    def append(self, record: Record) -> None:
        """Write one record as one line, at once; a broken last line is ended first."""
        line = json.dumps(record).encode("ascii") + b"\n"
        if not self._fresh_line:
            line = b"\n" + line
        view = memoryview(line)
        while view:
            view = view[os.write(self._file, view) :]
        self._fresh_line = True

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _ends_in_newline(self) -> bool:
        size = os.fstat(self._file).st_size
        return size == 0 or os.pread(self._file, 1, size - 1) == b"\n"


def in_use(path: Path) -> bool:
    """Whether a live process holds the file."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
