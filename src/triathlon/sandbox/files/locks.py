"""Opening what a candidate has locked, as root and as a normal user alike.

Root reads and writes whatever the mode. A normal user owns the files but is stopped by mode 000: the mode is lifted
for the moment and put back, so that both see, and leave, the same.
"""

# What pathlib offers follows links and knows no folder descriptors.
# ruff: noqa: PTH101

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def enter(folder: int, name: str, lift: bool = True) -> Iterator[int]:
    """A folder's descriptor (O_PATH); NotADirectoryError for a link or a file."""
    descriptor = os.open(name, _FOLDER, dir_fd=folder)
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        locked = lift and mode & 0o700 != 0o700 and os.geteuid() != 0
        if locked:
            os.chmod(f"/proc/self/fd/{descriptor}", mode | 0o700)
        try:
            yield descriptor
        finally:
            if locked:
                os.chmod(f"/proc/self/fd/{descriptor}", mode)
    finally:
        os.close(descriptor)


@contextmanager
def lifted(folder: int) -> Iterator[int]:
    """The same folder opened for listing."""
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_file(folder: int, name: str, flags: int) -> int:
    """A regular file's descriptor; a link is ELOOP, a fifo never blocks, anything else that is no file is an error."""
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    except PermissionError:
        descriptor = _open_locked(folder, name, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IsADirectoryError(21, "not a regular file", name)
    return descriptor


def _open_locked(folder: int, name: str, flags: int) -> int:
    held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        found = os.fstat(held)
        if not stat.S_ISREG(found.st_mode):
            raise PermissionError(13, "not a regular file", name)
        mode = stat.S_IMODE(found.st_mode)
        os.chmod(f"/proc/self/fd/{held}", mode | 0o600)
        try:
            return os.open(f"/proc/self/fd/{held}", flags & ~(os.O_NOFOLLOW | os.O_CREAT))
        finally:
            os.chmod(f"/proc/self/fd/{held}", mode)
    finally:
        os.close(held)
