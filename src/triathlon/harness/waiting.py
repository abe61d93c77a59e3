"""Waiting steps: for a request, a file, output, a screen, an exit. Each ends with the thing, its deadline, or the
knowledge that it can come no more."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from triathlon.harness.places import find
from triathlon.harness.running import Late, Running, StepFailed

if TYPE_CHECKING:
    from triathlon.harness.stage import Stage
    from triathlon.harness.steps import WaitFor

LOOK_EVERY_S = 0.02
"""How often we look at what gives no news: files, the journal."""


def wait_for(stage: Stage, wait: WaitFor, until: float) -> None:
    """Wait. Raises Late, or StepFailed if what is waited for cannot come any more."""
    if wait.seconds is not None:
        stage.pump.wait(lambda: False, min(until, time.monotonic() + wait.seconds))
    elif wait.request is not None:
        _for_request(stage, wait.request, wait.lane, until)
    elif wait.file is not None:
        pattern = wait.file
        _look(stage, lambda: bool(matching(stage, pattern)), f"nothing came at {pattern}", until, LOOK_EVERY_S)
    elif wait.gone is not None:
        gone = wait.gone
        _look(stage, lambda: not matching(stage, gone), f"{gone} was still there", until, LOOK_EVERY_S)
    elif wait.exit is not None:
        finish(stage, wait.exit, until)
    elif wait.http is not None:
        _for_answer(stage, wait.http, until)
    elif wait.released is not None:
        name = wait.released
        _look(stage, lambda: name in stage.released, f"{name} was not released", until)
    else:
        _for_text(stage, wait, until)


def finish(stage: Stage, name: str, until: float) -> None:
    """Wait for a process to end; an agent's process gets the end of its orders first."""
    running = stage.process(name)
    if running.calls:
        running.close_stdin(stage.pump)
    _look(stage, lambda: running.ended is not None, f"{name} had not ended", until)
    # What it wrote last may still be on its way; a child that outlives it and holds the pipe is not waited for long.
    stage.pump.drain(running.sinks, 1.0)


def matching(stage: Stage, path: str) -> list[str]:
    """Absolute paths of what stands at a path (relative to the workspace; `*` and `**` find several)."""
    whole = posixpath.normpath(posixpath.join(stage.places["workspace"], path))
    if not any(sign in whole for sign in "*?"):
        return [whole] if stage.box.tree(whole, max_bytes=0) or _is_folder(stage, whole) else []
    fixed = whole[: min(whole.index(sign) for sign in "*?" if sign in whole)]
    root = posixpath.dirname(fixed)
    names = (posixpath.join(root, name) for name in stage.box.tree(root, max_bytes=0) if name)
    return find(whole, names)


def _is_folder(stage: Stage, path: str) -> bool:
    parent, name = posixpath.split(path)
    entry = stage.box.tree(parent, max_bytes=0).get(name)
    return entry is not None


def _for_request(stage: Stage, count: int, lane: str | None, until: float) -> None:
    def seen() -> int:
        return sum(lane is None or request.lane == lane for request in list(stage.model.journal))

    def over() -> bool:
        return seen() >= count or _all_ended(stage)

    what = f"request {count}" + (f" of lane {lane}" if lane is not None else "")
    _look(stage, over, f"{what} had not come", until, LOOK_EVERY_S)
    if seen() < count:
        raise StepFailed(f"{what} never came: all processes ended after {seen()}")


def _for_answer(stage: Stage, name: str, until: float) -> None:
    exchange = next((r.exchanges[name] for r in stage.processes.values() if name in r.exchanges), None)
    if exchange is None:
        raise StepFailed(f"no http step called {name} was sent")
    if not stage.pump.wait(lambda: exchange.answer is not None, until):
        exchange.break_off()
        raise Late(f"http step {name} had no answer in time")


def _for_text(stage: Stage, wait: WaitFor, until: float) -> None:
    running = stage.process(wait.of)
    text = wait.output if wait.output is not None else wait.screen or ""
    if wait.screen is not None and running.terminal is None:
        raise StepFailed(f"{wait.of} has no terminal")

    def shown() -> bool:
        if wait.screen is not None and running.terminal is not None:
            return text in running.terminal.screen.text
        return any(text.encode("utf-8", "surrogateescape") in sink.data for sink in running.sinks)

    _look(stage, lambda: shown() or running.silent, f"{wait.of} had not shown {text!r}", until)
    if not shown():
        raise StepFailed(f"{wait.of} ended without showing {text!r}{_tail(running)}")


def _tail(running: Running) -> str:
    said = b"".join(sink.data for sink in running.sinks)[-300:].decode("utf-8", "replace").strip()
    return f"; its last words: {said}" if said else ""


def _all_ended(stage: Stage) -> bool:
    return all(running.ended is not None for running in stage.processes.values())


def _look(stage: Stage, holds: Callable[[], bool], otherwise: str, until: float, every: float | None = None) -> None:
    began = time.monotonic()
    if not stage.pump.wait(holds, until, every):
        raise Late(f"{otherwise} after {time.monotonic() - began:.1f} s")
