"""The channel of requests."""

from __future__ import annotations

from typing import Any

import pytest
from case_help import assistant, call, channels, fresh, request, result, user

from triathlon.harness.expect import Expect
from triathlon.harness.judge import judge
from triathlon.scripted.web import WebRequest

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("read", "bash")]
MARKER = fresh().value("marker")
SYSTEM = {"role": "system", "content": "Be good."}
TWO = (call("read", {"path": "a"}), call("bash", "{broken", id="c2"))
FIRST = request(1, SYSTEM, user("go"), tools=TOOLS, time=1.0)
SECOND = request(
    2,
    SYSTEM,
    user("go"),
    assistant(*TWO, text="hm"),
    result(f"1\t{MARKER}"),
    result("error: not JSON", id="c2"),
    tools=TOOLS,
    time=3.0,
)
CHILD = request(
    3,
    {"role": "user", "content": [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]},
    lane="child",
    model="small",
    time=3.5,
)
ALL = [FIRST, SECOND, CHILD]


def holds(expect: dict[str, Any], requests: Any = ALL) -> bool:
    return judge(Expect.model_validate({"requests": expect}), channels(requests=list(requests)), fresh()) == []


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ({"count": 3}, {"count": {"max": 2}}),
        ({"first": {"user": "go"}}, {"first": {"user": "stop"}}),
        ({"last": {"model": "small"}}, {"last": {"model": "default"}}),
        ({"at": {2: {"tool_result": {"begins": "error: "}}}}, {"at": {1: {"tool_result": {"begins": "error: "}}}}),
        ({"at": {-2: {"text": {"contains": "{{marker}}"}}}}, {"at": {4: {"text": {"not_contains": "x"}}}}),
        ({"from": {2: {"text": {"not_contains": "stop"}}}}, {"from": {1: {"text": {"contains": "{{marker}}"}}}}),
        ({"from": {-1: {"model": "small"}}}, {"from": {4: {"text": {"not_contains": "stop"}}}}),
        (
            {"any": [{"text": {"contains": "{{marker}}"}}, {"model": "small"}]},
            {"any": [{"text": {"contains": "nowhere"}}]},
        ),
        ({"none": [{"text": {"contains": "secret"}}]}, {"none": [{"text": {"contains": "{{marker}}"}}]}),
        ({"every": {"method": "POST"}}, {"every": {"system": "Be good."}}),
        ({"lanes": {"child": {"count": 1, "last": {"user": "one two"}}}}, {"lanes": {"child": {"count": 0}}}),
        ({"lanes": {"main": {"count": 2}}}, {"lanes": {"none": {"count": 1}}}),
        ({"same": [{"requests": [1, 2], "part": "tools"}]}, {"same": [{"requests": [1, 2]}]}),
        ({"same": [{"requests": [1, 2], "part": "system"}]}, {"same": [{"requests": [1, 3], "part": "system"}]}),
        ({"same": [{"requests": [2, -2], "part": "body"}]}, {"same": [{"requests": [1, 9], "part": "body"}]}),
        ({"extends": {2: 1}}, {"extends": {3: 1}}),
        ({"extends": {2: 2}}, {"extends": {1: 2}}),
        ({"gaps": {2: {"min": 2, "max": 2}}}, {"gaps": {2: {"max": 1}}}),
        ({"gaps": {1: {"max": 1}}}, {"gaps": {4: {"max": 1}}}),
    ],
)
def test_which_requests(good: dict[str, Any], bad: dict[str, Any]) -> None:
    assert holds(good)
    assert not holds(bad)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ({"text": {"contains": "{{marker}}"}}, {"text": {"contains": "broken"}}),
        ({"anywhere": {"contains": "broken"}}, {"anywhere": {"contains": "whole"}}),
        ({"raw": {"contains": '"stream": true'}}, {"raw": {"contains": "\u0000"}}),
        ({"tool_result": "error: not JSON"}, {"tool_result": {"contains": "{{marker}}"}}),
        (
            {"tool_results": [{"contains": "{{marker}}"}, {"begins": "error: "}]},
            {"tool_results": [{"contains": "{{marker}}"}]},
        ),
        (
            {"tool_results": [{"begins": "1\t"}, {"ends": "JSON"}]},
            {"tool_results": [{"begins": "error"}, {"begins": "1"}]},
        ),
        ({"tools": {"has": "read", "lacks": "fetch"}}, {"tools": {"has": ["read", "fetch"]}}),
        ({"tools": {"only": ["bash", "read"]}}, {"tools": {"only": ["bash"]}}),
        ({"tools": {"empty": False}}, {"tools": {"empty": True}}),
        ({"roles": ["system", "user", "assistant", "tool", "tool"]}, {"roles": ["user"]}),
        ({"path": "/v1/chat/completions"}, {"path": {"contains": "//"}}),
        ({"headers": {"Authorization": {"begins": "Bearer "}}}, {"headers": {"Authorization": {"absent": True}}}),
        ({"headers": {"X-Other": {"absent": True}}}, {"headers": {"X-Other": {"present": True}}}),
        ({"body": {"messages.2.tool_calls.0.id": "c1", "n": {"absent": True}}}, {"body": {"stream": False}}),
        ({"stream": True}, {"stream": False}),
        ({"distinct_ids": True}, {"body": {"messages": {"length": 1}}}),
        ({"messages": {"count": 5, "at": {-1: {"role": "tool"}}}}, {"messages": {"at": {6: {"role": "tool"}}}}),
        (
            {"messages": {"any": [{"role": "user", "text": "go"}]}},
            {"messages": {"any": [{"role": "tool", "text": "go"}]}},
        ),
        ({"messages": {"none": [{"text": {"contains": "secret"}}]}}, {"messages": {"none": [{"role": "system"}]}}),
        (
            {
                "messages": {
                    "in_order": [
                        {"role": "user"},
                        {"calls": [{"tool": "read", "args": {"path": "a"}}, {"raw": "{broken"}]},
                        {"role": "tool"},
                    ]
                }
            },
            {"messages": {"in_order": [{"role": "tool"}, {"role": "user"}]}},
        ),
        ({"messages": {"at": {3: {"text": "hm"}}}}, {"messages": {"at": {3: {"calls": [{"tool": "read"}]}}}}),
        (
            {"messages": {"at": {3: {"calls": [{"tool": "read"}, {"tool": "bash"}]}}}},
            {"messages": {"at": {3: {"calls": [{"tool": "read"}, {"args": {"x": {"absent": True}}}]}}}},
        ),
        ({"messages": {"at": {1: {"calls": []}}}}, {"messages": {"at": {1: {"reasoning": {"not_contains": "x"}}}}}),
    ],
)
def test_one_request(good: dict[str, Any], bad: dict[str, Any]) -> None:
    assert holds({"at": {2: good}})
    assert not holds({"at": {2: bad}})
    assert not holds({"at": {2: good}}, [])


