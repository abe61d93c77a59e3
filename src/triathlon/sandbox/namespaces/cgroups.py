"""Limits on a whole sandbox by a control group, version 1 or 2, where this user may make one."""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from triathlon.sandbox.cache import alive, mark
from triathlon.sandbox.protocol import Limits

_CONTROLLERS = ("memory", "pids")
_counter = itertools.count()


@dataclass(frozen=True)
class Parents:
    """Where groups may be made: one folder for each controller (version 1), or one for both (version 2)."""

    version: int
    folders: tuple[Path, ...]


@dataclass
class Group:
    """The group of one sandbox."""

    version: int
    folders: tuple[Path, ...]
    _last: tuple[float, bool] = field(default=(0.0, False))

    @property
    def procs(self) -> list[str]:
        """The files into which the sandbox's first process writes itself."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def usage(self) -> tuple[float, bool]:
        """(peak MB of memory, whether the limit had something killed)."""
        folder = self.folders[0]
        with suppress(OSError, ValueError):
            if self.version == 1:
                peak = int((folder / "memory.max_usage_in_bytes").read_text("ascii"))
                events = (folder / "memory.oom_control").read_text("ascii")
            else:
                now = folder / "memory.peak" if (folder / "memory.peak").exists() else folder / "memory.current"
                peak = int(now.read_text("ascii"))
                events = (folder / "memory.events").read_text("ascii")
            kills = dict(line.split() for line in events.splitlines()).get("oom_kill", "0")
            self._last = (peak / (1 << 20), kills != "0")
        return self._last

    def remove(self) -> None:
        """Remove the group once its last process is gone (it may look busy for a moment)."""
        for folder in self.folders:
            _remove(folder)


def create(limits: Limits) -> Group | None:
    """A new group with these limits, or None where none can be had."""
    where = parents()
    if where is None:
        return None
    folders = tuple(parent / f"box-{mark()}-{next(_counter)}" for parent in where.folders)
    group = Group(where.version, folders)
    try:
        for folder in folders:
            folder.mkdir()
        _set_limits(group, limits)
    except OSError:
        group.remove()
        return None
    return group


def _set_limits(group: Group, limits: Limits) -> None:
    memory, pids = group.folders[0], group.folders[-1]
    size = str(limits.memory_mb << 20)
    (memory / ("memory.limit_in_bytes" if group.version == 1 else "memory.max")).write_text(size, "ascii")
    swap = ("memory.memsw.limit_in_bytes", size) if group.version == 1 else ("memory.swap.max", "0")
    with suppress(OSError):  # only there when swap is accounted
        if (memory / swap[0]).exists():
            (memory / swap[0]).write_text(swap[1], "ascii")
    (pids / "pids.max").write_text(str(limits.pids), "ascii")


@cache
def parents(proc: Path = Path("/proc/self")) -> Parents | None:
    """Where this process may make groups for memory and pids; found by trying."""
    mounts, own = _mounts(proc), _own_groups(proc)
    found = []
    for controller in _CONTROLLERS:
        if controller in mounts and controller in own:
            folder = _below(mounts[controller], own[controller])
            if _can_make(folder):
                found.append(folder)
    if len(found) == len(_CONTROLLERS):
        return Parents(1, tuple(found))
    if "" in mounts and "" in own:
        top = mounts[""][0]
        folder = _below(mounts[""], own[""])
        for candidate in (folder, *folder.parents):
            if _passes_on(candidate) and _can_make(candidate):
                return Parents(2, (candidate,))
            if candidate == top:
                break
    return None


def _mounts(proc: Path) -> dict[str, tuple[Path, str]]:
    """Controller (version 2: the empty name) to its mount point and the group that is mounted there."""
    found: dict[str, tuple[Path, str]] = {}
    for line in (proc / "mountinfo").read_text("utf-8", "replace").splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        root, point = left.split()[3:5]
        if kind == "cgroup2":
            found.setdefault("", (Path(point), root))
        elif kind == "cgroup":
            for option in options.split(","):
                found.setdefault(option, (Path(point), root))
    return found


def _own_groups(proc: Path) -> dict[str, str]:
    own = {}
    for line in (proc / "cgroup").read_text("utf-8", "replace").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            own[controller] = path
    return own


def _below(mounted: tuple[Path, str], path: str) -> Path:
    point, root = mounted
    inner = os.path.relpath(path, root)
    return point if inner.startswith("..") else point / inner


def _passes_on(folder: Path) -> bool:
    """Whether (version 2) the folder's children get both controllers."""
    try:
        on = (folder / "cgroup.subtree_control").read_text("ascii").split()
    except OSError:
        return False
    return all(controller in on for controller in _CONTROLLERS)


def _can_make(folder: Path) -> bool:
    probe = folder / f"box-{mark()}-probe"
    try:
        probe.mkdir()
        os.close(os.open(probe / "cgroup.procs", os.O_WRONLY))
    except OSError:
        return False
    finally:
        with suppress(OSError):
            probe.rmdir()
    return True


def sweep() -> None:
    """Remove the groups of runners that are gone."""
    where = parents()
    for parent in where.folders if where else ():
        for folder in parent.glob("box-*-*-*"):
            if not alive(folder.name):
                _remove(folder, seconds=1.0)


def _remove(folder: Path, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    pause = 0.001
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(pause)
            pause = min(pause * 2, 0.1)
        else:
            return
