"""Replies, from streams in any pieces and from whole bodies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from harness import sse
from harness.reply import Broken, from_body, from_stream
from hypothesis import given
from hypothesis import strategies as st


def _chunk(**delta: Any) -> str:
    return json.dumps({"choices": [{"delta": delta, "finish_reason": None}]})


def _call(index: int, **function: str) -> dict[str, Any]:
    return {"index": index, "function": function}


_LINES = [
    ": comment",
    "data: " + _chunk(content="Grü"),
    "event: x",
    "data:" + _chunk(content=[{"type": "text", "text": "ße"}, {"type": "image", "text": "no"}]),
    "data: " + json.dumps({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": True}}),
    "data: " + _chunk(tool_calls=[{"id": "1", **_call(1, name="read", arguments='{"pa')}]),
    "data: " + _chunk(tool_calls=[{"id": "0", **_call(0, name="bash", arguments="{}")}]),
    "data: " + _chunk(tool_calls=[_call(1, arguments='th": 1}')], reasoning_content="hm"),
    "data: " + json.dumps({"choices": [{"delta": {}, "finish_reason": "weird"}]}),
    "data: [DONE]",
]


@given(st.integers(1, 40), st.sampled_from(["\n", "\r\n"]))
def test_a_stream_is_read_whatever_its_pieces(size: int, end: str) -> None:
    raw = end.join(_LINES).encode()
    reply = from_stream(sse.data(raw[at : at + size] for at in range(0, len(raw), size)))
    assert (reply.text, reply.reasoning, reply.finish) == ("Grüße", "hm", "stop")
    assert [(call.id, call.name, call.arguments) for call in reply.calls] == [
        ("0", "bash", "{}"),
        ("1", "read", '{"path": 1}'),
    ]
    assert (reply.input_tokens, reply.output_tokens) == (7, 0)


@pytest.mark.parametrize(
    "lines", [_LINES[:-1], ["data: {"], ["data: 3", *_LINES], ['data: {"error": {}}', *_LINES], []]
)
def test_a_stream_without_its_end_or_with_what_is_no_object_is_broken(lines: list[str]) -> None:
    with pytest.raises(Broken):
        from_stream(sse.data(["\n".join(lines).encode()]))


def test_a_body_is_the_same_as_a_stream() -> None:
    message = {"content": None, "tool_calls": [{"id": "a", "function": {"name": "read", "arguments": "{}"}}]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": "x"}}
    reply = from_body(json.dumps(body).encode())
    assert (reply.text, reply.finish, reply.input_tokens) == ("", "tool_calls", 0)
    assert [(call.id, call.name) for call in reply.calls] == [("a", "read")]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": "x"}]}', b"\xff"])
def test_a_body_that_is_no_completion_is_broken(body: bytes) -> None:
    with pytest.raises(Broken):
        from_body(body)
