"""Starting one process inside, in a session of its own.

`posix_spawn` copies no page of ours (a fork of this process costs some 2 ms of CPU, mostly page faults); a fork is
left for the one thing it cannot do, giving the process a controlling terminal. The limits and the default signals are
those of process 1, which has them from its set-up.
"""

from __future__ import annotations

import errno
import fcntl
import os
import termios
from collections.abc import Sequence

from triathlon.sandbox.namespaces.inside import wire

_NOT_FOUND, _CANNOT_RUN = 127, 126


class CannotRun(Exception):
    """The command cannot be run: the shell's status for it, and a line that says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def spawn(request: wire.Message, streams: Sequence[int]) -> int:
    """Run `request["argv"]` and return its process id; `request["slots"]` says which of 0, 1, 2 the `streams` are.

    CannotRun as a shell would say it; OSError (EAGAIN, ENOMEM) if there can be no more processes.
    """
    argv, environment, name = request["argv"], request["env"], request["argv"][0]
    folders = [""] if "/" in name else [f"{folder}/" for folder in environment.get("PATH", "").split(":")]
    paths = [folder + name for folder in folders]
    descriptors = list(zip(streams, request["slots"], strict=True))
    try:
        os.chdir(request["cwd"])  # ours; who is started inherits it
    except OSError as error:
        raise CannotRun(_CANNOT_RUN, f"cannot run {name} in {request['cwd']}: {error.strerror}") from None
    try:
        if request["terminal"]:
            return _fork_with_terminal(paths, argv, environment, descriptors)
        return _spawn(paths, argv, environment, descriptors)
    finally:
        os.chdir("/")


def _spawn(paths: list[str], argv: list[str], environment: dict[str, str], descriptors: list[tuple[int, int]]) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, stream, slot) for stream, slot in descriptors]
    reasons = []
    for path in paths:
        try:
            return os.posix_spawn(path, argv, environment, file_actions=actions, setsid=True)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.ENOMEM):
                raise
            reasons.append(error)
    raise _refusal(argv[0], reasons)


def _fork_with_terminal(
    paths: list[str], argv: list[str], environment: dict[str, str], descriptors: list[tuple[int, int]]
) -> int:
    """Returns when the command runs: keys typed from now on reach it."""
    running, pending = os.pipe()  # closed by the exec
    pid = os.fork()
    if pid:
        os.close(pending)
        os.read(running, 1)
        os.close(running)
        return pid
    status = _CANNOT_RUN
    try:
        os.setsid()
        for stream, slot in descriptors:
            os.dup2(stream, slot)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        reasons = []
        for path in paths:
            try:
                os.execve(path, argv, environment)
            except OSError as error:
                reasons.append(error)
        refusal = _refusal(argv[0], reasons)
        status = refusal.status
        os.write(2, f"{refusal.reason}\n".encode("utf-8", "replace"))
    finally:
        os._exit(status)


def _refusal(name: str, reasons: list[OSError]) -> CannotRun:
    """As shells do: a file that is there but cannot be run weighs more than one that is not there."""
    missing = (errno.ENOENT, errno.ENOTDIR)
    found = [error for error in reasons if error.errno not in missing]
    if found:
        return CannotRun(_CANNOT_RUN, f"cannot run {name}: {found[0].strerror}")
    return CannotRun(_NOT_FOUND, f"cannot run {name}: not found")
