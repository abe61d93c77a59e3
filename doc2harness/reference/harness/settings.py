"""Settings: typed values, and where each of them came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .types import Mode, UsageError

MODES: tuple[Mode, ...] = ("default", "plan", "accept-edits", "bypass", "dont-ask")
NUMBER = (int, float)

# Every known key, dotted, with the types its JSON value may have. A dict of a dict stands for "any name".
SHAPE: dict[str, Any] = {
    "model": str,
    "max_retries": int,
    "retry_wait": NUMBER,
    "stream": bool,
    "stream_idle_timeout": NUMBER,
    "context_window": int,
    "approval_timeout": NUMBER,
    "bash_timeout": NUMBER,
    "prices": {"*": {"input": NUMBER, "output": NUMBER}},
    "permissions": {"mode": str, "allow": [str], "ask": [str], "deny": [str], "dirs": [str]},
    "hooks": [{"event": str, "matcher": str, "script": str, "args": [str], "timeout": NUMBER}],
    "env": {"*": str},
    "models": {"architect": str, "editor": str},
}

BUILT_IN: dict[str, Any] = {
    "model": "default",
    "max_retries": 4,
    "retry_wait": 0.5,
    "stream": True,
    "stream_idle_timeout": 120,
    "context_window": 128_000,
    "approval_timeout": 300,
    "bash_timeout": 120,
    "prices": {},
    "permissions": {"mode": "default", "allow": [], "ask": [], "deny": [], "dirs": []},
    "hooks": [],
    "env": {},
    "models": {},
}


@dataclass(frozen=True)
class Source:
    """One place settings come from; `name` is what `config show` and the errors call it."""

    name: str
    values: Mapping[str, Any]


@dataclass
class Settings:
    """The effective values. Waits and timeouts in seconds, prices in USD per million tokens."""

    model: str
    max_retries: int
    retry_wait: float
    stream: bool
    stream_idle_timeout: float
    context_window: int
    approval_timeout: float
    bash_timeout: float
    mode: Mode
    allow: list[str]
    ask: list[str]
    deny: list[str]
    dirs: list[str]
    prices: dict[str, dict[str, float]]
    hooks: list[dict[str, Any]]
    env: dict[str, str]
    models: dict[str, str]
    origins: dict[str, str] = field(default_factory=dict)  # dotted key -> name(s) of the source(s)


def merge(sources: list[Source]) -> tuple[dict[str, Any], dict[str, str]]:
    """Join sources, strongest first: scalars from the strongest, objects key by key, lists added up.

    Returns the values and, for each dotted key, the source it came from (several for a list, joined by ", ").
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for source in sources:
        _merge_into(values, source.values, source.name, origins, "")
    return values, origins


def _merge_into(
    into: dict[str, Any], values: Mapping[str, Any], name: str, origins: dict[str, str], prefix: str
) -> None:
    for key, value in values.items():
        dotted = f"{prefix}{key}"
        if isinstance(value, dict):
            _merge_into(into.setdefault(key, {}), value, name, origins, f"{dotted}.")
        elif isinstance(value, list):
            into[key] = [*into.get(key, []), *(item for item in value if item not in into.get(key, []))]
            if value:
                origins[dotted] = f"{origins[dotted]}, {name}" if dotted in origins else name
            else:
                origins.setdefault(dotted, name)
        elif key not in into:
            into[key] = value
            origins[dotted] = name


def effective(sources: list[Source]) -> Settings:
    """Merge checked sources with the built-in values below them."""
    values, origins = merge([*sources, Source("built-in", BUILT_IN)])
    permissions = values.pop("permissions")
    mode = permissions.pop("mode")
    if mode not in MODES:
        raise UsageError(f"unknown permission mode {mode!r}; there are: {', '.join(MODES)}")
    return Settings(mode=mode, origins=origins, **permissions, **values)
