"""One session: its id, its records, the history they fold into, and the file that keeps them."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import records
from .history import effective, fold
from .records import InUse, Journal, Record
from .types import Stop


def key_of(workspace: Path) -> str:
    """The name of a workspace's folder under `sessions/`; `workspace` is a real path."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", workspace.name)
    return f"{name}-{hashlib.sha256(os.fsencode(workspace)).hexdigest()[:12]}"


def new_id() -> str:
    """A new id: its start tells when the session began, its end is random."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(4).hex()}"


def now() -> str:
    """The present time as the session file writes it: ISO 8601, UTC."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{nanoseconds // 1000:06d}Z"


class Session:
    """A conversation's records. With `path` None it lives in memory only.

    The file is made, and locked, by the first `open`. Between `close` and `open` others may append to it.
    """

    def __init__(self, id: str, workspace: Path, path: Path | None, inherited: list[Record] | None = None) -> None:
        """`inherited` are the records a fork, or a session that is not kept, begins with."""
        self.id = id
        self.workspace = workspace
        self.path = path
        self.head: dict[str, Any] = {}  # further fields of the first line: mode, model, parent
        self.records: list[Record] = inherited or []
        self.history = fold(self.records)
        self._journal: Journal | None = None
        self._size = 0  # of the file when it was last read or written
        self._lock = threading.RLock()  # calls that run side by side record what they saw

    def load(self, warn: Callable[[str], None]) -> None:
        """Read the file; broken lines are skipped with one warning."""
        if self.path is None:
            return
        self._size = self.path.stat().st_size
        self.records, broken = records.read(self.path)
        if broken:
            lines = "line" if broken == 1 else "lines"
            warn(f"{self.path}: {broken} broken {lines} skipped")
        self.history = fold(self.records)

    def open(self, warn: Callable[[str], None]) -> None:
        """Take the file for appending; Stop if somebody else has it. Reads again what others appended meanwhile."""
        if self.path is None or self._journal is not None:
            return
        try:
            self._journal = Journal(self.path)
        except InUse as error:
            raise Stop(1, "error", f"session {self.id} is in use by another process") from error
        except OSError as error:
            raise Stop(1, "error", f"the session file cannot be written: {error}") from error
        size = self._journal.size()
        if size == 0:
            self._begin()
        elif size != self._size:
            self.load(warn)

    def close(self) -> None:
        """Let others have the file; the session can be opened again."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def append(self, kind: str, **fields: Any) -> None:
        """Add one record to the history and, at once, to the file."""
        record = {"type": kind, "time": now(), **fields}
        with self._lock:
            self.records.append(record)
            if kind == "rewind":
                self.history = fold(self.records)
            else:
                self.history.apply(record)
            if self._journal is not None:
                self._write(record)

    def effective(self) -> list[Record]:
        """The records that no rewind took back."""
        return effective(self.records)

    def _begin(self) -> None:
        first = {"type": "session", "time": now(), "version": 1, "id": self.id, "workspace": str(self.workspace)}
        self.records = [first | self.head, *(record for record in self.records if record["type"] != "session")]
        self.history = fold(self.records)
        for record in self.records:
            self._write(record)

    def _write(self, record: Record) -> None:
        assert self._journal is not None
        try:
            self._journal.append(record)
        except OSError as error:
            raise Stop(1, "error", f"the session file cannot be written: {error}") from error
        self._size = self._journal.size()
