"""From a reply of the script to the steps of an HTTP answer: placeholders filled in, ids given, tokens counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from triathlon.scripted.exchange import Pause, Step
from triathlon.scripted.faults import Headers, body_steps, play
from triathlon.scripted.http import HttpRequest
from triathlon.scripted.journal import Request
from triathlon.scripted.lanes import Taken
from triathlon.scripted.script import Reply
from triathlon.scripted.wire import Answer, AnswerCall, Failure, Tokens, Wire


class Composer:
    """Makes answers for one script."""

    def __init__(self, wire: Wire, fill: Callable[[Any], Any], lanes: int) -> None:
        self._wire, self._fill, self._lanes = wire, fill, lanes
        self._calls: dict[str, int] = {}  # calls made so far, by lane

    def ids(self, taken: Taken) -> list[str]:
        """Ids for the calls of a reply, by their order in the lane: `call_1`, in a side lane `call_LANE_1`.

        To be asked for when the reply is taken: an answer held back by an action must not change the numbers.
        """
        ids: list[str] = []
        for call in taken.reply.tool_calls:
            number = self._calls[taken.lane] = self._calls.get(taken.lane, 0) + 1
            own = f"call_{number}" if self._lanes == 1 or taken.lane == "main" else f"call_{taken.lane}_{number}"
            ids.append(own if call.id is None else call.id)
        return ids

    def steps(self, taken: Taken, ids: list[str], request: Request, http: HttpRequest) -> Iterator[Step]:
        """The answer; made when its first step is drawn."""
        reply = taken.reply
        headers: Headers = [("x-request-id", f"req_{request.index}")]
        headers += [(name, str(self._fill(value))) for name, value in reply.headers.items()]
        if reply.delay:
            yield Pause(reply.delay)
        if reply.status is not None:
            if reply.retry_after is not None:
                after = reply.retry_after
                headers.append(("Retry-After", f"{after:g}" if isinstance(after, float) else str(self._fill(after))))
            body = self._error_body(reply, reply.status)
            yield from body_steps(reply.status, body, self._wire.whole_type, http, headers)
            return
        yield from play(
            self._answer(reply, ids, request),
            reply.fault,
            reply.sse,
            wire=self._wire,
            ask=request.ask,
            stream=request.stream if reply.form is None else reply.form == "stream",
            http=http,
            headers=headers,
        )

    def _error_body(self, reply: Reply, status: int) -> bytes:
        if reply.body is not None:
            return str(self._fill(reply.body)).encode("utf-8", "replace")
        default = failure_of(status)
        given = {} if reply.error is None else self._fill(reply.error.model_dump(exclude_none=True))
        failure = Failure(
            given.get("message", default.message), given.get("type", default.type), given.get("code", default.code)
        )
        return self._wire.failure(failure)

    def _answer(self, reply: Reply, ids: list[str], request: Request) -> Answer:
        """The assistant message of a reply."""
        calls: list[AnswerCall] = []
        for call, call_id in zip(reply.tool_calls, ids, strict=True):
            if call.raw is not None:
                arguments = str(self._fill(call.raw))
            else:
                arguments = json.dumps(self._fill(call.args), ensure_ascii=False, separators=(",", ":"))
            calls.append(AnswerCall(str(self._fill(call_id)), str(self._fill(call.tool)), arguments))
        text, reasoning, usage = self._fill(reply.say), self._fill(reply.reasoning), reply.usage
        thought = count_tokens(len(reasoning)) if reasoning else 0
        said = len("".join(text or "")) + sum(len(call.name) + len(call.arguments) for call in calls)
        return Answer(
            number=request.index,
            model=request.model,
            text=text,
            reasoning=reasoning,
            calls=tuple(calls),
            finish=reply.finish or ("tool_calls" if calls else "stop"),
            tokens=Tokens(
                input=count_tokens(len(request.raw)) if usage is None or usage.input is None else usage.input,
                output=count_tokens(said) + thought if usage is None or usage.output is None else usage.output,
                cached=0 if usage is None or usage.cached is None else usage.cached,
                reasoning=thought,
            ),
        )


def count_tokens(length: int) -> int:
    """Tokens as the scripted model counts them: a quarter of the length, rounded up, at least 1."""
    return max(1, -(-length // 4))


def failure_of(status: int) -> Failure:
    """The error object that goes with a status where the script gives none."""
    types: dict[int, tuple[str, str]] = {
        400: ("invalid_request_error", "invalid_request"),
        401: ("invalid_request_error", "invalid_api_key"),
        403: ("permission_error", "forbidden"),
        404: ("invalid_request_error", "model_not_found"),
        408: ("timeout_error", "timeout"),
        413: ("invalid_request_error", "request_too_large"),
        429: ("rate_limit_error", "rate_limit_exceeded"),
        529: ("overloaded_error", "overloaded"),
    }
    kind, code = types.get(status, ("server_error", "server_error") if status >= 500 else ("api_error", "error"))
    return Failure(f"The scripted model answers with status {status}.", kind, code)
