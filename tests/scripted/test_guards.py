"""Guards: whether a request is the one that is waited for."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_help import asked

from triathlon.scripted.guards import why_not
from triathlon.scripted.script import Guard

FULL = asked(
    ("system", "be good"),
    ("user", "first question"),
    ("assistant", "let me look"),
    ("tool", "result text"),
    tools=("bash", "read"),
)


@pytest.mark.parametrize(
    ("guard", "holds"),
    [
        ({"turn": 1}, True),
        ({"turn": 0}, False),
        ({"contains": "look"}, True),
        ({"contains": ["look", "good"]}, True),
        ({"contains": ["look", "bad"]}, False),
        ({"contains": "question\nlet"}, False),  # never across messages
        ({"not_contains": "bad"}, True),
        ({"not_contains": ["bad", "good"]}, False),
        ({"system_contains": "good"}, True),
        ({"system_contains": "question"}, False),
        ({"user_contains": "first"}, True),
        ({"user_contains": "good"}, False),
        ({"has_tool_result": True}, True),
        ({"has_tool_result": False}, False),
        ({"tool_result_contains": "result"}, True),
        ({"tool_result_contains": "other"}, False),
        ({"offers": "bash"}, True),
        ({"offers": ["bash", "task"]}, False),
        ({"offers_tools": True}, True),
        ({"offers_tools": False}, False),
        ({"model": "m"}, True),
        ({"model": "n"}, False),
        ({"turn": 1, "model": "n"}, False),
    ],
)
def test_guards(guard: dict[str, Any], holds: bool) -> None:
    reason = why_not(Guard.model_validate(guard), FULL, lambda value: value)
    assert (reason is None) is holds
    if reason is not None:
        key = list(guard)[-1]
        assert reason.startswith(f"{key}: ")


def test_an_older_result_is_no_result_of_this_turn() -> None:
    request = asked(("user", "a"), ("assistant", ""), ("tool", "old"), ("assistant", "x"), ("user", "b"))
    assert why_not(Guard(has_tool_result=True), request, lambda v: v) is not None
    assert why_not(Guard(tool_result_contains="old"), request, lambda v: v) is None


def test_guard_texts_are_filled_in() -> None:
    assert why_not(Guard(contains="{{w}}"), FULL, lambda v: v.replace("{{w}}", "good")) is None
    assert why_not(Guard(model="{{w}}"), FULL, lambda v: v.replace("{{w}}", "m")) is None


def test_a_long_text_is_cut_in_the_reason() -> None:
    reason = why_not(Guard(contains="zzz"), asked(("user", "x" * 10_000)), lambda v: v)
    assert reason is not None and len(reason) < 500
