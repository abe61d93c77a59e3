"""The terminal driver: `harness` on a pseudo-terminal, keys in, a screen out."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from typing import TYPE_CHECKING

from triathlon.harness.pump import Sink
from triathlon.harness.running import Running, StepFailed, Terminal
from triathlon.harness.screen import PASTE_BEGINS, PASTE_ENDS, Screen, key

if TYPE_CHECKING:
    from triathlon.harness.stage import Stage
    from triathlon.harness.steps import Start

SIZE = (24, 80)


def start(stage: Stage, order: Start) -> Running:
    """Start it on a terminal of the sandbox's own."""
    rows, columns = order.size or SIZE
    # Two descriptors of one master: the pump closes its own when the other side is gone, ours lives to the end.
    reading, slave = stage.box.terminal(rows, columns)
    writing = os.dup(reading)
    screen = Screen(rows, columns, lambda data: stage.pump.write(writing, data))
    sink = Sink(stage.max_bytes, also=screen.feed)
    arguments = order.args if order.args is not None else order.flags
    try:
        process = stage.box.start(
            [stage.harness, *arguments],
            cwd=stage.cwd_of(order),
            env=stage.env_of(order),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            terminal=True,
        )
    except BaseException:
        os.close(reading)
        os.close(writing)
        raise
    finally:
        os.close(slave)
    stage.pump.read(reading, sink)
    return Running(order.name, process, sink, terminal=Terminal(writing, screen))


def write(stage: Stage, running: Running, text: str) -> None:
    """Type text as it stands; a newline is the Enter key."""
    _send(stage, running, text.replace("\n", "\r").encode("utf-8", "surrogateescape"))


def press(stage: Stage, running: Running, names: list[str]) -> None:
    """Press keys by name."""
    try:
        pressed = [key(name) for name in names]
    except ValueError as error:
        raise StepFailed(str(error)) from None
    # One at a time: a program that reads in pieces must not take Esc and a letter for one key.
    for data in pressed:
        _send(stage, running, data)


def paste(stage: Stage, running: Running, text: str) -> None:
    """Paste text in one piece, in the brackets that a terminal puts around it; newlines become returns."""
    _send(stage, running, f"{PASTE_BEGINS}{text}{PASTE_ENDS}".replace("\n", "\r").encode("utf-8", "surrogateescape"))


def resize(running: Running, rows: int, columns: int) -> None:
    """Change the window's size; the kernel tells the program in front."""
    terminal = _terminal(running)
    terminal.screen.resize(rows, columns)
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _send(stage: Stage, running: Running, data: bytes) -> None:
    stage.pump.write(_terminal(running).fd, data)


def _terminal(running: Running) -> Terminal:
    if running.terminal is None:
        raise StepFailed(f"{running.name} has no terminal")
    return running.terminal
