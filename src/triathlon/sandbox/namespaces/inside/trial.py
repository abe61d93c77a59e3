"""Trying the parts of a sandbox one by one, for `triathlon doctor`."""

# Plain strings and os calls: this runs in the helper, which stays small.
# ruff: noqa: PTH102

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import NoReturn

from triathlon.sandbox.namespaces.inside import setup, syscalls, wire


def run(box: socket.socket, request: wire.Message) -> NoReturn:
    """Try each part in fresh namespaces and tell the runner what the errors were; never returns."""
    told: dict[str, str | None] = {}
    try:
        for name, part in _parts(request):
            try:
                part()
                told[name] = None
            except OSError as error:
                told[name] = str(error)
        wire.send(box, {"told": told})
    finally:
        os._exit(0)


def _parts(request: wire.Message) -> list[tuple[str, Callable[[], object]]]:
    at = request["at"]
    return [
        ("id map", lambda: None if request["root"] else setup.map_own_ids(request)),
        ("private mounts", lambda: syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)),
        ("tmpfs", lambda: _tmpfs(at)),
        ("bind", lambda: setup.bind_read_only("/usr", "bound")),
        ("devices", lambda: syscalls.mount("/dev/null", "null", None, syscalls.MS_BIND)),
        ("proc", lambda: syscalls.mount("proc", "proc", "proc", syscalls.MS_NOSUID)),
        ("devpts", lambda: syscalls.mount("devpts", "pts", "devpts", syscalls.MS_NOSUID, "ptmxmode=0666")),
        ("overlay", lambda: syscalls.mount("o", "merged", "overlay", 0, "lowerdir=lower,upperdir=upper,workdir=work")),
        ("loopback", lambda: setup.listen([("127.0.0.2", 80)])),
        ("system call filter", _filter),
    ]


def _tmpfs(at: str) -> None:
    syscalls.mount("tmpfs", at, "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, "size=1m,mode=0755")
    os.chdir(at)
    for name in ("bound", "proc", "pts", "lower", "upper", "work", "merged"):
        os.mkdir(name)
    os.close(os.open("null", os.O_CREAT | os.O_WRONLY))


def _filter() -> None:
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if setup.REFUSED is None:
        raise OSError(f"not written for {os.uname().machine}")
    syscalls.set_filter(setup.REFUSED)
    try:
        socket.socket(40).close()
    except OSError:
        return
    raise OSError("a refused call went through")
