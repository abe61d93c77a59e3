"""One thread that serves HTTP on a given listening socket, for the scripted model and the small web server.

A selector, no thread a connection: a client that is slow, silent or hostile costs memory up to a limit and nothing
else, and `stop()` never waits for anybody. What to answer is a handler's business; it is asked in the loop's thread,
may answer at once or later from any thread, and answers with steps: bytes, pauses, ends.
"""

from __future__ import annotations

import heapq
import itertools
import os
import selectors
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

from triathlon.scripted.exchange import End, Exchange, Handler, Pause, Step
from triathlon.scripted.http import MAX_BODY, BadRequest, Parser, answer_head

MAX_CONNECTIONS = 128
MAX_HELD = 48 * 1024 * 1024  # bytes of unfinished requests over all connections
READ_AHEAD = 64 * 1024  # what a client may send before its last answer is out
STEPS_A_TURN = 16  # a fast reader of a huge body must not keep the others, or stop(), waiting
SWEEP_S = 0.1  # at most, for what has arrived when the loop is stopped
LINGER_S = 1.0  # how long a closed side waits for the client to read what was sent
_RESET = struct.pack("ii", 1, 0)


class _Connection:
    """State of one client."""

    __slots__ = ("draining", "events", "exchange", "out", "parser", "peer_done", "sock", "steps")

    def __init__(self, sock: socket.socket, parser: Parser) -> None:
        self.sock, self.parser = sock, parser
        self.exchange: Exchange | None = None  # a request whose answer is not out yet
        self.steps: Iterator[Step] | None = None
        self.out = memoryview(b"")
        self.events = 0
        self.peer_done = False
        self.draining = False


