"""Run a shell command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.permissions.paths import Roots, start_folder
from harness.processes import kill_group
from harness.shelloutput import with_notes
from harness.types import Context

from .background import begin
from .running import Running

LONGEST = 600  # seconds


def run(context: Context, arguments: dict[str, Any]) -> str:
    """The exit code and the output; the folder in which the command ends is where the next one starts."""
    notes = _settle(context, context.cwd)
    if arguments.get("run_in_background"):
        return with_notes(f"id: {begin(context, arguments['command'])}", "", notes)
    seconds = min(arguments.get("timeout") or context.settings.bash_timeout, LONGEST)
    running = Running(context, arguments["command"], context.cwd)
    handle = context.cancel.on_set(lambda: kill_group(running.process.pid))
    try:
        in_time = running.follow(seconds)
    finally:
        context.cancel.forget(handle)
        folder = running.ended_in()
    context.cancel.check()
    if not in_time:
        return with_notes(f"timed out after {seconds:g} s", running.output.take(), notes)
    notes += _settle(context, folder or context.cwd)
    return with_notes(f"exit code: {running.exit_code}", running.output.take(), notes)


def _settle(context: Context, folder: Path) -> list[str]:
    """Let the next command start in `folder`, or, where it may not, in the workspace, with a note that says so."""
    context.cwd = start_folder(folder, Roots(context.roots), context.workspace)
    if context.cwd == folder:
        return []
    why = "is outside the workspace and its added folders" if folder.is_dir() else "does not exist any more"
    return [f"[back in {context.workspace}: {folder} {why}]"]