def test_equal_ids_are_seen() -> None:
    equal = request(1, user("x"), assistant(call("read", {}), call("read", {})), result("a"), result("b"))
    assert not holds({"last": {"distinct_ids": True}}, [equal])
    assert not holds({"last": {"distinct_ids": True}}, [FIRST])


def test_reasoning_is_apart_from_text() -> None:
    made = request(1, user("x"), {**assistant(text="hm"), "reasoning_content": "thought"}, user("y"))
    assert holds({"last": {"messages": {"at": {2: {"reasoning": "thought", "text": "hm"}}}}}, [made])


def test_no_request_meets_no_demand_but_a_count_and_none() -> None:
    assert holds({"count": 0, "none": [{"text": {"contains": "x"}}], "lanes": {"child": {"count": 0}}}, [])
    assert not holds({"every": {"text": {"not_contains": "x"}}}, [])


def test_a_body_that_is_no_json_is_said_to_be_none() -> None:
    broken = request(1, user("x"))
    broken.body, broken.raw = None, b"\xff{"
    assert not holds({"last": {"body": {"a": {"absent": True}}}}, [broken])
    assert holds({"last": {"raw": {"ends": "{"}}}, [broken])


def test_any_names_the_nearest_request() -> None:
    expect = Expect.model_validate({"requests": {"any": [{"user": "go", "model": "default", "system": "Be bad."}]}})
    (finding,) = judge(expect, channels(requests=ALL), fresh())
    assert "nearest is request 2, where.system: 'Be good.'" in finding.saw


def test_a_gap_counts_from_the_end_of_the_answer_before() -> None:
    slow = request(1, user("x"), time=0.0)
    slow.done = 2.5
    assert holds({"gaps": {2: {"min": 0.4, "max": 0.6}}}, [slow, request(2, user("x"), time=3.0)])


@pytest.mark.parametrize(
    ("expect", "good"),
    [
        ({"count": 2}, True),
        ({"count": {"max": 1}}, False),
        ({"any": [{"host": "docs.test", "path": "/b"}]}, True),
        ({"any": [{"host": "other.test"}]}, False),
        ({"none": [{"host": "other.test"}]}, True),
        ({"none": [{"method": "GET"}]}, False),
        ({"any": [{"headers": {"Accept": {"contains": "text"}}}]}, True),
        ({"any": [{"headers": {"Cookie": {"present": True}}}]}, False),
    ],
)
def test_the_web_server(expect: dict[str, Any], good: bool) -> None:
    seen = [
        WebRequest(n, 0.0, "GET", "docs.test", path, {"accept": "text/html"}, b"", "status 200")
        for n, path in enumerate(("/a", "/b"), 1)
    ]
    assert (judge(Expect.model_validate({"web": expect}), channels(web=seen), fresh()) == []) is good
