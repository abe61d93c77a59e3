"""The workspace: where calls become reads, edits and commands."""

from typing import Any


class Workspace:
    def __init__(self, folder: str) -> None:
        raise NotImplementedError

    def execute(self, call: dict[str, Any]) -> str:
        raise NotImplementedError
