"""What a run does, step by step: start, wait, type, change a file, send a signal, start again.

`run: {...}` in a case is short for `steps: [{start: {...}}, {finish: main}]`.
"""

# ruff: noqa: RUF012  (pydantic copies a default list or dict for every object)

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from triathlon.harness.fixture import Change, File
from triathlon.harness.strict import Argument, Strict, Variable, Words, exactly_one, short

DEADLINE = 20.0
"""Seconds a waiting step waits where it does not say `within`."""

Driver = Literal["headless", "terminal", "api", "serve"]
Wait = Annotated[float, Field(gt=0, le=900)]
Size = Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Field(min_length=2, max_length=2)]
Signal = Literal["HUP", "INT", "QUIT", "KILL", "TERM", "STOP", "CONT", "USR1", "USR2", "WINCH"]


class Stdin(Strict):
    """What standard input is: `closed` (/dev/null), `silent` (an open pipe without a byte), `terminal`, or bytes.

    `pipe` is text, `file` a file as in a set-up; both come through a pipe that is closed after the last byte, unless
    `open` keeps it open. Steps may `send` more through an open or silent pipe.
    """

    kind: Literal["closed", "silent", "terminal"] | None = None
    pipe: str | None = None
    file: File | None = None
    open: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        exactly_one(self, ("kind", "pipe", "file"), "`stdin`")
        if self.open and self.kind:
            raise ValueError("`open` goes with `pipe` and `file`")
        return self


class Start(Strict):
    """A process of the candidate, started.

    headless: `harness -p PROMPT FLAGS...`, or `harness ARGS...` where `args` is given. terminal: `harness FLAGS...` on
    a pseudo-terminal. serve: `harness serve --port 0 FLAGS...`, and the line it prints is read. api: Python runs
    `Agent(workspace=..., **settings).run(prompt)`.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] = "main"
    driver: Driver = "headless"
    prompt: Argument | None = None
    flags: Words = []
    args: Words | None = None
    stdin: Annotated[
        Stdin,
        BeforeValidator(short("kind"), json_schema_input_type=Literal["closed", "silent", "terminal"] | Stdin),
    ] = Stdin(kind="closed")
    env: dict[Variable, Argument | None] = {}
    """Over the set-up's; null takes a name out."""
    cwd: str | None = None
    """Relative to the workspace; the workspace itself if not given."""
    size: Size | None = None
    """Rows and columns of the terminal; 24 and 80 if not given."""
    settings: dict[str, JsonValue] = {}
    """Keyword settings of the api driver."""

    @model_validator(mode="after")
    def _fits_the_driver(self) -> Self:
        given = self.model_fields_set
        if self.args is not None and {"prompt", "flags"} & given:
            raise ValueError("`args` is the whole argument list: `prompt` and `flags` do not go with it")
        if self.driver == "api" and {"args", "flags"} & given:
            raise ValueError("the api driver takes `prompt` and `settings`, no `args` or `flags`")
        if self.driver != "api" and "settings" in given:
            raise ValueError("`settings` of a start go with the api driver; others read settings files")
        if self.driver in ("terminal", "serve") and {"prompt", "stdin"} & given:
            raise ValueError(f"the {self.driver} driver starts without prompt and stdin: type or http gives them")
        if self.size is not None and self.driver != "terminal":
            raise ValueError("`size` goes with the terminal driver")
        return self


class WaitFor(Strict):
    """Something to wait for."""

    request: Annotated[int, Field(ge=1)] | None = None
    """The model has got so many requests (of `lane`, if given)."""
    lane: str | None = None
    file: str | None = None
    """There is something at this path (relative to the workspace, `*` allowed)."""
    gone: str | None = None
    """There is nothing at this path any more."""
    output: str | None = None
    """Standard output or error of `of` has this text."""
    screen: str | None = None
    """The terminal of `of` shows this text."""
    exit: str | None = None
    """The process of this name has ended."""
    http: str | None = None
    """The background `http` step of this name has its answer."""
    released: str | None = None
    """A `release` with this name was done."""
    seconds: Wait | None = None
    of: str = "main"

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        names = ("request", "file", "gone", "output", "screen", "exit", "http", "released", "seconds")
        exactly_one(self, names, "`wait_for`")
        if self.lane is not None and self.request is None:
            raise ValueError("`lane` goes with `request`")
        return self


