"""Keeping what a process writes, without letting it fill our memory."""

from __future__ import annotations

import fcntl
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress

_CHUNK = 65536
_DRAIN = 1 << 20


class Capture:
    """A pipe whose reading end is kept up to a size and drained from there on.

    Give `write_end` to `Sandbox.start` as stdout or stderr, then call `begin`; one thread reads. At the end call
    `finish`, which waits for the last writer. The first `limit` bytes are kept, the rest is thrown away inside the
    kernel (splice to `/dev/null`) and only counted.
    """

    def __init__(self, limit: int = 1_048_576) -> None:
        self.limit = limit
        self.total = 0
        """Bytes written so far."""
        self._read_end, self.write_end = os.pipe()
        self._wake = os.eventfd(0)
        self._kept = bytearray()
        self._changed = threading.Condition()
        self._ended = False
        self._closed = False
        self._thread = threading.Thread(target=self._read, name="capture", daemon=True)

    def begin(self) -> None:
        """Close our copy of the writing end (the process holds its own by now) and read."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1
            self._thread.start()

    @property
    def data(self) -> bytes:
        """What was kept so far, without any mark."""
        with self._changed:
            return bytes(self._kept)

    @property
    def truncated(self) -> bool:
        return self.total > self.limit

    @property
    def ended(self) -> bool:
        """The last writer has closed the pipe."""
        return self._ended

    @property
    def text(self) -> str:
        """What was kept as UTF-8 (bad bytes replaced), with a closing mark if something was left out."""
        text = self.data.decode("utf-8", "replace")
        if self.truncated:
            text += f"\n[... {self.total - self.limit} bytes left out ...]\n"
        return text

    def wait_for(self, holds: Callable[[bytes], bool], timeout: float | None = None) -> bool:
        """Wait until `holds(kept bytes)`; False when the time is up or the output ended without it."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not holds(bytes(self._kept)):
                left = None if deadline is None else deadline - time.monotonic()
                if self._ended or (left is not None and left <= 0):
                    return False
                self._changed.wait(left)
            return True

    def finish(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds for the last writer, then let go of the pipe; False if one still held it."""
        if self._closed:
            return self._ended
        self._closed = True
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1
            self._ended = True
        else:
            self._thread.join(timeout)
            if self._thread.is_alive():
                os.eventfd_write(self._wake, 1)
                self._thread.join()
        os.close(self._read_end)
        os.close(self._wake)
        return self._ended

    def _read(self) -> None:
        poll = select.poll()
        poll.register(self._read_end, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        sink = -1
        try:
            while True:
                ready = dict(poll.poll())
                if self._read_end not in ready:
                    return
                room = self.limit - len(self._kept)
                if room > 0:
                    chunk = os.read(self._read_end, min(_CHUNK, room))
                    count = len(chunk)
                else:
                    chunk = b""
                    if sink < 0:
                        sink = os.open(os.devnull, os.O_WRONLY)
                        with suppress(OSError):  # fewer turns for a flood; a user may have used up its share
                            fcntl.fcntl(self._read_end, fcntl.F_SETPIPE_SZ, _DRAIN)
                    count = os.splice(self._read_end, sink, _DRAIN)
                with self._changed:
                    self._kept += chunk
                    self.total += count
                    self._ended = count == 0
                    self._changed.notify_all()
                if count == 0:
                    return
        finally:
            if sink >= 0:
                os.close(sink)
            with self._changed:
                self._changed.notify_all()
