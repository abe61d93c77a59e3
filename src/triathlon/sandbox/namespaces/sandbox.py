"""One sandbox, as the runner holds it: a socket to its init, its files, its listeners, its cgroup."""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from triathlon.errors import SandboxError
from triathlon.sandbox.command import run_to_end
from triathlon.sandbox.environment import environment
from triathlon.sandbox.files import Places
from triathlon.sandbox.namespaces.cgroups import Group
from triathlon.sandbox.namespaces.inside import wire
from triathlon.sandbox.namespaces.process import BoxProcess
from triathlon.sandbox.protocol import BoxSpec, ExecResult, ProcessInfo, Usage

HOME, OUTSIDE, TMP = "/home/agent", "/work/outside", "/tmp"
_PATIENCE_S = 60.0


class Box:
    """See `Sandbox`."""

    outside, home, tmp = OUTSIDE, HOME, TMP

    def __init__(
        self,
        spec: BoxSpec,
        channel: socket.socket,
        pidfd: int,
        places: Places,
        listeners: Sequence[socket.socket],
        group: Group | None,
        check_helper: Callable[[], None],
    ) -> None:
        self.listeners = tuple(listeners)
        self.workspace = f"/work/{spec.workspace_name}"
        self._spec = spec
        self._channel = channel
        self._pidfd = pidfd
        self._places = places
        self._group = group
        self.check_helper = check_helper
        self._lock = threading.Lock()
        self._closed = False
        self._processes: list[BoxProcess] = []
        self._usage = Usage(0.0, 0.0, False)
        channel.settimeout(_PATIENCE_S)
        self.write_file, self.read_file, self.mkdir = places.write_file, places.read_file, places.mkdir
        self.symlink, self.chmod, self.utime = places.symlink, places.chmod, places.utime
        self.remove, self.tree, self.export = places.remove, places.tree, places.export

    def inside(self, target: str) -> str:
        return target

    def url(self, i: int = 0) -> str:
        host, port = self._spec.listen[i]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

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
    ) -> BoxProcess:
        given = {slot: stream for slot, stream in enumerate((stdin, stdout, stderr)) if stream is not None}
        status, teller = os.pipe()
        request = {
            "do": "start",
            "argv": list(argv),
            "cwd": cwd or self.workspace,
            "env": environment(env, home=self.home, tmp=self.tmp, terminal=terminal),
            "terminal": terminal,
            "slots": list(given),
        }
        try:
            answer, _ = self._ask(request, [*given.values(), teller])
            pid = int(answer["pid"])
        except ChildProcessError:
            pid = 0  # all is dead in there: the pipe is at its end, which counts as killed
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM):
                os.close(status)
                raise SandboxError(f"could not start {argv[0]}: {error}") from error
            pid = 0  # what runs inside has used up its processes or its memory
        except BaseException:
            os.close(status)
            raise
        finally:
            os.close(teller)
        process = BoxProcess(self, pid, status)
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
        _, (master, slave) = self._ask({"do": "terminal", "rows": rows, "columns": columns})
        return master, slave

    def signal(self, pid: int, number: int, group: bool) -> None:
        """For `BoxProcess`: a signal to a process that init has not reaped."""
        if pid:
            with suppress(ChildProcessError):
                self._ask({"do": "signal", "pid": pid, "number": int(number), "group": group})

    def connect(self, port: int, host: str = "127.0.0.1", timeout: float = 5.0) -> socket.socket:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            _, (descriptor,) = self._ask({"do": "socket", "family": int(family)})
        except ChildProcessError as error:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "nothing runs in the sandbox any more") from error
        connection = socket.socket(fileno=descriptor)
        try:
            connection.settimeout(timeout)
            connection.connect((host, port))
        except BaseException:
            connection.close()
            raise
        return connection

    def processes(self) -> list[ProcessInfo]:
        try:
            answer, _ = self._ask({"do": "processes"})
        except ChildProcessError:
            return []
        return [ProcessInfo(pid, tuple(argv), state) for pid, state, argv in answer["processes"]]

    def kill_all(self) -> None:
        with suppress(ChildProcessError):
            self._ask({"do": "kill"})

    def usage(self) -> Usage:
        if not self._closed:
            with suppress(ChildProcessError):
                told, _ = self._ask({"do": "usage"})
                self._usage = Usage(told["cpu"], told["peak_kb"] / 1024, told["oom"], told["own"])
            if self._group:
                peak, oom = self._group.usage()
                self._usage = replace(self._usage, peak_mb=peak, oom=oom)
        return self._usage

    def connection(self) -> str:
        return f"nsenter -t {host_pid(self._pidfd)} -U --preserve-credentials -m -p -n -i -u -w/work /bin/bash"

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        ended = poll.poll(_PATIENCE_S * 1000)  # readable only when everything inside is gone too
        os.close(self._pidfd)
        self._channel.close()
        self._places.close()
        for listener in self.listeners:
            listener.close()
        for process in self._processes:
            process.let_go()
        if self._group:
            self._group.remove()
        if not ended:
            raise SandboxError("a sandbox did not end when killed")

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _ask(self, request: wire.Message, descriptors: Sequence[int] = ()) -> tuple[wire.Message, list[int]]:
        """One request to init and its answer; ChildProcessError if init is dead, OSError as init met it."""
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            try:
                wire.send(self._channel, request, descriptors)
                received = wire.receive(self._channel)
            except TimeoutError as error:
                raise SandboxError(f"the sandbox's init does not answer ({request['do']})") from error
            except OSError:
                received = None
        if received is None:
            self.check_helper()
            raise ChildProcessError(errno.ECHILD, "everything in the sandbox is dead")
        answer, given = received
        if "error" in answer:
            raise OSError(answer["errno"], answer["error"])
        return answer, given


def host_pid(pidfd: int) -> int:
    """The process id, as the host sees it, of a pidfd; SandboxError if the process is gone."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text("ascii").splitlines():
        if line.startswith("Pid:") and int(line.split()[1]) > 0:
            return int(line.split()[1])
    raise SandboxError("the sandbox has ended")
