"""`harness config show`: every setting, its effective value and where it came from."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from .settings import DEFAULTS, Settings, Source

SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
MASK = "***"


def show(settings: Settings, as_json: bool) -> str:
    """The text for stdout; secrets are masked."""
    rows = dict(_rows(settings))
    if as_json:
        return json.dumps({key: {"value": value, "source": source} for key, (value, source) in rows.items()}, indent=2)
    return "\n".join(f"{key} = {json.dumps(value)} ({source})" for key, (value, source) in rows.items())


def _rows(settings: Settings) -> Iterator[tuple[str, tuple[Any, str]]]:
    for key, default in DEFAULTS.items():
        if key == "permissions":
            for part in default:
                yield f"{key}.{part}", (getattr(settings, part), _origin(settings.sources, key, part))
            continue
        value = getattr(settings, key)
        if key == "env":
            value = {name: MASK if SECRET_NAME.search(name) else text for name, text in value.items()}
        yield key, (value, _origin(settings.sources, key))
        if isinstance(value, dict):
            for part, inner in value.items():
                yield f"{key}.{part}", (inner, _origin(settings.sources, key, part))
    for key, variable in (("base_url", "HARNESS_BASE_URL"), ("api_key", "HARNESS_API_KEY")):
        given = os.environ.get(variable) or None
        yield key, (MASK if given and key == "api_key" else given, "environment")


def _origin(sources: list[Source], *path: str) -> str:
    """The strongest source that says something about the key; an empty list or object says nothing."""
    for source in sources:
        value: Any = source.values
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None and value != [] and value != {}:
            return source.name
    return "default"
