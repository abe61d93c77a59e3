"""The journal of a run: one line a unit, so that the same command goes on where it was stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall.scores import plain, typed


class Journal:
    """Units already read. Without a path nothing is kept."""

    def __init__(self, path: Path | None, header: dict[str, Any], resume: bool) -> None:
        self.path = path
        self.done: dict[str, Any] = {}
        if path is None:
            return
        header = json.loads(json.dumps(header))
        if resume and path.is_file():
            self._load(path, header)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.handle = path.open("w", encoding="utf-8")
        self._write(header)
        for name, value in self.done.items():
            self._write({"unit": name} | _line(value))

    def _load(self, path: Path, header: dict[str, Any]) -> None:
        try:
            lines = path.read_text("utf-8").split("\n")
            old = json.loads(lines[0])
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: cannot be resumed from ({error}); remove it to start again") from error
        if old != header:
            differ = sorted(k for k in header if old.get(k) != header[k]) if isinstance(old, dict) else ["format"]
            raise UsageError(f"{path}: is of another run ({', '.join(differ)} differ); remove it to start again")
        for line in lines[1:]:
            try:
                value = json.loads(line)
            except ValueError:
                continue  # the line that was being written when the run was stopped
            self.done[value.pop("unit")] = value | {"records": [typed(r) for r in value["records"]]}

    def get(self, name: str) -> Any:
        """What was read for a unit, or None."""
        return self.done.get(name)

    def put(self, name: str, value: dict[str, Any]) -> None:
        """Keep a unit; on disk when this returns."""
        if self.path is not None:
            self._write({"unit": name} | _line(value))

    def _write(self, value: Any) -> None:
        self.handle.write(json.dumps(value, allow_nan=False) + "\n")
        self.handle.flush()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop writing; the file stays until the output it leads to is written."""
        if self.path is not None:
            self.handle.close()


def _line(value: dict[str, Any]) -> dict[str, Any]:
    return value | {"records": [plain(r) for r in value["records"]]}
