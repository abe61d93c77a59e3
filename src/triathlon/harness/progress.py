"""What a run says on standard error while it goes: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from triathlon.harness.run import Watcher

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from triathlon.harness.run import Outcome

LINE_EVERY_S = 5.0


def watcher(stream: TextIO | None = None) -> Watcher:
    """The watcher that fits the stream (standard error)."""
    stream = stream or sys.stderr
    return Bar(stream) if stream.isatty() else Lines(stream)


class Lines(Watcher):
    """A line now and then, and one for each failure of ours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._jobs = self._done = self._failed = self._errors = 0
        self._began = self._said = time.monotonic()

    def begins(self, jobs: int, stored: int) -> None:
        self._jobs = jobs
        self._began = self._said = time.monotonic()
        self._say(f"{jobs} to run" + (f", {stored} from the store" if stored else ""))

    def ended(self, outcome: Outcome) -> None:
        self._count(outcome)
        now = time.monotonic()
        if now - self._said >= LINE_EVERY_S or self._done == self._jobs:
            self._said = now
            self._say(self._state())

    def again(self, jobs: int) -> None:
        self._jobs += jobs
        self._say(f"{jobs} failed by a deadline alone: once more, one by one")

    def _count(self, outcome: Outcome) -> None:
        self._done += 1
        if outcome.row is None:
            self._errors += 1
            self._say(f"{outcome.job.case.id}: an error of triathlon's, no verdict: {outcome.error}")
        elif not outcome.row.passed:
            self._failed += 1

    def _state(self) -> str:
        failed = f", {self._failed} failed" if self._failed else ""
        errors = f", {self._errors} errors" if self._errors else ""
        return f"[{self._done}/{self._jobs}] {time.monotonic() - self._began:.1f} s{failed}{errors}"

    def _say(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


class Bar(Lines):
    """The same with a bar in place of the lines."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress: Progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(file=stream),
            refresh_per_second=4,
            transient=True,
        )
        self._task: TaskID | None = None

    def begins(self, jobs: int, stored: int) -> None:
        self._jobs = jobs
        if stored:
            self._say(f"{stored} from the store")
        self._progress.start()
        self._task = self._progress.add_task("cases and controls", total=jobs)

    def ended(self, outcome: Outcome) -> None:
        self._count(outcome)
        if self._task is not None:
            words = f"{self._failed} failed" if self._failed else "cases and controls"
            self._progress.update(self._task, completed=self._done, description=words)

    def again(self, jobs: int) -> None:
        super().again(jobs)
        if self._task is not None:
            self._progress.update(self._task, total=self._jobs)

    def over(self) -> None:
        self._progress.stop()

    def _say(self, line: str) -> None:
        self._progress.console.print(line, markup=False, highlight=False)
