"""The reference is a candidate like any other: its package is not installed, so its folder is put on the path."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "doc2harness" / "reference"))

from harness.permissions.engine import Engine
from harness.tools import builtin, end_background
from harness.types import Context, ToolError


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with a neighbour `outside`, and links that stay inside and that lead out."""
    folder = tmp_path / "ws"
    (folder / "sub").mkdir(parents=True)
    (folder / "real").mkdir()
    (folder / "a.txt").write_text("alpha\n")
    (folder / ".env").write_text("K=1\n")
    (folder / "real" / "k").write_text("kept\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("out\n")
    (folder / "out").symlink_to("../outside")
    (folder / "in").symlink_to("real")
    return folder


@pytest.fixture
def engine(workspace: Path) -> Callable[..., Engine]:
    """Make an engine for the workspace: `engine("plan", deny=["bash(rm *)"])`."""

    def make(mode: Any = "default", **rules: Any) -> Engine:
        rules.setdefault("roots", [workspace])
        home, state = workspace.parent / "home", workspace.parent / "state"
        return Engine(mode, workspace=workspace, home=home, state=state, **rules)

    return make


@pytest.fixture
def context(workspace: Path, engine: Callable[..., Engine]) -> Iterator[Context]:
    made = Context(
        workspace=workspace,
        roots=[workspace],
        state=workspace.parent / "state",
        session_id="session",
        settings=SimpleNamespace(bash_timeout=120),
        permissions=engine("bypass"),
        cwd=workspace,
        warn=lambda text: None,
        before_change=lambda path, data: None,
        spawn=lambda agent, prompt: f"{agent} did {prompt}",
        env={**os.environ, "HARNESS_API_KEY": "secret"},
    )
    yield made
    end_background(made.background)


@pytest.fixture
def call(context: Context) -> Callable[..., str]:
    """Call a tool as the loop does: `call("read", path="a.txt")`; an error is a result that says so."""
    tools = builtin(context)

    def run(name: str, /, **arguments: Any) -> str:
        try:
            return tools[name].run(context, arguments)
        except ToolError as error:
            return f"error: {error}"

    return run
