"""Making sandboxes of Linux namespaces."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
from collections.abc import Mapping
from pathlib import Path

from triathlon.errors import SandboxError, SandboxUnavailable
from triathlon.sandbox import cache
from triathlon.sandbox.files import Places
from triathlon.sandbox.namespaces import cgroups
from triathlon.sandbox.namespaces.inside import wire
from triathlon.sandbox.namespaces.launch import Helper
from triathlon.sandbox.namespaces.sandbox import HOME, OUTSIDE, TMP, Box, host_pid
from triathlon.sandbox.protocol import UID, BoxSpec
from triathlon.sandbox.root import Root, listed, listed_root

# Uids of the host for the candidate when root runs the bench: no account has them. A container may map few.
_HOST_UIDS = (0x7000_0000 + UID, 64_000, UID)
_OPENING_S = 60.0
_INODES_PER_MB = 256
_CANNOT = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EINVAL, errno.ENOSPC, errno.EUSERS, errno.ENODEV)


class Namespaces:
    """The standard provider.

    SandboxUnavailable if this machine makes no such sandbox; then `triathlon doctor` knows more.
    """

    name = "namespaces"
    marks: tuple[str, ...] = ()
    stable = True

    def __init__(self) -> None:
        self._helper = Helper()
        self._lock = threading.Lock()
        self.cache = cache.place()
        (self.cache / "at").mkdir(exist_ok=True)
        self._owner = host_uid() if os.geteuid() == 0 else None
        try:
            try:
                self._root = listed_root(self._trial, self._owner)
            except SandboxUnavailable:
                if self._owner is None:
                    raise
                self._owner = None  # a root that may not mount may still have a user namespace, like anybody
                self._root = listed_root(self._trial, None)
        except BaseException:
            self.close()
            raise

    @property
    def fingerprint(self) -> Mapping[str, str]:
        return self._root.fingerprint

    @property
    def owner(self) -> int | None:
        """The host's uid that owns the candidate's files; None when it is our own."""
        return self._owner

    def open(self, spec: BoxSpec) -> Box:
        return self._open(spec, self._root)

    def cpu_seconds(self) -> float:
        return self._helper.cpu_seconds()

    def close(self) -> None:
        self._helper.close()

    def __enter__(self) -> Namespaces:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _trial(self, root: Root) -> Mapping[str, str] | str:
        """The versions in a new root, asked for inside, or why its interpreter does not do."""
        with self._open(BoxSpec(), root) as box:
            result = box.exec(["python3", "-c", listed.CHECK], timeout=60)
        if result.returncode != 0:
            raise SandboxError(
                result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2] or "it does not start"
            )
        versions: dict[str, str] = json.loads(result.stdout)
        return versions

    def _open(self, spec: BoxSpec, root: Root) -> Box:
        places = _places(spec)
        group = cgroups.create(spec.limits)
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                helper = self._hand_over(self._request(spec, root, places, group), theirs)
            ours.settimeout(_OPENING_S)
            folder, pidfd, *listening = self._await_ready(ours, helper)
        except BaseException:
            ours.close()
            if group:
                group.remove()
            raise
        prefixes = {place: str(index) for index, place in enumerate(places)} | {"/": "root"}
        return Box(
            spec,
            ours,
            pidfd,
            Places(folder, prefixes, self._owner),
            [socket.socket(fileno=descriptor) for descriptor in listening],
            group,
            helper.check,
        )

    def _hand_over(self, request: wire.Message, box: socket.socket) -> Helper:
        """The helper that took it: a new one, if somebody ended the old one."""
        helper = self._helper
        try:
            helper.hand_over(request, [box.fileno()])
        except SandboxError:
            with self._lock:
                if self._helper is helper:
                    helper.close()
                    self._helper = Helper()
            helper = self._helper
            helper.hand_over(request, [box.fileno()])
        return helper

    def _await_ready(self, box: socket.socket, helper: Helper) -> list[int]:
        while True:
            try:
                received = wire.receive(box)
            except TimeoutError as error:
                raise SandboxError("a sandbox was not ready in time") from error
            if received is None:
                helper.check()
                raise SandboxError("a sandbox ended while it was set up")
            answer, descriptors = received
            if "error" in answer:
                if answer["errno"] in _CANNOT:
                    raise SandboxUnavailable(f"cannot make a sandbox ({answer['error']}): see `triathlon doctor`")
                raise SandboxError(f"could not set up a sandbox: {answer['error']}")
            if "map" not in answer:
                return descriptors
            self._map_ids(descriptors[0])
            wire.send(box, {})

    def _map_ids(self, pidfd: int) -> None:
        """Give the sandbox's user namespace its one uid and gid (as root: nobody inside may)."""
        try:
            pid = host_pid(pidfd)
            for file in ("gid_map", "uid_map"):
                Path(f"/proc/{pid}/{file}").write_text(f"{UID} {self._owner} 1", "ascii")
        except OSError as error:
            raise SandboxUnavailable(f"cannot map a user into a sandbox ({error}): see `triathlon doctor`") from error
        finally:
            os.close(pidfd)

    def _request(
        self, spec: BoxSpec, root: Root, places: Mapping[str, int], group: cgroups.Group | None
    ) -> wire.Message:
        as_root = self._owner is not None
        limits = spec.limits
        indexes = {place: index for index, place in enumerate(places)}
        return {
            "do": "open",
            "root": as_root,
            "uid": self._owner if as_root else os.geteuid(),
            "gid": self._owner if as_root else os.getegid(),
            "at": str(self.cache / "at"),
            "usr": str(root.path / "usr"),
            "links": dict(root.links),
            "layers": sorted((str(layer.source.resolve()), layer.target) for layer in spec.layers),
            "places": dict(places),
            "folders": [(indexes["/work"], spec.workspace_name), (indexes["/work"], OUTSIDE.rpartition("/")[2])],
            "files": _etc(spec),
            "listen": [list(address) for address in spec.listen],
            "tmpfs_mb": limits.tmpfs_mb,
            "inodes": limits.tmpfs_mb * _INODES_PER_MB,
            "cgroups": group.procs if group else [],
            "nested": spec.allow_nested,
            "limits": {
                "memory_mb": limits.memory_mb,
                "pids": limits.pids,
                "file_size_mb": limits.file_size_mb,
                "open_files": limits.open_files,
            },
        }


def _places(spec: BoxSpec) -> dict[str, int]:
    """The writable places with their modes, outer ones first."""
    fixed = {"/work": 0o755, HOME: 0o755, TMP: 0o1777, "/dev/shm": 0o1777}
    return dict(sorted((fixed | dict.fromkeys(spec.writable, 0o755)).items()))


def _etc(spec: BoxSpec) -> dict[str, str]:
    hosts = [("127.0.0.1", "localhost box"), *((address, name) for name, address in sorted(spec.hosts.items()))]
    return {
        "/etc/passwd": f"agent:x:{UID}:{UID}::{HOME}:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n",
        "/etc/group": f"agent:x:{UID}:\nnogroup:x:65534:\n",
        "/etc/hosts": "".join(f"{address} {names}\n" for address, names in hosts),
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "/etc/resolv.conf": "",
    }


def host_uid() -> int | None:
    """A uid that root may map into a sandbox, free of any account; None if there is none."""
    mapped = [_ranges(file) for file in ("uid_map", "gid_map")]
    for uid in _HOST_UIDS:
        if all(any(first <= uid < first + count for first, count in ranges) for ranges in mapped):
            return uid
    return None


def _ranges(file: str) -> list[tuple[int, int]]:
    lines = Path(f"/proc/self/{file}").read_text("ascii").splitlines()
    return [(int(first), int(count)) for first, _, count in map(str.split, lines)]
