"""What chat completions accept as a request: bodies, histories, fields, places."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from scripted_help import USER, Served, call, calls, code, result

Serve = Callable[..., Served]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[1, NaN]", "NaN is not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[" * 50_000, "not valid JSON"),
        (b"[]", "the body is a list, not an object"),
        (b'{"model": "m", "messages": [{"role": "user", "content": "\\ud83d"}]}', "half a surrogate pair"),
    ],
)
def test_bodies_that_are_no_request(serve: Serve, data: bytes, words: str) -> None:
    served = serve([{"say": "x", "optional": True}])
    status, _, body = served.send(data)
    assert status == 400 and code(body) == "unforeseen_request"
    model = served.stop()
    assert len(model.problems) == 1 and words in model.problems[0]
    assert model.journal[0].answered.startswith("unforeseen: ")
    assert model.journal[0].raw == data
    json.dumps(model.journal[0].body, ensure_ascii=False).encode()  # what is kept can always be written


def test_a_pair_of_surrogates_is_a_character(serve: Serve) -> None:
    served = serve([{"say": "x"}])
    data = b'{"model": "m", "messages": [{"role": "user", "content": "\\ud83d\\ude00"}]}'
    assert served.send(data)[0] == 200
    assert served.stop().journal[0].last_user == "\U0001f600"


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([USER, calls("a")], "at the end: the call a (read) has no result"),
        ([USER, calls("a"), USER], "messages[2]: the call a (read) has no result"),
        ([USER, calls("a", "b"), result("a")], "at the end: the call b (read) has no result"),
        ([USER, calls("a"), USER, result("a")], "a result for a, which is no call of the message before"),
        ([USER, calls("a"), result("a"), result("a")], "messages[3]: a second result for the call a"),
        ([USER, calls("a"), result("a"), result("b")], "messages[3]: a result for b, which is no call"),
        ([USER, result("a")], "messages[1]: a result for a"),
        ([USER, calls("a", "a"), result("a")], "messages[1]: the call id a is there twice"),
        ([USER, calls("a"), result("a"), calls("a"), result("a")], "messages[3]: the call id a is there twice"),
        ([USER, {"role": "assistant", "content": "x", "tool_calls": []}], "`tool_calls` is no list, or empty"),
        ([USER, {"role": "assistant", "tool_calls": [call("a", "{x")]}, result("a")], "not the text of a JSON object"),
        ([USER, {"role": "assistant", "tool_calls": [call("a", "[1]")]}, result("a")], "not the text of a JSON object"),
        ([USER, {"role": "assistant", "tool_calls": [call("", "{}")]}, result("")], "has no id"),
        ([USER, {"role": "assistant", "tool_calls": [call("a", name="")]}, result("a")], "has no name"),
        ([USER, {"role": "assistant", "tool_calls": [{"id": "a"}]}], "no call of type function"),
        ([USER, {"role": "assistant"}], "neither content nor calls"),
        ([USER, {"role": "user"}], "a user message without content"),
        ([USER, {"role": "user", "content": 3}], "content is a number"),
        ([USER, {"role": "user", "content": [{"text": "x"}]}], "a part of content without a type"),
        ([USER, {"role": "user", "content": [{"type": "text"}]}], "a text part without text"),
        ([USER, {"role": "robot", "content": "x"}], "unknown role 'robot'"),
        ([USER, {"role": "user", "content": "x", "tool_calls": [call("a")]}], "calls in a user message"),
        ([USER, {"role": "user", "content": "x", "tool_call_id": "a"}], "`tool_call_id` goes with role tool"),
        ([USER, {"role": "tool", "content": "x"}], "`tool_call_id` goes with role tool"),
        ([USER, "x"], "messages[1] is a text, not an object"),
        ({}, "`messages` is no list, or empty"),
    ],
)
def test_histories_that_are_invalid(serve: Serve, messages: Any, words: str) -> None:
    served = serve([{"say": "x", "optional": True}])
    status, _, body = served.send(json.dumps({"model": "m", "messages": messages}).encode())
    assert status == 400 and code(body) == "unforeseen_request"
    model = served.stop()
    assert len(model.problems) == 1 and words in model.problems[0], model.problems
    assert words not in body.decode()  # the client is not told


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"model": ""}, "`model`"),
        ({"model": None}, "`model`"),
        ({"stream": "yes"}, "`stream`"),
        ({"stream_options": {"include_usage": True}}, "goes with `stream: true` only"),
        ({"stream": True, "stream_options": 1}, "`stream_options` is no object"),
        ({"tools": {}}, "`tools` is no list"),
        ({"tools": [{"type": "function"}]}, "tools[0] is no function"),
        ({"tools": [{"type": "function", "function": {"name": "a", "parameters": []}}]}, "`parameters` is no object"),
        ({"tools": [{"type": "function", "function": {"name": "a"}}] * 2}, "a second tool named a"),
    ],
)
def test_other_fields(serve: Serve, body: dict[str, Any], words: str) -> None:
    served = serve([{"say": "x", "optional": True}])
    assert served.post(**body)[0] == 400
    assert words in served.stop().problems[0]


def test_valid_histories(serve: Serve) -> None:
    histories: list[list[dict[str, Any]]] = [
        [{"role": "developer", "content": "x"}, USER],
        [USER, {"role": "assistant", "content": None}, USER],
        [USER, {"role": "assistant", "content": ""}, USER],
        [USER, {"role": "assistant", "content": None, "reasoning_content": "hm"}, USER],
        [USER, calls("a", "b"), result("b"), result("a", [{"type": "text", "text": "x"}]), USER],
        [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {}}]}],
    ]
    served = serve([{"say": "x", "times": len(histories)}])
    assert [served.post(history)[0] for history in histories] == [200] * len(histories)
    model = served.stop()
    assert model.problems == []
    assert model.journal[0].system == "x"
    assert model.journal[3].messages[1].reasoning == "hm"
    assert model.journal[4].messages[3].text == "x"


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        ("GET", "/v1/models", "GET /v1/models: only POST /v1/chat/completions is there"),
        ("POST", "/chat/completions", "only POST"),
        ("POST", "/v1//chat/completions", "only POST"),
        ("POST", "/v1/chat/completions?x=1", "only POST"),
        ("GET", "/v1/chat/completions", "only POST is there"),
        ("HEAD", "/", "only POST"),
    ],
)
def test_other_places(serve: Serve, method: str, path: str, words: str) -> None:
    served = serve([])
    status, _, body = served.send(b"", path, method)
    assert status == 400 and (body == b"" if method == "HEAD" else code(body) == "unforeseen_request")
    model = served.stop()
    assert words in model.problems[0]
    assert model.journal[0].method == method