class Capture(Strict):
    """Keeps a piece of what was seen under a name, for later placeholders `{{NAME}}`.

    From: standard output (or `stream`) of process `of`, the answer of an `http` step, or a `file`. Piece: `json`, a
    dotted path into the last line that is a JSON object; `regex`, its first group; `stem`, the file's name without
    its ending. Nothing found is a failure of the case.
    """

    name: Annotated[str, Field(alias="as", pattern=r"^[a-z][a-z0-9_]*$")]
    of: str | None = None
    http: str | None = None
    file: str | None = None
    stream: Literal["stdout", "stderr", "screen"] = "stdout"
    as_json: str | None = Field(None, alias="json")
    regex: str | None = None
    stem: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_source_one_piece(self) -> Self:
        if len({"of", "http", "file"} & self.model_fields_set) > 1:
            raise ValueError("`capture` reads one of `of`, `http` and `file`")
        exactly_one(self, ("as_json", "regex", "stem"), "`capture`")
        if self.stem and self.file is None:
            raise ValueError("`stem` goes with `file`")
        return self


class Http(Strict):
    """One HTTP request to the process that the serve driver started."""

    nullable: ClassVar[frozenset[str]] = frozenset({"json"})

    method: Literal["GET", "POST", "DELETE", "PUT", "PATCH"] = "GET"
    path: str
    as_json: JsonValue = Field(None, alias="json")
    body: str | None = None
    """The body as it stands, instead of `json`."""
    token: bool | str = True
    """The token that was printed, none, or another text."""
    headers: dict[str, str] = {}
    name: Annotated[str, Field(alias="as", pattern=r"^[a-z][a-z0-9_]*$")] = "http"
    of: str = "main"
    background: bool = False
    """Do not wait for the answer; `wait_for: {http: NAME}` does."""
    until: str | None = None
    """Read a body without an end until it has this text, then hang up."""

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if {"as_json", "body"} <= self.model_fields_set:
            raise ValueError("`json` or `body`, not both")
        return self


class AgentCall(Strict):
    """`run(prompt)` once more on the agent that the api driver made."""

    prompt: str
    name: Annotated[str, Field(alias="as", pattern=r"^[a-z][a-z0-9_]*$")] = "call"
    of: str = "main"


KINDS = (
    "start",
    "finish",
    "wait_for",
    "type",
    "keys",
    "paste",
    "resize",
    "send",
    "close_stdin",
    "hang_up",
    "change",
    "touch",
    "signal",
    "release",
    "capture",
    "http",
    "call",
    "install",
)


class Step(Strict):
    """One step: exactly one of the keys of `KINDS`, with `to` (a process, `main` if not given) and `within`."""

    start: Start | None = None
    finish: str | None = None
    """Wait until the process of this name has ended; it fails the case if it does not end `within` so many seconds."""
    wait_for: WaitFor | None = None
    type: str | None = None
    """Text typed on the terminal, as it stands: end it with a newline to press Enter."""
    keys: Words | None = None
    """Keys by name: Enter, Esc, Tab, Shift-Tab, Up, Down, Left, Right, Backspace, Ctrl-C, Ctrl-D, ... or a letter."""
    paste: str | None = None
    """Text pasted in one piece (bracketed)."""
    resize: Size | None = None
    """Rows and columns."""
    send: str | None = None
    """Text written to an open pipe on standard input."""
    close_stdin: str | None = None
    """The end of that pipe, of the process of this name."""
    hang_up: str | None = None
    """Stop reading standard output of the process of this name: what it writes next meets a closed pipe."""
    change: Annotated[dict[str, Change], Field(min_length=1)] | None = None
    """Path -> change, relative to the workspace; `*` must find exactly one file."""
    touch: str | None = None
    """A new modification time, bytes as they were."""
    signal: Signal | None = None
    release: str | None = None
    capture: Capture | None = None
    http: Http | None = None
    call: AgentCall | None = None
    install: Literal["again"] | None = None
    """Run the tree's install script once more on the same prefix."""
    to: str = "main"
    within: Wait = DEADLINE

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kind = exactly_one(self, KINDS, "a step")
        if "to" in self.model_fields_set and kind not in ("type", "keys", "paste", "resize", "send", "signal"):
            raise ValueError(f"`to` does not go with `{kind}`")
        if "within" in self.model_fields_set and kind not in ("finish", "wait_for", "http", "call", "start"):
            raise ValueError(f"`within` does not go with `{kind}`")
        return self

    @property
    def kind(self) -> str:
        """The key that says what the step does."""
        return next(name for name in KINDS if name in self.model_fields_set)
