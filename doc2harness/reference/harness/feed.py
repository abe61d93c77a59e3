"""The events of a session's turns, for clients that come early or late and stay as long as they like."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

Event = dict[str, Any]


class _Turn:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.next: _Turn | None = None


class Feed:
    """Holds the events of the last turn; `follow` gives them from its start and goes on with the turns after it."""

    def __init__(self) -> None:
        self._turn = _Turn()
        self._news = threading.Condition()
        self._closed = False

    def begin(self) -> None:
        """A new turn starts."""
        with self._news:
            self._turn.next = _Turn()
            self._turn = self._turn.next

    def put(self, event: Event) -> None:
        with self._news:
            self._turn.events.append(event)
            self._news.notify_all()

    def close(self) -> None:
        """No more turns: all followers end."""
        with self._news:
            self._closed = True
            self._news.notify_all()

    def follow(self) -> Iterator[Event | None]:
        """Events as they come; None now and then while there are none, so that the caller can see to its client."""
        turn, index = self._turn, 0
        while True:
            with self._news:
                if index == len(turn.events) and turn.next is None and not self._closed:
                    self._news.wait(0.5)
                fresh, next_turn, closed = turn.events[index:], turn.next, self._closed
            yield from fresh
            index += len(fresh)
            if fresh:
                continue
            if next_turn is not None:
                turn, index = next_turn, 0
            elif closed:
                return
            else:
                yield None
