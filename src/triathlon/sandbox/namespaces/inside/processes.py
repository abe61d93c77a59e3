"""What runs inside, read from `/proc` by process 1, which itself is left out."""

# Plain strings and os calls: this runs in the helper, which stays small.
# ruff: noqa: PTH208

from __future__ import annotations

import os
from collections.abc import Iterator

_TICKS = os.sysconf("SC_CLK_TCK")
_LONGEST = 4096
_PAGE = os.sysconf("SC_PAGE_SIZE")


def pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdecimal() and name != "1"]


def listing() -> list[tuple[int, str, list[str]]]:
    """(process id, state, argv) of everything that is not a zombie."""
    found = []
    for pid, fields in _stats():
        state = fields[0].decode()
        if state not in "ZX":
            argv = _read(f"/proc/{pid}/cmdline", _LONGEST).rstrip(b"\0").split(b"\0")
            found.append((int(pid), state, [os.fsdecode(word) for word in argv]))
    return found


def times() -> float:
    """CPU seconds of what runs, with its own reaped children."""
    return sum(sum(map(int, fields[11:15])) for _, fields in _stats()) / _TICKS


def resident() -> int:
    """Resident bytes of all together; what processes share counts more than once."""
    return sum(int(fields[1]) for pid in pids() if (fields := _read(f"/proc/{pid}/statm").split())) * _PAGE


def proportional() -> int:
    """Resident bytes of all together without mapped files, shared memory counted once; slower."""
    total = 0
    for pid in pids():
        for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith((b"Pss_Anon:", b"Pss_Shmem:")):
                total += int(line.split()[1]) << 10
    return total


def _stats() -> Iterator[tuple[str, list[bytes]]]:
    for pid in pids():
        text = _read(f"/proc/{pid}/stat")
        if text:
            yield pid, text.rpartition(b")")[2].split()


def _read(path: str, size: int = -1) -> bytes:
    """The file's bytes; nothing if the process is gone by now or hides itself."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(size)
    except OSError:
        return b""
