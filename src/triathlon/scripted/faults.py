"""How an answer goes out over HTTP, whole or as a stream, sound or broken.

| fault | stream | whole body |
|---|---|---|
| `cut: N` | N events, then the connection is closed (`hard`: reset) without the body's end | N characters, same |
| `silence: S, after: N` | head and N events, S seconds nothing, then the rest | head and N characters, same |
| `drop` | closed (`hard`: reset) before a byte | same |
| `malformed`, `after: N` | event N+1 (default: 2) is half its JSON, the rest follows | half the body, right length |
| `malformed: error` | that event is an error object, and the stream ends there | status 200 with an error object |
| `no_end` | neither finish reason nor usage nor end mark; HTTP ends as it should | no finish reason |
| `no_end: done` / `finish` | only the end mark / only the finish event is missing | nothing / the reason is missing |
| `length` | the last call's arguments (else the text) cut, finish reason `length` | same |

Other ways to misbehave need no fault here: an HTTP status (`status`), arguments that are not JSON (`raw`), equal call
ids (`id`), reasoning only, `nothing`, usage that lies (`usage`), a changed mind (two replies that contradict).

A cut or a silence never leaves less than the end to be missed: N is at most all events before the finish event, and all
characters but one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triathlon.scripted.exchange import End, Pause, Step
from triathlon.scripted.http import HttpRequest, answer_head, chunk
from triathlon.scripted.journal import Ask
from triathlon.scripted.script import Fault
from triathlon.scripted.wire import Answer, Event, Failure, Wire, cut_short

Headers = list[tuple[str, str]]
MIDWAY = Failure("The server had an error while processing your request.", "server_error", "server_error")


def play(
    answer: Answer,
    fault: Fault | None,
    looks: Sequence[str] = (),
    *,
    wire: Wire,
    ask: Ask,
    stream: bool,
    http: HttpRequest,
    headers: Headers,
) -> Iterator[Step]:
    """The steps of an answer with content.

    `headers` are added to, or replace, those of the format; `looks` are those of the script's key `sse`.
    """
    if fault is not None and fault.drop:
        yield End(fault.hard)
        return
    if fault is not None and fault.length is not None:
        answer = cut_short(answer, fault.length)
    if fault is not None and fault.no_end in (True, "finish"):
        answer = replace(answer, finish=None)
    if stream:
        yield from _stream(answer, fault, looks, wire, ask, http, headers)
    else:
        yield from _whole(answer, fault, wire, http, headers)


def body_steps(status: int, body: bytes, content_type: str, http: HttpRequest, headers: Headers) -> Iterator[Step]:
    """The steps of a sound answer with one body; for HEAD, its head alone."""
    yield _head(status, content_type, http, headers, length=len(body)) + (b"" if http.method == "HEAD" else body)
    if not http.keep_alive:
        yield End()


def _head(status: int, content_type: str, http: HttpRequest, headers: Headers, length: int | None) -> bytes:
    own = {"content-type": ("Content-Type", content_type)} | {name.lower(): (name, value) for name, value in headers}
    chunked = length is None and http.chunked_ok
    keep_alive = http.keep_alive and (chunked or length is not None)
    return answer_head(status, own.values(), length=length, chunked=chunked, keep_alive=keep_alive)


def _whole(answer: Answer, fault: Fault | None, wire: Wire, http: HttpRequest, headers: Headers) -> Iterator[Step]:
    body = wire.whole(answer)
    if fault is not None and fault.malformed == "error":
        body = wire.failure(MIDWAY)
    elif fault is not None and fault.malformed:
        body = _characters(body, len(body.decode()) // 2 if fault.after is None else fault.after)
    head = _head(200, wire.whole_type, http, headers, length=len(body))
    if fault is not None and fault.cut is not None:
        yield head + _characters(body, fault.cut)
        yield End(fault.hard)
        return
    if fault is not None and fault.silence is not None:
        first = _characters(body, fault.after or 0)
        yield head + first
        yield Pause(fault.silence)
        yield body[len(first) :]
    else:
        yield head + body
    if not http.keep_alive:
        yield End()


def _characters(body: bytes, count: int) -> bytes:
    """So many characters of a body, and never all of them."""
    text = body.decode()
    return text[: min(count, len(text) - 1)].encode()


def _stream(
    answer: Answer,
    fault: Fault | None,
    looks: Sequence[str],
    wire: Wire,
    ask: Ask,
    http: HttpRequest,
    headers: Headers,
) -> Iterator[Step]:
    events = _endless(wire.events(answer, ask), fault)
    content = sum(event.kind == "content" for event in events)

    def framed(events: Sequence[bytes]) -> bytes:
        if not http.chunked_ok:
            return b"".join(events)
        return b"".join(chunk(piece) for piece in (_torn(events) if "torn" in looks else events))

    head = _head(200, wire.stream_type, http, [("Cache-Control", "no-cache"), *headers], length=None)
    last = chunk(b"") if http.chunked_ok else b""
    data = [event.data for event in events]
    if fault is not None and fault.malformed is not None:
        spot = min(1 if fault.after is None else fault.after, content - 1)
        if fault.malformed == "error":
            data[spot:] = [wire.failure_event(MIDWAY)]
        else:
            data[spot] = _half(data[spot])
    data = [_dressed(event, looks) for event in data]
    if fault is not None and fault.cut is not None:
        yield head + framed(data[: min(fault.cut, content)])
        yield End(fault.hard)
        return
    if fault is not None and fault.silence is not None:
        first = min(fault.after or 0, content)
        yield head + framed(data[:first])
        yield Pause(fault.silence)
        yield framed(data[first:]) + last
    else:
        yield head + framed(data) + last
    if not (http.keep_alive and http.chunked_ok):
        yield End()


def _endless(events: list[Event], fault: Fault | None) -> list[Event]:
    """The events that a `no_end` leaves; a finish reason that is to be missing is already left out of the answer."""
    if fault is None or fault.no_end is None or fault.no_end == "finish":
        return events
    gone = ("end",) if fault.no_end == "done" else ("finish", "usage", "end")
    return [event for event in events if event.kind not in gone]


def _half(event: bytes) -> bytes:
    """An event whose JSON breaks off half way, its framing kept."""
    start = event.find(b"{")
    payload = event[start:].rstrip(b"\n")
    return event[:start] + payload[: len(payload) // 2].decode(errors="ignore").encode() + b"\n\n"


def _dressed(event: bytes, looks: Sequence[str]) -> bytes:
    """An event as another server would write it; the same to a reader of server-sent events."""
    if "tight" in looks:
        event = event.replace(b"data: ", b"data:", 1)
    if "comments" in looks:
        event = b": still here\n\n" + event
    return event.replace(b"\n", b"\r\n") if "crlf" in looks else event


def _torn(events: Sequence[bytes]) -> list[bytes]:
    """The same bytes in pieces that end anywhere."""
    data = b"".join(events)
    return [data[i : i + 7] for i in range(0, len(data), 7)]
