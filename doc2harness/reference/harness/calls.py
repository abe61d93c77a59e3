"""From the calls a model wrote to calls that can be run and sent back."""

from __future__ import annotations

import json
from typing import Any

from .reply import RawCall, Reply
from .types import Call


def read(reply: Reply, used: set[str]) -> list[Call]:
    """The reply's calls under ids that are unique in the conversation; `used` is extended.

    A call that must not run has a `problem`: arguments that are no JSON object, or a reply that was cut.
    """
    cut = reply.finish == "length"
    return [_call(raw, _unique(raw.id, used), cut) for raw in reply.calls]


def key_of(call: Call) -> tuple[str, str]:
    """What makes two calls the same: tool and arguments, compared as JSON values."""
    return call.name, call.raw if call.arguments is None else json.dumps(call.arguments, sort_keys=True)


def as_message(call: Call) -> dict[str, Any]:
    """The call as it is sent back."""
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}


def _call(raw: RawCall, id: str, cut: bool) -> Call:
    text = raw.arguments or "{}"
    problem = None
    arguments: Any = None
    try:
        arguments = json.loads(text)
        if not isinstance(arguments, dict):
            problem = "the arguments are not a JSON object (json of another kind)"
    except (ValueError, RecursionError) as error:
        problem = f"the arguments are not valid json: {error}"
    if problem:
        arguments, text = None, "{}"
    if cut:
        problem = "the reply was cut at the output limit, the call was not run; send it again, in smaller parts"
    return Call(id, raw.name, arguments, text, problem)


def _unique(id: str, used: set[str]) -> str:
    number = 1
    unique = id or "call_1"
    while unique in used:
        number += 1
        unique = f"{id or 'call'}_{number}"
    used.add(unique)
    return unique
