"""Models that can be asked: any Inspect provider, and simulated ones for tests and the demo.

Messages and tools are in OpenAI chat form, so that the same model serves a plain prompt and, through the gateway, a
harness in the sandbox.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from triathlon.errors import MissingExtra, UsageError
from triathlon.oolong.baselines import BASELINES
from triathlon.oolong.windows import RealRow, Row

#: Names of the TypeScript port's runners, and the models behind them.
RUNNERS = {
    "sonnet-4-5": "anthropic/claude-sonnet-4-5-20250929",
    "sonnet-4-5-thinking": "anthropic/claude-sonnet-4-5-20250929",
    "opus-4-6": "anthropic/claude-opus-4-6",
    "sonnet-4-6": "anthropic/claude-sonnet-4-6",
    "gpt-4.1": "openai/gpt-4.1",
    "gpt-4.1-mini": "openai/gpt-4.1-mini",
    "o3-mini": "openai/o3-mini",
}
SIMULATED = "simulated/"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and dollars of one or more calls; `cost` is None where no price is known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(known) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply: text, tool calls in OpenAI form, and why it stopped (stop, tool_calls, length, content_filter)."""

    text: str
    calls: tuple[dict[str, Any], ...] = ()
    stop: str = "stop"
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """Something that completes a conversation about one row."""

    name: str
    simulated: bool

    async def complete(
        self, row: Row | RealRow, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Completion:
        """The next reply. Errors of the provider pass through."""
        ...


def resolve(name: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """The model's name from `--model`, else from `EVAL_RUNNER`. Raises UsageError with the known names."""
    known = ", ".join([*RUNNERS, *(SIMULATED + baseline for baseline in BASELINES), "or PROVIDER/MODEL"])
    if name is None:
        runner = environ.get("EVAL_RUNNER", "").strip()
        if not runner:
            raise UsageError(f"name a model with --model or EVAL_RUNNER; known: {known}")
        if runner not in RUNNERS:
            raise UsageError(f"EVAL_RUNNER={runner!r} is unknown; known: {', '.join(RUNNERS)}")
        return RUNNERS[runner]
    if name in RUNNERS:
        return RUNNERS[name]
    provider, slash, rest = name.partition("/")
    if not slash or not provider or not rest:
        raise UsageError(f"unknown model {name!r}; known: {known}")
    if name.startswith(SIMULATED) and rest not in BASELINES:
        raise UsageError(f"unknown simulated model {name!r}; known: {known}")
    return name


def open_model(
    name: str, *, base_url: str | None = None, arguments: Mapping[str, Any] | None = None, cache: bool = False
) -> Model:
    """The model of a resolved name. Raises UsageError or MissingExtra."""
    if name.startswith(SIMULATED):
        return Simulated(name)
    return InspectModel(name, base_url, dict(arguments or {}), cache)


class Simulated:
    """A baseline that speaks like a model. With tools it first looks at the window as a harness's model would."""

    simulated = True

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self._baseline = BASELINES[name.removeprefix(SIMULATED)]
        self._seed = seed

    async def complete(
        self, row: Row | RealRow, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Completion:
        size = sum(len(str(message.get("content") or "")) for message in messages) // 4
        looked = any(message.get("role") == "tool" for message in messages)
        offered = {str(tool.get("function", {}).get("name")) for tool in tools}
        if "read" in offered and not looked:
            call = {
                "id": f"call_{len(messages)}",
                "type": "function",
                "function": {"name": "read", "arguments": '{"path": "context.txt", "limit": 20}'},
            }
            return Completion("", (call,), "tool_calls", Usage(1, size, 12, 0.0))
        if not isinstance(row, Row):
            return Completion("", (), "stop", Usage(1, size, 0, 0.0))
        text = self._baseline(row, random.Random(f"{self._seed}/{self.name}/{row.key}"))
        return Completion(text, (), "stop", Usage(1, size, len(text) // 4 + 1, 0.0))


class InspectModel:
    """Any provider of Inspect. Keys come from the environment and never leave this process."""

    simulated = False

    def __init__(self, name: str, base_url: str | None, arguments: dict[str, Any], cache: bool) -> None:
        try:
            from inspect_ai.model import get_model
        except ImportError:
            raise MissingExtra("asking a model", "inspect") from None
        self.name, self._cache = name, cache
        try:
            self._model = get_model(name, base_url=base_url, **arguments)
        except Exception as error:  # providers raise all kinds for a missing key, package or model
            raise UsageError(f"{name}: {' '.join(str(error).split())}") from None

    async def complete(
        self, row: Row | RealRow, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Completion:
        from inspect_ai.model import messages_from_openai
        from inspect_ai.tool import ToolInfo, ToolParams

        chat = await messages_from_openai([dict(message) for message in messages])
        offered = [
            ToolInfo(
                name=tool["function"]["name"],
                description=tool["function"].get("description") or tool["function"]["name"],
                parameters=ToolParams.model_validate(tool["function"].get("parameters") or {}),
            )
            for tool in tools
        ]
        output = await self._model.generate(chat, offered, cache=self._cache)
        usage = output.usage
        spent = Usage(
            1,
            (usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0))
            if usage
            else 0,
            usage.output_tokens if usage else 0,
            usage.total_cost if usage else None,
        )
        calls = tuple(_openai_call(call) for call in (output.message.tool_calls or []))
        stop = {"stop": "stop", "tool_calls": "tool_calls", "content_filter": "content_filter"}
        reason = stop.get(str(output.stop_reason), "length")
        return Completion(output.completion, calls, "tool_calls" if calls else reason, spent)


def _openai_call(call: Any) -> dict[str, Any]:
    import json

    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.function, "arguments": json.dumps(call.arguments)},
    }
