"""The channel of requests: what the model was sent, against what a case wants of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from triathlon.harness.expect import (
    CallMatch,
    LaneRequests,
    MessageMatch,
    MessagesMatch,
    RequestMatch,
    Requests,
    Same,
    ToolsMatch,
    Web,
    WebMatch,
)
from triathlon.harness.fresh import Fresh
from triathlon.harness.match import (
    NOTHING,
    Missing,
    Result,
    at_most_zero,
    fits,
    parse_json,
    pick,
    said,
    same,
    shorten,
    spoken,
    within,
)
from triathlon.harness.match_text import check_text
from triathlon.harness.match_value import check_paths, check_value
from triathlon.scripted.journal import Message, Request, ToolCall
from triathlon.scripted.web import WebRequest

TEXTS = {
    "text": "text",
    "anywhere": "all_text",
    "system": "system",
    "user": "last_user",
    "model": "model",
    "method": "method",
    "path": "path",
}


def check_requests(requests: Sequence[Request], match: Requests, fresh: Fresh) -> Iterator[Result]:
    """All that a case wants of the requests."""
    yield from _check_lane("requests", requests, match, fresh)
    for name, lane in match.lanes.items():
        mine = [request for request in requests if request.lane == name]
        yield from _check_lane(f"requests.lanes.{name}", mine, lane, fresh)
    for same_part in match.same:
        yield _check_same(requests, same_part)
    for later, earlier in match.extends.items():
        yield _check_extends(requests, later, earlier)
    for number, amount in match.gaps.items():
        where = f"requests.gaps.{number}"
        wanted = f"{spoken(amount)} s since the request before"
        request = pick(requests, number, "requests")
        if isinstance(request, Missing):
            yield Result(where, wanted, request.why, held=False)
            continue
        before = requests[request.index - 2] if request.index > 1 else None
        gap = request.time - (0.0 if before is None else before.time if before.done is None else before.done)
        yield Result(where, wanted, f"{gap:.2f} s", within(amount, gap))


def _check_lane(where: str, requests: Sequence[Request], match: LaneRequests, fresh: Fresh) -> Iterator[Result]:
    if match.count is not None:
        sent = ", ".join(f"{r.index}: {r.answered}" for r in requests[:12])
        saw = f"{len(requests)} ({sent})" if sent else "0"
        held = within(match.count, len(requests))
        yield Result(f"{where}.count", f"{spoken(match.count)} requests", saw, held, at_most_zero(match.count))
    for name, number, wanted in _picked(match):
        yield from check_request(f"{where}.{name}", pick(requests, number, "requests"), wanted, fresh)
    for number, wanted in match.onward.items():
        first = pick(requests, number, "requests")
        if isinstance(first, Missing):
            yield Result(f"{where}.from.{number}", "a request", first.why, held=False)
            continue
        start = number - 1 if number > 0 else number
        for i, request in enumerate(requests[start:], start % max(len(requests), 1) + 1):
            yield from check_request(f"{where}.from.{number} (request {i})", request, wanted, fresh)
    for i, wanted in enumerate(match.any):
        yield _check_any(f"{where}.any.{i}", requests, wanted, fresh)
    for i, wanted in enumerate(match.none):
        found = next((r for r in requests if fits(check_request("", r, wanted, fresh))), None)
        saw = f"request {found.index}: {shorten(found.text[-400:])}" if found else f"none of {len(requests)}"
        yield Result(f"{where}.none.{i}", f"no request with {said(wanted, fresh)}", saw, found is None, negative=True)
    if match.every is not None:
        if not requests:
            yield Result(f"{where}.every", "a request", "no request", held=False)
        for i, request in enumerate(requests, 1):
            yield from check_request(f"{where}.every (request {i})", request, match.every, fresh)


def _picked(match: LaneRequests) -> Iterator[tuple[str, int, RequestMatch]]:
    if match.first is not None:
        yield "first", 1, match.first
    for number, wanted in match.at.items():
        yield f"at.{number}", number, wanted
    if match.last is not None:
        yield "last", -1, match.last


def _check_any(where: str, requests: Sequence[Request], wanted: RequestMatch, fresh: Fresh) -> Result:
    """One entry of `any`; if none fits, the nearest request says what it lacks."""
    nearest: tuple[int, str] | None = None
    for request in requests:
        missed = [result for result in check_request("", request, wanted, fresh) if not result.held]
        if not missed:
            return Result(where, f"a request with {said(wanted, fresh)}", f"request {request.index}", held=True)
        if nearest is None or len(missed) <= nearest[0]:
            lacks = f"nearest is request {request.index}, where{missed[0].where}: {missed[0].saw}"
            nearest = len(missed), lacks
    saw = f"none of {len(requests)}" + (f"; {nearest[1]}" if nearest else "")
    return Result(where, f"a request with {said(wanted, fresh)}", saw, held=False)


def check_request(where: str, request: Request | Missing, match: RequestMatch, fresh: Fresh) -> Iterator[Result]:
    """One request."""
    if isinstance(request, Missing):
        yield Result(where, f"a request with {said(match, fresh)}", request.why, held=False)
        return
    for name, attribute in TEXTS.items():
        text = getattr(match, name)
        if text is not None:
            yield from check_text(f"{where}.{name}", getattr(request, attribute), text, fresh)
    if match.raw is not None:
        yield from check_text(f"{where}.raw", request.raw.decode("utf-8", "surrogateescape"), match.raw, fresh)
    results = [text for _, text in request.tool_results]
    if match.tool_result is not None:
        last = results[-1] if results else Missing("no tool result since the last assistant message")
        yield from check_text(f"{where}.tool_result", last, match.tool_result, fresh)
    if match.tool_results is not None:
        wanted = len(match.tool_results)
        saw = f"{len(results)}: {shorten(results)}"
        yield Result(f"{where}.tool_results", f"{wanted} tool results", saw, len(results) == wanted, wanted == 0)
        for i, (text, matcher) in enumerate(zip(results, match.tool_results, strict=False)):
            yield from check_text(f"{where}.tool_results.{i}", text, matcher, fresh)
    if match.tools is not None:
        yield from _check_tools(f"{where}.tools", request.tools, match.tools, fresh)
    if match.roles is not None:
        roles = list(request.roles)
        yield Result(f"{where}.roles", shorten(match.roles), shorten(roles), roles == match.roles)
    for name, value in (match.headers or {}).items():
        header = request.headers.get(name.lower(), NOTHING)
        yield from check_value(f"{where}.headers.{name}", header, value, fresh)
    if match.body is not None:
        body = request.body if request.body is not None else Missing("the body is no JSON")
        yield from check_paths(f"{where}.body", body, match.body, fresh)
    if match.messages is not None:
        yield from _check_messages(f"{where}.messages", request, match.messages, fresh)
    if match.stream is not None:
        yield Result(f"{where}.stream", str(match.stream), str(request.stream), request.stream is match.stream)
    if match.distinct_ids:
        ids = [call.id for message in request.messages for call in message.calls]
        held = bool(ids) and len(set(ids)) == len(ids)
        yield Result(f"{where}.distinct_ids", "calls, no two of one id", shorten(ids), held)


def _check_tools(where: str, tools: Sequence[str], match: ToolsMatch, fresh: Fresh) -> Iterator[Result]:
    saw = shorten(list(tools))
    for name in fresh.fill(match.has):
        yield Result(where, f"has {name}", saw, name in tools)
    for name in fresh.fill(match.lacks):
        yield Result(where, f"lacks {name}", saw, name not in tools, negative=True)
    if match.only is not None:
        only = fresh.fill(match.only)
        yield Result(where, f"exactly {shorten(only)}", saw, sorted(only) == sorted(tools), not only)
    if match.empty is not None:
        yield Result(where, "no tool" if match.empty else "a tool", saw, (not tools) is match.empty, match.empty)


def _check_messages(where: str, request: Request, match: MessagesMatch, fresh: Fresh) -> Iterator[Result]:
    messages = request.messages
    saw = f"{len(messages)}: {' '.join(message.role for message in messages)}"
    if match.count is not None:
        held = within(match.count, len(messages))
        yield Result(f"{where}.count", f"{spoken(match.count)} messages", saw, held)
    for number, wanted in match.at.items():
        message = pick(messages, number, "messages")
        yield from _check_message(f"{where}.at.{number}", message, wanted, fresh)
    for i, wanted in enumerate(match.any):
        held = any(fits(_check_message("", message, wanted, fresh)) for message in messages)
        yield Result(f"{where}.any.{i}", f"a message with {said(wanted, fresh)}", f"none of {saw}", held)
    for i, wanted in enumerate(match.none):
        found = next((m for m in messages if fits(_check_message("", m, wanted, fresh))), None)
        shown = f"{found.role}: {shorten(found.text)}" if found else f"none of {saw}"
        words = f"no message with {said(wanted, fresh)}"
        yield Result(f"{where}.none.{i}", words, shown, found is None, negative=True)
    at = 0
    for i, wanted in enumerate(match.in_order):
        while at < len(messages) and not fits(_check_message("", messages[at], wanted, fresh)):
            at += 1
        held = at < len(messages)
        words = f"then a message with {said(wanted, fresh)}"
        yield Result(f"{where}.in_order.{i}", words, f"message {at + 1}" if held else f"none in {saw}", held)
        at += 1


def _check_message(where: str, message: Message | Missing, match: MessageMatch, fresh: Fresh) -> Iterator[Result]:
    if isinstance(message, Missing):
        yield Result(where, f"a message with {said(match, fresh)}", message.why, held=False)
        return
    if match.role is not None:
        yield from check_text(f"{where}.role", message.role, match.role, fresh)
    if match.text is not None:
        yield from check_text(f"{where}.text", message.text, match.text, fresh)
    if match.reasoning is not None:
        reasoning = Missing("no reasoning") if message.reasoning is None else message.reasoning
        yield from check_text(f"{where}.reasoning", reasoning, match.reasoning, fresh)
    if match.calls is not None:
        saw = f"{len(message.calls)}: {' '.join(call.name for call in message.calls)}"
        wanted = len(match.calls)
        yield Result(f"{where}.calls", f"{wanted} calls", saw, len(message.calls) == wanted, wanted == 0)
        for i, (call, matcher) in enumerate(zip(message.calls, match.calls, strict=False)):
            yield from _check_call(f"{where}.calls.{i}", call, matcher, fresh)


def _check_call(where: str, call: ToolCall, match: CallMatch, fresh: Fresh) -> Iterator[Result]:
    if match.tool is not None:
        yield from check_text(f"{where}.tool", call.name, match.tool, fresh)
    if match.raw is not None:
        yield from check_text(f"{where}.raw", call.arguments, match.raw, fresh)
    if match.args is not None:
        yield from check_paths(f"{where}.args", parse_json(call.arguments), match.args, fresh)


def _check_same(requests: Sequence[Request], match: Same) -> Result:
    where = f"requests.same.{match.part}"
    wanted = f"the same {match.part} in requests {', '.join(map(str, match.requests))}"
    found = [pick(requests, number, "requests") for number in match.requests]
    gone = next((request for request in found if isinstance(request, Missing)), None)
    if gone is not None:
        return Result(where, wanted, gone.why, held=False)
    parts = [_part(request, match.part) for request in found]
    other = next((i for i, part in enumerate(parts) if not same(parts[0], part)), None)
    saw = (
        "the same" if other is None else f"request {match.requests[other]} differs: {_differs(parts[0], parts[other])}"
    )
    return Result(where, wanted, saw, other is None)


def _part(request: Request, part: str) -> Any:
    if part == "body":
        return request.body
    if part == "system":
        return request.system
    return request.body.get(part) if isinstance(request.body, dict) else None


def _differs(a: Any, b: Any) -> str:
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [key for key in {**a, **b} if not same(a.get(key, NOTHING), b.get(key, NOTHING))]
        return f"{', '.join(keys)}: {shorten(b.get(keys[0], NOTHING), 100)}"
    return shorten(b)


def _check_extends(requests: Sequence[Request], later: int, earlier: int) -> Result:
    where, wanted = f"requests.extends.{later}", f"request {later} begins with all messages of request {earlier}"
    new, old = pick(requests, later, "requests"), pick(requests, earlier, "requests")
    if isinstance(new, Missing) or isinstance(old, Missing):
        return Result(where, wanted, f"only {len(requests)} requests", held=False)
    for i, message in enumerate(old.messages):
        if i >= len(new.messages):
            return Result(where, wanted, f"{len(new.messages)} messages, not {len(old.messages)}", held=False)
        if new.messages[i] != message:
            other = new.messages[i]
            saw = f"message {i + 1} is {other.role}: {shorten(other.text)}, was {message.role}: {shorten(message.text)}"
            return Result(where, wanted, saw, held=False)
    return Result(where, wanted, "it does", held=True)


def check_web(requests: Sequence[WebRequest], match: Web, fresh: Fresh) -> Iterator[Result]:
    """Requests to the case's small web server."""
    saw = f"{len(requests)}: " + ", ".join(f"{r.method} {r.url}" for r in requests[:6])
    if match.count is not None:
        held = within(match.count, len(requests))
        yield Result("web.count", f"{spoken(match.count)} requests", saw, held, at_most_zero(match.count))
    for i, wanted in enumerate(match.any):
        held = any(fits(_check_web(request, wanted, fresh)) for request in requests)
        yield Result(f"web.any.{i}", f"a request with {said(wanted, fresh)}", saw, held)
    for i, wanted in enumerate(match.none):
        held = not any(fits(_check_web(request, wanted, fresh)) for request in requests)
        yield Result(f"web.none.{i}", f"no request with {said(wanted, fresh)}", saw, held, negative=True)


def _check_web(request: WebRequest, match: WebMatch, fresh: Fresh) -> Iterator[Result]:
    for name in ("host", "path", "method"):
        text = getattr(match, name)
        if text is not None:
            yield from check_text(name, getattr(request, name), text, fresh)
    for name, value in (match.headers or {}).items():
        yield from check_value(f"headers.{name}", request.headers.get(name.lower(), NOTHING), value, fresh)
