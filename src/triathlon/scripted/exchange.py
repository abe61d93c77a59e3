"""Between a server's loop and its handler: a request, the steps of an answer, and what a handler must do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from triathlon.scripted.http import BadRequest, HttpRequest


def _nothing() -> None:
    """What an exchange does until a handler wants to know."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class End:
    """The connection ends here: closed, or reset if `hard`."""

    hard: bool = False


Step = bytes | Pause | End


class Exchange:
    """A request and the one answer to it."""

    def __init__(self, request: HttpRequest, send: Callable[[Exchange, Iterator[Step]], None]) -> None:
        self.request = request
        self.on_done: Callable[[], None] = _nothing
        self.on_left: Callable[[], None] = _nothing
        self._send = send

    def answer(self, steps: Iterable[Step]) -> None:
        """Send the answer; from any thread, once. The steps are drawn in the loop's thread, as the client reads.

        `on_done` is called after the last byte, `on_left` if the client closed its side before that.
        """
        self._send(self, iter(steps))


class Handler(Protocol):
    """What a server does with requests; all methods are called in the loop's thread and should return soon."""

    def handle(self, exchange: Exchange) -> None:
        """Answer a request, now or later."""

    def refused(self, error: BadRequest) -> None:
        """A client sent something that is no request; it is answered and its connection closed."""

    def unfinished(self, what: str) -> None:
        """A request was begun and never ended: its client went away, or the server stopped."""

    def broke(self, error: Exception) -> None:
        """`handle` or a step raised: a fault of ours."""
