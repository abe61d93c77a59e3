"""What this machine can do for a sandbox, found by trying it."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

from triathlon.errors import SandboxError, TriathlonError
from triathlon.sandbox import cache
from triathlon.sandbox.namespaces import Namespaces, cgroups
from triathlon.sandbox.namespaces.inside import wire
from triathlon.sandbox.namespaces.launch import Helper
from triathlon.sandbox.namespaces.provider import host_uid
from triathlon.sandbox.protocol import BoxSpec

_USERS = (
    "let users make user namespaces: `sysctl user.max_user_namespaces` above 0, on Debian "
    "`sysctl -w kernel.unprivileged_userns_clone=1`, on Ubuntu "
    "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`; in a container run it with "
    "`--security-opt seccomp=unconfined --security-opt apparmor=unconfined`; or use `--sandbox none`"
)
_TODO = {
    "namespaces": _USERS,
    "id map": _USERS,
    "private mounts": _USERS,
    "tmpfs": _USERS,
    "bind": _USERS,
    "devices": "the machine's /dev must not be mounted nodev",
    "proc": "in a container, do not mask /proc: `--security-opt systempaths=unconfined`",
    "devpts": "the kernel needs devpts with instances of its own (4.7 or later)",
    "overlay": "nothing to do: no provider here needs it",
    "loopback": _USERS,
    "system call filter": "the kernel needs seccomp; without it a candidate may reach the host of a virtual machine",
}
_OPTIONAL = ("overlay", "system call filter")


@dataclass(frozen=True)
class Check:
    """One thing tried: whether it works, what was seen, what to do if it does not; `needed` for a standard run."""

    name: str
    ok: bool
    says: str = ""
    todo: str = ""
    needed: bool = True


@dataclass(frozen=True)
class Examination:
    """Everything tried, and the versions in the listed root if one could be made."""

    checks: tuple[Check, ...]
    fingerprint: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """The provider `namespaces` works."""
        return all(check.ok for check in self.checks if check.needed)


def examine() -> Examination:
    """Try everything as this user; leaves nothing behind."""
    checks = [_python(), *_cache()]
    if all(check.ok for check in checks):
        checks += _parts()
        checks.append(_limits())
        boxed, fingerprint = _in_a_sandbox()
        return Examination((*checks, *boxed), fingerprint)
    return Examination(tuple(checks), {})


def _python() -> Check:
    kernel = os.uname()
    user = "root" if os.geteuid() == 0 else f"user {os.geteuid()}"
    says = f"Python {sys.version.split()[0]}, {kernel.sysname} {kernel.release}, {kernel.machine}, {user}"
    return Check("machine", kernel.sysname == "Linux", says, "sandboxes need Linux; elsewhere use a Linux container")


def _cache() -> list[Check]:
    try:
        place = cache.place()
    except TriathlonError as error:
        return [Check("cache", False, str(error), "make /var/tmp writable and mount it without noexec")]
    return [Check("cache", True, str(place))]


def _parts() -> list[Check]:
    """The parts of a sandbox one by one; as root first without a user namespace, as the provider does it."""
    at = cache.place() / "at"
    at.mkdir(exist_ok=True)
    root = os.geteuid() == 0 and host_uid() is not None
    request: wire.Message = {"do": "try", "root": root, "uid": os.geteuid(), "gid": os.getegid(), "at": str(at)}
    helper = Helper()
    try:
        told = _try(helper, request)
        if root and "error" in told:
            told = _try(helper, {**request, "root": False})
    finally:
        helper.close()
    if "error" in told:
        return [Check("namespaces", False, told["error"], _TODO["namespaces"])]
    made = Check("namespaces", True, "user, mount, pid, net, ipc, uts")
    parts = [
        Check(name, error is None, error or "", _TODO[name] if error else "", needed=name not in _OPTIONAL)
        for name, error in told["told"].items()
    ]
    return [made, *parts]


def _try(helper: Helper, request: wire.Message) -> wire.Message:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        helper.hand_over(request, [theirs.fileno()])
        theirs.close()
        ours.settimeout(30)
        received = wire.receive(ours)
    return received[0] if received else {"error": "the trial ended early"}


def _limits() -> Check:
    where = cgroups.parents()
    if where is None:
        todo = "nothing must be done: each process is limited and the memory of all is watched; as root a group is used"
        return Check("cgroup", False, "no group for memory and pids can be made by this user", todo, needed=False)
    return Check("cgroup", True, f"version {where.version}", needed=False)


def _in_a_sandbox() -> tuple[list[Check], Mapping[str, str]]:
    """A whole sandbox with the listed root, and what must work, and what must not, inside it."""
    began = time.monotonic()
    try:
        with Namespaces() as made:
            with made.open(BoxSpec()) as box:
                say = f"a whole one with {made.fingerprint['python_from']} Python {made.fingerprint['python']}"
                checks = [Check("sandbox", True, f"{say}, first start {time.monotonic() - began:.1f} s")]
                for name, command, wanted in _INSIDE:
                    result = box.exec(["sh", "-c", command], timeout=30)
                    ok = (result.returncode == 0) == wanted
                    says = result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
                    checks.append(Check(name, ok, "" if ok else says or "it was not refused", "please report this"))
            return checks, made.fingerprint
    except (SandboxError, OSError) as error:
        return [Check("sandbox", False, str(error), "see the parts above")], {}


_INSIDE = (
    ("git inside", "git init -q x && git -C x status -s", True),
    ("python inside", "python3 -c 'import ssl, sqlite3, ctypes, venv'", True),
    ("terminal inside", "python3 -c 'import os; os.ttyname(os.openpty()[1])'", True),
    ("read-only root", "touch /usr/bin/x || touch /x", False),
    (
        "nested namespaces refused",
        "python3 -c 'import ctypes, sys; sys.exit(-ctypes.CDLL(None).unshare(1 << 28))'",
        False,
    ),
)
