"""Running one command of a sandbox to its end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from triathlon.sandbox.capture import Capture
from triathlon.sandbox.protocol import ExecResult, Process

_LINGER_S = 0.5


class Starts(Protocol):
    """The part of a sandbox that starts processes."""

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> Process: ...


def run_to_end(
    box: Starts,
    argv: Sequence[str],
    *,
    input: bytes = b"",
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    max_bytes: int = 1_048_576,
) -> ExecResult:
    """See `Sandbox.exec`: stdin is a file in memory, so that no thread has to feed it."""
    outputs = (Capture(max_bytes), Capture(max_bytes))
    stdin = os.memfd_create("input")
    timed_out = False
    try:
        with open(stdin, "wb", closefd=False) as file:
            file.write(input)
        os.lseek(stdin, 0, os.SEEK_SET)
        streams = [capture.write_end for capture in outputs]
        process = box.start(argv, cwd=cwd, env=env, stdin=stdin, stdout=streams[0], stderr=streams[1])
        for capture in outputs:
            capture.begin()
        code = process.wait(timeout)
        if code is None:
            timed_out = True
            process.signal(signal.SIGKILL, group=True)
            code = process.wait()
    finally:
        os.close(stdin)
        deadline = time.monotonic() + _LINGER_S  # a daemon it left may hold the pipes
        for capture in outputs:
            capture.finish(max(0.0, deadline - time.monotonic()))
    return ExecResult(137 if code is None else code, outputs[0].data, outputs[1].data, timed_out)
