"""What is known of the builds beside their verdicts: a TOML file with one `[[build]]` for each.

[[build]]
tree = "3f2a9c01"          # the first digits of the tree's hash, or: candidate = "its name in the store"
model = "GPT-6 Astra"
build = 1
path = "trees/astra-1"     # for the code measures; relative to this file
builder = "opencode-ai@1.17.0"
turns = 24
tokens = 1200000
cost = 12.5                # USD
wall_s = 5400
accepted = true
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from triathlon.errors import UsageError

FACTS = ("builder", "turns", "tokens", "cost", "wall_s", "accepted")


class Build(BaseModel):
    """One entry of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tree: Annotated[str, Field(pattern=r"^[0-9a-f]{8,64}$")] | None = None
    candidate: str | None = None
    model: str
    build: Annotated[int, Field(ge=1)] = 1
    path: Path | None = None
    builder: str | None = None
    turns: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    cost: Annotated[float, Field(ge=0)] | None = None
    wall_s: Annotated[float, Field(ge=0)] | None = None
    accepted: bool | None = None

    @model_validator(mode="after")
    def _is_known_by_something(self) -> Build:
        if (self.tree is None) == (self.candidate is None):
            raise ValueError("give either `tree` or `candidate`")
        return self

    def fits(self, name: str, tree: str) -> bool:
        """Whether this entry is about a candidate."""
        return tree.startswith(self.tree) if self.tree is not None else name == self.candidate

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of it, without what is not."""
        return {name: value for name in FACTS if (value := getattr(self, name)) is not None}


def load_builds(path: Path) -> list[Build]:
    """The builds of a file, paths made absolute. Raises UsageError with file and entry."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as TOML: {error}") from error
    entries = data.get("build")
    if set(data) != {"build"} or not isinstance(entries, list) or not entries:
        raise UsageError(f"{path}: needs one [[build]] for each build and nothing else")
    builds = []
    for number, entry in enumerate(entries, 1):
        try:
            build = Build.model_validate(entry)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "it"
            raise UsageError(f"{path}: build {number}: {where}: {first['msg']}") from error
        if build.path is not None:
            build = build.model_copy(update={"path": (path.parent / build.path).resolve()})
        builds.append(build)
    return builds
