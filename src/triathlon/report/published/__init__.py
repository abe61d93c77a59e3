"""Numbers other people published, with their source: shown beside ours, never mixed with them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

MARK = "published, not run here"
NAMES = ("doc2harness", "oolong", "oolong_agents")


@cache
def published(name: str) -> dict[str, Any]:
    """One set of published numbers as it stands in its file. KeyError for an unknown name.

    `doc2harness`: rates in percent; `oolong`: curves over length as shares in 0..1; `oolong_agents`: percent.
    """
    if name not in NAMES:
        raise KeyError(name)
    with (Path(__file__).parent / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)
