"""The server under slow, broken and hostile clients: it never hangs, never dies, and a good client is still served."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_help import USER, Served, read_all, request_bytes

from triathlon.scripted import loop as loop_module
from triathlon.scripted.exchange import End, Exchange, Pause
from triathlon.scripted.http import BadRequest
from triathlon.scripted.loop import Loop

Serve = Callable[..., Served]
BODY: dict[str, Any] = {"model": "m", "messages": [USER]}
FOREVER = [{"say": "ok", "times": "forever"}]


def answers(data: bytes) -> list[int]:
    """Statuses of the answers in these bytes."""
    return [int(part[:3]) for part in data.split(b"HTTP/1.1 ")[1:]]


def test_keep_alive_and_requests_sent_ahead(serve: Serve) -> None:
    served = serve(FOREVER)
    with served.connect() as sock:
        sock.sendall(request_bytes(BODY) * 300 + request_bytes(BODY, "Connection: close\r\n"))
        data, end = read_all(sock)
    assert answers(data) == [200] * 301 and end == "closed"
    assert len(served.stop().journal) == 301


def test_a_client_that_closes_its_sending_side_still_gets_its_answers(serve: Serve) -> None:
    served = serve([{"say": "x", "delay": 0.1, "times": 2}])
    with served.connect() as sock:
        sock.sendall(request_bytes(BODY) * 2)
        sock.shutdown(socket.SHUT_WR)
        data, _ = read_all(sock)
    assert answers(data) == [200, 200]
    first, _ = served.stop().journal
    assert first.left is not None and first.done is not None


def test_continue(serve: Serve) -> None:
    served = serve(FOREVER)
    whole = request_bytes(BODY, "Expect: 100-continue\r\n")
    head, _, body = whole.partition(b"\r\n\r\n")
    with served.connect() as sock:
        sock.sendall(head + b"\r\n\r\n")
        assert sock.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(body)
        assert sock.recv(65536).startswith(b"HTTP/1.1 200 OK")


def test_continue_is_refused_for_a_body_too_large(serve: Serve) -> None:
    served = serve([])
    with served.connect() as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n")
        data, end = read_all(sock)
    assert answers(data) == [413] and end == "closed"
    assert "body is over" in served.stop().problems[0]


def test_chunked_request_bodies(serve: Serve) -> None:
    served = serve(FOREVER)
    data = json.dumps(BODY).encode()
    parts = b"".join(b"%x\r\n%b\r\n" % (len(data[i : i + 7]), data[i : i + 7]) for i in range(0, len(data), 7))
    with served.connect() as sock:
        sock.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            + parts
            + b"0\r\n\r\n"
        )
        assert answers(read_all(sock)[0]) == [200]
    assert served.stop().journal[0].raw == data


def test_an_answer_reaches_a_client_that_goes_on_sending(serve: Serve) -> None:
    """The refusal must not be lost to a reset because a part of the body was never read."""
    served = serve([], max_body=1000)
    with served.connect() as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000)
        data, end = read_all(sock)
    assert answers(data) == [413] and end == "closed"


@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00\x01\x00\x01", b"\0" * 5000, b"PRI * HTTP/2.0\r\n\r\n", b"x" * 100_000, os.urandom(3000)],
    ids=["tls", "nul", "h2", "long", "random"],
)
def test_garbage_is_answered_and_named(serve: Serve, garbage: bytes) -> None:
    served = serve(FOREVER)
    with served.connect() as sock:
        sock.sendall(garbage)
        data, _ = read_all(sock)
    assert answers(data)[0] >= 400
    assert served.post()[0] == 200
    model = served.stop()
    assert model.problems[0].startswith("no HTTP request: ") and len(model.problems) == 1
    assert len(model.journal) == 1


def test_connections_without_a_word_are_no_fault(serve: Serve) -> None:
    served = serve(FOREVER)
    socks = [served.connect() for _ in range(20)]
    for sock in socks[:10]:
        sock.close()
    assert served.post()[0] == 200
    model = served.stop()
    assert model.problems == [] and model.notes == []
    for sock in socks[10:]:
        sock.close()


def test_one_byte_at_a_time(serve: Serve) -> None:
    served = serve(FOREVER)
    with served.connect() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i, byte in enumerate(request_bytes(BODY, "Connection: close\r\n")):
            sock.sendall(bytes([byte]))
            if i % 50 == 0:
                assert served.post()[0] == 200
        assert answers(read_all(sock)[0]) == [200]


def test_64_clients_at_once(serve: Serve) -> None:
    served = serve(FOREVER)
    statuses: list[int] = []
    start = threading.Barrier(64)

    def client() -> None:
        start.wait(20)
        statuses.extend(served.post(stream=True)[0] for _ in range(3))

    threads = [threading.Thread(target=client) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert statuses == [200] * 192
    model = served.stop()
    assert [r.index for r in model.journal] == list(range(1, 193)) and model.problems == []


def test_more_connections_than_are_taken_wait_for_their_turn(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "MAX_CONNECTIONS", 4)
    served = serve(FOREVER)
    idle = [served.connect() for _ in range(4)]
    time.sleep(0.05)
    with served.connect() as sock:
        sock.sendall(request_bytes(BODY, "Connection: close\r\n"))
        sock.settimeout(0.1)
        with pytest.raises(TimeoutError):
            sock.recv(1)
        idle.pop().close()
        sock.settimeout(10)
        assert answers(read_all(sock)[0]) == [200]
    began = time.monotonic()
    served.stop()
    assert time.monotonic() - began < 0.5
    for other in idle:
        other.close()


def test_out_of_descriptors_is_survived(serve: Serve) -> None:
    served = serve(FOREVER)
    assert served.post()[0] == 200
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as sock:
        sock.settimeout(10)
        resource.setrlimit(resource.RLIMIT_NOFILE, (sock.fileno() + 1, hard))
        try:
            sock.connect(("127.0.0.1", served.port))
            used = time.process_time()
            time.sleep(0.2)
            assert time.process_time() - used < 0.1  # waits, does not spin
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        sock.sendall(request_bytes(BODY, "Connection: close\r\n"))
        assert answers(read_all(sock)[0]) == [200]
    assert served.stop().problems == []


def test_unfinished_bodies_have_a_common_limit(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "MAX_HELD", 1_000_000)
    served = serve(FOREVER)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n"
    with served.connect() as one, served.connect() as two:
        one.sendall(head + b"x" * 600_000)
        two.sendall(head + b"x" * 600_000)
        ready = [s for s in (one, two) if answers(_soon(s)) == [413]]
        assert len(ready) == 1
    assert served.post()[0] == 200


def _soon(sock: socket.socket) -> bytes:
    sock.settimeout(0.5)
    with contextlib.suppress(TimeoutError):
        return sock.recv(65536)
    return b""


def test_a_reader_that_does_not_read_holds_nobody_up(serve: Serve) -> None:
    served = serve([{"say": "x" * 20_000_000}, {"say": "y"}])
    with served.connect() as sock:
        sock.sendall(request_bytes(BODY))
        assert served.model.wait_for(1, 10)
        assert served.post()[0] == 200
        began = time.monotonic()
        model = served.stop()
        assert time.monotonic() - began < 0.5
    assert model.journal[0].done is None


def test_requests_that_had_arrived_are_in_the_journal(serve: Serve) -> None:
    """A client may send and exit without waiting; what it sent must not depend on how fast we read."""
    acted: list[object] = []
    for _ in range(30):
        served = serve([{"say": "a"}, {"say": "b", "do": [{"touch": "x"}]}], act=acted.append)
        with served.connect() as one, served.connect() as two:
            one.sendall(request_bytes(BODY))
            two.sendall(request_bytes(BODY))
        model = served.stop()
        assert len(model.journal) == 2 and model.problems == [] and model.notes == []
        assert all(r.left is not None or r.done is not None for r in model.journal)


def test_a_client_that_resets_is_no_fault(serve: Serve) -> None:
    served = serve([{"say": "x" * 20_000_000}, {"say": "y"}])
    with served.connect() as sock:
        sock.sendall(request_bytes(BODY))
        sock.recv(100)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert served.post()[0] == 200
    model = served.stop()
    assert model.journal[0].left is not None and model.problems == []


class Endless:
    """A handler whose answers never end, or break."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.drawn = 0

    def handle(self, exchange: Exchange) -> None:
        if exchange.request.target == "/raise":
            raise ValueError("handler")
        exchange.answer(self.steps(exchange.request.target))

    def steps(self, target: str) -> Iterator[bytes | Pause | End]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        if target == "/break":
            raise ValueError("steps")
        while True:
            self.drawn += 1
            yield b"x" * 65536

    def refused(self, error: BadRequest) -> None:
        raise AssertionError(error)

    def unfinished(self, what: str) -> None:
        raise AssertionError(what)

    def broke(self, error: Exception) -> None:
        self.errors.append(error)


