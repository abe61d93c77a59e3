"""Hooks: scripts that are told of events."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.hooks import HookOutcome, Hooks
from harness.types import Cancel

SCRIPTS = {
    "good": "#!/bin/sh\ncat > got.json; pwd > where; env | grep -c HARNESS > secrets; exit 0\n",
    "no": '#!/bin/sh\necho "not $1" >&2; exit 2\n',
    "odd": "#!/bin/sh\necho hm >&2; exit 1\n",
    "slow": "#!/bin/sh\nsleep 30\n",
    "child": "#!/bin/sh\nsleep 30 & exit 0\n",
    "plain": "no script\n",
}


@pytest.fixture
def fire(workspace: Path) -> Callable[..., HookOutcome]:
    """Run the hooks of one event; each entry is a script's name or a whole entry."""
    for name, text in SCRIPTS.items():
        (workspace / name).write_text(text)
        (workspace / name).chmod(0o755 if name != "plain" else 0o644)

    def run(event: str, *entries: Any, tool: str | None = "bash", cancel: Cancel | None = None) -> HookOutcome:
        full = [{"event": event, **({"script": entry} if isinstance(entry, str) else entry)} for entry in entries]
        env = {**os.environ, "HARNESS_API_KEY": "k"}
        return Hooks(full, workspace, env).run(event, {"tool": tool, "input": {"command": "ls"}}, cancel)

    return run


def test_a_hook_is_told_what_happens(fire: Callable[..., HookOutcome], workspace: Path) -> None:
    assert fire("pre_tool", "good") == HookOutcome()
    told = {"event": "pre_tool", "tool": "bash", "input": {"command": "ls"}}
    assert json.loads((workspace / "got.json").read_text()) == told
    assert (workspace / "where").read_text() == f"{workspace}\n"
    assert (workspace / "secrets").read_text() == "0\n"


def test_exit_2_blocks_and_ends_the_row(fire: Callable[..., HookOutcome], workspace: Path) -> None:
    assert fire("pre_tool", {"script": "no", "args": ["a b"]}, "good") == HookOutcome(True, "not a b")
    assert not (workspace / "got.json").exists()
    assert fire("user_prompt", "no").block
    assert fire("post_tool", "no", "no") == HookOutcome(True, "not\nnot")
    stopped = fire("stop", "no", tool=None)
    assert not stopped.block
    assert "exit code 2" in stopped.warnings[0]


@pytest.mark.parametrize("script", ["odd", "missing", "plain"])
def test_other_failures_are_warnings_that_name_the_script(
    script: str, fire: Callable[..., HookOutcome], workspace: Path
) -> None:
    outcome = fire("pre_tool", script, "good")
    assert not outcome.block
    assert [str(workspace / script) in warning for warning in outcome.warnings] == [True]
    assert (workspace / "got.json").exists()


def test_a_slow_hook_is_killed(fire: Callable[..., HookOutcome]) -> None:
    started = time.monotonic()
    outcome = fire("pre_tool", {"script": "slow", "timeout": 0.3}, "child")
    assert "timed out" in outcome.warnings[0]
    assert len(outcome.warnings) == 1
    cancel = Cancel()
    threading.Timer(0.2, cancel.set, ("sigint",)).start()
    fire("pre_tool", "slow", cancel=cancel)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("matcher", "tool", "wanted"),
    [
        ("bash", "bash", True),
        ("bash", "bash_output", False),
        ("bash*", "bash_output", True),
        ("mcp__*", "mcp__s__t", True),
        ("b.sh", "bash", False),
        (None, "anything", True),
    ],
)
def test_matchers(matcher: str | None, tool: str, wanted: bool, fire: Callable[..., HookOutcome]) -> None:
    entry = {"script": "no"} if matcher is None else {"script": "no", "matcher": matcher}
    assert fire("pre_tool", entry, tool=tool).block is wanted
    assert not fire("post_tool", tool=tool).block
