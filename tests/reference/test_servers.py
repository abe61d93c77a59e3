"""Servers: programs that bring their own tools."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness import mcp
from harness.mcp import Servers
from harness.types import Cancel, Tool, ToolError, UsageError

SERVER = r"""
import json, os, sys, time
kind = sys.argv[1]
if kind == "noise": print("hello", flush=True)
if kind == "crash": sys.exit(3)
if kind == "hang": time.sleep(60)
def out(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
asked = []
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        out({"id": "own", "method": "ping"})
        out({"id": 99, "method": "roots/list"})
        out({"method": "notifications/x"})
        if kind == "error": out({"id": id, "error": {"code": 1, "message": "no"}})
        else: out({"id": id, "result": {"protocolVersion": "2024-11-05"}})
    elif method == "tools/list":
        first = {"tools": [{"name": "say", "description": "d", "inputSchema": {"type": "object"}}], "nextCursor": "p"}
        second = {"tools": [{"name": name} for name in ("bad", "die", "rpc", "mute")]}
        out({"id": id, "result": second if params else first})
    elif method == "tools/call":
        name = params["name"]
        if name == "die": sys.exit(1)
        if name == "mute": continue
        print("no json", flush=True)
        if name == "rpc":
            out({"id": id, "error": {"code": 1, "message": "oh"}})
            continue
        text = json.dumps([params["arguments"], asked, os.environ.get("HARNESS_X"), os.environ["OWN"]])
        content = [{"type": "text", "text": text}, {"type": "image"}, {"type": "text", "text": "end"}]
        out({"id": id, "result": {"content": content, "isError": name == "bad"}})
    elif method is None:
        asked.append([id, message.get("result", message.get("error", {}).get("code"))])
"""


@pytest.fixture
def start(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., dict[str, Tool]]]:
    """Start servers by name and kind; warnings go to `start.said`."""
    state = workspace.parent / "state"
    state.mkdir()
    monkeypatch.setenv("HARNESS_HOME", str(state))
    (workspace.parent / "server.py").write_text(SERVER)
    running: list[Servers] = []
    said: list[str] = []

    def run(*, trusted: bool = True, user: bool = False, **kinds: str) -> dict[str, Tool]:
        entries = {
            name: {"command": sys.executable, "args": ["../server.py", kind], "env": {"OWN": name, "HARNESS_X": "1"}}
            for name, kind in kinds.items()
        }
        folder = state if user else workspace / ".harness"
        folder.mkdir(exist_ok=True)
        (folder / "mcp.json").write_text(json.dumps({"servers": entries}))
        servers = Servers(workspace, state, trusted, dict(os.environ), said.append)
        running.append(servers)
        return servers.start()

    run.said = said  # type: ignore[attr-defined]
    yield run
    for servers in running:
        servers.close()


def _call(tool: Tool, cancel: Cancel | None = None, **arguments: Any) -> str:
    try:
        return tool.run(SimpleNamespace(cancel=cancel or Cancel()), arguments)  # type: ignore[arg-type]
    except ToolError as error:
        return f"error: {error}"


def test_tools_of_a_server(start: Any) -> None:
    tools = start(s="ok")
    assert set(tools) == {f"mcp__s__{name}" for name in ("say", "bad", "die", "rpc", "mute")}
    assert not tools["mcp__s__say"].reads
    first, image, end = _call(tools["mcp__s__say"], n=1).split("\n")
    assert json.loads(first) == [{"n": 1}, [["own", {}], [99, -32601]], None, "s"]
    assert (image, end) == ("[image]", "end")
    assert _call(tools["mcp__s__bad"]).startswith("error: [")
    assert "oh" in _call(tools["mcp__s__rpc"])
    assert _call(tools["mcp__s__die"]).startswith("error: ")
    assert _call(tools["mcp__s__say"]).startswith("error: ")
    assert start.said == []


def test_servers_that_do_not_come_up_are_skipped(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "START_LIMIT", 1.5)
    tools = start(good="ok", loud="noise", gone="crash", mute="hang", sour="error")
    assert {name.split("__")[1] for name in tools} == {"good"}
    assert len(start.said) == 4
    for name in ("loud", "gone", "mute", "sour"):
        assert sum(name in warning for warning in start.said) == 1


def test_a_call_without_an_answer_ends(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = start(s="ok")
    monkeypatch.setattr(mcp, "CALL_LIMIT", 0.3)
    assert "no answer" in _call(tools["mcp__s__mute"])
    monkeypatch.setattr(mcp, "CALL_LIMIT", 60)
    cancel = Cancel()
    threading.Timer(0.2, cancel.set, ("sigint",)).start()
    started = time.monotonic()
    with pytest.raises(Exception, match="sigint"):
        _call(tools["mcp__s__mute"], cancel)
    assert time.monotonic() - started < 5


def test_a_project_not_trusted_brings_no_servers(start: Any) -> None:
    assert start(trusted=False, s="ok") == {}
    assert "not trusted" in start.said[0]
    assert "mcp__u__say" in start(trusted=False, user=True, u="ok")


@pytest.mark.parametrize("text", ["[", '{"servers": {"s": {}}}', '{"servers": {"s": {"command": 1}}}', "[]"])
def test_a_wrong_file(text: str, workspace: Path) -> None:
    state = workspace.parent / "state"
    state.mkdir()
    (state / "mcp.json").write_text(text)
    with pytest.raises(UsageError, match=r"mcp\.json"):
        Servers(workspace, state, False, {}, lambda warning: None)
