"""Starting one process inside: session, descriptors, limits, and the command in place of us."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import termios
from collections.abc import Sequence
from typing import NoReturn

from triathlon.sandbox.namespaces.inside import wire


def spawn(request: wire.Message, streams: Sequence[int], limits: dict[str, int]) -> int:
    """Fork and run `request["argv"]`; `request["slots"]` says which of 0, 1, 2 the `streams` are."""
    pid = os.fork()
    if pid == 0:
        _run(request, streams, limits)
    return pid


def _run(request: wire.Message, streams: Sequence[int], limits: dict[str, int]) -> NoReturn:
    status = 126
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        for slot, stream in zip(request["slots"], streams, strict=True):
            os.dup2(stream, slot)
        if request["terminal"]:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        _limit(limits)
        os.chdir(request["cwd"])
        argv, environment = request["argv"], request["env"]
        os.execvpe(argv[0], argv, environment)
    except OSError as error:
        status = 127 if isinstance(error, FileNotFoundError) else 126
        os.write(
            2, f"cannot run {request['argv'][0]} in {request['cwd']}: {error.strerror}\n".encode("utf-8", "replace")
        )
    except BaseException as error:
        os.write(2, f"cannot run {request['argv'][0]}: {error!r}\n".encode("utf-8", "replace"))
    finally:
        os._exit(status)


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
