"""A tree of files as seen from outside, bounded in memory and time whatever stands in it."""

# What pathlib offers follows links and knows no folder descriptors.
# ruff: noqa: PTH208

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

from triathlon.sandbox.files.locks import enter, lifted, open_file
from triathlon.sandbox.protocol import Entry

MAX_ENTRIES = 20_000
MAX_DEPTH = 200
_READ_FACTOR = 8
_CHUNK = 1 << 20
_MAX_EXPORT = 2 << 30


class _Snapshot:
    """One walk; `kept` and `read` are the bytes it may still keep and read."""

    def __init__(self, max_bytes: int, total_bytes: int) -> None:
        self.entries: dict[str, Entry] = {}
        self._max = max_bytes
        self._kept = total_bytes
        self._read = total_bytes * _READ_FACTOR

    def add(self, folder: int, name: str, key: str, depth: int) -> None:
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                if key:
                    self.entries[key] = Entry("dir", stat.S_IMODE(found.st_mode), 0, found.st_mtime)
                self._add_children(folder, name, key, depth)
            elif stat.S_ISLNK(found.st_mode):
                target = os.readlink(name, dir_fd=folder)
                self.entries[key] = Entry("link", 0o777, len(target), found.st_mtime, target=target)
            elif stat.S_ISREG(found.st_mode):
                self.entries[key] = self._file(folder, name, found)
            else:
                self.entries[key] = Entry("other", stat.S_IMODE(found.st_mode), 0, found.st_mtime)
        except (FileNotFoundError, NotADirectoryError):
            return  # it went away, or became something else, while we looked

    def _add_children(self, folder: int, name: str, key: str, depth: int) -> None:
        if depth >= MAX_DEPTH:
            return
        with enter(folder, name) as inner:
            with lifted(inner) as readable:
                children = sorted(os.listdir(readable))
            for child in children:
                if len(self.entries) >= MAX_ENTRIES:
                    return
                self.add(inner, child, f"{key}/{child}" if key else child, depth + 1)

    def _file(self, folder: int, name: str, found: os.stat_result) -> Entry:
        digest, data = hashlib.sha256(), bytearray()
        room = min(self._max, self._kept)
        size = 0
        if self._read > 0:
            descriptor = open_file(folder, name, os.O_RDONLY)
            try:
                while self._read > 0 and (part := os.read(descriptor, _CHUNK)):
                    digest.update(part)
                    data += part[: room - len(data)] if len(data) < room else b""
                    size += len(part)
                    self._read -= len(part)
            finally:
                os.close(descriptor)
        whole = size >= found.st_size
        self._kept -= len(data)
        return Entry(
            kind="file",
            mode=stat.S_IMODE(found.st_mode),
            size=max(size, found.st_size),
            mtime=found.st_mtime,
            data=bytes(data),
            truncated=len(data) < max(size, found.st_size),
            sha256=digest.hexdigest() if whole else "",
        )


def snapshot(folder: int, name: str, max_bytes: int, total_bytes: int) -> dict[str, Entry]:
    """See `Sandbox.tree`; at most `MAX_ENTRIES` entries and `MAX_DEPTH` levels."""
    walk = _Snapshot(max_bytes, total_bytes)
    walk.add(folder, name, "", 0)
    return walk.entries


def copy_out(source: int, destination: Path, owner: int | None) -> None:
    """Copy everything below the folder `source` into the new folder `destination`: files, folders and links.

    OSError (EFBIG) past 2 GiB, which sparse files reach without filling the sandbox.
    """
    destination.mkdir(parents=True)
    _copy_folder(source, destination, owner, 0, [_MAX_EXPORT])


def _copy_folder(source: int, destination: Path, owner: int | None, depth: int, room: list[int]) -> None:
    with lifted(source) as readable:
        names = os.listdir(readable)
    for name in names:
        found = os.stat(name, dir_fd=source, follow_symlinks=False)
        target = destination / name
        if stat.S_ISDIR(found.st_mode) and depth < MAX_DEPTH:
            target.mkdir()
            with enter(source, name) as inner:
                _copy_folder(inner, target, owner, depth + 1, room)
        elif stat.S_ISLNK(found.st_mode):
            target.symlink_to(os.readlink(name, dir_fd=source))
        elif stat.S_ISREG(found.st_mode):
            with open(open_file(source, name, os.O_RDONLY), "rb") as file, target.open("xb") as copy:
                while part := file.read(_CHUNK):
                    copy.write(part)
                    room[0] -= len(part)
                    if room[0] < 0:
                        raise OSError(errno.EFBIG, "more than 2 GiB to copy out of the sandbox", str(target))
        else:
            continue
        if not target.is_symlink():
            target.chmod(stat.S_IMODE(found.st_mode) & 0o777 | (0o700 if target.is_dir() else 0o600))
            os.utime(target, ns=(found.st_mtime_ns, found.st_mtime_ns))
        if owner is not None:
            os.lchown(target, owner, owner)
    if owner is not None:
        os.lchown(destination, owner, owner)
