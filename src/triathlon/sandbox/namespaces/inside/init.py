"""Process 1 of a sandbox: starts, signals and reaps for the runner, and watches the memory where no cgroup does.

It ends when the runner's end of the socket is closed, and everything inside with it.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import socket
import struct
import termios
from collections.abc import Callable, Sequence

from triathlon.sandbox.namespaces.inside import processes, spawn, wire
from triathlon.sandbox.namespaces.inside.watch import Watch

UID = 1000

_STATUS = struct.Struct("=i")


def serve(box: socket.socket, request: wire.Message, badness: int) -> None:
    """Answer the runner's requests until its end of `box` is closed; `badness` is our open `oom_score_adj`."""
    Init(request["limits"], badness, watch=not request["cgroups"]).run(box)


class Init:
    """The state of process 1: who was started by the runner and still wants to be told of."""

    def __init__(self, limits: dict[str, int], badness: int, watch: bool) -> None:
        self._badness = badness
        _limit(limits)
        self._waiting: dict[int, int] = {}  # process id -> descriptor for its exit status
        self._watch = Watch(limits["memory_mb"] << 20) if watch else None
        self._wake, waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, _ignore)
        # Process 1 is safe from signals that it does not handle; what it starts shall have the defaults.
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self._answers: dict[str, Callable[[wire.Message, Sequence[int]], tuple[wire.Message, list[int]]]] = {
            "start": self._start,
            "signal": self._signal,
            "terminal": self._terminal,
            "socket": self._socket,
            "processes": self._processes,
            "kill": self._kill,
            "usage": self._usage,
        }

    def run(self, box: socket.socket) -> None:
        poll = select.poll()
        poll.register(box.fileno(), select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            watching = self._watch if self._waiting else None
            ready = {source for source, _ in poll.poll(watching.pause_ms() if watching else None)}
            if self._wake in ready:
                os.read(self._wake, 4096)
                self._reap()
            if watching:
                watching.look()
            if box.fileno() in ready:
                received = wire.receive(box)
                if received is None:
                    return
                self._answer(box, *received)

    def _answer(self, box: socket.socket, request: wire.Message, descriptors: Sequence[int]) -> None:
        given: list[int] = []
        try:
            answer, given = self._answers[request["do"]](request, descriptors)
        except OSError as error:
            answer = {"error": str(error), "errno": error.errno}
        except Exception as error:
            answer = {"error": repr(error), "errno": None}
        wire.send(box, answer, given)
        for descriptor in given:
            os.close(descriptor)

    def _reap(self) -> None:
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                teller = self._waiting.pop(pid, None)
                if teller is not None:
                    code = os.waitstatus_to_exitcode(status)
                    _try_write(teller, _STATUS.pack(code if code >= 0 else 128 - code))
                    os.close(teller)
        except ChildProcessError:
            return

    def _start(self, request: wire.Message, descriptors: Sequence[int]) -> tuple[wire.Message, list[int]]:
        if len(descriptors) != len(request["slots"]) + 1:
            os._exit(1)  # somebody inside has lowered our limit of open files: nothing can run here any more
        *streams, teller = descriptors
        try:
            os.write(self._badness, b"500")  # what is started now inherits it: out of memory, it goes before us
            try:
                pid = spawn.spawn(request, streams)
            finally:
                os.write(self._badness, b"0")
            self._waiting[pid] = teller
        except spawn.CannotRun as refusal:
            pid = 0
            for stream in (stream for stream, slot in zip(streams, request["slots"], strict=True) if slot == 2):
                _try_write(stream, f"{refusal.reason}\n".encode("utf-8", "replace"))
            _try_write(teller, _STATUS.pack(refusal.status))
            os.close(teller)
        except OSError:
            os.close(teller)
            raise
        finally:
            for stream in streams:
                os.close(stream)
        return {"pid": pid}, []

    def _signal(self, request: wire.Message, _: Sequence[int]) -> tuple[wire.Message, list[int]]:
        pid = request["pid"]
        if pid in self._waiting:  # not yet reaped, so the number is still its own
            try:
                (os.killpg if request["group"] else os.kill)(pid, request["number"])
            except ProcessLookupError:
                os.kill(pid, request["number"])  # it has no group of its own yet
        return {}, []

    def _terminal(self, request: wire.Message, _: Sequence[int]) -> tuple[wire.Message, list[int]]:
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", request["rows"], request["columns"], 0, 0))
        return {}, [master, slave]

    def _socket(self, request: wire.Message, _: Sequence[int]) -> tuple[wire.Message, list[int]]:
        return {}, [socket.socket(request["family"]).detach()]

    def _processes(self, _request: wire.Message, _: Sequence[int]) -> tuple[wire.Message, list[int]]:
        return {"processes": processes.listing()}, []

    def _kill(self, _request: wire.Message, _: Sequence[int]) -> tuple[wire.Message, list[int]]:
        """One kill(-1) reaches all at once: with the signal pending nobody can fork on."""
        while True:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                break
            self._reap()
            if select.select([self._wake], [], [], 0.01)[0]:
                os.read(self._wake, 4096)
        self._reap()
        return {}, []

    def _usage(self, _request: wire.Message, _: Sequence[int]) -> tuple[wire.Message, list[int]]:
        own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        running = processes.times()
        return {
            "cpu": ended.ru_utime + ended.ru_stime + running,
            "own": own.ru_utime + own.ru_stime,
            "peak_kb": max(ended.ru_maxrss, self._watch.peak >> 10 if self._watch else 0),
            "oom": self._watch.acted if self._watch else False,
        }, []


def _ignore(_number: int, _frame: object) -> None:
    """The wake-up descriptor does the work."""


def _try_write(descriptor: int, data: bytes) -> None:
    try:
        os.write(descriptor, data)
    except OSError:
        pass  # nobody reads there any more


def _limit(limits: dict[str, int]) -> None:
    """Hard limits; `RLIMIT_DATA`, not `RLIMIT_AS`, because runtimes reserve far more address space than they use."""
    for what, value in (
        (resource.RLIMIT_NPROC, limits["pids"]),
        (resource.RLIMIT_FSIZE, limits["file_size_mb"] << 20),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_DATA, limits["memory_mb"] << 20),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))
