"""Server-sent events: bytes in, the value of each `data:` line out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def data(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield what stands after `data:` and one blank; comments and other fields are passed over."""
    for line in _lines(chunks):
        if line.startswith(b"data:"):
            value = line[5:]
            yield (value[1:] if value.startswith(b" ") else value).decode("utf-8", "replace")


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines without their end (LF or CRLF), whatever the chunks' borders; also a last one without end."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line[:-1] if line.endswith(b"\r") else line
    if rest:
        yield rest
