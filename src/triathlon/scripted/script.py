"""The script: what the model will say, as strict typed objects.

A script is a list of replies, or named lanes of replies, each lane with a guard (`{lanes: {NAME: {when, replies}}}`).
The list is short for one lane, `main`, without a guard. Everything here is plain data: nothing in this file sends,
waits or fills placeholders in. Texts may hold placeholders (`{{marker}}`); they are filled when a reply goes out.

Validation errors of pydantic carry a `loc` in the long form: for a script written as a list, `("lanes", "main",
"replies", 0, "say")`; for a call written as `{bash: {...}}`, `("call", "args", ...)`. Who maps a `loc` to a line of a
file skips the parts that are not in the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema

from triathlon.errors import UsageError

Finish = Literal["stop", "tool_calls", "length", "content_filter"]
Texts = str | list[str]
Seconds = Annotated[float, Field(ge=0, le=3600)]


class Strict(BaseModel):
    """Base of the script's objects: unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Guard(Strict):
    """What a request must look like; every key given must hold, and every text of a list."""

    turn: int | None = Field(default=None, ge=0, description="Assistant messages in the request.")
    contains: Texts | None = Field(default=None, description="In the text of some message.")
    not_contains: Texts | None = Field(default=None, description="In the text of no message.")
    system_contains: Texts | None = None
    user_contains: Texts | None = Field(default=None, description="In the last user message.")
    has_tool_result: bool | None = Field(default=None, description="Results stand after the last assistant message.")
    tool_result_contains: Texts | None = Field(default=None, description="In the last tool message.")
    offers: Texts | None = Field(default=None, description="Tools the request must offer, by name.")
    offers_tools: bool | None = Field(default=None, description="Whether the request offers any tool.")
    model: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("an empty guard: give at least one key, or leave `when` out")
        return self


class Call(Strict):
    """One tool call: `{TOOL: {ARGUMENT: VALUE}}`, or `{tool, args | raw, id}`; `raw` is the argument string as is."""

    tool: str = Field(min_length=1)
    args: dict[str, JsonValue] | None = None
    raw: str | None = None
    id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _long_form(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "tool" not in data and len(data) == 1:
            ((tool, args),) = data.items()
            if isinstance(args, Mapping):
                return {"tool": tool, "args": dict(args)}
            raise ValueError(f"the arguments of `{tool}` must be a mapping; for other forms write {{tool, raw}}")
        return data

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.args is None) == (self.raw is None):
            raise ValueError("give exactly one of `args` and `raw`")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        short = {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": {"type": "object"},
        }
        return {"anyOf": [handler(core), short]}


class Usage(Strict):
    """Token counts to report, true or not; what is left out is counted from the bodies."""

    input: int | None = None
    output: int | None = None
    cached: int | None = Field(default=None, description="Input tokens reported as read from a cache.")


class ErrorBody(Strict):
    """The `error` object of an HTTP error; what is left out follows the status."""

    message: str | None = None
    code: str | int | None = None
    type: str | None = None


class Fault(Strict):
    """One way for a reply to break; see `faults.py` for what each does to a stream and to a whole body."""

    cut: int | None = Field(default=None, ge=0, description="Events (whole body: characters) sent before the end.")
    silence: Seconds | None = Field(default=None, description="Seconds without a byte, then the rest follows.")
    drop: Literal[True] | None = Field(default=None, description="Closed before a byte of the answer.")
    malformed: Literal[True, "error"] | None = Field(
        default=None, description="One event (the whole body) is cut-off JSON, or an error object."
    )
    no_end: Literal[True, "done", "finish"] | None = Field(
        default=None, description="No end mark (`done`), no finish reason (`finish`), or neither (true)."
    )
    length: Literal[True] | Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Cut at the output limit, half way or after so many characters; finish is `length`."
    )
    hard: bool = Field(default=False, description="With cut and drop: reset the connection instead of closing it.")
    after: int | None = Field(
        default=None, ge=0, description="With silence and malformed: events (characters) sent first."
    )

    @property
    def kind(self) -> str:
        """The one fault that is given: cut, silence, drop, malformed, no_end or length."""
        return next(name for name in FAULTS if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in FAULTS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(FAULTS)}; here: {', '.join(given) or 'none'}")
        if self.hard and given[0] not in ("cut", "drop"):
            raise ValueError("`hard` goes with `cut` and `drop` only")
        if self.after is not None and given[0] not in ("silence", "malformed"):
            raise ValueError("`after` goes with `silence` and `malformed` only")
        return self


FAULTS = ("cut", "silence", "drop", "malformed", "no_end", "length")


class Action(Strict):
    """Something done from outside before a reply goes out; carried out by the driver, texts not yet filled in."""

    change: dict[str, JsonValue] | None = Field(default=None, description="Files to write, or `absent`.")
    touch: str | None = None
    signal: str | None = None
    to: str | None = Field(default=None, description="With signal: the started process meant.")
    wait: Seconds | None = None
    wait_for: dict[str, JsonValue] | None = None
    release: str | None = None

    @property
    def kind(self) -> str:
        """The one action that is given: change, touch, signal, wait, wait_for or release."""
        return next(name for name in ACTIONS if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in ACTIONS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(ACTIONS)}; here: {', '.join(given) or 'none'}")
        if self.to is not None and self.signal is None:
            raise ValueError("`to` goes with `signal` only")
        return self


