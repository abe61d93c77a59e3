"""The helper process: small and single-threaded, it makes sandboxes for the runner and ends with it.

The runner has threads and much memory; forking it would be slow and unsafe. This process forks instead, straight into
the new namespaces, and the child becomes process 1 of the sandbox (`init`): nothing is executed in between.
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import socket

from triathlon.sandbox.namespaces.inside import setup, syscalls, trial, wire


def main(descriptor: int) -> None:
    """Serve the runner at the other end of `descriptor` until it is gone."""
    syscalls.scrub_command_line(b"init")
    syscalls.set_name(b"box-helper")
    runner = socket.socket(fileno=descriptor)
    wake, waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, _ignore)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    poll = select.poll()
    for source in (runner.fileno(), wake):
        poll.register(source, select.POLLIN)
    gc.collect()
    gc.freeze()  # what is here now is shared with every sandbox's init; the collector would write to it
    gc.disable()
    while True:
        ready = {source for source, _ in poll.poll()}
        if wake in ready:
            os.read(wake, 4096)
            _reap()
        if runner.fileno() in ready:
            request = wire.receive(runner)
            if request is None:
                os._exit(0)
            _serve(runner, *request, private=(runner.fileno(), wake, waker))


def _ignore(_number: int, _frame: object) -> None:
    """The wake-up descriptor does the work."""


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _serve(runner: socket.socket, request: wire.Message, descriptors: list[int], private: tuple[int, ...]) -> None:
    if request["do"] == "usage":
        own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        wire.send(runner, {"seconds": own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime})
        return
    with socket.socket(fileno=descriptors[0]) as box:
        try:
            pid = syscalls.clone(setup.namespaces(request))
        except OSError as error:
            wire.send(box, {"error": str(error), "errno": error.errno})
            return
        if pid == 0:
            for descriptor in private:
                os.close(descriptor)
            (trial.run if request["do"] == "try" else setup.become_init)(box, request)
