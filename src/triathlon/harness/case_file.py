"""Cases and controls as they are written: `GroupFile` is one YAML file."""

# ruff: noqa: RUF012  (pydantic copies a default list or dict for every object)

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, Field, JsonValue, ValidationError, model_validator

from triathlon.harness.expect import Exits, Expect, File, OutputMatch, Requests, Seconds, Web
from triathlon.harness.fixture import Change
from triathlon.harness.setup import Setup
from triathlon.harness.steps import Driver, Signal, Start, Stdin, Step, WaitFor
from triathlon.harness.strict import Filled, Many, Strict, Words, exactly_one, short
from triathlon.scripted.script import Action, Script

CATEGORIES = (
    "permissions",
    "files",
    "session",
    "headless",
    "drive",
    "terminal",
    "artifact",
    "extensions",
    "recovery",
)
Kind = Literal["boundary", "ordinary"]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
ClauseId = Annotated[str, Field(pattern=r"^[A-Z]+-\d{2,3}$")]
Issue = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+#\d+$")]


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class Origin(Strict):
    """Where the idea of a case comes from: exactly one of the four."""

    issue: Annotated[list[Issue], BeforeValidator(_as_list, json_schema_input_type=Issue | list[Issue])] | None = None
    """Public reports, `owner/repository#number`."""
    diff: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """Two products that differ, in a `feature`."""
    feature: str | None = None
    vary: str | None = None
    """The id of the case that this one varies."""
    spec: ClauseId | None = None
    """The clause alone."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        kind = exactly_one(self, ("issue", "diff", "vary", "spec"), "`origin`")
        if (kind == "diff") != (self.feature is not None):
            raise ValueError("`diff` and `feature` go together")
        return self

    @property
    def kind(self) -> str:
        """issue, diff, vary or spec."""
        return next(name for name in ("issue", "diff", "vary", "spec") if getattr(self, name) is not None)


class Arm(Setup):
    """What a case and a control have in common; the keys of a set-up stand beside these."""

    about: str | None = None
    clauses: list[ClauseId] | None = None
    run: Start | None = None
    steps: Annotated[list[Step], Field(min_length=1)] | None = None
    within: Annotated[float, Field(gt=0, le=900)] | None = None
    """With `run`: seconds until the process must have ended."""
    script: Script | None = None
    """What the model says; no script: it must not be asked."""
    expect: Expect

    @model_validator(mode="after")
    def _run_or_steps(self) -> Self:
        exactly_one(self, ("run", "steps"), "a case or control")
        if self.within is not None and self.run is None:
            raise ValueError("`within` goes with `run`; in `steps`, each waiting step has its own")
        return self

    @model_validator(mode="after")
    def _side_actions_are_whole(self) -> Self:
        for lane in self.script.lanes.values() if self.script is not None else ():
            for number, reply in enumerate(lane.replies, 1):
                for action in reply.do:
                    _check_action(action, f"reply {number}, `do`")
        return self

    def opened(self) -> tuple[Step, ...]:
        """The steps, `run` opened."""
        if self.run is None:
            return tuple(self.steps or ())
        finish: dict[str, Any] = {"finish": self.run.name}
        if self.within is not None:
            finish["within"] = self.within
        start = Step.model_construct(_fields_set={"start"}, start=self.run)
        return start, Step.model_validate(finish)


def _check_action(action: Action, where: str) -> None:
    """A side action holds plain data of which the script knows nothing: files, things to wait for, signals."""
    try:
        for change in (action.change or {}).values():
            Change.model_validate(change)
        if action.wait_for is not None:
            WaitFor.model_validate(action.wait_for)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {place}: {first['msg'].removeprefix('Value error, ')}") from None
    if action.signal is not None and action.signal not in get_args(Signal):
        raise ValueError(f"{where}: no signal {action.signal!r}: one of {', '.join(get_args(Signal))}")


class ControlFile(Arm):
    """A control as written: it shows that the power is there (same form), or that the neighbour is not blocked."""

    id: Name
    same_form: Literal[True] | None = None
    reverse: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.same_form and self.reverse:
            raise ValueError("a control is `same_form` (the default) or `reverse`, not both")
        return self


class Parameter(Strict):
    """One argument of the call, or one flag of the command, made bad."""

    drop: str | None = None
    """This argument is left out."""
    set: Annotated[dict[str, JsonValue], Field(min_length=1, max_length=1)] | None = None
    """This argument has another, bad value."""
    flag: Annotated[dict[str, str], Field(min_length=1, max_length=1)] | None = None
    """This flag of the run has another, bad value; one that is not there is added."""

    @model_validator(mode="after")
    def _one_change(self) -> Self:
        exactly_one(self, ("drop", "set", "flag"), "`parameter`")
        return self


class Spelling(Filled):
    """The same thing given to the command in another form: other prompt form, stdin, environment, folder or flags.

    `prompt: null` takes the prompt out.
    """

    nullable: ClassVar[frozenset[str]] = frozenset({"prompt"})

    prompt: str | None = None
    flags: Words = []
    """Replace all flags."""
    stdin: Annotated[
        Stdin | None,
        BeforeValidator(short("kind"), json_schema_input_type=Literal["closed", "silent", "terminal"] | Stdin),
    ] = None
    env: dict[str, str | None] = {}
    cwd: str | None = None


class Place(Filled):
    """The same thing, seen somewhere else: another driver, or flags added that move the output."""

    driver: Driver | None = None
    flags: Words = []
    """Added to the flags."""


class Override(Strict):
    """Channels whose expectation replaces the one of the case."""

    requests: Requests | None = None
    web: Web | None = None
    files: Annotated[dict[str, File], Field(min_length=1)] | None = None
    exit: Exits | None = None
    output: OutputMatch | None = None
    seconds: Annotated[
        list[Seconds] | None, BeforeValidator(_as_list, json_schema_input_type=Seconds | list[Seconds])
    ] = None


CHANGES = ("tool", "input", "spelling", "parameter", "place")


class Variation(Strict):
    """A case made from another by exactly one change: the tool, the input's shape, a bad parameter, or the place."""

    id: Name
    about: str | None = None
    kind: Kind | None = None
    clauses: list[ClauseId] | None = None
    cite: Many | None = None
    controls: list[Name] | None = None
    at: Annotated[int, Field(ge=1)] | None = None
    """Which call of the script changes, counted from 1 over all lanes; needed if there are several."""
    tool: Annotated[dict[str, dict[str, JsonValue]], Field(min_length=1, max_length=1)] | None = None
    """The call becomes one of another tool: `{edit: {path: .., ..}}`."""
    input: Annotated[dict[str, JsonValue], Field(min_length=1)] | None = None
    """Arguments of the same call in another shape, over those it has."""
    spelling: Spelling | None = None
    """The command's own input in another shape."""
    parameter: Parameter | None = None
    place: Place | None = None
    expect: Override | None = None

    @model_validator(mode="after")
    def _changes_one_thing(self) -> Self:
        exactly_one(self, CHANGES, "a variation changes one thing and")
        if self.at is not None and self.changes in ("spelling", "place"):
            raise ValueError(f"`at` names a call; `{self.changes}` changes none")
        return self

    @property
    def changes(self) -> str:
        """The key of `CHANGES` that is given."""
        return next(name for name in CHANGES if name in self.model_fields_set)


class CaseFile(Arm):
    """A case as written."""

    id: Name
    kind: Kind
    origin: Origin
    cite: Many = []
    """Words that stand in the spec and decide the case."""
    controls: list[Name] | None = None
    """The controls that gate it: all of the group if not given."""
    vary: list[Variation] = []


class GroupFile(Setup):
    """One YAML file: a set-up, and the cases and controls that share it."""

    group: Name
    about: Annotated[str, Field(min_length=1)]
    clauses: list[ClauseId] = []
    controls: list[ControlFile] = []
    cases: Annotated[list[CaseFile], Field(min_length=1)]
