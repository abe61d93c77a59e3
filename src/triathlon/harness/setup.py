"""What a case lays out before the candidate starts: files in their places, settings, git, stubs, web, tool servers.

The group's set-up holds for all its cases and controls; each of these may give the same keys to add to it or to
replace parts of it, path by path and name by name.
"""

# ruff: noqa: RUF012  (pydantic copies a default list or dict for every object)

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from triathlon.harness.fixture import Files
from triathlon.harness.strict import Argument, Filled, Many, Strict, Variable, short
from triathlon.scripted.web import Page


class Settings(Filled):
    """Settings files, written as JSON at the places the spec names."""

    managed: dict[str, JsonValue] | None = None
    user: dict[str, JsonValue] | None = None
    project: dict[str, JsonValue] | None = None
    local: dict[str, JsonValue] | None = None


class Git(Strict):
    """The workspace is a git repository: fixed author and date, so that ids depend on the content alone.

    First one commit is made of the laid-out files, then `changed` is written, then `staged` is added to the index.
    """

    branch: str = "main"
    message: str = "start"
    commit: Literal["all", "none"] | list[str] = "all"
    """The paths in the first commit; `all` leaves out those that are staged but not changed, and `untracked`."""
    changed: Files = {}
    staged: Many = []
    untracked: Many = []


def _open_git(value: Any) -> Any:
    return {} if value is True else value


class Stub(Strict):
    """A command put first on PATH. A plain string is its script.

    With `log`, it appends its arguments as one JSON list a line to that file in the stubs' folder; then it prints
    `says`, then `errs` on stderr, and exits with `exit`.
    """

    script: str | None = None
    log: str | None = None
    says: str = ""
    errs: str = ""
    exit: Annotated[int, Field(ge=0, le=255)] = 0

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.script is not None and self.model_fields_set != {"script"}:
            raise ValueError("a stub with a `script` of its own has no other key")
        if self.log is not None and "/" in self.log:
            raise ValueError("`log` is a plain name in the stubs' folder")
        return self


WebPage = Annotated[Page, BeforeValidator(short("body"), json_schema_input_type=str | Page)]
"""What the small web server answers at one path. A plain string is the body of a text page."""


class ServerTool(Strict):
    """One tool of a stdio tool server. A plain string is the text it says."""

    description: str = "A tool."
    says: str = "ok"
    error: bool = False
    """The result is marked as an error."""
    writes: str | None = None
    """A file to make, relative to the folder the server runs in; its text is the arguments as JSON."""
    input: dict[str, JsonValue] = {"type": "object"}
    """The JSON Schema of its input."""


class Server(Strict):
    """A stdio tool server, written for the case as a script of the standard library and named in the project's file.

    `behaviour`: `hang` never answers the first message, `crash` exits at once, `noise` writes lines that are no JSON
    before each answer, `crash_on_call` exits in the middle of a call.
    """

    tools: dict[
        str, Annotated[ServerTool, BeforeValidator(short("says"), json_schema_input_type=str | ServerTool)]
    ] = {}
    behaviour: Literal["ok", "hang", "crash", "noise", "crash_on_call"] = "ok"
    env: dict[Variable, Argument] = {}


class Setup(Strict):
    """Everything that is laid out. Places: the workspace, beside it, home, and the harness's state folder."""

    workspace: Files = {}
    outside: Files = {}
    """The folder `outside`, next to the workspace: `../outside/` seen from it."""
    beside: Files = {}
    """Other folders next to the workspace."""
    home: Files = {}
    state: Files = {}
    """`$HARNESS_HOME`."""
    settings: Settings | None = None
    git: Annotated[Git | None, BeforeValidator(_open_git, json_schema_input_type=Literal[True] | Git)] = None
    stubs: dict[str, Annotated[Stub, BeforeValidator(short("script"), json_schema_input_type=str | Stub)]] = {}
    web: dict[str, dict[str, WebPage]] = {}
    """Host name -> path -> page."""
    servers: dict[str, Server] = {}
    env: dict[Variable, Argument | None] = {}
    """Added to the environment of every started process; null takes a name out of it."""
    readonly: bool = False
    """The workspace has no write bits."""

    @model_validator(mode="after")
    def _stubs_are_names(self) -> Self:
        for name in self.stubs:
            if "/" in name or not name:
                raise ValueError(f"a stub is a plain command name, not {name!r}")
        return self

    def clashes(self) -> Iterator[str]:
        """What cannot be laid out: a path below one that is a file."""
        for place in ("workspace", "outside", "beside", "home", "state"):
            files: Files = getattr(self, place)
            for path in files:
                for above in map(str, PurePosixPath(path).parents):
                    if above in files and files[above].kind == "file":
                        yield f"{place}: {path!r} cannot be laid out: {above!r} is a file"

    def over(self, below: Setup) -> Setup:
        """This set-up laid over `below`: mappings join key by key, other values replace."""
        merged: dict[str, Any] = {name: getattr(below, name) for name in below.model_fields_set & _SETUP}
        for name in self.model_fields_set & _SETUP:
            mine, theirs = getattr(self, name), merged.get(name)
            if isinstance(mine, dict) and isinstance(theirs, dict):
                mine = _join(theirs, mine)
            elif isinstance(mine, Settings) and isinstance(theirs, Settings):
                mine = mine.model_copy(
                    update={k: getattr(theirs, k) for k in theirs.model_fields_set - mine.model_fields_set}
                )
            merged[name] = mine
        return Setup.model_construct(_fields_set=set(merged), **merged)


def _join(theirs: dict[str, Any], mine: dict[str, Any]) -> dict[str, Any]:
    joined = dict(theirs)
    for key, value in mine.items():
        old = joined.get(key)
        joined[key] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    return joined


_SETUP = frozenset(Setup.model_fields)