def test_endless_answers_do_not_keep_stop_or_others_waiting(listener: socket.socket) -> None:
    handler = Endless()
    loop = Loop(listener, handler, name="endless")
    loop.start()
    port = listener.getsockname()[1]
    stop_reading = threading.Event()

    def read() -> None:
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            while not stop_reading.is_set() and sock.recv(1 << 20):
                pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for path in ("/raise", "/break"):
            with socket.create_connection(("127.0.0.1", port)) as sock:
                sock.settimeout(10)
                sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                read_all(sock)
        assert [str(e) for e in handler.errors] == ["handler", "steps"]
        began = time.monotonic()
        loop.stop()
        assert time.monotonic() - began < 0.5
        assert handler.drawn > 1
    finally:
        stop_reading.set()
        loop.stop()
        reader.join(10)


def test_a_listener_closed_by_its_owner_first(serve: Serve, listener: socket.socket) -> None:
    loop = Loop(listener, Endless(), name="closed")
    loop.start()
    listener.close()
    began = time.monotonic()
    loop.stop()
    assert time.monotonic() - began < 0.5


def test_nothing_is_left_open(serve: Serve) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    served = serve(FOREVER)
    before = descriptors()
    threads = threading.active_count()
    second = serve(FOREVER)
    second.post()
    second.stop()
    assert descriptors() == before + 1  # its listener, which is ours
    assert threading.active_count() == threads
    served.stop()


PIECES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            request_bytes(BODY),
            request_bytes(BODY)[:-3],
            b"POST /v1/chat/completions HTTP/1.1\r\n",
            b"Host: x\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Content-Length: 10\r\n",
            b"Expect: 100-continue\r\n",
            b"\r\n",
            b"\r\n\r\n",
            b"5\r\nhello\r\n",
            b"0\r\n\r\n",
        ]
    ),
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(PIECES, max_size=6), min_size=1, max_size=4), st.booleans())
def test_any_bytes_leave_a_server_that_serves(serve: Serve, clients: list[list[bytes]], half_close: bool) -> None:
    served = serve(FOREVER)
    socks = [served.connect() for _ in clients]
    for sock, pieces in zip(socks, clients, strict=True):
        with contextlib.suppress(ConnectionError):  # refused already
            for piece in pieces:
                sock.sendall(piece)
            if half_close:
                sock.shutdown(socket.SHUT_WR)
    assert served.post()[0] == 200
    began = time.monotonic()
    model = served.stop()
    assert time.monotonic() - began < 1
    assert model.journal[-1].answered == "say" or len(model.journal) > 1
    json.dumps([r.record() for r in model.journal]).encode()
    for sock in socks:
        sock.close()
