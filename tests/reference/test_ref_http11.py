"""The HTTP client: heads and bodies in any pieces, and what is no whole answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from harness.http11 import BadAnswer, Response, post
from hypothesis import given
from hypothesis import strategies as st

_CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n4;x=y\r\nabcd\r\n1\r\n\n\r\n0\r\nTrailer: x\r\n\r\n"


def _answer(raw: bytes, size: int = 1000) -> Iterator[socket.socket]:
    """A connection on which the bytes come in pieces, and then the end."""
    ours, theirs = socket.socketpair()

    def send() -> None:
        with theirs, suppress(OSError):  # the reader may have seen enough and be gone
            for at in range(0, len(raw), size):
                theirs.sendall(raw[at : at + size])

    sender = threading.Thread(target=send)
    sender.start()
    with ours:
        yield ours
    sender.join()


def _read(raw: bytes, size: int = 1000) -> tuple[int, bytes]:
    for sock in _answer(raw, size):
        response = Response(sock)
        return response.status, response.read()
    raise AssertionError


@given(st.integers(1, 30), st.sampled_from([_CHUNKED, b"content-length: 5\r\n\r\nabcd\nmore", b"\r\nabcd\n"]))
def test_a_body_is_whole_whatever_its_pieces(size: int, rest: bytes) -> None:
    raw = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n" + rest
    assert _read(raw, size) == (200, b"abcd\n")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"SSH-2.0\r\n",
        b"HTTP/1.1 2",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + _CHUNKED[:-30],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\nx2: z\r\n" * 20_000,
    ],
)
def test_what_is_no_whole_answer(raw: bytes) -> None:
    with pytest.raises((BadAnswer, ConnectionError)):
        _read(raw)


def test_what_is_sent() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n")
        assert post(ours, "h:1", "/v1/x", {"A": "b"}, b"{}").status == 204
        sent = theirs.recv(1000)
    assert sent.startswith(b"POST /v1/x HTTP/1.1\r\nHost: h:1\r\nA: b\r\nContent-Length: 2\r\n")
    assert sent.endswith(b"\r\n\r\n{}")
