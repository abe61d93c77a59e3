"""The system calls that Python 3.11 lacks, through ctypes; each raises OSError with the name of the call."""

from __future__ import annotations

import ctypes
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_NOATIME, MS_NODIRATIME, MS_BIND, MS_REC, MS_PRIVATE = 32, 1024, 2048, 4096, 16384, 1 << 18
MS_RELATIME = 1 << 21
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_PR_SET_NAME, _PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 15, 24, 47, 4

_SYS_CLONE3 = 435  # the same number on every architecture
_SIGCHLD = 17
_CAPABILITY_VERSION_3 = 0x20080522

# PyDLL keeps the interpreter's lock over the call: a clone made while it is let go would wake up without it.
_libc = ctypes.PyDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
_libc.mount.argtypes = [*[ctypes.c_char_p] * 3, ctypes.c_ulong, ctypes.c_char_p]
_libc.syscall.restype = ctypes.c_long


def _check(result: int, what: str, on: str = "") -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what} {on}".strip() + f": {os.strerror(number)}")
    return result


def clone(flags: int) -> int:
    """Fork into new namespaces: 0 in the child, which is process 1 with CLONE_NEWPID, else its process id."""
    arguments = struct.pack("=8Q", flags, 0, 0, 0, _SIGCHLD, 0, 0, 0)
    return _check(_libc.syscall(_SYS_CLONE3, arguments, ctypes.c_size_t(len(arguments))), "clone3")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    result = _libc.mount(_bytes(source), _bytes(target), _bytes(kind), flags, _bytes(data))
    _check(result, "mount", target)


def unmount(target: str, flags: int = 0) -> None:
    _check(_libc.umount2(_bytes(target), flags), "umount", target)


def pivot_root(new: str, old: str) -> None:
    _check(_libc.pivot_root(_bytes(new), _bytes(old)), "pivot_root")


def set_filter(program: bytes) -> None:
    """Refuse system calls from now on, here and in all children; needs no-new-privileges."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HP", len(program) // 8, ctypes.addressof(buffer)))
    _check(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(header), 0, 0), "seccomp")


def set_domain_name(name: bytes) -> None:
    _check(_libc.setdomainname(name, ctypes.c_size_t(len(name))), "setdomainname")


def prctl(option: int, value: int = 0) -> None:
    _check(_libc.prctl(option, value, 0, 0, 0), "prctl")


def set_name(name: bytes) -> None:
    """What `/proc/PID/comm` says."""
    buffer = ctypes.create_string_buffer(name, 16)
    prctl(_PR_SET_NAME, ctypes.addressof(buffer))


def set_file_owner(uid: int) -> None:
    """New files of this process belong to `uid` (its rights over other files follow)."""
    _libc.setfsgid(uid)
    _libc.setfsuid(uid)


def drop_capabilities() -> None:
    """All of them, from every set, for good."""
    with open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        last = int(file.read())
    for capability in range(last + 1):
        prctl(_PR_CAPBSET_DROP, capability)
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, bytes(24)), "capset")


def scrub_command_line(title: bytes) -> None:
    """Overwrite our argv and environment, which hold host paths, where `/proc/PID/cmdline` shows them."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end, environment, environment_end = (int(fields[i]) for i in (45, 46, 47, 48))
    room = end - start
    ctypes.memset(start, 0, room)
    ctypes.memmove(start, title[: room - 1], min(len(title), room - 1))
    ctypes.memset(environment, 0, environment_end - environment)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)
