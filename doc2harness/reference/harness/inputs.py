"""Earlier inputs of a workspace, across processes."""

from __future__ import annotations

import json
from pathlib import Path

from .session import key_of

SHOWN = 1000  # how many are read back


class Inputs:
    """Kept as one JSON string a line under `history/` of the state folder."""

    def __init__(self, state: Path, workspace: Path) -> None:
        self._file = state / "history" / f"{key_of(workspace)}.jsonl"
        self.texts = self._read()

    def add(self, text: str) -> None:
        """Remember an input; one that repeats the one before is kept once."""
        if self.texts[-1:] == [text]:
            return
        self.texts.append(text)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="ascii") as file:
                file.write(json.dumps(text) + "\n")
        except OSError:
            pass  # recalling is a comfort, not worth a failure

    def _read(self) -> list[str]:
        try:
            lines = self._file.read_bytes().split(b"\n")[-SHOWN - 1 :]
        except OSError:
            return []
        texts: list[str] = []
        for line in lines:
            try:
                text = json.loads(line)
            except ValueError:
                continue
            if isinstance(text, str):
                texts.append(text)
        return texts
