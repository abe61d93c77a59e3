"""The request parser: whole requests out of any pieces, and a clear no to everything else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triathlon.scripted.http import BadRequest, HttpRequest, Parser, answer_head, chunk

GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /b?q=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX-A: 1\r\nx-a: 2\r\n\r\nhello"
CHUNKED = (
    b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;ext=1\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: 1\r\n\r\n"
)


def parse(data: bytes, size: int = 1 << 20, **limits: int) -> list[HttpRequest]:
    """All requests of these bytes, fed in pieces of `size`."""
    parser, found = Parser(**limits), []
    for i in range(0, len(data), size):
        parser.feed(data[i : i + size])
        while (request := parser.next()) is not None:
            found.append(request)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
def test_any_pieces_give_the_same_requests(size: int) -> None:
    found = parse(GET + b"\r\n" + POST + CHUNKED + GET, size)
    assert [(r.method, r.target, r.body) for r in found] == [
        ("GET", "/a", b""),
        ("POST", "/b?q=1", b"hello"),
        ("POST", "/c", b"hello"),
        ("GET", "/a", b""),
    ]
    assert found[1].headers == {"host": "x", "content-length": "5", "x-a": "1, 2"}


@pytest.mark.parametrize(
    ("line", "keep"),
    [
        ("HTTP/1.1\r\nHost: x", True),
        ("HTTP/1.1\r\nHost: x\r\nConnection: Close", False),
        ("HTTP/1.1\r\nHost: x\r\nConnection: x, close", False),
        ("HTTP/1.0", False),
        ("HTTP/1.0\r\nConnection: Keep-Alive", True),
    ],
)
def test_keep_alive(line: str, keep: bool) -> None:
    (request,) = parse(f"GET / {line}\r\n\r\n".encode())
    assert request.keep_alive is keep
    assert request.chunked_ok is ("1.1" in line)


@pytest.mark.parametrize(
    ("target", "path"),
    [("/v1/x", "/v1/x"), ("http://h:80/v1/x?q", "/v1/x?q"), ("HTTP://h", "/"), ("*", "*")],
)
def test_path_of_a_target(target: str, path: str) -> None:
    (request,) = parse(f"GET {target} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    assert request.path == path


def test_continue_is_wanted_once_and_only_while_the_body_is_missing() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    parser = Parser()
    parser.feed(head)
    assert parser.next() is None
    assert parser.take_continue() and not parser.take_continue()
    parser.feed(b"ab")
    assert parser.next() is not None
    parser.feed(head + b"ab")
    assert parser.next() is not None
    assert not parser.take_continue()


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00", 400, "TLS"),
        (b"\x00\x01", 400, "no HTTP"),
        (b"G" * 40, 400, "no HTTP"),
        (b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "not a request line"),
        (b"GET /\r\n\r\n", 400, "not a request line"),
        (b"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505, "not HTTP/1.1"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "not HTTP/1.1"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, "needs a Host"),
        (b"GET / HTTP/1.1\nHost: x\n\n", 400, "CR LF"),
        (b"GET / HTTP/1.1\r\nHost x\r\n\r\n", 400, "not a header line"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400, "not a header line"),
        (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400, "not a header line"),
        (b"GET / HTTP/1.1\r\nHost: x\0\r\n\r\n", 400, "not a header line"),
        (b"GET / HTTP/1.1\r\nHost: " + b"x" * 70_000, 431, "head is over"),
        (b"GET / HTTP/1.1\r\nHost: " + b"x" * 70_000 + b"\r\n\r\n", 431, "head is over"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400, "not a length"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "not a length"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413, "body is over"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400, "not a length"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "unknown transfer coding"),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            400,
            "both Transfer-Encoding and Content-Length",
        ),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, "not a chunk size"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2000, 431, "size line"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413, "body is over"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", 400, "longer than its size"),
    ],
)
@pytest.mark.parametrize("size", [1, 100_000])
def test_refused(data: bytes, status: int, words: str, size: int) -> None:
    with pytest.raises(BadRequest) as error:
        parse(data, size)
    assert error.value.status == status
    assert words in error.value.reason


def test_limits_are_exact() -> None:
    body = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789"
    assert parse(body, max_body=10)[0].body == b"0123456789"
    with pytest.raises(BadRequest):
        parse(body, max_body=9)
    two = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n"
    with pytest.raises(BadRequest, match="body is over 10"):
        parse(two, max_body=10)
    trailer = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 100
    with pytest.raises(BadRequest, match="the trailer"):
        parse(trailer, max_head=200)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.integers(1, 50))
def test_random_bytes_raise_nothing_else(data: bytes, size: int) -> None:
    for start in (b"", b"POST / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"):
        try:
            parse(start + data, size)
        except BadRequest as error:
            assert 400 <= error.status <= 505


def test_what_is_unfinished_is_said() -> None:
    parser = Parser()
    assert parser.unfinished is None
    parser.feed(b"POST /x HTTP/1.1\r\n")
    assert parser.next() is None
    assert parser.unfinished == "18 bytes of a request head"
    parser.feed(b"Host: x\r\nContent-Length: 9\r\n\r\nabc")
    assert parser.next() is None
    assert parser.unfinished == "POST /x: 3 bytes of its body"
    assert parser.held == 3


def test_answer_head_is_byte_exact() -> None:
    assert answer_head(200, [("A", "b")], length=3) == (
        b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\n"
    )
    assert answer_head(529, [("A", "b\r\nInjected: c")], length=None, chunked=True, keep_alive=False) == (
        b"HTTP/1.1 529 Status\r\nA: b Injected: c\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    assert chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"
    assert chunk(b"") == b"0\r\n\r\n"
