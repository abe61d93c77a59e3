"""The scripted model: a script behind a listening socket.

    model = ScriptedModel(parse_script([{"say": "hello"}]), listener, act=print)
    model.start()
    ...
    model.stop()
    model.journal, model.problems

It is strict. A request that the script did not foresee is answered with status 400 and code `unforeseen_request`,
journalled, and named in `problems`; so is a reply left over at the end. What the client is told does not say what the
script waited for: that is for the one who reads the result.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from triathlon.scripted.body import parse, weight
from triathlon.scripted.chat import chat
from triathlon.scripted.compose import Composer
from triathlon.scripted.exchange import Exchange, Step
from triathlon.scripted.faults import body_steps
from triathlon.scripted.http import MAX_BODY, BadRequest
from triathlon.scripted.journal import Request
from triathlon.scripted.lanes import Lanes, Taken, Unforeseen, title
from triathlon.scripted.loop import Loop
from triathlon.scripted.script import Action, Script
from triathlon.scripted.wire import Failure, Wire

MAX_REQUESTS = 10_000
MAX_JOURNAL = 128 * 1024 * 1024
MAX_PROBLEMS = 20
UNFORESEEN = Failure("The scripted model did not foresee this request.", "invalid_request_error", "unforeseen_request")


def _as_is(value: Any) -> Any:
    return value


class ScriptedModel:
    """Answers the requests of one run. The listener is its owner's: neither opened nor closed here.

    `act` carries out side actions; it is called in a thread of its own, so it may wait, and gets the action with its
    texts not yet filled in. `fill` fills placeholders in texts and in the values of arguments when a reply goes out.
    What goes wrong on our side (an exception of `act` or `fill`, a fault of this class) is in `errors`, never in
    `problems`: it is no verdict on the client.
    """

    def __init__(
        self,
        script: Script,
        listener: socket.socket,
        *,
        act: Callable[[Action], None],
        wire: Wire = chat,
        fill: Callable[[Any], Any] = _as_is,
        max_body: int = MAX_BODY,
    ) -> None:
        self.journal: list[Request] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        """Remarks that are no fault by themselves and may explain one: a request that never ended, say."""
        self.errors: list[Exception] = []
        self._wire, self._act = wire, act
        self._lanes = Lanes(script, fill)
        self._composer = Composer(wire, fill, len(script.lanes))
        self._changed = threading.Condition()
        self._kept = 0  # weight of the requests in the journal
        self._hushed = 0  # problems left out
        self._ending = self._stopped = False
        self._began = 0.0
        self._loop = Loop(listener, self, name="scripted-model", max_body=max_body)

    def start(self) -> None:
        """Begin to answer; times in the journal count from here."""
        self._began = time.monotonic()
        self._loop.start()

    def stop(self) -> None:
        """End all connections; returns at once, whatever the clients do. After it journal and problems are final.

        Requests that had arrived by then are still taken into the journal; no action is begun any more.
        """
        self._ending = True
        self._loop.stop()
        with self._changed:
            if not self._stopped:
                self._stopped = True
                if self._hushed:
                    self.problems.append(f"and {self._hushed} more of this kind")
                self.problems += [f"left over: {line}" for line in self.left_over]
            self._changed.notify_all()

    @property
    def left_over(self) -> list[str]:
        """A line for each reply that is due and was not asked for yet."""
        return self._lanes.left_over

    def wait_for(self, count: int, within: float) -> bool:
        """Wait until so many requests have come in, at most `within` seconds; whether they have."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.journal) >= count or self._stopped, within)
            return len(self.journal) >= count

    # What the loop calls, in its thread.

    def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        http = exchange.request
        request = Request(len(self.journal) + 1, self._now(), http.method, http.path, http.headers, http.body)
        exchange.on_done = lambda: setattr(request, "done", self._now())
        exchange.on_left = lambda: setattr(request, "left", self._now())
        cost = weight(http.body) + sum(map(len, http.headers.values()))
        if len(self.journal) >= MAX_REQUESTS or self._kept + cost > MAX_JOURNAL:
            self._problem(f"a request more, of {len(http.body)} bytes, than the journal holds")
            self._refuse(exchange)
            return
        self._kept += cost
        try:
            taken = self._take(request)
        except Unforeseen as error:
            request.lane, request.answered = error.lane, f"unforeseen: {error.reason}"
            self._problem(f"request {request.index}, {request.answered}")
            self._keep(request)
            self._refuse(exchange)
            return
        request.lane, request.reply, request.answered = taken.lane, taken.index, title(taken.reply)
        self._keep(request)
        steps = self._composer.steps(taken, self._composer.ids(taken), request, http)
        if not taken.reply.do:
            exchange.answer(steps)
            return
        if self._ending:
            return
        work = threading.Thread(target=self._do, args=(taken.reply.do, exchange, steps), name="scripted-action")
        work.daemon = True
        work.start()

    def refused(self, error: BadRequest) -> None:
        """A client sent something that is no request."""
        self._problem(f"no HTTP request: {error.reason}")

    def unfinished(self, what: str) -> None:
        """A request was begun and never ended."""
        if len(self.notes) < MAX_PROBLEMS:
            self.notes.append(f"a request never came to its end: {what}")

    def broke(self, error: Exception) -> None:
        """A fault of ours."""
        if len(self.errors) < MAX_PROBLEMS:
            self.errors.append(error)

    # The rest.

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _keep(self, request: Request) -> None:
        with self._changed:
            self.journal.append(request)
            self._changed.notify_all()

    def _problem(self, line: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(line)
        else:
            self._hushed += 1

    def _refuse(self, exchange: Exchange) -> None:
        body = self._wire.failure(UNFORESEEN)
        exchange.answer(body_steps(400, body, self._wire.whole_type, exchange.request, []))

    def _take(self, request: Request) -> Taken:
        """Read the request and find its reply; raises Unforeseen for one that is wrong or not waited for."""
        misplaced = self._wire.misplaced(request.method, request.path)
        body, fault = parse(request.raw)
        request.body = body
        if misplaced is not None:
            raise Unforeseen(misplaced)
        if fault is not None:
            raise Unforeseen(fault)
        request.ask, faults = self._wire.read(body, request.path)
        request.stream = request.ask.stream
        if faults:
            more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
            raise Unforeseen("; ".join(faults[:3]) + more)
        return self._lanes.take(request)

    def _do(self, actions: list[Action], exchange: Exchange, steps: Iterator[Step]) -> None:
        """Side actions, then the answer. The answer goes out also when an action of ours fails."""
        try:
            for action in actions:
                self._act(action)
        except Exception as error:
            if not self._ending:  # what an action meets in a run that is being taken down is no fault
                self.broke(error)
        exchange.answer(steps)
