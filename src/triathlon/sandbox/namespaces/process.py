"""A process started inside: its init tells the exit status over a pipe, so that waiting needs no thread."""

from __future__ import annotations

import os
import select
import struct
import threading
from typing import Protocol

_STATUS = struct.Struct("=i")
_KILLED = 137


class Signaller(Protocol):
    """Who can signal a process of the sandbox."""

    def signal(self, pid: int, number: int, group: bool) -> None: ...

    def check_helper(self) -> None:
        """SandboxError if what ended the sandbox was the end of our own helper."""
        ...


class BoxProcess:
    """See `Process`; `status` is the reading end of the pipe, closed with the sandbox."""

    def __init__(self, box: Signaller, pid: int, status: int) -> None:
        self.pid = pid
        self._box = box
        self._status = status
        self._code: int | None = None
        self._lock = threading.Lock()

    def fileno(self) -> int:
        return self._status

    def wait(self, timeout: float | None = None) -> int | None:
        """A sandbox that ended under the process counts as its end by SIGKILL."""
        if self._code is not None:
            return self._code
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        if not poll.poll(None if timeout is None else max(0, timeout) * 1000):
            return None
        with self._lock:
            if self._code is None:
                told = os.read(self._status, _STATUS.size)
                if len(told) < _STATUS.size:
                    self._box.check_helper()
                self._code = int(_STATUS.unpack(told)[0]) if len(told) == _STATUS.size else _KILLED
        return self._code

    def poll(self) -> int | None:
        return self.wait(0)

    def signal(self, number: int, *, group: bool = False) -> None:
        if self._code is None:
            self._box.signal(self.pid, number, group)

    def let_go(self) -> None:
        """Close the pipe; a process whose end was not asked for counts as killed."""
        with self._lock:
            if self._code is None:
                self._code = _KILLED
            if self._status >= 0:
                os.close(self._status)
                self._status = -1
