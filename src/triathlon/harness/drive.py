"""Drives one case: lays it out in a fresh sandbox, does its steps, and comes back with the four channels.

A step that cannot be done, a deadline that passes, a candidate that breaks a driver's terms: these are problems in the
channels, and fail the case. What is raised from here is our own fault and no verdict.
"""

from __future__ import annotations

import json
import posixpath
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from triathlon.harness import api, headless, serve, terminal, waiting
from triathlon.harness.channels import Channels
from triathlon.harness.fixture import Change
from triathlon.harness.fresh import Fresh, UnknownPlaceholder
from triathlon.harness.layout import apply_change
from triathlon.harness.running import Late, StepFailed, dotted
from triathlon.harness.stage import Stage
from triathlon.harness.steps import DEADLINE, Capture, Http, Start, Step, WaitFor

if TYPE_CHECKING:
    from triathlon.harness.case import Case
    from triathlon.harness.install import Installed
    from triathlon.sandbox import Limits, Provider
    from triathlon.scripted.script import Action


def drive(
    case: Case,
    installed: Installed,
    provider: Provider,
    *,
    fresh: Fresh,
    limits: Limits,
    case_timeout_s: float,
    max_bytes: int,
) -> Channels:
    """Run one case or control once. `fresh` is the run's own; the judge fills with it afterwards.

    Raises SandboxError where the sandbox, and other exceptions where we, are at fault.
    """
    if installed.failure is not None:
        return Channels(problems=[installed.failure])
    driver = Drive(case, case_timeout_s)
    with Stage(
        case, installed, provider, limits=limits, fresh=fresh, max_bytes=max_bytes, act=driver.act
    ) as driver.stage:
        driver.steps()
        channels = driver.stage.finish()
    if driver.bug is not None:
        raise driver.bug
    return channels


