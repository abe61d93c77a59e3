"""Which reply answers a request: lanes in order, replies in order, and what is left at the end."""

from __future__ import annotations

from dataclasses import dataclass

from triathlon.scripted.guards import Fill, why_not
from triathlon.scripted.journal import Request
from triathlon.scripted.script import Lane, Reply, Script


@dataclass(frozen=True, slots=True)
class Taken:
    """The reply for a request; `index` counts from 1 within the lane."""

    lane: str
    index: int
    reply: Reply


class Unforeseen(Exception):
    """No reply of the script is meant for this request; `lane` is the one that should have had it, if any."""

    def __init__(self, reason: str, lane: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.lane = reason, lane


class _Queue:
    """The replies of one lane, and how far it is."""

    def __init__(self, name: str, lane: Lane) -> None:
        self.name, self.replies = name, lane.replies
        self.at = 0  # the reply that comes next
        self.used = 0  # how often it was given

    def take(self, request: Request, fill: Fill) -> Taken:
        """The next reply whose guard holds; those that may be left out are passed by if theirs does not."""
        at, used = self.at, self.used
        passed: list[str] = []
        while at < len(self.replies):
            reply = self.replies[at]
            reason = why_not(reply.when, request, fill)
            if reason is None:
                self.at, self.used = at, used + 1
                if self.used == reply.times:
                    self.at, self.used = at + 1, 0
                return Taken(self.name, at + 1, reply)
            passed.append(f"reply {at + 1} of {len(self.replies)} waits for another request ({reason})")
            if not reply.may_stay:
                break
            at, used = at + 1, 0
        why = "; ".join(passed) or f"all {len(self.replies)} replies are used up"
        raise Unforeseen(f"lane {self.name}: {why}", self.name)

    def left_over(self) -> list[str]:
        """A line for each reply that was due and never asked for."""
        lines = []
        for i in range(self.at, len(self.replies)):
            reply, used = self.replies[i], self.used if i == self.at else 0
            if not reply.may_stay:
                often = f" ({used} of {reply.times} times)" if used else ""
                lines.append(
                    f"lane {self.name}: reply {i + 1} of {len(self.replies)} was never asked for{often}: {title(reply)}"
                )
        return lines


class Lanes:
    """All lanes of a script. Not thread-safe: one thread takes."""

    def __init__(self, script: Script, fill: Fill) -> None:
        self._fill = fill
        self._queues = {name: _Queue(name, lane) for name, lane in script.lanes.items()}
        self._guarded = [(name, lane.when) for name, lane in script.lanes.items() if lane.when is not None]
        self._rest = next((name for name, lane in script.lanes.items() if lane.when is None), None)

    def take(self, request: Request) -> Taken:
        """The reply for a request; raises Unforeseen with the reason if there is none.

        The first lane whose guard holds takes it, also when that lane is used up. The lane without a guard takes what
        is left, wherever it stands in the file.
        """
        reasons: list[str] = []
        for name, guard in self._guarded:
            reason = why_not(guard, request, self._fill)
            if reason is None:
                return self._queues[name].take(request, self._fill)
            reasons.append(f"lane {name}: {reason}")
        if self._rest is None:
            raise Unforeseen("no lane takes it: " + "; ".join(reasons))
        return self._queues[self._rest].take(request, self._fill)

    @property
    def left_over(self) -> list[str]:
        """A line for each reply that was due and never asked for."""
        return [line for queue in self._queues.values() for line in queue.left_over()]


def title(reply: Reply) -> str:
    """A reply in a few words, as the journal and people are told of it."""
    if reply.status is not None:
        return f"status {reply.status}"
    if reply.fault is not None:
        return f"fault {reply.fault.kind}"
    if reply.tool_calls:
        return f"calls {', '.join(call.tool for call in reply.tool_calls)}"
    if reply.say is not None:
        return "say"
    return "reasoning" if reply.reasoning is not None else "nothing"
