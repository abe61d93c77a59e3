"""Commands in process groups of their own, so that all that a command started can be ended with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess


def start(argv: Sequence[str], cwd: Path, env: Mapping[str, str], **streams: Any) -> subprocess.Popen[bytes]:
    """Start a command as the leader of a new session, without a terminal; raises OSError.

    `env` loses our own variables; `streams` are `stdin`, `stdout`, `stderr` and `pass_fds` of `Popen`.
    """
    import subprocess

    clean = {name: text for name, text in env.items() if not name.startswith("HARNESS_")}
    # A harness started with `nohup` hands its deaf ear for SIGHUP on, and everything would look started with `nohup`.
    deaf = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    before = _hear_hangups if deaf else None
    return subprocess.Popen(argv, cwd=cwd, env=clean, start_new_session=True, preexec_fn=before, **streams)


def kill_group(leader: int) -> None:
    """End every process of the group, whatever it was started with."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def end_leftovers(leader: int) -> bool:
    """End what is left of a group but for what `nohup` started; whether anything of it goes on.

    What `setsid` started is in another group. `nohup` is known by the ignored SIGHUP it hands on.
    """
    spared = False
    for pid in _members(leader):
        if _ignores_hangup(pid):
            spared = True
        else:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
    return spared


def _members(leader: int) -> list[int]:
    """The living processes of a group."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in ("Z", "X") and int(fields[2]) == leader:
                found.append(int(entry.name))
    return found


def _ignores_hangup(pid: int) -> bool:
    try:
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith("SigIgn:"):
                return bool(int(line.split()[1], 16) & 1 << signal.SIGHUP - 1)
    except OSError:
        pass
    return False


def _hear_hangups() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
