"""The built-in tools: what the model is told of each, and where each is done."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from harness.textfile import printable
from harness.types import Context, Tool, ToolError

from .table import TABLE, Entry

NAMES = tuple(entry.name for entry in TABLE)


class BuiltIn:
    """A tool of the table; the module that does it is loaded when it is first called."""

    def __init__(self, entry: Entry) -> None:
        self.name = entry.name
        self.description = entry.description
        self.parameters: dict[str, Any] = entry.parameters()
        self.reads = entry.reads

    def run(self, context: Context, arguments: dict[str, Any]) -> str:
        """Do it; the result is text that can be sent. Raises ToolError."""
        module = import_module(f"harness.tools.{self.name}")
        try:
            return printable(module.run(context, arguments))
        except ToolError as error:
            raise ToolError(printable(str(error))) from error


def builtin(context: Context) -> dict[str, Tool]:
    """All built-in tools by name. `bash` tells the timeout that this context's settings give it."""
    tools: dict[str, Tool] = {entry.name: BuiltIn(entry) for entry in TABLE}
    tools["bash"].description += f" The timeout is {context.settings.bash_timeout:g} seconds unless you give another."
    return tools


def end_background(background: Mapping[str, Any]) -> None:
    """End the commands that run in the background; the harness is about to exit."""
    for command in background.values():
        command.end()
