"""One HTTP/1.1 request on a connection of its own. (http.client would cost more than all the rest of the start-up.)"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping

LONGEST_LINE = 65_536
MOST_HEADERS = 200


class BadAnswer(Exception):
    """What came is not HTTP, or ended before it was whole."""


class Response:
    """Status, headers (lower-case names) and a body that is read as it comes."""

    def __init__(self, sock: socket.socket) -> None:
        """Read the head. Raises BadAnswer, OSError (TimeoutError when nothing comes for the socket's timeout)."""
        self._sock = sock
        self._buffer = b""
        self.status = 100
        while self.status < 200 and self.status != 101:  # what comes before the answer proper
            self.status = self._status()
            self.headers = self._headers()

    def chunks(self) -> Iterator[bytes]:
        """The body in pieces, as they come."""
        if self.headers.get("transfer-encoding", "").lower().endswith("chunked"):
            while size := self._size():
                yield from self._exactly(size)
                self._line()
            self._headers()
        elif "content-length" in self.headers:
            yield from self._exactly(_number(self.headers["content-length"], 10))
        else:
            while piece := self._take(LONGEST_LINE):
                yield piece

    def read(self) -> bytes:
        return b"".join(self.chunks())

    def header(self, name: str) -> str:
        return self.headers.get(name, "")

    def _status(self) -> int:
        version, _, rest = self._line().partition(b" ")
        if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
            raise BadAnswer("the answer is not HTTP")
        return int(rest[:3])

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for _ in range(MOST_HEADERS):
            line = self._line()
            if not line:
                return headers
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        raise BadAnswer("the answer has too many headers")

    def _size(self) -> int:
        return _number(self._line().partition(b";")[0].decode("latin-1"), 16)

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            piece = self._sock.recv(LONGEST_LINE)
            if not piece or len(self._buffer) > LONGEST_LINE:
                raise BadAnswer("the connection was closed before the answer was whole")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.removesuffix(b"\r")

    def _exactly(self, size: int) -> Iterator[bytes]:
        while size:
            piece = self._take(min(size, LONGEST_LINE))
            if not piece:
                raise BadAnswer("the connection was closed before the answer was whole")
            size -= len(piece)
            yield piece

    def _take(self, most: int) -> bytes:
        if self._buffer:
            piece, self._buffer = self._buffer[:most], self._buffer[most:]
            return piece
        return self._sock.recv(most)


def connect(scheme: str, host: str, port: int | None, timeout: float) -> socket.socket:
    """A connection; `timeout` holds for it and for every read. Raises OSError."""
    # As bytes, since a name as text makes Python load its tables for international names.
    name = host.encode("ascii") if host.isascii() else host
    sock = socket.create_connection((name, port or (443 if scheme == "https" else 80)), timeout)  # type: ignore[arg-type]
    if scheme != "https":
        return sock
    import ssl

    return ssl.create_default_context().wrap_socket(sock, server_hostname=host)


def post(sock: socket.socket, host: str, path: str, headers: Mapping[str, str], body: bytes) -> Response:
    """Send a request; the answer's head is read, its body is not yet."""
    lines = {"Host": host, **headers, "Content-Length": str(len(body)), "Connection": "close"}
    head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    sock.sendall(head.encode() + body)
    return Response(sock)


def _number(text: str, base: int) -> int:
    try:
        number = int(text.strip(), base)
    except ValueError as error:
        raise BadAnswer(f"the answer is not HTTP: {text[:40]!r} is not a size") from error
    if number < 0:
        raise BadAnswer("the answer is not HTTP: a size below 0")
    return number
