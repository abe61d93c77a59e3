"""A small web server for what a candidate fetches: named hosts, statuses, redirects, bodies of any kind and size.

Hosts are told apart by the Host header, so that all of them may share one listening socket. What was asked is kept in
a journal of its own. Nothing here is a verdict: an unknown host or path is a plain 404.
"""

from __future__ import annotations

import base64
import binascii
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from triathlon.scripted.exchange import End, Exchange, Pause, Step
from triathlon.scripted.http import BadRequest, HttpRequest, answer_head
from triathlon.scripted.loop import Loop
from triathlon.scripted.script import Seconds, Strict

MAX_REQUESTS = 10_000
MAX_BODY = 1024 * 1024
BLOCK = 64 * 1024


class Slow(Strict):
    """The body in so many pieces, with a pause before each."""

    pieces: Annotated[int, Field(ge=1, le=10_000)]
    pause: Seconds


class Page(Strict):
    """What is answered at one path."""

    status: Annotated[int, Field(ge=200, le=599)] = 200
    headers: dict[str, str] = Field(default_factory=dict)
    type: str | None = Field(default=None, description="Content type; default text/plain, for base64 a byte stream.")
    body: str = ""
    base64: str | None = Field(default=None, description="The body's bytes, instead of `body`.")
    repeat: Annotated[int, Field(ge=1, le=100_000_000)] = Field(default=1, description="The body, so many times.")
    redirect: str | None = Field(default=None, description="Location; the status is then 302 unless it is given.")
    delay: Seconds = Field(default=0.0, description="Seconds before the first byte.")
    slow: Slow | None = None
    cut: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="The connection is closed after so many bytes of the body; the length is the whole's."
    )
    drop: bool = Field(default=False, description="Closed before a byte.")

    @field_validator("base64")
    @classmethod
    def _decodes(cls, value: str | None) -> str | None:
        try:
            base64.b64decode(value or "", validate=True)
        except binascii.Error as error:
            raise ValueError(f"not base64: {error}") from None
        return value

    @model_validator(mode="before")
    @classmethod
    def _long_form(cls, data: Any) -> Any:
        return {"body": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if self.base64 is not None and self.body:
            raise ValueError("give `body` or `base64`, not both")
        return self


@dataclass
class WebRequest:
    """One request to the web server. `path` holds the query too; times are as in the model's journal."""

    index: int
    time: float
    method: str
    host: str
    path: str
    headers: dict[str, str]
    raw: bytes
    answered: str
    done: float | None = None
    left: float | None = None

    @property
    def url(self) -> str:
        """The address asked for."""
        return f"http://{self.host}{self.path}"


class WebServer:
    """Serves `sites` (host -> path -> page) on a listening socket, which stays its owner's.

    A path with a query is looked up whole, then without the query. Pages may be `Page`, objects with the same
    attributes, or plain data; pydantic's ValidationError says what is wrong with them. `fill` fills placeholders in.
    """

    def __init__(
        self,
        sites: Mapping[str, Mapping[str, Any]],
        listener: socket.socket,
        *,
        fill: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self.journal: list[WebRequest] = []
        self.notes: list[str] = []
        """What reached the socket and was no whole request."""
        self.errors: list[Exception] = []
        """Faults of ours."""
        self._sites = {
            host.lower(): {
                path: page if isinstance(page, Page) else Page.model_validate(page, from_attributes=True)
                for path, page in pages.items()
            }
            for host, pages in sites.items()
        }
        self._fill = fill
        self._began = 0.0
        self._loop = Loop(listener, self, name="web-server", max_body=MAX_BODY)

    def start(self) -> None:
        """Begin to answer; times in the journal count from here."""
        self._began = time.monotonic()
        self._loop.start()

    def stop(self) -> None:
        """End all connections; returns at once. After it the journal is final."""
        self._loop.stop()

    def handle(self, exchange: Exchange) -> None:
        """Answer one request; called by the loop."""
        http = exchange.request
        host = http.headers.get("host", "").rpartition("@")[2].partition(":")[0].lower()
        page = self._page(host, http.path)
        answered = f"status {page.status}" if page is not None else "status 404"
        if page is not None and page.redirect is not None:
            answered = f"redirect {self._fill(page.redirect)}"
        if len(self.journal) < MAX_REQUESTS:
            request = WebRequest(
                len(self.journal) + 1, self._now(), http.method, host, http.path, http.headers, http.body, answered
            )
            exchange.on_done = lambda: setattr(request, "done", self._now())
            exchange.on_left = lambda: setattr(request, "left", self._now())
            self.journal.append(request)
        missing = Page(status=404, body=f"nothing at {http.path[:200]}\n")
        exchange.answer(self._steps(page or missing, http))

    def refused(self, error: BadRequest) -> None:
        """A client sent something that is no request."""
        self._note(f"no HTTP request: {error.reason}")

    def unfinished(self, what: str) -> None:
        """A request was begun and never ended."""
        self._note(f"a request never came to its end: {what}")

    def broke(self, error: Exception) -> None:
        """A fault of ours."""
        if len(self.errors) < 20:
            self.errors.append(error)

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _note(self, line: str) -> None:
        if len(self.notes) < 20:
            self.notes.append(line)

    def _page(self, host: str, path: str) -> Page | None:
        pages = self._sites.get(host, {})
        return pages.get(path) or pages.get(path.partition("?")[0])

    def _steps(self, page: Page, http: HttpRequest) -> Iterator[Step]:
        if page.delay:
            yield Pause(page.delay)
        if page.drop:
            yield End()
            return
        if page.base64 is not None:
            body, kind = base64.b64decode(page.base64), "application/octet-stream"
        else:
            body, kind = str(self._fill(page.body)).encode("utf-8", "replace"), "text/plain; charset=utf-8"
        own = {"content-type": ("Content-Type", page.type or kind)}
        status = page.status
        if page.redirect is not None:
            own["location"] = ("Location", str(self._fill(page.redirect)))
            status = 302 if status == 200 else status
        own |= {name.lower(): (name, str(self._fill(value))) for name, value in page.headers.items()}
        length = len(body) * page.repeat
        keep_alive = http.keep_alive and page.cut is None
        bare = http.method == "HEAD" or status in (204, 304)
        yield answer_head(status, own.values(), length=None if status == 204 else length, keep_alive=keep_alive)
        if not bare:
            yield from _body(body, page.repeat, min(length, length if page.cut is None else page.cut), page.slow)
        if not keep_alive:
            yield End()


def _body(body: bytes, repeat: int, length: int, slow: Slow | None) -> Iterator[Step]:
    """The first `length` bytes of the repeated body, in blocks, so that a huge one is never in memory whole."""
    unit = body * max(1, min(repeat, BLOCK // max(1, len(body))))
    size = len(unit) if slow is None else max(1, -(-length // slow.pieces))
    sent = 0
    while sent < length:
        start = sent % len(unit)
        count = min(size, length - sent)
        if slow is not None:
            yield Pause(slow.pause)
            # A piece may be longer than the unit: then it is put together from several.
            yield (unit * (-(-(start + count) // len(unit))))[start : start + count]
        else:
            count = min(count, len(unit) - start)
            yield unit[start : start + count]
        sent += count
