"""The api driver: `Agent(workspace=..., **settings).run(prompt)` in a Python of the sandbox, orders as JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triathlon.harness import inside
from triathlon.harness.running import Late, Running, StepFailed

if TYPE_CHECKING:
    from triathlon.harness.stage import Stage
    from triathlon.harness.steps import Start

MAKE = ""


def start(stage: Stage, order: Start) -> Running:
    """Make the agent, and run the prompt if there is one; neither is waited for."""
    env = {"PYTHONPATH": f"{stage.prefix}/lib"}
    program = ["python3", "-c", inside.text("agent_driver")]
    running = stage.spawn(order, program, extra_env=env, open_stdin=True)
    _order(stage, running, MAKE, {"workspace": stage.places["workspace"], "settings": order.settings})
    if order.prompt is not None:
        _order(stage, running, order.name, {"run": order.prompt})
    return running


def call(stage: Stage, running: Running, name: str, prompt: str, until: float) -> None:
    """Run another prompt on the same agent and wait for its result."""
    _order(stage, running, name, {"run": prompt})
    settle(stage, running, until)


def settle(stage: Stage, running: Running, until: float) -> None:
    """Wait for all results; raises Late, or StepFailed if the process ends without them."""
    wanted = len(running.calls)
    if not stage.pump.wait(lambda: _count(running) >= wanted or running.stdout.ended, until):
        raise Late(f"{running.name}: no result of {running.calls[_count(running)] or 'Agent()'} in time")


def results(running: Running) -> tuple[dict[str, Any], list[str]]:
    """What the runs returned, by name, and a line for each that raised or never came."""
    found: dict[str, Any] = {}
    problems: list[str] = []
    lines = running.stdout.data.split(b"\n")[:-1]
    for name, line in zip(running.calls, lines, strict=False):
        what = f"Agent.run for {name}" if name != MAKE else "Agent(...)"
        try:
            answer = json.loads(line)
            if "failed" in answer:
                problems.append(f"{what} raised {answer['failed']}")
            elif name != MAKE:
                found[name] = answer["ok"]
        except (ValueError, TypeError, KeyError):
            problems.append(f"{what}: not an answer of the driver: {line[:200]!r}")
    problems += [f"Agent.run for {name} gave no result" for name in running.calls[len(lines) :] if name != MAKE]
    return found, problems


def _order(stage: Stage, running: Running, name: str, order: dict[str, Any]) -> None:
    if running.stdin is None:
        raise StepFailed(f"{running.name} is no agent, or has ended")
    running.calls.append(name)
    stage.pump.write(running.stdin, json.dumps(order).encode() + b"\n")


def _count(running: Running) -> int:
    return running.stdout.data.count(b"\n")
