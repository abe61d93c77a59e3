"""A process of the candidate while it runs, and the two ways a run can go wrong without being anybody's bug."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triathlon.harness.channels import Output

if TYPE_CHECKING:
    from triathlon.harness.pump import Pump, Sink
    from triathlon.harness.screen import Screen
    from triathlon.harness.serve import Exchange
    from triathlon.sandbox import Process


class StepFailed(Exception):
    """A step could not be done: the case fails with this reason."""


class Late(StepFailed):
    """A deadline passed: the case fails with this reason, and is run once more alone."""


@dataclass
class Terminal:
    """The runner's side of a pseudo-terminal."""

    fd: int
    """For writing and for its size; reading is the pump's."""
    screen: Screen


@dataclass(frozen=True)
class Server:
    """Where a `serve` process said that it listens."""

    port: int
    token: str


@dataclass
class Running:
    """One started process."""

    name: str
    process: Process
    stdout: Sink
    stderr: Sink | None = None
    """None on a terminal, where both are one."""
    stdout_fd: int | None = None
    stdin: int | None = None
    """An open pipe to its standard input."""
    terminal: Terminal | None = None
    server: Server | None = None
    exchanges: dict[str, Exchange] = field(default_factory=dict)
    """The `http` steps sent to it, by name."""
    calls: list[str] = field(default_factory=list)
    """The orders sent to the api driver, in order: `` for the making of the agent, then names of runs."""
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    exit: int | None = None
    killed: bool = False
    """It had to be ended by us: its status says nothing about it."""

    def note_exit(self) -> None:
        """Take down status and time; called when the process is known to have ended."""
        if self.ended is None:
            self.exit = None if self.killed else self.process.poll()
            self.ended = time.monotonic()

    @property
    def sinks(self) -> list[Sink]:
        """Everything it writes to."""
        return [self.stdout] if self.stderr is None else [self.stdout, self.stderr]

    @property
    def silent(self) -> bool:
        """Whether nobody can write for it any more."""
        return all(sink.ended for sink in self.sinks)

    @property
    def seconds(self) -> float:
        """From start to exit, or until now."""
        return (self.ended if self.ended is not None else time.monotonic()) - self.began

    def output(self) -> Output:
        """What it wrote, as the channels keep it."""
        sinks = {"stdout": self.stdout, "stderr": self.stderr}
        return Output(
            stdout=self.stdout.data,
            stderr=self.stderr.data if self.stderr is not None else b"",
            screen=self.terminal.screen.text if self.terminal is not None else None,
            cut=tuple(name for name, sink in sinks.items() if sink is not None and sink.cut),
        )

    def close_stdin(self, pump: Pump) -> None:
        """The end of its standard input, after what is still to be written."""
        if self.stdin is not None:
            pump.write(self.stdin, b"", then_close=True)
            self.stdin = None

    def close(self) -> None:
        """Let go of the descriptors that are not the pump's."""
        if self.stdin is not None:
            os.close(self.stdin)
            self.stdin = None
        if self.terminal is not None:
            os.close(self.terminal.fd)
            self.terminal = None


def dotted(value: Any, path: str) -> Any:
    """The piece of a JSON value at a dotted path (`sessions.0.id`). Raises StepFailed where there is none."""
    for part in path.split(".") if path else ():
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, ValueError, TypeError):
            raise StepFailed(f"no {path} in {str(value)[:200]}") from None
    return value
