"""Servers: programs that bring tools of their own, spoken to by lines of JSON-RPC on their stdin and stdout."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .mcp_connection import Connection, Failed
from .schema import problem
from .sources import load_json, project_folders
from .textfile import printable
from .types import Context, Tool, ToolError, UsageError

START_LIMIT = 10.0  # seconds for each answer while a server starts
CALL_LIMIT = 120.0
MOST_PAGES = 1000
PROTOCOL = "2025-06-18"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "servers": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["command"],
                "properties": {
                    "command": {"type": "string"},
                    "args": {"type": "array", "items": {"type": "string"}},
                    "env": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            },
        }
    },
}


class ServerTool:
    """A tool of a server. `parameters` is the schema that the server gives."""

    reads = False

    def __init__(self, connection: Connection, server: str, offer: Mapping[str, Any]) -> None:
        """Raises KeyError, TypeError for an offer without a name."""
        self.tool = offer["name"] + ""
        self.name = f"mcp__{server}__{self.tool}"
        self.description = str(offer.get("description") or "")
        schema = offer.get("inputSchema")
        self.parameters: dict[str, Any] = schema if isinstance(schema, dict) else {"type": "object", "properties": {}}
        self._connection = connection

    def run(self, context: Context, arguments: dict[str, Any]) -> str:
        try:
            result = self._connection.ask(
                "tools/call", {"name": self.tool, "arguments": arguments}, CALL_LIMIT, context.cancel
            )
        except Failed as failure:
            context.cancel.check()
            raise ToolError(printable(f"{self.name}: {failure}")) from failure
        parts = result.get("content")
        texts = [_text(part) for part in parts] if isinstance(parts, list) else []
        text = printable("\n".join(texts))
        if result.get("isError") is True:
            raise ToolError(text or f"{self.name} failed")
        return text


class Servers:
    """All servers of a workspace: the project's, if the folder is trusted, and the user's."""

    def __init__(
        self, workspace: Path, state: Path, trusted: bool, env: Mapping[str, str], warn: Callable[[str], None]
    ) -> None:
        """UsageError: a server file is wrong."""
        self._workspace = workspace
        self._env = env
        self._warn = warn
        self._connections: list[Connection] = []
        self._entries: dict[str, dict[str, Any]] = {}
        for folder in project_folders(workspace):
            file = folder / "mcp.json"
            if trusted:
                self._add(file)
            elif file.is_file():
                warn(f"{file} is ignored: this folder is not trusted")
        self._add(state / "mcp.json")

    def start(self) -> dict[str, Tool]:
        """Start all servers side by side; their tools by full name. One that does not come up is skipped."""
        found: dict[str, dict[str, Tool]] = {name: {} for name in self._entries}

        def come_up(name: str, entry: dict[str, Any]) -> None:
            try:
                found[name] = self._start(name, entry)
            except Failed as failure:
                self._warn(printable(f"server {name} is skipped: {failure}"))

        threads = [threading.Thread(target=come_up, args=item, daemon=True) for item in self._entries.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {name: tool for tools in found.values() for name, tool in tools.items()}

    def close(self) -> None:
        """End all servers."""
        for connection in self._connections:
            connection.hang_up()
        for connection in self._connections:
            connection.end()

    def _add(self, file: Path) -> None:
        values = load_json(file)
        if values is None and not file.is_file():
            return
        if wrong := problem(values, SCHEMA):
            raise UsageError(f"{file}: {wrong}")
        for name, entry in values.get("servers", {}).items():
            self._entries.setdefault(name, entry)

    def _start(self, name: str, entry: Mapping[str, Any]) -> dict[str, Tool]:
        from . import __version__

        argv = [entry["command"], *entry.get("args", [])]
        connection = Connection(argv, self._workspace, {**self._env, **entry.get("env", {})})
        self._connections.append(connection)
        try:
            client = {"name": "harness", "version": __version__}
            greeting = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
            connection.ask("initialize", greeting, START_LIMIT)
            connection.tell("notifications/initialized", START_LIMIT)
            tools = [ServerTool(connection, name, offer) for offer in _offers(connection)]
        except (Failed, LookupError, TypeError, AttributeError) as error:
            connection.hang_up()
            connection.end()
            raise error if isinstance(error, Failed) else Failed(f"its answer is not understood ({error})") from None
        connection.is_up()
        return {tool.name: tool for tool in tools}


def _offers(connection: Connection) -> list[dict[str, Any]]:
    """The tools that a server lists, page by page."""
    offers: list[dict[str, Any]] = []
    cursor = None
    for _ in range(MOST_PAGES):
        answer = connection.ask("tools/list", {} if cursor is None else {"cursor": cursor}, START_LIMIT)
        offers += answer["tools"]
        cursor = answer.get("nextCursor")
        if cursor is None:
            return offers
    raise Failed("its list of tools has no end")


def _text(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return str(part.get("text", "")) if kind == "text" else f"[{kind}]"
