"""Settings: their keys and types, and how the sources become one set of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .types import Mode

MODES: tuple[Mode, ...] = ("default", "plan", "accept-edits", "bypass", "dont-ask")
HOOK_EVENTS = ("session_start", "user_prompt", "pre_tool", "post_tool", "stop", "session_end")

_TEXTS = {"type": "array", "items": {"type": "string"}}
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}

# The settings file as a JSON schema; `properties` are the known keys.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "model": {"type": "string"},
        "models": {
            "type": "object",
            "properties": {"architect": {"type": "string"}, "editor": {"type": "string"}},
        },
        "stream": {"type": "boolean"},
        "stream_idle_timeout": _POSITIVE,
        "max_retries": {"type": "integer", "minimum": 0},
        "retry_wait": {"type": "number", "minimum": 0},
        "context_window": {"type": "integer", "exclusiveMinimum": 0},
        "prices": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {"input": {"type": "number"}, "output": {"type": "number"}},
            },
        },
        "permissions": {
            "type": "object",
            "properties": {
                "mode": {"type": "string", "enum": list(MODES)},
                "allow": _TEXTS,
                "ask": _TEXTS,
                "deny": _TEXTS,
                "dirs": _TEXTS,
            },
        },
        "hooks": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["event", "script"],
                "properties": {
                    "event": {"type": "string", "enum": list(HOOK_EVENTS)},
                    "matcher": {"type": "string"},
                    "script": {"type": "string"},
                    "args": _TEXTS,
                    "timeout": _POSITIVE,
                },
            },
        },
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
        "approval_timeout": _POSITIVE,
        "bash_timeout": _POSITIVE,
    },
}

DEFAULTS: dict[str, Any] = {
    "model": "default",
    "models": {},
    "stream": True,
    "stream_idle_timeout": 120,
    "max_retries": 4,
    "retry_wait": 0.5,
    "context_window": 128_000,
    "prices": {},
    "permissions": {"mode": "default", "allow": [], "ask": [], "deny": [], "dirs": []},
    "hooks": [],
    "env": {},
    "approval_timeout": 300,
    "bash_timeout": 120,
}


@dataclass(frozen=True)
class Source:
    """One place settings come from; `name` is what `config show` calls it."""

    name: str
    values: Mapping[str, Any]


@dataclass
class Settings:
    """The effective values. Waits and timeouts in seconds, prices in USD per million tokens."""

    model: str
    models: dict[str, str]
    stream: bool
    stream_idle_timeout: float
    max_retries: int
    retry_wait: float
    context_window: int
    prices: dict[str, dict[str, float]]
    mode: Mode
    allow: list[str]
    ask: list[str]
    deny: list[str]
    dirs: list[str]
    hooks: list[dict[str, Any]]
    env: dict[str, str]
    approval_timeout: float
    bash_timeout: float
    sources: list[Source] = field(default_factory=list)  # strongest first


def effective(sources: Sequence[Source]) -> Settings:
    """The values of checked sources, strongest first, with the defaults below them."""
    every = [*sources, Source("default", DEFAULTS)]
    values: dict[str, Any] = {}
    for source in every:
        _merge_into(values, source.values)
    return Settings(**values.pop("permissions"), **values, sources=every)


def _merge_into(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Add a weaker source: objects join key by key, lists add up, of scalars the first stays."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            _merge_into(into.setdefault(key, {}), value)
        elif isinstance(value, list):
            into[key] = [*into.get(key, []), *value]
        else:
            into.setdefault(key, value)


def known(value: Any, schema: Mapping[str, Any], unknown: list[str], place: str = "") -> Any:
    """A copy without the keys the schema does not know; their dotted names are added to `unknown`."""
    if isinstance(value, list):
        return [known(item, schema["items"], unknown, f"{place}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    properties = schema.get("properties")
    copy: dict[str, Any] = {}
    for key, item in value.items():
        dotted = f"{place}.{key}" if place else key
        inner = schema["additionalProperties"] if properties is None else properties.get(key)
        if inner is None:
            unknown.append(dotted)
        else:
            copy[key] = known(item, inner, unknown, dotted)
    return copy
