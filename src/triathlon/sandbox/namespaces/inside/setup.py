"""The steps from a fresh clone of the helper to process 1 of a finished sandbox.

As root the mounts come first and the user namespace last, so that the mounts belong to the host's root; a normal user
gets the user namespace with the clone, as it must. After that both are the same: one uid, no capability, no way back.
"""

# Plain strings and os calls: this runs in the helper, which stays small.
# ruff: noqa: PTH101, PTH102, PTH103, PTH211

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import sys
from typing import NoReturn

from triathlon.sandbox.namespaces.inside import init, refuse, syscalls, wire
from triathlon.sandbox.namespaces.inside.syscalls import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
)

REFUSED = refuse.program()
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "/dev/ptmx": "pts/ptmx",
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/var/tmp": "../tmp",
}
_FOLDERS = ("/usr", "/etc", "/proc", "/dev", "/dev/pts", "/dev/shm", "/home", "/opt", "/run", "/tmp", "/var", "/work")
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
# What statvfs says of a mount, as flags of mount(2): a user may not take them away again when making it read-only.
_KEPT_FLAGS = {
    os.ST_NOSUID: MS_NOSUID,
    os.ST_NODEV: MS_NODEV,
    os.ST_NOEXEC: MS_NOEXEC,
    os.ST_NOATIME: syscalls.MS_NOATIME,
    os.ST_NODIRATIME: syscalls.MS_NODIRATIME,
    os.ST_RELATIME: syscalls.MS_RELATIME,
}


def namespaces(request: wire.Message) -> int:
    """The namespaces made with the clone itself."""
    flags = (
        syscalls.CLONE_NEWNS
        | syscalls.CLONE_NEWPID
        | syscalls.CLONE_NEWNET
        | syscalls.CLONE_NEWIPC
        | syscalls.CLONE_NEWUTS
    )
    return flags if request["root"] else flags | syscalls.CLONE_NEWUSER


def become_init(box: socket.socket, request: wire.Message) -> NoReturn:
    """Set everything up, tell the runner, and serve it as init; never returns."""
    status = 1
    try:
        badness, *descriptors = _set_up(box, request)
        wire.send(box, {"ready": True}, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        init.serve(box, request, badness)
        status = 0
    except OSError as error:
        _tell(box, {"error": str(error), "errno": error.errno})
    except BaseException as error:
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        _tell(box, {"error": f"{error!r} in line {where.tb_lineno if where else 0}", "errno": None})
    finally:
        os._exit(status)


def _tell(box: socket.socket, message: wire.Message) -> None:
    try:
        wire.send(box, message)
    except OSError:
        pass


def _set_up(box: socket.socket, request: wire.Message) -> list[int]:
    """All steps in order; returns a descriptor for init, and those for the runner: files, our pidfd, listeners."""
    os.setsid()
    os.umask(0o022)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if not request["root"]:
        map_own_ids(request)
    for procs in request["cgroups"]:
        _write(procs, "0")
    try:
        syscalls.unshare(syscalls.CLONE_NEWCGROUP)  # hides the host's group names
    except OSError:
        pass
    this = os.pidfd_open(os.getpid())
    files = _mount(request)
    badness = os.open("/proc/self/oom_score_adj", os.O_WRONLY)  # closed to us once we are not dumpable
    listeners = listen(request["listen"])
    socket.sethostname("box")
    syscalls.set_domain_name(b"(none)")
    if request["root"]:
        os.setgroups([])
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        wire.send(box, {"map": True}, [this])
        if wire.receive(box) is None:
            os._exit(1)
        os.setresgid(init.UID, init.UID, init.UID)
        os.setresuid(init.UID, init.UID, init.UID)
    if not request["nested"]:
        # Only now: before our own user namespace this would be the host's value.
        _write("/proc/sys/user/max_user_namespaces", "0")
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    syscalls.drop_capabilities()
    if REFUSED is not None:
        syscalls.set_filter(REFUSED)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of uid has cleared it
    syscalls.set_name(b"init")
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    return [badness, files, this, *listeners]


def map_own_ids(request: wire.Message) -> None:
    """A normal user may map itself, and nobody else."""
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{init.UID} {request['uid']} 1")
    _write("/proc/self/gid_map", f"{init.UID} {request['gid']} 1")


def _mount(request: wire.Message) -> int:
    """Build the file system and make it the root; returns the folder of all writable places, as seen from outside."""
    at = request["at"]
    syscalls.mount(None, "/", None, MS_REC | MS_PRIVATE)
    size = f"size={request['tmpfs_mb']}m,nr_inodes={request['inodes']},mode=0755"
    syscalls.mount("tmpfs", at, "tmpfs", MS_NOSUID | MS_NODEV, size)
    os.chdir(at)
    if request["root"]:
        os.chown(".", request["uid"], request["gid"])
        syscalls.set_file_owner(request["uid"])
    _skeleton(request)
    if request["root"]:
        syscalls.set_file_owner(0)
    syscalls.mount("root", "root", None, MS_BIND)
    bind_read_only(request["usr"], "root/usr")
    syscalls.mount("proc", "root/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    syscalls.mount("devpts", "root/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "ptmxmode=0666,mode=0620")
    for name in _DEVICES:
        syscalls.mount(f"/dev/{name}", f"root/dev/{name}", None, MS_BIND)
    for index, place in enumerate(request["places"]):
        syscalls.mount(str(index), f"root{place}", None, MS_BIND)
    for source, target in request["layers"]:
        os.makedirs(f"root{target}", exist_ok=True)
        bind_read_only(source, f"root{target}")
    syscalls.mount(None, "root", None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)
    files = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    sys.path.clear()  # nothing may be imported from the sandbox's own root
    os.chdir("root")
    syscalls.pivot_root(".", ".")
    syscalls.unmount(".", syscalls.MNT_DETACH)
    os.chdir("/")
    return files


def _skeleton(request: wire.Message) -> None:
    """The folders, links and small files of the root, and one folder for each writable place."""
    os.mkdir("root", 0o755)
    for folder in _FOLDERS:
        os.mkdir(f"root{folder}", 0o755)
    for name, target in request["links"].items():
        os.symlink(target, f"root/{name}")
    for path, target in _LINKS.items():
        os.symlink(target, f"root{path}")
    for name in _DEVICES:
        os.close(os.open(f"root/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o644))
    for path, text in request["files"].items():
        _write(f"root{path}", text)
    for index, (place, mode) in enumerate(request["places"].items()):
        os.mkdir(str(index), mode & 0o777)
        if mode != 0o755:
            os.chmod(str(index), mode)
        if place not in _FOLDERS:
            os.makedirs(f"root{place}", exist_ok=True)
    for index, folder in request["folders"]:
        os.mkdir(f"{index}/{folder}", 0o755)


def bind_read_only(source: str, target: str) -> None:
    syscalls.mount(source, target, None, MS_BIND)
    present = os.statvfs(target).f_flag
    kept = sum(flag for bit, flag in _KEPT_FLAGS.items() if present & bit)
    syscalls.mount(None, target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | kept | MS_NOSUID | MS_NODEV)


def listen(addresses: list[tuple[str, int]]) -> list[int]:
    """Bring the loopback up and listen, while we still may on low ports."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        interface = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(control, _SIOCGIFFLAGS, interface), 16)
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
    listeners = []
    for host, port in addresses:
        listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise OSError(error.errno, f"listen on {host}:{port}: {os.strerror(error.errno or 0)}") from None
        listener.listen(128)
        listeners.append(listener.detach())
    return listeners


def _write(path: str, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OSError(error.errno, f"write {path}: {os.strerror(error.errno or 0)}") from None
