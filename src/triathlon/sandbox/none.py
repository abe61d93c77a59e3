"""The provider `none`: a temporary folder and plain processes, for debugging and for systems without namespaces.

Nothing is isolated. Paths inside are real paths of the host (`Sandbox.inside`), ports are whatever was free
(`Sandbox.url`), names of hosts cannot be given, and one candidate at a time can be installed.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from triathlon.sandbox import cache
from triathlon.sandbox.command import run_to_end
from triathlon.sandbox.environment import environment
from triathlon.sandbox.files import Places
from triathlon.sandbox.plain import PlainProcess, launch, listing, running
from triathlon.sandbox.protocol import BoxSpec, ExecResult, ProcessInfo, Usage
from triathlon.sandbox.root import listed

_MARK = "SANDBOX_ID"


class Plain:
    """See the module; prints its warning when made."""

    name = "none"
    marks = ("no isolation",)
    stable = False

    def __init__(self) -> None:
        print("triathlon: sandbox `none` isolates nothing: the candidate runs as you, on this machine", file=sys.stderr)
        self.cache = cache.place()
        self._base = cache.temporary("plain")
        self._counter = itertools.count()
        self._spent = 0.0
        self._lock = threading.Lock()
        told = subprocess.run([sys.executable, "-I", "-c", listed.CHECK], capture_output=True, check=True)
        self.fingerprint: Mapping[str, str] = {**json.loads(told.stdout), "python_from": "host"}

    def open(self, spec: BoxSpec) -> PlainBox:
        with self._lock:
            return PlainBox(spec, self._base, f"box{next(self._counter)}", self._add)

    def cpu_seconds(self) -> float:
        return self._spent

    def close(self) -> None:
        cache.discard(self._base)

    def __enter__(self) -> Plain:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _add(self, seconds: float) -> None:
        with self._lock:
            self._spent += seconds


class PlainBox:
    """See `Sandbox`; `base` is shared by the boxes of a provider and holds what is installed."""

    def __init__(self, spec: BoxSpec, base: Path, name: str, spent: Callable[[float], None]) -> None:
        self._spec, self._base, self._spent = spec, base, spent
        self._root = base / name
        self._mark = f"{_MARK}={base.name}-{name}"
        self._processes: list[PlainProcess] = []
        self._closed = False
        shared = {target: target.lstrip("/") for target in (*spec.writable, *(layer.target for layer in spec.layers))}
        self._shared = tuple(shared)
        for folder in (f"work/{spec.workspace_name}", "work/outside", "home/agent", "tmp", "etc"):
            (self._root / folder).mkdir(parents=True)
        for target in spec.writable:
            _clear(base / shared[target])
            (base / shared[target]).mkdir(parents=True)
        for layer in spec.layers:
            _clear(base / shared[layer.target])
            (base / shared[layer.target]).parent.mkdir(parents=True, exist_ok=True)
            (base / shared[layer.target]).symlink_to(layer.source.resolve())
        self.workspace, self.outside = f"{self._root}/work/{spec.workspace_name}", f"{self._root}/work/outside"
        self.home, self.tmp = f"{self._root}/home/agent", f"{self._root}/tmp"
        places = Places(os.open(base, os.O_RDONLY | os.O_DIRECTORY), {**shared, str(base): "", "/": name})
        self._places = places
        self.write_file, self.read_file, self.mkdir = places.write_file, places.read_file, places.mkdir
        self.symlink, self.chmod, self.utime = places.symlink, places.chmod, places.utime
        self.remove, self.tree, self.export = places.remove, places.tree, places.export
        self.listeners = tuple(socket.create_server(("127.0.0.1", 0)) for _ in spec.listen)

    def inside(self, target: str) -> str:
        if target.startswith(f"{self._base}/"):
            return target
        shared = any(target == prefix or target.startswith(f"{prefix}/") for prefix in self._shared)
        return f"{self._base if shared else self._root}{target}"

    def url(self, i: int = 0) -> str:
        return f"http://127.0.0.1:{self.listeners[i].getsockname()[1]}"

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        terminal: bool = False,
    ) -> PlainProcess:
        name, _, value = self._mark.partition("=")
        variables = environment(env, home=self.home, tmp=self.tmp, terminal=terminal) | {name: value}
        process = launch(argv, cwd or self.workspace, variables, (stdin, stdout, stderr), terminal, self._spec.limits)
        self._processes.append(process)
        return process

    def exec(
        self,
        argv: Sequence[str],
        *,
        input: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        max_bytes: int = 1_048_576,
    ) -> ExecResult:
        return run_to_end(self, argv, input=input, cwd=cwd, env=env, timeout=timeout, max_bytes=max_bytes)

    def terminal(self, rows: int = 24, columns: int = 80) -> tuple[int, int]:
        master, slave = os.openpty()
        termios.tcsetwinsize(slave, (rows, columns))
        return master, slave

    def connect(self, port: int, host: str = "127.0.0.1", timeout: float = 5.0) -> socket.socket:
        return socket.create_connection((host, port), timeout)

    def processes(self) -> list[ProcessInfo]:
        return listing(running(self._mark))

    def kill_all(self) -> None:
        """Everything that still carries our mark in its environment, daemons too."""
        while pids := running(self._mark):
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in self._processes:
                process.poll()

    def usage(self) -> Usage:
        """Only what was started by us and has ended is counted."""
        for process in self._processes:
            process.poll()
        return Usage(sum(process.cpu_seconds for process in self._processes), 0.0, False)

    def connection(self) -> str:
        return f"cd {self.workspace}"

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.kill_all()
        for process in self._processes:
            process.let_go()
        self._spent(self.usage().cpu_seconds)
        for listener in self.listeners:
            listener.close()
        self._places.close()
        cache.discard(self._root)

    def __enter__(self) -> PlainBox:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _clear(path: Path) -> None:
    """Make room for what is installed now."""
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        cache.discard(path)