class Loop:
    """Accepts, parses, sends. `start` and `stop` once each; the listener stays open and is its owner's."""

    def __init__(self, listener: socket.socket, handler: Handler, *, name: str, max_body: int = MAX_BODY) -> None:
        self._listener, self._handler, self._max_body = listener, handler, max_body
        self._selector = selectors.DefaultSelector()
        self._connections: set[_Connection] = set()
        self._posted: deque[Callable[[], None]] = deque()
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._timer_count = 0
        self._wake_r, self._wake_w = os.pipe()
        os.set_blocking(self._wake_r, False)
        os.set_blocking(self._wake_w, False)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._closed = False
        self._accepting = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to accept; OSError if the listener is closed."""
        self._listener.setblocking(False)
        self._selector.register(self._wake_r, selectors.EVENT_READ)
        self._listen(True)
        self._thread.start()

    def stop(self) -> None:
        """End all connections and the thread; returns when both are gone. Harmless when repeated or never started."""
        self._stopping.set()
        self._wake()
        if self._thread.ident is not None:
            self._thread.join()
        self._close()

    def post(self, call: Callable[[], None]) -> None:
        """Have `call` run in the loop's thread; dropped once the loop has stopped."""
        self._posted.append(call)
        if threading.current_thread() is not self._thread:
            self._wake()

    def _begin(self, connection: _Connection, exchange: Exchange, steps: Iterator[Step]) -> None:
        """Start an answer; in the loop's thread."""
        if connection in self._connections and connection.exchange is exchange and connection.steps is None:
            connection.steps = steps
            self._advance(connection)

    def _wake(self) -> None:
        with self._lock:
            if not self._closed:
                try:
                    os.write(self._wake_w, b"x")
                except BlockingIOError:
                    pass  # a full pipe wakes as well

    def _close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._selector.close()
            os.close(self._wake_r)
            os.close(self._wake_w)

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                for key, events in self._selector.select(self._timeout()):
                    if self._stopping.is_set():
                        break
                    if key.data is not None:
                        self._serve(key.data, events)
                    elif key.fd == self._wake_r:
                        os.read(self._wake_r, 4096)
                    else:
                        self._accept()
                self._due()
            self._sweep()
        except Exception as error:
            self._handler.broke(error)
        finally:
            for connection in list(self._connections):
                self._drop(connection)

    def _sweep(self) -> None:
        """Take in what had arrived before the end: not to have read it yet is our doing, not the client's."""
        until = time.monotonic() + SWEEP_S
        while time.monotonic() < until:
            seen = [(key, events) for key, events in self._selector.select(0) if key.fd != self._wake_r]
            readable = [key for key, events in seen if events & selectors.EVENT_READ]
            if not readable:
                return
            for key in readable:
                if key.data is None:
                    self._accept()
                elif key.data in self._connections:
                    self._read(key.data)

    def _timeout(self) -> float | None:
        if self._posted:
            return 0.0
        return max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None

    def _due(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            heapq.heappop(self._timers)[2]()
        for _ in range(len(self._posted)):  # not those posted meanwhile: sockets come in between
            self._posted.popleft()()

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self._timer_count += 1
        heapq.heappush(self._timers, (time.monotonic() + seconds, self._timer_count, call))

    def _listen(self, on: bool) -> None:
        if on and not self._accepting:
            self._selector.register(self._listener, selectors.EVENT_READ)
        elif not on and self._accepting:
            self._selector.unregister(self._listener)
        self._accepting = on

    def _listen_again(self) -> None:
        if len(self._connections) < MAX_CONNECTIONS:
            self._listen(True)

    def _accept(self) -> None:
        while True:
            if len(self._connections) >= MAX_CONNECTIONS:
                self._listen(False)  # the rest waits in the kernel's queue until one is closed
                return
            try:
                sock, _ = self._listener.accept()
            except (BlockingIOError, ConnectionError):
                return
            except OSError:  # no descriptors left: a level-triggered listener would spin
                self._listen(False)
                self._later(0.05, self._listen_again)
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = _Connection(sock, Parser(self._max_body))
            self._connections.add(connection)
            self._interest(connection)

    def _interest(self, connection: _Connection) -> None:
        """Watch the socket for exactly what can go on."""
        ahead = connection.exchange is not None and connection.parser.held > READ_AHEAD
        events = 0 if connection.peer_done or ahead else selectors.EVENT_READ
        if connection.out:
            events |= selectors.EVENT_WRITE
        if events == connection.events:
            return
        if not events:
            self._selector.unregister(connection.sock)
        elif not connection.events:
            self._selector.register(connection.sock, events, connection)
        else:
            self._selector.modify(connection.sock, events, connection)
        connection.events = events

    def _serve(self, connection: _Connection, events: int) -> None:
        if connection not in self._connections:
            return
        if events & selectors.EVENT_READ and connection.events & selectors.EVENT_READ:
            self._read(connection)
        if events & selectors.EVENT_WRITE and connection in self._connections and connection.out:
            self._advance(connection)

    def _read(self, connection: _Connection) -> None:
        try:
            data = connection.sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            self._drop(connection, left=True)
            return
        if not data:
            self._peer_done(connection)
        elif not connection.draining:
            connection.parser.feed(data)
            if connection.exchange is None and connection.steps is None:
                self._parse(connection)
            else:
                self._interest(connection)

    def _peer_done(self, connection: _Connection) -> None:
        """The client will send no more. It may still read (a half-closed connection), so an answer goes on."""
        connection.peer_done = True
        if connection.draining:
            self._drop(connection)
        elif connection.exchange is not None:
            connection.exchange.on_left()
            self._interest(connection)
        elif connection.steps is None:
            self._parse(connection)
        else:
            self._interest(connection)

    def _parse(self, connection: _Connection) -> None:
        """Hand over the next whole request, if there is one."""
        try:
            request = connection.parser.next()
            held = connection.parser.held
            if request is None and held > READ_AHEAD and sum(c.parser.held for c in self._connections) > MAX_HELD:
                raise BadRequest(f"unfinished requests hold over {MAX_HELD} bytes", 413)
        except BadRequest as error:
            self._refuse(connection, error)
            return
        if request is None:
            if connection.parser.take_continue():
                connection.out = memoryview(b"HTTP/1.1 100 Continue\r\n\r\n")
                self._advance(connection)
            elif connection.peer_done:
                self._drop(connection)
            else:
                self._interest(connection)
            return

        def send(exchange: Exchange, steps: Iterator[Step]) -> None:
            self.post(lambda: self._begin(connection, exchange, steps))

        connection.exchange = exchange = Exchange(request, send)
        self._interest(connection)
        try:
            self._handler.handle(exchange)
        except Exception as error:
            self._fail(connection, error)

    def _refuse(self, connection: _Connection, error: BadRequest) -> None:
        self._handler.refused(error)
        text = error.reason.encode("utf-8", "replace") + b"\n"
        head = answer_head(error.status, [("Content-Type", "text/plain")], length=len(text), keep_alive=False)
        connection.parser = Parser(self._max_body)
        connection.steps = iter((head + text, End()))
        self._advance(connection)

    def _fail(self, connection: _Connection, error: Exception) -> None:
        self._handler.broke(error)
        self._drop(connection)

    def _advance(self, connection: _Connection) -> None:
        """Send until the kernel takes no more, a pause begins, the answer is out, or others have their turn."""
        for turn in itertools.count():
            if turn == STEPS_A_TURN:
                self.post(lambda: self._resume(connection))
                return
            if connection.out and not self._send(connection):
                return
            if connection.steps is None:
                self._interest(connection)
                return
            try:
                step = next(connection.steps, None)
            except Exception as error:
                self._fail(connection, error)
                return
            match step:
                case Pause():
                    self._interest(connection)
                    self._later(step.seconds, lambda: self._resume(connection))
                    return
                case End():
                    self._finish(connection)
                    self._end(connection, step.hard)
                    return
                case None:
                    self._finish(connection)
                    # Not by recursion: a client may have sent thousands of requests ahead.
                    self.post(lambda: self._resume_parsing(connection))
                    return
                case _:
                    connection.out = memoryview(step)

    def _send(self, connection: _Connection) -> bool:
        """Whether all that was due is out; else the socket is watched, or gone."""
        try:
            sent = connection.sock.send(connection.out)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(connection, left=True)
            return False
        connection.out = connection.out[sent:]
        if connection.out:
            self._interest(connection)
            return False
        return True

    def _resume(self, connection: _Connection) -> None:
        if connection in self._connections:
            self._advance(connection)

    def _resume_parsing(self, connection: _Connection) -> None:
        if connection in self._connections and connection.exchange is None and connection.steps is None:
            self._parse(connection)

    def _finish(self, connection: _Connection) -> None:
        exchange, connection.exchange, connection.steps = connection.exchange, None, None
        if exchange is not None:
            exchange.on_done()

    def _end(self, connection: _Connection, hard: bool) -> None:
        if hard:
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self._drop(connection)
            return
        if connection.peer_done:
            self._drop(connection)
            return
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(connection)
            return
        # Closing with unread bytes would reset the connection and could take the answer with it: read them off first.
        connection.draining = True
        connection.parser = Parser(self._max_body)
        self._interest(connection)
        self._later(LINGER_S, lambda: self._drop(connection))

    def _drop(self, connection: _Connection, left: bool = False) -> None:
        """Forget a client; `left` if it was the client that went."""
        if connection not in self._connections:
            return
        self._connections.discard(connection)
        if connection.events:
            self._selector.unregister(connection.sock)
        connection.sock.close()
        exchange, connection.exchange = connection.exchange, None
        if exchange is not None and left and not connection.peer_done:
            exchange.on_left()
        what = connection.parser.unfinished
        if what is not None and exchange is None:
            self._handler.unfinished(what)
        if not self._accepting and not self._stopping.is_set():
            self._listen_again()
