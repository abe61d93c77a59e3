"""Scripts as data: short forms, and what is refused."""

from __future__ import annotations

import json

import pytest

from triathlon.errors import UsageError
from triathlon.scripted.script import Action, Call, Fault, Reply, Script, parse_script


def test_list_is_the_lane_main() -> None:
    script = parse_script([{"say": "a"}, {"call": {"bash": {"command": "ls"}}}])
    assert list(script.lanes) == ["main"]
    assert script.lanes["main"].when is None
    assert script.lanes["main"].replies[1].tool_calls == [Call(tool="bash", args={"command": "ls"})]


def test_long_form_keeps_the_order_of_lanes() -> None:
    script = parse_script(
        {"lanes": {"b": {"when": {"contains": "x"}, "replies": []}, "a": {"replies": [{"say": "y"}]}}}
    )
    assert list(script.lanes) == ["b", "a"]


def test_empty_script_foresees_nothing() -> None:
    assert parse_script([]).lanes["main"].replies == []


def test_forms_of_a_call() -> None:
    reply = Reply.model_validate(
        {
            "calls": [
                {"read": {"path": "a"}},
                {"tool": "read", "args": {"path": "b"}, "id": "c"},
                {"tool": "write", "raw": "{"},
                {"tool": {"tool": "x"}} | {"tool": "odd", "args": {}},
            ]
        }
    )
    assert [(c.tool, c.args, c.raw, c.id) for c in reply.tool_calls] == [
        ("read", {"path": "a"}, None, None),
        ("read", {"path": "b"}, None, "c"),
        ("write", None, "{", None),
        ("odd", {}, None, None),
    ]


def test_text_as_parts() -> None:
    assert Reply.model_validate({"say": ["a", "b"]}).say == ["a", "b"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"sya": "x"}, "sya: Extra inputs"),
        ({}, "a reply needs one of"),
        ({"when": {"turn": 1}}, "a reply needs one of"),
        ({"say": 3}, "valid string"),
        ({"call": {"bash": "ls"}}, "arguments of `bash` must be a mapping"),
        ({"call": {"tool": "bash"}}, "exactly one of `args` and `raw`"),
        ({"call": {"tool": "bash", "args": {}, "raw": "{}"}}, "exactly one of `args` and `raw`"),
        ({"call": {"a": {}, "b": {}}}, "Extra inputs"),
        ({"call": {"a": {}}, "calls": [{"b": {}}]}, "not both"),
        ({"calls": []}, "at least 1 item"),
        ({"nothing": True, "say": "x"}, "no other content"),
        ({"nothing": False}, "nothing"),
        ({"say": "x", "finish": "done"}, "finish"),
        ({"say": "x", "when": {}}, "an empty guard"),
        ({"say": "x", "when": {"contain": "y"}}, "contain: Extra inputs"),
        ({"say": "x", "do": [{}]}, "exactly one of change"),
        ({"say": "x", "do": [{"touch": "a", "wait": 1}]}, "exactly one of change"),
        ({"say": "x", "do": [{"touch": "a", "to": "main"}]}, "`to` goes with `signal`"),
        ({"say": "x", "delay": -1}, "delay"),
        ({"say": "x", "times": 0}, "times"),
        ({"say": "x", "times": True}, "times"),
        ({"status": 429, "say": "x"}, "HTTP answer of its own"),
        ({"status": 99}, "status"),
        ({"status": 400, "body": "x", "error": {"code": "y"}}, "not both"),
        ({"say": "x", "retry_after": 1}, "`retry_after` goes with `status`"),
        ({"fault": {"cut": 2}}, "give its content too"),
        ({"say": "x", "fault": {}}, "exactly one of cut"),
        ({"say": "x", "fault": {"cut": 1, "silence": 2}}, "exactly one of cut"),
        ({"say": "x", "fault": {"silence": 2, "hard": True}}, "`hard` goes with"),
        ({"say": "x", "fault": {"cut": 2, "after": 1}}, "`after` goes with"),
        ({"say": "x", "fault": {"malformed": False}}, "malformed"),
    ],
)
def test_refused_replies(reply: object, words: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_script([reply], "case.script")
    assert words in str(error.value)
    assert str(error.value).startswith("case.script.lanes.main.replies.0")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (3, "valid dictionary"),
        ({"lanes": {}}, "at least 1 item"),
        ({"replies": []}, "lanes: Field required"),
        ({"lanes": {"a": {"replies": []}, "b": {"replies": []}}}, "only one lane may do without `when`"),
        ([{"say": "x", "times": "forever"}, {"say": "y"}], "never reached"),
    ],
)
def test_refused_scripts(script: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_script(script)


def test_forever_with_a_guard_may_be_followed() -> None:
    parse_script([{"say": "x", "times": "forever", "when": {"turn": 0}}, {"say": "y"}])


def test_faults_that_need_no_content() -> None:
    assert Reply.model_validate({"fault": {"drop": True, "hard": True}}).fault == Fault(drop=True, hard=True)
    assert Reply.model_validate({"fault": {"cut": 0}}).fault is not None


def test_kinds() -> None:
    assert Fault(silence=1.0, after=2).kind == "silence"
    assert Fault(cut=0).kind == "cut"
    assert Action(signal="KILL", to="main").kind == "signal"
    assert Action(wait=0.0).kind == "wait"


def test_json_schema_has_the_short_forms() -> None:
    schema = Script.model_json_schema()
    text = json.dumps(schema)
    assert schema["anyOf"][0]["type"] == "array"
    assert "lanes" in schema["anyOf"][1]["properties"]
    assert schema["$defs"]["Call"]["anyOf"][1]["maxProperties"] == 1
    refs = {part.split('"')[0] for part in text.split("#/$defs/")[1:]}
    assert refs <= set(schema["$defs"])
