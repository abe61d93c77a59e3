"""Variations: a case made from another by changing exactly one thing. What would change none, or two, is refused."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from triathlon.harness.case import plain
from triathlon.harness.case_file import CaseFile, Origin, Variation
from triathlon.harness.expect import Expect
from triathlon.harness.steps import Start
from triathlon.scripted.script import Call, Reply, Script


class NotAVariation(ValueError):
    """The variation does not change exactly one thing."""


def vary(case: CaseFile, variation: Variation, origin: str) -> CaseFile:
    """The case with this one change. `origin` is the id of the case varied. Raises NotAVariation."""
    update: dict[str, Any] = {"id": variation.id, "vary": [], "origin": Origin(vary=origin)}
    for name in ("about", "kind", "clauses", "controls"):
        if name in variation.model_fields_set:
            update[name] = getattr(variation, name)
    if variation.cite is not None:
        update["cite"] = variation.cite
    if variation.expect is not None:
        channels = {name: getattr(variation.expect, name) for name in variation.expect.model_fields_set}
        update["expect"] = case.expect.model_copy(update=channels)
    if variation.changes in ("tool", "input") or (variation.parameter and variation.parameter.flag is None):
        update["script"] = _change_call(case.script, variation)
    else:
        update |= _change_start(case, variation)
    return case.model_copy(update=update)


def _change_call(script: Script | None, variation: Variation) -> Script:
    calls = (
        []
        if script is None
        else [
            (lane, i, j)
            for lane, body in script.lanes.items()
            for i, reply in enumerate(body.replies)
            for j in range(len(reply.tool_calls))
        ]
    )
    if script is None or not calls:
        raise NotAVariation("the case has no call to change")
    if variation.at is None and len(calls) > 1:
        raise NotAVariation(f"the case has {len(calls)} calls: say which one changes (`at: 1` is the first)")
    at = variation.at or 1
    if at > len(calls):
        raise NotAVariation(f"`at: {at}`: the case has {len(calls)} calls")
    lane, i, j = calls[at - 1]
    reply = script.lanes[lane].replies[i]
    old = reply.tool_calls[j]
    new = _other_call(old, variation)
    if reply.call is not None:
        reply = _copy(reply, call=new)
    else:
        reply = _copy(reply, calls=[new if k == j else call for k, call in enumerate(reply.tool_calls)])
    replies = [reply if k == i else other for k, other in enumerate(script.lanes[lane].replies)]
    changed = script.lanes[lane].model_copy(update={"replies": replies})
    return script.model_copy(update={"lanes": {**script.lanes, lane: changed}})


def _copy(reply: Reply, **update: Any) -> Reply:
    return reply.model_copy(update=update)


def _other_call(old: Call, variation: Variation) -> Call:
    if variation.tool is not None:
        ((tool, args),) = variation.tool.items()
        if tool == old.tool:
            raise NotAVariation(f"the tool is {tool!r} before and after: use `input` or `parameter`")
        return old.model_copy(update={"tool": tool, "args": args, "raw": None})
    if old.args is None:
        raise NotAVariation("the call has its arguments as `raw` text: only `tool` can change it")
    if variation.input is not None:
        same = [name for name, value in variation.input.items() if name in old.args and old.args[name] == value]
        if same:
            raise NotAVariation(f"the argument {same[0]!r} is the same before and after")
        return old.model_copy(update={"args": {**old.args, **variation.input}})
    parameter = variation.parameter
    assert parameter is not None
    if parameter.drop is not None:
        if parameter.drop not in old.args:
            raise NotAVariation(f"the call has no argument {parameter.drop!r} to drop")
        return old.model_copy(update={"args": {k: v for k, v in old.args.items() if k != parameter.drop}})
    ((name, value),) = (parameter.set or {}).items()
    if name in old.args and old.args[name] == value and type(old.args[name]) is type(value):
        raise NotAVariation(f"the argument {name!r} is the same before and after")
    return old.model_copy(update={"args": {**old.args, name: value}})


def _change_start(case: CaseFile, variation: Variation) -> dict[str, Any]:
    steps = case.opened()
    at = next((i for i, step in enumerate(steps) if step.start is not None), None)
    start = None if at is None else steps[at].start
    if start is None or at is None:
        raise NotAVariation("the case starts nothing that could change")
    new = _other_start(start, variation)
    if new.model_dump() == start.model_dump():
        raise NotAVariation(f"`{variation.changes}` changes nothing")
    if case.run is not None:
        return {"run": new}
    step = steps[at].model_copy(update={"start": new})
    return {"steps": [step if i == at else other for i, other in enumerate(steps)]}


def _other_start(start: Start, variation: Variation) -> Start:
    data = plain(start)
    if variation.parameter is not None and variation.parameter.flag is not None:
        ((flag, value),) = variation.parameter.flag.items()
        flags = list(start.flags)
        if flag in flags and flags.index(flag) + 1 < len(flags):
            flags[flags.index(flag) + 1] = value
        else:
            flags += [flag, value]
        data["flags"] = flags
    elif variation.spelling is not None:
        data |= plain(variation.spelling)
        if variation.spelling.prompt is None and "prompt" in variation.spelling.model_fields_set:
            data.pop("prompt", None)
    elif variation.place is not None:
        if variation.place.driver is not None:
            data["driver"] = variation.place.driver
        if variation.place.flags:
            data["flags"] = [*start.flags, *variation.place.flags]
    try:
        return Start.model_validate(data)
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise NotAVariation(f"what comes out cannot be run: {message}") from None


def changed_channels(before: Expect, after: Expect) -> list[str]:
    """The channels on which two cases want different things."""
    old, new = plain(before), plain(after)
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
