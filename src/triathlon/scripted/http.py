"""HTTP/1.1 as bytes: an incremental request parser and the head of an answer. No sockets here.

The parser takes bytes in any pieces and never raises anything but `BadRequest`. It is strict where leniency would hide
a fault or let two readers disagree (bare line feeds, two lengths, a length beside chunks), and bounded everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

MAX_HEAD = 64 * 1024
MAX_BODY = 16 * 1024 * 1024
MAX_CHUNK_LINE = 1024

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_METHOD_START = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}( |\Z)")
_VERSION = re.compile(rb"HTTP/1\.[01]")
_HEX = re.compile(rb"[0-9A-Fa-f]{1,8}")
_DIGITS = re.compile(rb"[0-9]{1,15}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


class BadRequest(Exception):
    """Bytes that are no HTTP request, or one over a limit; `status` is the answer they deserve."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One whole request. Header names are lower-case; one that came twice is joined by ", "."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    keep_alive: bool
    chunked_ok: bool

    @property
    def path(self) -> str:
        """The target without scheme and host, should it have them (a client that takes us for a proxy)."""
        match = re.match(r"https?://[^/?#]*", self.target, re.IGNORECASE)
        return (self.target[match.end() :] or "/") if match else self.target


@dataclass(slots=True)
class _Head:
    method: str
    target: str
    headers: dict[str, str]
    version: bytes

    @property
    def keep_alive(self) -> bool:
        options = [o.strip().lower() for o in self.headers.get("connection", "").split(",")]
        return "close" not in options and (self.version == b"HTTP/1.1" or "keep-alive" in options)


State = Literal["head", "length", "chunk-line", "chunk", "chunk-end", "trailer"]


class Parser:
    """Turns the bytes of one connection into requests."""

    def __init__(self, max_body: int = MAX_BODY, max_head: int = MAX_HEAD) -> None:
        self.max_body, self.max_head = max_body, max_head
        self._buffer = bytearray()
        self._scanned = 0
        self._state: State = "head"
        self._head: _Head | None = None
        self._body = bytearray()
        self._left = 0
        self._trailer = 0
        self._continue = False

    @property
    def held(self) -> int:
        """Bytes kept in memory."""
        return len(self._buffer) + len(self._body)

    @property
    def unfinished(self) -> str | None:
        """What has begun and not ended: None, or words for a person."""
        if self._head is not None:
            return (
                f"{self._head.method} {self._head.target[:80]}: {len(self._body) + len(self._buffer)} bytes of its body"
            )
        return f"{len(self._buffer)} bytes of a request head" if self._buffer else None

    def take_continue(self) -> bool:
        """Whether the client waits for `100 Continue`; true once a request, and only while its body is missing."""
        wanted, self._continue = self._continue, False
        return wanted

    def feed(self, data: bytes) -> None:
        """Add bytes as they came."""
        self._buffer += data

    def next(self) -> HttpRequest | None:
        """The next whole request, or None if more bytes are needed; raises BadRequest, after which all is void."""
        while True:
            step = self._step()
            if step is None or isinstance(step, HttpRequest):
                return step

    def _step(self) -> HttpRequest | Literal[True] | None:
        """One step of the machine: a request, True to go on, None for lack of bytes."""
        match self._state:
            case "head":
                return self._read_head()
            case "length":
                return self._read_length()
            case "chunk-line":
                return self._read_chunk_line()
            case "chunk":
                return self._read_chunk()
            case "chunk-end":
                return self._read_chunk_end()
            case "trailer":
                return self._read_trailer()

    def _read_head(self) -> HttpRequest | Literal[True] | None:
        buffer = self._buffer
        while buffer[:2] == b"\r\n":  # allowed, and ignored, before a request line
            del buffer[:2]
        if not buffer or buffer == b"\r":
            return None
        if not _METHOD_START.match(buffer[:33]):
            tls = buffer[0] == 0x16
            raise BadRequest("a TLS hello on a plain http port" if tls else f"no HTTP: begins {bytes(buffer[:16])!r}")
        end = buffer.find(b"\r\n\r\n", max(0, self._scanned - 3))
        if end < 0 or end > self.max_head:
            if buffer.find(b"\n\n", max(0, self._scanned - 1), self.max_head) >= 0:
                raise BadRequest("lines of an HTTP head must end in CR LF")
            if len(buffer) > self.max_head:
                raise BadRequest(f"the head is over {self.max_head} bytes", 431)
            self._scanned = len(buffer)
            return None
        head = _parse_head(bytes(buffer[:end]))
        del buffer[: end + 4]
        self._scanned = 0
        self._head = head
        chunked, length = _framing(head.headers)
        if length > self.max_body:
            raise BadRequest(f"the body is over {self.max_body} bytes", 413)
        self._state, self._left = ("chunk-line", 0) if chunked else ("length", length)
        expects = head.headers.get("expect", "").lower() == "100-continue" and head.version == b"HTTP/1.1"
        self._continue = expects and not buffer and (chunked or length > 0)
        return True

    def _read_length(self) -> HttpRequest | None:
        if len(self._buffer) < self._left:
            return None
        self._body = self._buffer[: self._left]
        del self._buffer[: self._left]
        return self._whole()

    def _read_chunk_line(self) -> Literal[True] | None:
        line = self._line(MAX_CHUNK_LINE, "a chunk's size line")
        if line is None:
            return None
        size_text = line.partition(b";")[0].strip(b" \t")
        if not _HEX.fullmatch(size_text):
            raise BadRequest(f"not a chunk size: {size_text[:16]!r}")
        self._left = int(size_text, 16)
        if len(self._body) + self._left > self.max_body:
            raise BadRequest(f"the body is over {self.max_body} bytes", 413)
        self._state = "chunk" if self._left else "trailer"
        self._trailer = 0
        return True

    def _read_chunk(self) -> Literal[True] | None:
        take = min(self._left, len(self._buffer))
        self._body += self._buffer[:take]
        del self._buffer[:take]
        self._left -= take
        if self._left:
            return None
        self._state = "chunk-end"
        return True

    def _read_chunk_end(self) -> Literal[True] | None:
        if len(self._buffer) < 2:
            return None
        if self._buffer[:2] != b"\r\n":
            raise BadRequest("a chunk is longer than its size says")
        del self._buffer[:2]
        self._state = "chunk-line"
        return True

    def _read_trailer(self) -> HttpRequest | Literal[True] | None:
        line = self._line(self.max_head - self._trailer, "the trailer")
        if line is None:
            return None
        self._trailer += len(line) + 2
        return self._whole() if not line else True

    def _line(self, limit: int, what: str) -> bytes | None:
        end = self._buffer.find(b"\r\n", 0, limit + 2)
        if end < 0:
            if len(self._buffer) > limit:
                raise BadRequest(f"{what} is over {limit} bytes", 431)
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    def _whole(self) -> HttpRequest:
        head, body = self._head, bytes(self._body)
        assert head is not None
        self._state, self._head, self._body, self._continue = "head", None, bytearray(), False
        is_11 = head.version == b"HTTP/1.1"
        return HttpRequest(head.method, head.target, head.headers, body, head.keep_alive, is_11)


