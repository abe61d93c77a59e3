"""The neutral place on the host for what sandboxes show: its path names neither the user nor the project.

A bind mount always shows its source path to the candidate (`/proc/self/mountinfo`), so the listed root and the
installed candidates are kept here. What is made for one run carries the runner's process id and start time in its
name, so that `sweep` can tell what a killed runner left.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from triathlon.errors import SandboxUnavailable

_PLACES = ("/var/tmp", "/tmp", "/dev/shm")
_KEEP_DAYS = 30


@cache
def place() -> Path:
    """The cache folder of this user, made if need be: ours alone, and on a file system that lets programs run."""
    uid = os.getuid()
    name = "boxes-" + hashlib.sha256(f"uid {uid}".encode()).hexdigest()[:8]
    for parent in _PLACES:
        path = Path(parent) / name
        try:
            path.mkdir(mode=0o700, exist_ok=True)
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == uid and not os.statvfs(path).f_flag & os.ST_NOEXEC:
                path.chmod(0o700)
                return path
        except OSError:
            continue
    raise SandboxUnavailable(
        f"none of {', '.join(_PLACES)} can hold the sandbox's files (writable, not mounted noexec)"
    )


def mark() -> str:
    """A name part that says which process made a thing."""
    return f"{os.getpid()}-{_started(os.getpid())}"


def alive(name: str) -> bool:
    """Whether the process whose `mark` stands in a name of the form `kind-PID-START-...` still runs."""
    parts = name.split("-")
    try:
        return _started(int(parts[1])) == int(parts[2])
    except (IndexError, ValueError):
        return True
    except OSError:
        return False


def _started(pid: int) -> int:
    """When a process started, in clock ticks since boot; OSError if there is none."""
    return int(Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19])


def temporary(kind: str) -> Path:
    """A new marked folder in the cache."""
    return Path(tempfile.mkdtemp(prefix=f"{kind}-{mark()}-", dir=place()))


def discard(path: Path) -> None:
    """Remove a folder, also one whose parts were made unreadable."""
    for folder, names, _ in os.walk(path):
        for inner in (Path(folder) / name for name in names):
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)


def sweep() -> None:
    """Remove marked folders whose maker is gone, and what was not used for a month."""
    oldest = time.time() - _KEEP_DAYS * 86400
    for entry in list(place().iterdir()):
        temporary_left = entry.name.startswith(("new-", "plain-")) and not alive(entry.name)
        with suppress(OSError):
            if temporary_left or (entry.is_dir() and entry.name != "at" and entry.stat().st_mtime < oldest):
                discard(entry)
