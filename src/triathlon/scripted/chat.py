"""OpenAI chat completions, streaming and not, byte for byte as a client of that service expects it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from triathlon.scripted.journal import Ask, Message, ToolCall
from triathlon.scripted.wire import CREATED, Answer, Event, Failure, Tokens, dump, history_faults, pieces

ROLES = ("system", "developer", "user", "assistant", "tool")
FINGERPRINT = "fp_scripted"


class Chat:
    """The format at `POST {base}/chat/completions`."""

    name = "chat"
    whole_type = "application/json"
    stream_type = "text/event-stream; charset=utf-8"

    def __init__(self, base: str = "/v1") -> None:
        self.path = f"{base.rstrip('/')}/chat/completions"

    def misplaced(self, method: str, path: str) -> str | None:
        """Why a request with this method and path is not for this format; None if it is."""
        if path != self.path:
            return f"{method} {path[:200]}: only POST {self.path} is there"
        return None if method == "POST" else f"{method} {path}: only POST is there"

    def read(self, body: Any, path: str) -> tuple[Ask, list[str]]:
        """The normal form of a parsed body, as far as it can be read, and what is not well-formed in it."""
        if not isinstance(body, dict):
            return Ask(), [f"the body is {_kind(body)}, not an object"]
        faults: list[str] = []
        model = body.get("model")
        if not isinstance(model, str) or not model:
            faults.append("`model` is no text, or empty")
        stream = body.get("stream")
        if not isinstance(stream, bool | None):
            faults.append("`stream` is neither true nor false")
        options = body.get("stream_options")
        if not isinstance(options, dict | None):
            faults.append("`stream_options` is no object")
        elif options is not None and stream is not True:
            faults.append("`stream_options` goes with `stream: true` only")
        messages, more = _messages(body.get("messages"))
        faults += more
        tools, more = _tools(body.get("tools"))
        ask = Ask(
            model=model if isinstance(model, str) else "",
            stream=stream is True,
            wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
            messages=messages,
            tools=tools,
        )
        return ask, [*faults, *more, *history_faults(messages)]

    def events(self, answer: Answer, ask: Ask) -> list[Event]:
        """The answer as a stream: role, reasoning, text, calls, finish, usage, `[DONE]`.

        Each text is cut by `pieces`; a call begins with an event of its id and name. With `include_usage` the usage
        has an event of its own, without choices; unasked it rides on the finish event, as clients that did not ask
        for it may trip over an event without choices.
        """

        def event(choices: list[dict[str, Any]], usage: dict[str, Any] | None) -> bytes:
            head = {"id": f"chatcmpl-{answer.number}", "object": "chat.completion.chunk", "created": CREATED}
            tail = {"model": answer.model, "system_fingerprint": FINGERPRINT, "choices": choices}
            own = {"usage": usage} if ask.wants_usage or usage is not None else {}
            return b"data: %b\n\n" % dump(head | tail | own)

        def choice(delta: dict[str, Any], finish: str | None = None) -> list[dict[str, Any]]:
            return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]

        usage = _usage(answer.tokens)
        events = [Event("content", event(choice(delta), None)) for delta in _deltas(answer)]
        if answer.finish is not None:
            riding = None if ask.wants_usage else usage
            events.append(Event("finish", event(choice({}, answer.finish), riding)))
        if ask.wants_usage:
            events.append(Event("usage", event([], usage)))
        events.append(Event("end", b"data: [DONE]\n\n"))
        return events

    def whole(self, answer: Answer) -> bytes:
        """The answer as one body."""
        message: dict[str, Any] = {"role": "assistant", "content": _content(answer.text), "refusal": None}
        if answer.reasoning is not None:
            message["reasoning_content"] = answer.reasoning
        if answer.calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in answer.calls
            ]
        return dump(
            {
                "id": f"chatcmpl-{answer.number}",
                "object": "chat.completion",
                "created": CREATED,
                "model": answer.model,
                "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish}],
                "usage": _usage(answer.tokens),
                "system_fingerprint": FINGERPRINT,
            }
        )

    def failure(self, failure: Failure) -> bytes:
        """An error as the body of an HTTP error."""
        error = {"message": failure.message, "type": failure.type, "param": None, "code": failure.code}
        return dump({"error": error})

    def failure_event(self, failure: Failure) -> bytes:
        """An error as an event in the middle of a stream."""
        return b"data: %b\n\n" % self.failure(failure)


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    """What the content events add, in order."""
    yield {"role": "assistant", "content": None if answer.calls and answer.text is None else ""}
    for piece in pieces(answer.reasoning or ""):
        yield {"reasoning_content": piece}
    if isinstance(answer.text, str):
        for piece in pieces(answer.text):
            yield {"content": piece}
    elif answer.text is not None:
        for part in answer.text:
            yield {"content": [{"type": "text", "text": part}]}
    for i, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": i, "id": call.id, "type": "function", "function": function}]}
        for piece in pieces(call.arguments):
            yield {"tool_calls": [{"index": i, "function": {"arguments": piece}}]}


def _content(text: str | list[str] | None) -> Any:
    return [{"type": "text", "text": part} for part in text] if isinstance(text, list) else text


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def _kind(value: Any) -> str:
    """A JSON value's type, for people."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _messages(value: Any) -> tuple[tuple[Message, ...], list[str]]:
    if not isinstance(value, list) or not value:
        return (), ["`messages` is no list, or empty"]
    faults: list[str] = []
    return tuple(_message(item, f"messages[{i}]", faults) for i, item in enumerate(value)), faults


