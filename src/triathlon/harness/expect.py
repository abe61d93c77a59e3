"""What a case wants to see, on four channels and nothing else: requests, files, exit, output (and how long it took).

A matcher holds if every key in it holds. Numbers of requests and messages count from 1; places in a dotted path into a
JSON value count from 0 (`messages.0.content`), as in the JSON itself.
"""

# ruff: noqa: RUF012  (pydantic copies a default list or dict for every object)

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from triathlon.harness.strict import Filled, Many, Number, Patterns, Strict, short


class Amount(Strict):
    """A number within bounds, both included."""

    min: int | float | None = None
    max: int | float | None = None

    @model_validator(mode="before")
    @classmethod
    def _whole_number(cls, value: Any) -> Any:
        return {"min": value, "max": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("needs a whole number, `min` or `max`")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("`min` is greater than `max`")
        return self


Count = Annotated[Amount, BeforeValidator(lambda v: v, json_schema_input_type=int | Amount)]
"""`2`, `{min: 1}`, `{max: 3}` or `{min: 1, max: 3}`."""


class ValueMatch(Filled):
    """What a JSON value must be."""

    nullable: ClassVar[frozenset[str]] = frozenset({"equals", "not"})

    equals: Any = None
    one_of: list[Any] | None = None
    not_: Any = Field(None, alias="not")
    type: Literal["string", "number", "integer", "boolean", "null", "array", "object"] | None = None
    absent: Literal[True] | None = None
    present: Literal[True] | None = None
    min: float | None = None
    max: float | None = None
    length: Count | None = None
    """Items of an array or object, characters of a string."""
    contains: Many = []
    """Parts of a string, or items of an array."""
    not_contains: Many = []
    begins: str | None = None
    ends: str | None = None
    matches: Patterns = []
    not_matches: Patterns = []
    has: dict[str, Value] | None = None
    """Dotted paths below the value."""
    any: list[Value] | None = None
    """For each entry, some item of the array fits it."""
    none: list[Value] | None = None
    """For each entry, the value is an array and no item of it fits."""
    every: Value | None = None
    """The value is an array with at least one item, and every item fits."""


def _open_value(value: Any) -> Any:
    return value if isinstance(value, (dict, ValueMatch)) else {"equals": value}


Value = Annotated[
    ValueMatch,
    BeforeValidator(_open_value, json_schema_input_type=str | int | float | bool | list[Any] | None | ValueMatch),
]
"""A scalar or list stands for `{equals: it}`; a mapping is always a matcher (a literal object is `{equals: {..}}`)."""

Paths = dict[str, Value]
"""Dotted path -> value. `.` alone is the whole value; `-1` is the last item; a dot in a key is written `\\.`."""


class JsonLines(Filled):
    """What text of one JSON object a line must be; the newline alone ends a line."""

    broken: Count | None = None
    """Lines that are no JSON object: with this key they are passed over, without it one of them makes all fail."""
    count: Count | None = None
    first: Paths | None = None
    last: Paths | None = None
    at: dict[Number, Paths] = {}
    any: list[Paths] = []
    none: list[Paths] = []
    every: Paths | None = None


class TextMatch(Filled):
    """What a text must be. A plain string in its place stands for `{equals: it}`."""

    equals: str | None = None
    one_of: list[str] | None = None
    contains: Many = []
    not_contains: Many = []
    begins: str | None = None
    ends: str | None = None
    matches: Patterns = []
    not_matches: Patterns = []
    count: dict[str, Count] = {}
    """How often a piece of text occurs (not overlapping)."""
    in_order: list[str] = []
    """Pieces that occur in this order, none overlapping."""
    lines: Count | None = None
    """Lines, a last one without a newline counted."""
    length: Count | None = None
    """Characters."""
    max_length: int | None = None
    empty: bool | None = None
    as_json: Paths | None = Field(None, alias="json")
    """The whole text is one JSON value."""
    jsonl: JsonLines | None = None


Text = Annotated[TextMatch, BeforeValidator(short("equals"), json_schema_input_type=str | TextMatch)]


class FileMatch(TextMatch):
    """What must be at a path: `absent`, `present`, the exact text, or any of these keys together."""

    absent: Literal[True] | None = None
    present: Literal[True] | None = None
    kind: Literal["file", "folder", "link"] | None = None
    link: Text | None = None
    """It is a link, and this is its target as written."""
    mode: str | None = None
    """Permission bits in octal, e.g. "0755"."""
    size: Count | None = None
    base64: str | None = None
    latin1: str | None = None
    """The bytes, written as Latin-1 text."""
    same_as_laid_out: Literal[True] | None = None
    """Bytes, kind and mode are as they were before the first process was started."""
    changed: Literal[True] | None = None
    """It was there before, is there now, and its bytes, kind or mode differ."""
    same_as: str | None = None
    """Its bytes equal those of the file at this path."""
    found: Count | None = None
    """With a `*` or `?` in the path: how many paths match it."""
    every: Literal[True] | None = None
    """With a `*` or `?` in the path: all that match must fit (else one is enough)."""


def _open_file(value: Any) -> Any:
    if isinstance(value, str):
        return {value: True} if value in ("absent", "present") else {"equals": value}
    return value


File = Annotated[
    FileMatch,
    BeforeValidator(_open_file, json_schema_input_type=Literal["absent", "present"] | str | FileMatch),
]


class ToolsMatch(Filled):
    """The tools a request offers, by name."""

    has: Many = []
    lacks: Many = []
    only: list[str] | None = None
    """Exactly these, in any order."""
    empty: bool | None = None


class CallMatch(Filled):
    """A tool call in an assistant message."""

    tool: Text | None = None
    args: Paths | None = None
    """The arguments, parsed; they must be a JSON object."""
    raw: Text | None = None
    """The argument string as it stands."""


class MessageMatch(Filled):
    """One message of a request."""

    role: Text | None = None
    text: Text | None = None
    reasoning: Text | None = None
    calls: list[CallMatch] | None = None
    """The calls, in order and all of them."""
    body: Paths | None = None


class MessagesMatch(Filled):
    """The messages of a request."""

    count: Count | None = None
    at: dict[Number, MessageMatch] = {}
    """By place from 1; -1 is the last."""
    any: list[MessageMatch] = []
    none: list[MessageMatch] = []
    in_order: list[MessageMatch] = []
    """Messages that occur in this order, others may stand between."""


class RequestMatch(Filled):
    """One request to the model. Texts are decoded and joined, in whatever form they came, unless the key is `raw`."""

    text: Text | None = None
    """The text of all messages, without the arguments of calls and the reasoning, which the model wrote."""
    anywhere: Text | None = None
    """Every string in the body: messages, arguments of calls, descriptions of tools."""
    raw: Text | None = None
    """The body's bytes as they came, as UTF-8."""
    system: Text | None = None
    user: Text | None = None
    """The last user message."""
    tool_result: Text | None = None
    """The last result among those since the last assistant message."""
    tool_results: list[Text] | None = None
    """All results since the last assistant message, in order."""
    tools: ToolsMatch | None = None
    roles: list[str] | None = None
    model: Text | None = None
    method: Text | None = None
    path: Text | None = None
    headers: dict[str, Value] | None = None
    """By name in any case; a header that is not there is `{absent: true}`."""
    body: Paths | None = None
    messages: MessagesMatch | None = None
    stream: bool | None = None
    distinct_ids: Literal[True] | None = None
    """There are tool calls, and no two of the whole request share an id."""


class LaneRequests(Filled):
    """What must be true of a number of requests, in the order they came."""

    count: Count | None = None
    first: RequestMatch | None = None
    last: RequestMatch | None = None
    at: dict[Number, RequestMatch] = {}
    """By number from 1; -1 is the last."""
    onward: dict[Number, RequestMatch] = Field({}, alias="from")
    """This request and every later one; there must be such a one."""
    any: list[RequestMatch] = []
    """For each entry some request fits it."""
    none: list[RequestMatch] = []
    """No request fits any of these."""
    every: RequestMatch | None = None
    """There is a request, and all fit."""


class Same(Strict):
    """Some requests have one part in common."""

    requests: Annotated[list[Number], Field(min_length=2)]
    part: Literal["body", "tools", "system", "messages"] = "body"


class Requests(LaneRequests):
    """What must be true of the requests to the model; `lanes` says the same of one lane of the script."""

    lanes: dict[str, LaneRequests] = {}
    same: list[Same] = []
    extends: dict[Number, Number] = {}
    """`{3: 2}`: the messages of request 3 begin with all messages of request 2, unchanged."""
    gaps: dict[Number, Amount] = {}
    """`{2: {min: 1}}`: seconds from request 1 to request 2."""


class Streams(Filled):
    """What one process wrote."""

    stdout: Text | None = None
    stderr: Text | None = None
    screen: Text | None = None


class HttpMatch(Filled):
    """The answer to one `http` step."""

    status: Count | None = None
    headers: dict[str, Value] | None = None
    as_json: Paths | None = Field(None, alias="json")
    body: Text | None = None


class OutputMatch(Streams):
    """What was written: `stdout`, `stderr` and `screen` of `main`; the same below the name of another process."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, Streams] = Field(init=False)

    http: dict[str, HttpMatch] = {}
    result: dict[str, Paths] = {}
    """What `Agent.run` returned, by the name of the `start` or `call`."""


class ExitMatch(Filled):
    """The exit status, as a shell says it: 128 + number after a signal."""

    one_of: list[int] | None = None
    not_: list[int] | None = Field(None, alias="not")


def _open_exit(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"one_of": [value]}
    if isinstance(value, list):
        return {"one_of": value}
    if isinstance(value, dict) and isinstance(value.get("not"), int):
        return {**value, "not": [value["not"]]}
    return value


def _open_exits(value: Any) -> Any:
    named = isinstance(value, dict) and value and not set(value) <= {"not", "one_of"}
    return value if named else {"main": value}


Exit = Annotated[ExitMatch, BeforeValidator(_open_exit, json_schema_input_type=int | list[int] | ExitMatch)]
Exits = Annotated[
    dict[str, Exit],
    BeforeValidator(_open_exits, json_schema_input_type=int | list[int] | ExitMatch | dict[str, Exit]),
    Field(min_length=1),
]


class Seconds(Strict):
    """How long a process, call or http step took, from its start to its end."""

    min: float | None = None
    max: float | None = None
    of: str = "main"

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("`seconds` needs `min` or `max`")
        return self


def _open_seconds(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class WebMatch(Filled):
    """One request to the case's small web server."""

    host: Text | None = None
    path: Text | None = None
    method: Text | None = None
    headers: dict[str, Value] | None = None


class Web(Filled):
    """Requests to the case's small web server."""

    count: Count | None = None
    any: list[WebMatch] = []
    none: list[WebMatch] = []


class Expect(Filled):
    """All that a case or control wants to see; at least one channel."""

    requests: Requests | None = None
    web: Web | None = None
    files: Annotated[dict[str, File], Field(min_length=1)] | None = None
    """Paths relative to the workspace (`../outside/x`), or from a place (`{{state}}/x`); `*`, `?` and `**` find
    several. Links are not followed: name the real path."""
    exit: Exits | None = None
    output: OutputMatch | None = None
    seconds: Annotated[
        list[Seconds] | None,
        BeforeValidator(_open_seconds, json_schema_input_type=Seconds | list[Seconds]),
    ] = None
