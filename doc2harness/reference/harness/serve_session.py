"""A session that the server works with: its conversation, its turn, its approvals, its events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from .feed import Feed
from .options import Options
from .session import Session
from .shown import target
from .turn import run_turn
from .types import Answer, Call, Cancel, Decision, ToolError
from .workplace import Workplace

ANSWERS = {"allow": "yes", "session": "session", "always": "always", "deny": "no"}


class Busy(Exception):
    """A turn of this session is running."""


class Live:
    """One session in the server. It is also the user whom the conversation asks: a client answers."""

    def __init__(self, session: Session, options: Options, warn: Callable[[str], None]) -> None:
        """Raises UsageError for what does not fit the session's workspace."""
        self.feed = Feed()
        self.place = Workplace(session.workspace, options, warn, self)
        self.conversation = self.place.conversation(session, self.feed.put)
        self._turn = threading.Lock()  # held while a turn runs
        self._change = threading.Condition()
        self._open: dict[str, Answer | None] = {}  # approvals that wait, or were answered a moment ago
        self._count = 0

    @property
    def state(self) -> str:
        return "busy" if self._turn.locked() else "idle"

    def message(self, prompt: str) -> dict[str, Any]:
        """Run a turn and return its result. Raises Busy."""
        with self._change:
            if not self._turn.acquire(blocking=False):
                raise Busy
            self.conversation.context.cancel = Cancel()
        try:
            self.feed.begin()
            outcome = run_turn(self.conversation, prompt)
            self.feed.put(outcome.result)
            return outcome.result
        finally:
            self.conversation.session.close()
            self._turn.release()
            with self._change:
                self._change.notify_all()

    def abort(self, reason: str = "abort", patience: float = 5.0) -> None:
        """End the running turn, if there is one, and wait for its end."""
        with self._change:
            if not self._turn.locked():
                return
            cancel = self.conversation.context.cancel
        cancel.set(reason)
        with self._change:
            self._change.notify_all()
            self._change.wait_for(lambda: not self._turn.locked(), patience)

    def answer(self, id: str, answer: Answer) -> bool:
        """Settle an approval; False if there is none of this id that waits."""
        with self._change:
            if self._open.get(id, answer) is not None:
                return False
            self._open[id] = answer
            self._change.notify_all()
            return True

    def close(self) -> None:
        self.conversation.end()
        self.place.close()
        self.feed.close()

    def approve(self, call: Call, decision: Decision) -> Answer:
        """Show the call to the clients and wait for an answer, at most `approval_timeout` seconds."""
        cancel = self.conversation.context.cancel
        deadline = time.monotonic() + self.place.settings.approval_timeout
        with self._change:
            self._count += 1
            id = f"a{self._count}"
            self._open[id] = None
        arguments = call.arguments or {}
        self.feed.put(
            {"type": "approval", "id": id, "tool": call.name, "input": arguments, "target": target(call, decision)}
        )
        with self._change:
            while self._open[id] is None and not cancel.is_set() and time.monotonic() < deadline:
                self._change.wait(min(1.0, max(0.0, deadline - time.monotonic())))
            return self._open.pop(id) or Answer("unanswered")

    def question(self, text: str, choices: list[str], secret: bool) -> str | None:
        raise ToolError("there is no terminal to ask at: no terminal")

    def plan(self, text: str) -> Answer:
        return self.approve(Call("", "exit_plan", {"plan": text}, ""), Decision("ask", "a plan waits for approval"))