class Drive:
    """The steps of one run. Side actions of the script come in from the scripted model's threads."""

    stage: Stage

    def __init__(self, case: Case, case_timeout_s: float) -> None:
        self.case, self.case_timeout_s = case, case_timeout_s
        self.over = time.monotonic() + case_timeout_s
        self.bug: Exception | None = None

    def steps(self) -> None:
        """Do one step after the other until one fails."""
        if self.stage.installs_itself and not self._guarded("install", self.stage.install):
            return
        for number, step in enumerate(self.case.steps, 1):
            if not self._guarded(f"step {number}, {step.kind}", lambda step=step: self._step(step)):  # type: ignore[misc]
                return

    def act(self, action: Action) -> None:
        """A side action before a reply; called in a thread of the scripted model."""
        try:
            self._guarded(f"action {action.kind}", lambda: self._action(action))
        except Exception as error:
            if not self.stage.over:
                self.bug = error

    def _guarded(self, what: str, do: Callable[[], None]) -> bool:
        stage = self.stage
        try:
            do()
        except Late as error:
            over = time.monotonic() >= self.over
            if not stage.over:
                stage.late = True
                stage.problems.append(f"{what}: {error}" + (f" (the case's {self.case_timeout_s:g} s)" if over else ""))
        except (StepFailed, UnknownPlaceholder) as error:
            if not stage.over:
                stage.problems.append(f"{what}: {error}")
        else:
            return True
        return False

    def _until(self, within: float) -> float:
        return min(time.monotonic() + within, self.over)

    def _step(self, step: Step) -> None:
        stage = self.stage
        until = self._until(step.within)
        step = stage.fresh.fill(step)
        match step.kind:
            case "start":
                self._start(step.start, until)  # type: ignore[arg-type]
            case "finish":
                waiting.finish(stage, step.finish or "main", until)
            case "wait_for":
                waiting.wait_for(stage, step.wait_for, until)  # type: ignore[arg-type]
            case "type":
                terminal.write(stage, stage.process(step.to), step.type or "")
            case "keys":
                terminal.press(stage, stage.process(step.to), list(step.keys or ()))
            case "paste":
                terminal.paste(stage, stage.process(step.to), step.paste or "")
            case "resize":
                rows, columns = step.resize or terminal.SIZE
                terminal.resize(stage.process(step.to), rows, columns)
            case "send":
                self._send(step.to, step.send or "")
            case "close_stdin":
                stage.process(step.close_stdin or "main").close_stdin(stage.pump)
            case "hang_up":
                self._hang_up(step.hang_up or "main")
            case "change":
                for path, change in (step.change or {}).items():
                    self._change(path, change)
            case "touch":
                self._touch(step.touch or "")
            case "signal":
                self._signal(step.signal or "", step.to)
            case "release":
                self._release(step.release or "")
            case "capture":
                self._capture(step.capture)  # type: ignore[arg-type]
            case "http":
                self._http(step.http, until)  # type: ignore[arg-type]
            case "call":
                call = step.call
                assert call is not None
                began = time.monotonic()
                api.call(stage, stage.process(call.of), call.name, call.prompt, until)
                stage.seconds[call.name] = time.monotonic() - began
            case "install":
                stage.install()

    def _action(self, action: Action) -> None:
        stage = self.stage
        action = stage.fresh.fill(action)
        match action.kind:
            case "change":
                for path, change in (action.change or {}).items():
                    self._change(path, Change.model_validate(change))
            case "touch":
                self._touch(action.touch or "")
            case "signal":
                self._signal(action.signal or "", action.to or "main")
            case "wait":
                stage.pump.wait(lambda: False, self._until(action.wait or 0.0))
            case "wait_for":
                waiting.wait_for(stage, WaitFor.model_validate(action.wait_for), self._until(DEADLINE))
            case "release":
                self._release(action.release or "")

    def _start(self, order: Start, until: float) -> None:
        stage = self.stage
        stage.free_name(order.name)
        match order.driver:
            case "headless":
                stage.keep(headless.start(stage, order))
            case "terminal":
                stage.keep(terminal.start(stage, order))
            case "api":
                stage.keep(api.start(stage, order))
            case "serve":
                serve.start(stage, order, until)

    def _send(self, name: str, text: str) -> None:
        running = self.stage.process(name)
        if running.stdin is None:
            raise StepFailed(f"standard input of {name} is not open")
        self.stage.pump.write(running.stdin, text.encode("utf-8", "surrogateescape"))

    def _hang_up(self, name: str) -> None:
        running = self.stage.process(name)
        if running.stdout_fd is not None and not running.stdout.ended:
            self.stage.pump.forget(running.stdout_fd)

    def _change(self, path: str, change: Change) -> None:
        found = waiting.matching(self.stage, path) if "*" in path else [self._path(path)]
        if len(found) != 1:
            raise StepFailed(f"{path} finds {len(found)} files, not one")
        with _candidates_files(path):
            apply_change(self.stage.box, found[0], change)

    def _touch(self, path: str) -> None:
        with _candidates_files(path):
            self.stage.box.utime(self._path(path), time.time())

    def _path(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self.stage.places["workspace"], path))

    def _signal(self, name: str, to: str) -> None:
        running = self.stage.process(to)
        if running.process.poll() is not None:
            raise StepFailed(f"{to} had ended before it could get SIG{name}")
        running.process.signal(getattr(signal, f"SIG{name}"))

    def _release(self, name: str) -> None:
        self.stage.released.add(name)
        self.stage.pump.notify()

    def _http(self, step: Http, until: float) -> None:
        stage = self.stage
        exchange = serve.ask(stage, stage.process(step.of), step)
        if step.background:
            return
        if not stage.pump.wait(lambda: exchange.answer is not None, until):
            exchange.break_off()
            raise Late(f"{step.method} {step.path} had no answer in time")

    def _capture(self, capture: Capture) -> None:
        text, json_body = self._seen(capture)
        if capture.regex is not None:
            found = re.search(capture.regex, text)
            if found is None:
                raise StepFailed(f"{capture.regex!r} finds nothing in {text[-300:]!r}")
            value: Any = found[1] if found.re.groups else found[0]
        elif capture.stem:
            value = posixpath.splitext(posixpath.basename(text))[0]
        else:
            value = dotted(_last_object(text) if json_body is None else json_body, capture.as_json or "")
        self.stage.fresh.bind({capture.name: value if isinstance(value, str) else json.dumps(value)})

    def _seen(self, capture: Capture) -> tuple[str, Any]:
        """The text to look at, and the JSON value of an HTTP body; for `stem` the text is the path."""
        stage = self.stage
        if capture.file is not None:
            found = waiting.matching(stage, capture.file)
            if len(found) != 1:
                raise StepFailed(f"{capture.file} finds {len(found)} files, not one")
            if capture.stem:
                return found[0], None
            with _candidates_files(capture.file):
                return stage.box.read_file(found[0]).decode("utf-8", "replace"), None
        if capture.http is not None:
            answers = {name: e.answer for r in stage.processes.values() for name, e in r.exchanges.items()}
            answer = answers.get(capture.http)
            if answer is None:
                raise StepFailed(f"no answer to the http step {capture.http}")
            return answer.text, answer.json
        running = stage.process(capture.of or "main")
        if capture.stream == "screen":
            if running.terminal is None:
                raise StepFailed(f"{running.name} has no terminal")
            return running.terminal.screen.text, None
        sink = running.stdout if capture.stream == "stdout" else running.stderr
        return (sink.data if sink is not None else b"").decode("utf-8", "replace"), None


@contextmanager
def _candidates_files(path: str) -> Iterator[None]:
    """What is missing, or is no plain file, where a step looks for one is the candidate's doing."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise StepFailed(f"{path}: {error}") from None


def _last_object(text: str) -> Any:
    """The last line that is a JSON object, or the whole text if that is JSON."""
    for line in reversed(text.splitlines()):
        if line.lstrip().startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                continue
    try:
        return json.loads(text)
    except ValueError:
        raise StepFailed(f"no JSON object in {text[-300:]!r}") from None
