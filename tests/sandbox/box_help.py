"""What several tests of sandboxes need."""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triathlon.sandbox import ExecResult, Sandbox


def python(box: Sandbox, code: str, *arguments: str, timeout: float = 30) -> ExecResult:
    """Run Python code inside."""
    return box.exec(["python3", "-c", textwrap.dedent(code), *arguments], timeout=timeout)


def answer(box: Sandbox, code: str, *arguments: str) -> Any:
    """What Python code inside prints as JSON."""
    result = python(box, code, *arguments)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def soon(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether it holds within the time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def children(pid: int) -> list[int]:
    """Processes whose parent is `pid`, and theirs, zombies included."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
    found = [child for child, parent in parents.items() if parent == pid]
    return found + [grandchild for child in found for grandchild in children(child)]


def descriptors() -> int:
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))
