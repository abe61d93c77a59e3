"""The watch on resident memory, where no cgroup limits it."""

from __future__ import annotations

import os
import signal
import time

from triathlon.sandbox.namespaces.inside import processes

_SHORTEST, _LONGEST = 0.05, 1.0


class Watch:
    """Looks now and then, more often as memory fills; kills everything inside at the limit.

    `peak` is the largest sum seen, in bytes; `acted` says that it had to kill.
    """

    def __init__(self, limit: int) -> None:
        self.peak = 0
        self.acted = False
        self._limit = limit
        self._interval = 0.1
        self._next = time.monotonic() + self._interval

    def pause_ms(self) -> int:
        """Milliseconds until the next look."""
        return max(1, int((self._next - time.monotonic()) * 1000))

    def look(self) -> None:
        """Measure, if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        used = processes.resident()
        if used > self._limit:
            used = processes.proportional()
        self.peak = max(self.peak, used)
        if used > self._limit:
            self.acted = True
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
        calm = used < self._limit // 4
        self._interval = min(self._interval * 1.5, _LONGEST) if calm else _SHORTEST
        self._next = now + self._interval
