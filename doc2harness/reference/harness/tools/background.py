"""Commands that run in the background, and what `bash_output` and `bash_kill` find them by."""

from __future__ import annotations

import itertools
import threading

from harness.processes import end_leftovers, kill_group
from harness.types import Context, ToolError

from .running import Running

PATIENCE = 2.0  # seconds for the last output of a command that has ended
_numbers = itertools.count(1)  # one row for the whole process


class Background:
    """One command; a thread reads its output."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._reader = threading.Thread(target=running.follow, args=(None, False), daemon=True)
        self._reader.start()

    def report(self) -> tuple[int | None, str]:
        """The exit code, None while it runs, and the output since the last report."""
        code = self._running.exit_code
        if code is not None:
            self._reader.join(PATIENCE)
        return code, self._running.output.take()

    def kill(self) -> bool:
        """End the whole group; False if the command had ended before."""
        ran = self._running.exit_code is None
        kill_group(self._running.process.pid)
        if ran:
            self._running.process.wait()
        return ran

    def end(self) -> None:
        """End it because the harness exits."""
        if self._running.exit_code is None:
            self._running.process.kill()
        end_leftovers(self._running.process.pid)


def begin(context: Context, command: str) -> str:
    """Start a command and return its id."""
    running = Running(context, command, context.cwd)
    id = f"b{next(_numbers)}"
    context.background[id] = Background(running)
    return id


def find(context: Context, id: str) -> Background:
    if id not in context.background:
        raise ToolError(f"no such id: {id}")
    found: Background = context.background[id]
    return found