ACTIONS = ("change", "touch", "signal", "wait", "wait_for", "release")


class Reply(Strict):
    """One answer of the model: content, or an HTTP error, or a broken answer."""

    say: Texts | None = Field(default=None, description="The text; a list is sent as a list of text parts.")
    call: Call | None = None
    calls: list[Call] | None = Field(default=None, min_length=1)
    reasoning: str | None = None
    nothing: Literal[True] | None = Field(default=None, description="An assistant message without any content.")
    finish: Finish | None = Field(default=None, description="Default: tool_calls if there are calls, else stop.")
    usage: Usage | None = None
    when: Guard | None = Field(default=None, description="What the request must look like, else the case fails.")
    do: list[Action] = Field(default_factory=list, description="Side actions, done before the reply goes out.")
    delay: Seconds = Field(default=0.0, description="Seconds before the first byte.")
    status: int | None = Field(default=None, ge=200, le=599)
    retry_after: float | str | None = Field(default=None, description="With status: the Retry-After header.")
    error: ErrorBody | None = None
    body: str | None = Field(default=None, description="With status: the whole body as is.")
    headers: dict[str, str] = Field(default_factory=dict)
    sse: list[Literal["crlf", "tight", "comments", "torn"]] = Field(
        default_factory=list,
        description="Sound streams of another look: lines end in CR LF, no blank after `data:`, comment lines between "
        "events, chunks of 7 bytes that end in the middle of lines and characters.",
    )
    form: Literal["stream", "whole"] | None = Field(default=None, description="Default: the form asked for.")
    fault: Fault | None = None
    times: Annotated[int, Field(ge=1)] | Literal["forever"] = Field(default=1, description="Requests it answers.")
    optional: bool = Field(default=False, description="May be left over; passed by when its guard does not hold.")

    @property
    def tool_calls(self) -> list[Call]:
        """The calls of this reply, however they were written."""
        return [self.call] if self.call is not None else (self.calls or [])

    @property
    def has_content(self) -> bool:
        """Whether the reply holds an assistant message, be it an empty one."""
        return self.say is not None or self.reasoning is not None or bool(self.tool_calls) or self.nothing is True

    @property
    def may_stay(self) -> bool:
        """Whether it is no fault if (the rest of) this reply is never asked for."""
        return self.optional or self.times == "forever"

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.call is not None and self.calls is not None:
            raise ValueError("give `call` or `calls`, not both")
        if self.nothing and (self.say is not None or self.reasoning is not None or self.tool_calls):
            raise ValueError("`nothing` goes with no other content")
        if self.status is not None:
            if self.has_content or self.fault is not None or self.finish is not None or self.usage is not None:
                raise ValueError("`status` is an HTTP answer of its own: no content, finish, usage or fault beside it")
            if self.error is not None and self.body is not None:
                raise ValueError("give `error` or `body`, not both")
            return self
        for name in ("retry_after", "error", "body"):
            if getattr(self, name) is not None:
                raise ValueError(f"`{name}` goes with `status` only")
        if not self.has_content:
            if self.fault is None:
                raise ValueError("a reply needs one of say, call, calls, reasoning, nothing, status, fault")
            if not self.fault.drop and self.fault.cut != 0:
                raise ValueError(f"fault `{self.fault.kind}` breaks a reply: give its content too")
        return self


class Lane(Strict):
    """Replies for the requests that a guard picks out; a lane without one takes what is left."""

    when: Guard | None = None
    replies: list[Reply]

    @model_validator(mode="after")
    def _all_reachable(self) -> Self:
        for i, reply in enumerate(self.replies[:-1], 1):
            if reply.times == "forever" and reply.when is None:
                raise ValueError(f"reply {i} answers forever: what follows it is never reached")
        return self


class Script(Strict):
    """The lanes of a model, in the order they are tried."""

    lanes: dict[str, Lane] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _long_form(cls, data: Any) -> Any:
        return {"lanes": {"main": {"replies": data}}} if isinstance(data, list) else data

    @model_validator(mode="after")
    def _one_rest(self) -> Self:
        rest = [name for name, lane in self.lanes.items() if lane.when is None]
        if len(rest) > 1:
            raise ValueError(f"only one lane may do without `when`; here: {', '.join(rest)}")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        long = handler.resolve_ref_schema(handler(core))
        replies = handler(Lane.__pydantic_core_schema__)
        replies = handler.resolve_ref_schema(replies)["properties"]["replies"]
        return {"anyOf": [replies, long]}


def parse_script(data: object, where: str = "script") -> Script:
    """Turn plain data (a list, or a mapping with `lanes`) into a script.

    Raises UsageError with one line a fault, each with its place.
    """
    try:
        return Script.model_validate(data)
    except ValidationError as error:
        lines = [f"{where}.{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False)]
        raise UsageError("\n".join(lines)) from None
