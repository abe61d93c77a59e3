"""The headless driver: `harness -p PROMPT`, or any other command line, with pipes for its output."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triathlon.harness.running import Running
    from triathlon.harness.stage import Stage
    from triathlon.harness.steps import Start


def start(stage: Stage, order: Start) -> Running:
    """Start it; `prompt` becomes `-p PROMPT`, without one the flags stand alone."""
    if order.args is not None:
        arguments = list(order.args)
    else:
        arguments = [*(("-p", order.prompt) if order.prompt is not None else ()), *order.flags]
    return stage.spawn(order, [stage.harness, *arguments])
