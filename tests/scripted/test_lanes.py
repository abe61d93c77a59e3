"""Guards and lanes: which reply a request gets."""

from __future__ import annotations

from typing import Any

import pytest

from triathlon.scripted.guards import why_not
from triathlon.scripted.journal import Ask, Message, Request, ToolCall
from triathlon.scripted.lanes import Lanes, Unforeseen, title
from triathlon.scripted.script import Guard, Reply, parse_script


def ask(*messages: tuple[str, str], tools: tuple[str, ...] = (), model: str = "m") -> Request:
    made = tuple(Message(role, text, result_of="c" if role == "tool" else None) for role, text in messages)
    return Request(1, 0.0, "POST", "/", {}, b"", ask=Ask(model=model, messages=made, tools=tools))


FULL = ask(
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
    request = ask(("user", "a"), ("assistant", ""), ("tool", "old"), ("assistant", "x"), ("user", "b"))
    assert why_not(Guard(has_tool_result=True), request, lambda v: v) is not None
    assert why_not(Guard(tool_result_contains="old"), request, lambda v: v) is None


def test_guard_texts_are_filled_in() -> None:
    assert why_not(Guard(contains="{{w}}"), FULL, lambda v: v.replace("{{w}}", "good")) is None
    assert why_not(Guard(model="{{w}}"), FULL, lambda v: v.replace("{{w}}", "m")) is None


def test_a_long_text_is_cut_in_the_reason() -> None:
    reason = why_not(Guard(contains="zzz"), ask(("user", "x" * 10_000)), lambda v: v)
    assert reason is not None and len(reason) < 500


def take(lanes: Lanes, request: Request) -> tuple[str, int]:
    taken = lanes.take(request)
    return taken.lane, taken.index


def same(value: Any) -> Any:
    return value


def test_replies_in_order_and_times() -> None:
    lanes = Lanes(parse_script([{"say": "a", "times": 2}, {"say": "b"}]), same)
    assert [take(lanes, FULL)[1] for _ in range(3)] == [1, 1, 2]
    with pytest.raises(Unforeseen, match="lane main: all 2 replies are used up"):
        lanes.take(FULL)
    assert lanes.left_over == []


def test_left_over_says_what_and_how_often() -> None:
    lanes = Lanes(parse_script([{"say": "a", "times": 3}, {"call": {"bash": {}}}]), same)
    lanes.take(FULL)
    assert lanes.left_over == [
        "lane main: reply 1 of 2 was never asked for (1 of 3 times): say",
        "lane main: reply 2 of 2 was never asked for: calls bash",
    ]


def test_forever_and_optional_may_stay() -> None:
    lanes = Lanes(parse_script([{"say": "a", "optional": True}, {"say": "b", "times": "forever"}]), same)
    assert lanes.left_over == []
    assert take(lanes, FULL) == ("main", 1)
    assert [take(lanes, FULL) for _ in range(50)] == [("main", 2)] * 50


def test_a_guard_that_does_not_hold_stops_the_lane() -> None:
    lanes = Lanes(parse_script([{"say": "a", "when": {"turn": 5}}, {"say": "b"}]), same)
    with pytest.raises(Unforeseen, match=r"reply 1 of 2 waits for another request \(turn: wanted 5, saw 1\)"):
        lanes.take(FULL)
    assert len(lanes.left_over) == 2


def test_an_optional_reply_is_passed_by() -> None:
    lanes = Lanes(
        parse_script([{"say": "a", "when": {"turn": 5}, "optional": True}, {"say": "b", "when": {"turn": 1}}]), same
    )
    assert take(lanes, FULL) == ("main", 2)
    assert lanes.left_over == []


def test_forever_with_a_guard_gives_way_when_it_no_longer_holds() -> None:
    lanes = Lanes(parse_script([{"say": "a", "when": {"turn": 0}, "times": "forever"}, {"say": "b"}]), same)
    early = ask(("user", "x"))
    assert [take(lanes, r)[1] for r in (early, early, FULL)] == [1, 1, 2]


def test_first_lane_whose_guard_holds_takes_it_even_when_used_up() -> None:
    script = {
        "lanes": {
            "rest": {"replies": [{"say": "r", "times": "forever"}]},  # without a guard: tried last, wherever it stands
            "one": {"when": {"contains": "look"}, "replies": [{"say": "1"}]},
            "two": {"when": {"system_contains": "good"}, "replies": [{"say": "2"}]},
        }
    }
    lanes = Lanes(parse_script(script), same)
    assert take(lanes, FULL) == ("one", 1)
    with pytest.raises(Unforeseen, match="lane one: all 1 replies are used up"):
        lanes.take(FULL)
    assert take(lanes, ask(("system", "good"))) == ("two", 1)
    assert take(lanes, ask(("user", "hello"))) == ("rest", 1)


def test_no_lane_takes_it() -> None:
    lanes = Lanes(parse_script({"lanes": {"a": {"when": {"turn": 9}, "replies": [{"say": "x"}]}}}), same)
    with pytest.raises(Unforeseen, match="no lane takes it: lane a: turn: wanted 9, saw 1") as error:
        lanes.take(FULL)
    assert error.value.lane is None


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"say": "x"}, "say"),
        ({"say": "x", "call": {"bash": {}}}, "calls bash"),
        ({"calls": [{"read": {}}, {"glob": {}}]}, "calls read, glob"),
        ({"reasoning": "x"}, "reasoning"),
        ({"nothing": True}, "nothing"),
        ({"status": 500}, "status 500"),
        ({"fault": {"drop": True}}, "fault drop"),
    ],
)
def test_titles(reply: dict[str, Any], words: str) -> None:
    assert title(Reply.model_validate(reply)) == words


def test_views_of_a_request() -> None:
    request = Request(
        1,
        0.0,
        "POST",
        "/",
        {},
        b"\xff",
        body={"a": ["x", {"b": "y"}], "c": 1},
        ask=Ask(
            messages=(
                Message("system", "s1"),
                Message("user", "u1"),
                Message("assistant", "", calls=(ToolCall("c1", "read", "{}"),), reasoning="hm"),
                Message("tool", "r1", result_of="c1"),
                Message("tool", "r2", result_of="c2"),
            )
        ),
    )
    assert request.system == "s1" and request.last_user == "u1"
    assert request.tool_results == [("c1", "r1"), ("c2", "r2")]
    assert request.last_tool_result == "r2"
    assert request.text == "s1\nu1\n\nr1\nr2"
    assert request.all_text == "x\ny"
    assert request.roles == ("system", "user", "assistant", "tool", "tool")
    assert request.turn == 1
    assert request.record()["raw_base64"] == "/w=="
