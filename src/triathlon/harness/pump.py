"""One thread per case that reads what started processes write and feeds what they read, without ever waiting for them.

A candidate that writes a gigabyte is read to its end and kept up to the protocol's size; one that never reads its
input blocks nobody.
"""

from __future__ import annotations

import errno
import os
import selectors
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

CHUNK = 1 << 16


class Sink:
    """Bytes from one file descriptor, kept up to `max_bytes`; `total` counts all."""

    def __init__(self, max_bytes: int, also: Callable[[bytes], None] | None = None) -> None:
        self.max_bytes = max_bytes
        self.total = 0
        self.ended = False
        self._parts: list[bytes] = []
        self._kept = 0
        self._also = also

    def add(self, data: bytes) -> None:
        """Take what was read."""
        room = self.max_bytes - self._kept
        if room > 0:
            self._parts.append(data[:room])
            self._kept += min(room, len(data))
        self.total += len(data)
        if self._also is not None:
            self._also(data)

    @property
    def data(self) -> bytes:
        """What is kept."""
        if len(self._parts) > 1:
            self._parts[:] = [b"".join(self._parts)]
        return self._parts[0] if self._parts else b""

    @property
    def cut(self) -> bool:
        """Whether more came than is kept."""
        return self.total > self._kept


@dataclass(frozen=True)
class Watched:
    """A descriptor that is only looked at."""

    ready: Callable[[], None]


class Pump:
    """Reads many descriptors into sinks and writes pending input.

    `news` is notified after every read; `wait` sleeps on it. Descriptors given to `read`, and to `write` with
    `then_close`, are closed by the pump.
    """

    def __init__(self) -> None:
        self.news = threading.Condition()
        self._selector = selectors.DefaultSelector()
        self._wake_r, self._wake_w = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._selector.register(self._wake_r, selectors.EVENT_READ)
        self._inputs: dict[int, bytearray] = {}
        self._closing: set[int] = set()
        self._todo: list[Callable[[], None]] = []
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def read(self, fd: int, sink: Sink) -> None:
        """Read `fd` to its end into `sink`."""
        os.set_blocking(fd, False)
        self._soon(lambda: self._watch(fd, sink))

    def write(self, fd: int, data: bytes, *, then_close: bool = False) -> None:
        """Write `data` to `fd` as its reader takes it."""
        os.set_blocking(fd, False)
        self._soon(lambda: self._feed(fd, data, then_close))

    def watch(self, fd: int, ready: Callable[[], None]) -> None:
        """Call `ready` once, when `fd` becomes readable; the descriptor stays its owner's."""
        self._soon(lambda: self._watch(fd, Watched(ready)))

    def forget(self, fd: int) -> None:
        """Read `fd` no more and close it; done when this returns. One that has ended already is no error."""
        done = threading.Event()
        self._soon(lambda: self._drop(fd, done))
        done.wait()

    def wait(self, holds: Callable[[], bool], until: float, every: float | None = None) -> bool:
        """Sleep until `holds()` or the monotonic time `until`.

        It is asked after every read and every notify; also every so many seconds where it looks at something that
        gives no news (files).
        """
        with self.news:
            while not holds():
                if self._error is not None:
                    raise self._error
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self.news.wait(left if every is None else min(left, every))
        return True

    def notify(self) -> None:
        """Have every `wait` look again."""
        with self.news:
            self.news.notify_all()

    def drain(self, sinks: list[Sink], within: float) -> None:
        """Wait until the sinks saw their ends, so that nothing written before an exit is missed."""
        self.wait(lambda: all(sink.ended for sink in sinks), time.monotonic() + within)

    def close(self) -> None:
        """Stop the thread and close every descriptor."""
        if self._thread is not None:
            self._soon(self._stop)
            self._thread.join()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, Sink) or key.fd in self._closing:
                os.close(key.fd)
        self._selector.close()
        os.close(self._wake_r)
        os.close(self._wake_w)

    def _stop(self) -> None:
        self._stopped = True

    def _soon(self, action: Callable[[], None]) -> None:
        self._todo.append(action)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="pump", daemon=True)
            self._thread.start()
        try:
            os.write(self._wake_w, b"x")
        except BlockingIOError:
            pass  # the pipe is full of wake-ups already

    def _run(self) -> None:
        try:
            while not self._stopped:
                for key, events in self._selector.select():
                    self._serve(key, events)
        except BaseException as error:
            self._error = error  # raised again by whoever waits
            self.notify()

    def _serve(self, key: selectors.SelectorKey, events: int) -> None:
        if key.fd == self._wake_r:
            os.read(self._wake_r, CHUNK)
            while self._todo:
                self._todo.pop(0)()
        elif self._selector.get_map().get(key.fd) is not key:
            return  # dropped or changed by an earlier event of the same round
        elif isinstance(key.data, Watched):
            self._selector.unregister(key.fd)
            key.data.ready()
            self.notify()
        elif isinstance(key.data, Sink) and events & selectors.EVENT_READ:
            self._take(key.fd, key.data)
        else:
            self._give(key.fd)

    def _drop(self, fd: int, done: threading.Event) -> None:
        key = self._selector.get_map().get(fd)
        if key is not None and isinstance(key.data, Sink):
            self._end(fd, key.data)
        done.set()

    def _watch(self, fd: int, sink: Sink | Watched | None = None) -> None:
        known = self._selector.get_map().get(fd)
        data = sink or (known.data if known else None)
        events = (selectors.EVENT_READ if data else 0) | (selectors.EVENT_WRITE if self._inputs.get(fd) else 0)
        if known and events:
            self._selector.modify(fd, events, data)
        elif known:
            self._selector.unregister(fd)
        elif events:
            self._selector.register(fd, events, data)

    def _feed(self, fd: int, data: bytes, then_close: bool) -> None:
        self._inputs.setdefault(fd, bytearray()).extend(data)
        if then_close:
            self._closing.add(fd)
        self._give(fd)

    def _give(self, fd: int) -> None:
        waiting = self._inputs.get(fd)
        try:
            while waiting:
                del waiting[: os.write(fd, waiting[:CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            if waiting is not None:
                waiting.clear()  # the reader is gone
        if not waiting:
            self._inputs.pop(fd, None)
        self._watch(fd)
        if not waiting and fd in self._closing:
            self._closing.discard(fd)
            os.close(fd)

    def _take(self, fd: int, sink: Sink) -> None:
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.EIO:  # EIO is how a terminal says that nobody holds its other side
                raise
            data = b""
        if data:
            sink.add(data)
        else:
            self._end(fd, sink)
        self.notify()

    def _end(self, fd: int, sink: Sink) -> None:
        sink.ended = True
        self._inputs.pop(fd, None)
        self._closing.discard(fd)
        self._selector.unregister(fd)
        os.close(fd)