def _message(item: Any, where: str, faults: list[str]) -> Message:
    """One message, read as far as it goes; what is wrong with it is added to `faults`."""
    if not isinstance(item, dict):
        faults.append(f"{where} is {_kind(item)}, not an object")
        return Message("", "")
    role, calls = item.get("role"), item.get("tool_calls")
    if role not in ROLES:
        faults.append(f"{where}: unknown role {str(role)[:40]!r}")
    content = item.get("content")
    if content is None and role != "assistant":
        faults.append(f"{where}: a {role} message without content")
    if role == "assistant" and "content" not in item and not calls:
        faults.append(f"{where}: an assistant message with neither content nor calls")
    if calls is not None and role != "assistant":
        faults.append(f"{where}: calls in a {role} message")
    result_of = item.get("tool_call_id")
    if (role == "tool") != isinstance(result_of, str):
        faults.append(f"{where}: `tool_call_id` goes with role tool, and only there")
    reasoning = item.get("reasoning_content")
    return Message(
        role="system" if role == "developer" else str(role),
        text=_text(content, where, faults),
        calls=_calls(calls, where, faults),
        result_of=result_of if isinstance(result_of, str) else None,
        reasoning=reasoning if isinstance(reasoning, str) else None,
    )


def _text(content: Any, where: str, faults: list[str]) -> str:
    """Text of a content: a text, null, or a list of parts, of which the texts are joined."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        faults.append(f"{where}: content is {_kind(content)}")
        return ""
    texts: list[str] = []
    for part in content:
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            faults.append(f"{where}: a part of content without a type")
        elif part["type"] == "text":
            if isinstance(part.get("text"), str):
                texts.append(part["text"])
            else:
                faults.append(f"{where}: a text part without text")
    return "".join(texts)


def _calls(value: Any, where: str, faults: list[str]) -> tuple[ToolCall, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not value:
        faults.append(f"{where}: `tool_calls` is no list, or empty")
        return ()
    calls: list[ToolCall] = []
    for i, item in enumerate(value):
        spot = f"{where}.tool_calls[{i}]"
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict) or item.get("type") != "function":
            faults.append(f"{spot} is no call of type function")
            continue
        call_id, name, arguments = item.get("id"), function.get("name"), function.get("arguments")
        if not isinstance(call_id, str) or not call_id:
            faults.append(f"{spot} has no id")
        if not isinstance(name, str) or not name:
            faults.append(f"{spot} has no name")
        if not _is_object(arguments):
            faults.append(f"{spot}: `arguments` is not the text of a JSON object: {str(arguments)[:80]!r}")
        calls.append(ToolCall(str(call_id or ""), str(name or ""), str(arguments or "")))
    return tuple(calls)


def _is_object(arguments: Any) -> bool:
    """Whether a call's arguments are a string that holds a JSON object."""
    if not isinstance(arguments, str):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _tools(value: Any) -> tuple[tuple[str, ...], list[str]]:
    """Names of the tools offered, and what is not well-formed in their list."""
    if value is None:
        return (), []
    if not isinstance(value, list):
        return (), ["`tools` is no list"]
    names: list[str] = []
    faults: list[str] = []
    for i, tool in enumerate(value):
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
            faults.append(f"tools[{i}] is no function with a name")
            continue
        if not isinstance(function.get("parameters"), dict | None):
            faults.append(f"tools[{i}]: `parameters` is no object")
        if function["name"] in names:
            faults.append(f"tools[{i}]: a second tool named {function['name']}")
        names.append(function["name"])
    return tuple(names), faults


chat = Chat()