def _parse_head(head: bytes) -> _Head:
    """Request line and headers; the closing blank line is already off."""
    first, *lines = head.split(b"\r\n")
    parts = first.split(b" ")
    if len(parts) != 3 or not parts[1] or not _TOKEN.fullmatch(parts[0]):
        raise BadRequest(f"not a request line: {first[:80]!r}")
    if not _VERSION.fullmatch(parts[2]):
        raise BadRequest(f"not HTTP/1.1: {parts[2][:16]!r}", 505)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not _TOKEN.fullmatch(name) or b"\n" in value or b"\r" in value or b"\0" in value:
            raise BadRequest(f"not a header line: {line[:80]!r}")
        key, text = name.decode("ascii").lower(), value.strip(b" \t").decode("utf-8", "replace")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    if parts[2] == b"HTTP/1.1" and "host" not in headers:
        raise BadRequest("an HTTP/1.1 request needs a Host header")
    return _Head(parts[0].decode("ascii"), parts[1].decode("utf-8", "replace"), headers, parts[2])


def _framing(headers: Mapping[str, str]) -> tuple[bool, int]:
    """(chunked, length) of the body."""
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None:
        if length is not None:
            raise BadRequest("both Transfer-Encoding and Content-Length")
        if coding.strip().lower() != "chunked":
            raise BadRequest(f"unknown transfer coding {coding[:40]!r}", 501)
        return True, 0
    if length is None:
        return False, 0
    values = {v.strip() for v in length.split(",")}
    value = values.pop()
    if values or not _DIGITS.fullmatch(value.encode()):
        raise BadRequest(f"not a length: {length[:40]!r}")
    return False, int(value)


def answer_head(
    status: int,
    headers: Iterable[tuple[str, str]],
    *,
    length: int | None,
    chunked: bool = False,
    keep_alive: bool = True,
) -> bytes:
    """Status line and headers, blank line included; with neither `length` nor `chunked` the body ends with the stream.

    No Date header: the same script gives the same bytes.
    """
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Status"
    lines = [f"HTTP/1.1 {status} {phrase}"]
    lines += [f"{name}: {_CONTROL.sub(' ', value)}" for name, value in headers]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    elif chunked:
        lines.append("Transfer-Encoding: chunked")
    lines.append(f"Connection: {'keep-alive' if keep_alive else 'close'}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


def chunk(data: bytes) -> bytes:
    """`data` as one chunk of a chunked body; empty data ends the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)
