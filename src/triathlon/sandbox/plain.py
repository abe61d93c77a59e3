"""Plain processes of the provider `none`."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from triathlon.sandbox.protocol import Limits, ProcessInfo

_TICKS = os.sysconf("SC_CLK_TCK")
# Limits and the controlling terminal are set by a small program in between: a threaded process may not fork for it.
_LAUNCHER = """
import fcntl, os, resource, sys, termios
terminal, data, size, files, *argv = sys.argv[1:]
for what, value in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_FSIZE, size), (resource.RLIMIT_NOFILE, files)):
    resource.setrlimit(what, (int(value), int(value)))
if terminal == "1":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
try:
    os.execvp(argv[0], argv)
except OSError as error:
    print(f"cannot run {argv[0]}: {error.strerror}", file=sys.stderr)
    sys.exit(127 if isinstance(error, FileNotFoundError) else 126)
"""


class PlainProcess:
    """See `Process`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        self.cpu_seconds = 0.0
        self._process = process
        self._pidfd = os.pidfd_open(process.pid)
        self._lock = threading.Lock()

    def fileno(self) -> int:
        return self._pidfd

    def wait(self, timeout: float | None = None) -> int | None:
        if self._process.returncode is None:
            poll = select.poll()
            poll.register(self._pidfd, select.POLLIN)
            if not poll.poll(None if timeout is None else max(0, timeout) * 1000):
                return None
            with self._lock:
                if self._process.returncode is None:
                    self.cpu_seconds = _cpu_seconds(self.pid)  # of the zombie, before it is reaped
                    self._process.wait()
        code = self._process.returncode
        return code if code is None or code >= 0 else 128 - code

    def poll(self) -> int | None:
        return self.wait(0)

    def signal(self, number: int, *, group: bool = False) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(self.pid, number)

    def let_go(self) -> None:
        """Kill it if it still runs, and close our descriptor."""
        self.signal(signal.SIGKILL, group=True)
        self.wait()
        with self._lock:
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1


def launch(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    streams: Sequence[int | None],
    terminal: bool,
    limits: Limits,
) -> PlainProcess:
    """Start a process in a session of its own."""
    numbers = (int(terminal), limits.memory_mb << 20, limits.file_size_mb << 20, limits.open_files)
    stdin, stdout, stderr = (subprocess.DEVNULL if stream is None else stream for stream in streams)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _LAUNCHER, *map(str, numbers), *argv],
        cwd=cwd,
        env=dict(env),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    return PlainProcess(process)


def running(mark: str) -> list[int]:
    """The processes in whose environment `mark` stands (`NAME=value`), zombies left out."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            with suppress(OSError):
                if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found


def listing(pids: Sequence[int]) -> list[ProcessInfo]:
    told = []
    for pid in pids:
        with suppress(OSError):
            argv = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
            told.append(ProcessInfo(pid, tuple(map(os.fsdecode, argv)), state))
    return told


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS
