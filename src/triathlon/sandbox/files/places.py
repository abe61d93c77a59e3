"""Reading and writing a sandbox's files from outside, never through a link that stands inside.

Everything goes through one folder descriptor that was held before anything ran, one path component at a time with
O_NOFOLLOW: whatever the candidate renames, links or locks, a path can only lead below that folder.
"""

# What pathlib offers follows links and knows no folder descriptors.
# ruff: noqa: PTH101, PTH208

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from triathlon.sandbox.files.locks import enter, lifted, open_file
from triathlon.sandbox.files.tree import copy_out, snapshot
from triathlon.sandbox.protocol import Entry


class Places:
    """The files below `folder` (a descriptor, ours to close).

    `prefixes` maps absolute paths inside to folders below it. `owner` is the host's uid and gid for what we make
    (None: leave it ours).
    """

    def __init__(self, folder: int, prefixes: Mapping[str, str], owner: int | None = None) -> None:
        self._folder = folder
        self._prefixes = sorted(prefixes.items(), key=lambda item: len(item[0]), reverse=True)
        self._owner = owner

    def close(self) -> None:
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def write_file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        with self._parent(path, make=True) as (folder, name):
            descriptor = open_file(folder, name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                self._own(descriptor)
                os.fchmod(descriptor, mode)
            finally:
                os.close(descriptor)

    def read_file(self, path: str) -> bytes:
        with self._parent(path) as (folder, name):
            descriptor = open_file(folder, name, os.O_RDONLY)
            with open(descriptor, "rb", buffering=0) as file:
                return file.read()

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        with self._parent(path, make=True) as (folder, name):
            try:
                os.mkdir(name, dir_fd=folder)
            except FileExistsError:
                if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise
            with enter(folder, name, lift=False) as made:
                self._own(made)
                os.chmod(f"/proc/self/fd/{made}", mode)

    def symlink(self, path: str, target: str) -> None:
        with self._parent(path, make=True) as (folder, name):
            os.symlink(target, name, dir_fd=folder)
            if self._owner is not None:
                os.chown(name, self._owner, self._owner, dir_fd=folder, follow_symlinks=False)

    def chmod(self, path: str, mode: int) -> None:
        with self._parent(path) as (folder, name):
            descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                if stat.S_ISLNK(os.fstat(descriptor).st_mode):
                    raise OSError(errno.ELOOP, "a link has no mode of its own", path)
                os.chmod(f"/proc/self/fd/{descriptor}", mode)
            finally:
                os.close(descriptor)

    def utime(self, path: str, mtime: float) -> None:
        with self._parent(path) as (folder, name):
            os.utime(name, (mtime, mtime), dir_fd=folder, follow_symlinks=False)

    def remove(self, path: str) -> None:
        try:
            with self._parent(path) as (folder, name):
                _remove(folder, name)
        except FileNotFoundError:
            return

    def tree(self, path: str, *, max_bytes: int = 1_048_576, total_bytes: int = 33_554_432) -> dict[str, Entry]:
        try:
            with self._parent(path) as (folder, name):
                return snapshot(folder, name, max_bytes, total_bytes)
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def export(self, path: str, destination: Path) -> None:
        with self._parent(path) as (folder, name), enter(folder, name) as source:
            copy_out(source, destination, self._owner)

    @contextmanager
    def _parent(self, path: str, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that holds `path`, open and unlocked, and the name in it."""
        parts = self._locate(path)
        with ExitStack() as stack:
            folder = self._folder
            for part in parts[:-1]:
                try:
                    folder = stack.enter_context(enter(folder, part))
                except FileNotFoundError:
                    if not make:
                        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
                    os.mkdir(part, 0o755, dir_fd=folder)
                    folder = stack.enter_context(enter(folder, part))
                    self._own(folder)
            yield folder, parts[-1]

    def _locate(self, path: str) -> list[str]:
        clean = posixpath.normpath(path)
        for prefix, folder in self._prefixes:
            if clean == prefix or clean.startswith(prefix.rstrip("/") + "/"):
                return [part for part in (*folder.split("/"), *clean[len(prefix) :].split("/")) if part]
        raise PermissionError(errno.EACCES, "not a place of the sandbox", path)

    def _own(self, descriptor: int) -> None:
        if self._owner is not None:
            os.chown(f"/proc/self/fd/{descriptor}", self._owner, self._owner)


def _remove(folder: int, name: str) -> None:
    if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=folder)
        return
    with enter(folder, name) as inner, lifted(inner) as readable:
        for child in os.listdir(readable):
            _remove(inner, child)
    os.rmdir(name, dir_fd=folder)
