"""Hooks: scripts of the user that are told of events, and may stop a call or a prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .textfile import printable
from .types import Cancel

BLOCKING = frozenset({"pre_tool", "post_tool", "user_prompt"})  # events in which exit 2 means something
TIMEOUT = 60.0  # seconds
LONGEST_TEXT = 100_000  # bytes of stderr
WHEN_LEAVING = 3.0  # seconds for a hook that starts after an interrupt


class HookOutcome(NamedTuple):
    """What the hooks of one event said: `text` is the stderr of those that ended with exit 2."""

    block: bool = False
    text: str = ""
    warnings: tuple[str, ...] = ()


class Hooks:
    """The joined hook entries of the settings."""

    def __init__(self, entries: Sequence[Mapping[str, Any]], workspace: Path, env: Mapping[str, str]) -> None:
        self._entries = entries
        self._workspace = workspace
        self._env = env

    def run(self, event: str, payload: Mapping[str, Any], cancel: Cancel | None = None) -> HookOutcome:
        """Run the event's hooks in order; `payload` and the event's name go to each on stdin.

        A hook that blocks a call or a prompt ends the row. Throwing `cancel` kills the hook that runs.
        """
        said: list[str] = []
        warnings: list[str] = []
        for entry in self._entries:
            if entry["event"] != event or not _matches(entry.get("matcher"), payload.get("tool")):
                continue
            script = str(self._workspace / entry["script"])
            code, text = self._start(script, entry, {"event": event, **payload}, cancel)
            if code == 2 and event in BLOCKING:
                said.append(text)
                if event != "post_tool":
                    break
            elif code != 0:
                why = text if code is None else f"exit code {code}" + (f": {text}" if text else "")
                warnings.append(f"hook {script}: {why}")
        return HookOutcome(bool(said), "\n".join(said), tuple(warnings))

    def _start(
        self, script: str, entry: Mapping[str, Any], payload: Mapping[str, Any], cancel: Cancel | None
    ) -> tuple[int | None, str]:
        """Exit code and stderr; no code, and why, if it did not come to an end of its own."""
        import subprocess
        import tempfile

        from .processes import end_leftovers, kill_group, start

        # Files and not pipes: a hook that does not read, or a child it leaves behind, cannot hold us up.
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
            given.write(json.dumps(payload).encode())
            given.seek(0)
            streams = {"stdin": given, "stdout": subprocess.DEVNULL, "stderr": errors}
            try:
                process = start([script, *entry.get("args", [])], self._workspace, self._env, **streams)
            except (OSError, ValueError) as error:
                return None, f"cannot be started: {error}"
            timeout = entry.get("timeout", TIMEOUT)
            handle = None
            if cancel is not None:
                timeout = min(timeout, WHEN_LEAVING) if cancel.is_set() else timeout
                handle = None if cancel.is_set() else cancel.on_set(lambda: kill_group(process.pid))
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                kill_group(process.pid)
                process.wait()
                return None, f"timed out after {timeout:g} s"
            finally:
                if cancel is not None and handle is not None:
                    cancel.forget(handle)
                end_leftovers(process.pid)
            errors.seek(0)
            text = errors.read(LONGEST_TEXT).decode("utf-8", "replace").strip()
            return code if code >= 0 else 128 - code, printable(text)


def _matches(matcher: str | None, tool: str | None) -> bool:
    """Compare a matcher with the whole tool name, `*` being any text; none is every tool, and every other event."""
    if matcher is None or tool is None:
        return True
    return re.fullmatch(".*".join(map(re.escape, matcher.split("*"))), tool) is not None
