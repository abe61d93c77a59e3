"""Lanes: which reply a request gets, and what is left over."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_help import asked

from triathlon.scripted.journal import Request
from triathlon.scripted.lanes import Lanes, Unforeseen, title
from triathlon.scripted.script import Reply, parse_script

FULL = asked(("system", "be good"), ("user", "question"), ("assistant", "let me look"), ("tool", "result text"))


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
    early = asked(("user", "x"))
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
    assert take(lanes, asked(("system", "good"))) == ("two", 1)
    assert take(lanes, asked(("user", "hello"))) == ("rest", 1)


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
