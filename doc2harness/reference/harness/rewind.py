"""Rewind: files and conversation back to what they were before a prompt."""

from __future__ import annotations

import os
from pathlib import Path

from .checkpoints import Checkpoints
from .session import Session
from .types import UsageError


def rewind(session: Session, state: Path, prompt: int, checkpoints: Checkpoints | None = None) -> list[str]:
    """Take back the prompts from this one on; a line for each file says what became of it.

    `checkpoints` are those of a running conversation, else the stored ones. UsageError if there is no such prompt.
    """
    if not any(record.get("prompt") == prompt for record in session.effective() if record["type"] == "message"):
        raise UsageError(f"there is no prompt {prompt} in session {session.id}")
    kept = checkpoints or Checkpoints(state / "checkpoints" / session.id)
    lines = [f"{done} {_shown(path, session.workspace)}" for done, path in kept.rewind(prompt)]
    session.append("rewind", prompt=prompt)
    return lines


def _shown(path: Path, workspace: Path) -> str:
    return os.path.relpath(path, workspace) if path.is_relative_to(workspace) else str(path)
