"""The judge as a whole: exits, output, time, problems, and values that were never captured."""

from __future__ import annotations

from typing import Any

import pytest
from case_help import channels, file, fresh, request, user
from hypothesis import given
from hypothesis import strategies as st

from triathlon.harness.channels import Channels, HttpAnswer, Output
from triathlon.harness.expect import Expect
from triathlon.harness.judge import Finding, judge, only_late, results

MESSAGE_KEYS = [
    "messages",
    "role",
    "content",
    "tool_calls",
    "id",
    "function",
    "name",
    "arguments",
    "tools",
    "text",
    "type",
]


def found(expect: dict[str, Any], seen: Channels, **values: str) -> list[Finding]:
    return judge(Expect.model_validate(expect), seen, fresh(**values))


def test_a_pass_has_no_finding_and_a_failure_one_line() -> None:
    assert found({"exit": 0}, channels()) == []
    (finding,) = found({"exit": 0}, channels(exits={"main": 1}))
    assert str(finding) == "exit: wanted 0; saw 1" and finding.channel == "exit"


@pytest.mark.parametrize(
    ("expect", "exits", "holds"),
    [
        ({"exit": [0, 1]}, {"main": 1}, True),
        ({"exit": {"not": 0}}, {"main": 0}, False),
        ({"exit": {"not": 0}}, {"main": 2}, True),
        ({"exit": {"not": 0}}, {"main": None}, False),
        ({"exit": 0}, {}, False),
        ({"exit": {"main": 137, "again": 0}}, {"main": 137, "again": 0}, True),
        ({"exit": {"main": 137, "again": 0}}, {"main": 137}, False),
    ],
)
def test_exits(expect: dict[str, Any], exits: dict[str, int | None], holds: bool) -> None:
    assert (found(expect, channels(exits=exits)) == []) is holds


@pytest.mark.parametrize(
    ("expect", "holds"),
    [
        ({"stdout": "hi\n"}, True),
        ({"stdout": "hi"}, False),
        ({"stderr": {"contains": "warn"}}, True),
        ({"stderr": {"empty": True}}, False),
        ({"screen": {"contains": "x"}}, False),
        ({"tty": {"screen": {"contains": "> "}}}, True),
        ({"tty": {"screen": {"contains": "$ "}}}, False),
        ({"gone": {"stdout": {"empty": True}}}, False),
        (
            {
                "http": {
                    "new": {
                        "status": 201,
                        "json": {"id": {"type": "string"}},
                        "headers": {"Content-Type": "application/json"},
                    }
                }
            },
            True,
        ),
        ({"http": {"new": {"status": {"min": 400}}}}, False),
        ({"http": {"new": {"body": {"contains": "xyz"}}}}, True),
        ({"http": {"lost": {"status": 200}}}, False),
        ({"http": {"text": {"json": {"a": {"absent": True}}}}}, False),
        ({"http": {"never": {"status": 200}}}, False),
        ({"result": {"main": {"is_error": False, "result": "{{marker}}"}}}, True),
        ({"result": {"more": {"is_error": False}}}, False),
    ],
)
def test_output(expect: dict[str, Any], holds: bool) -> None:
    answer = HttpAnswer(201, {"content-type": "application/json"}, b'{"id": "xyz"}', {"id": "xyz"})
    seen = channels(
        outputs={"main": Output(b"hi\n", b"a warning"), "tty": Output(screen="> ")},
        http={"new": answer, "lost": HttpAnswer(None, error="reset"), "text": HttpAnswer(200, {}, b"plain")},
        results={"main": {"is_error": False, "result": fresh().value("marker")}},
    )
    assert (found({"output": expect}, seen) == []) is holds


def test_a_cut_channel_cannot_prove_that_something_is_missing() -> None:
    seen = channels(outputs={"main": Output(b"aaa", b"", cut=("stdout",))})
    assert found({"output": {"stdout": {"contains": "a"}}}, seen) == []
    (finding,) = found({"output": {"stdout": {"not_contains": "b"}}}, seen)
    assert "(cut)" in finding.saw


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    seen = channels(outputs={"main": Output(b"\xff\xfe ok")})
    assert found({"output": {"stdout": {"contains": "ok"}}}, seen) == []
    (finding,) = found({"output": {"stdout": "ok"}}, seen)
    str(finding).encode("utf-8")


@pytest.mark.parametrize(
    ("seconds", "took", "holds"),
    [
        ({"max": 1}, 0.5, True),
        ({"max": 1}, 1.5, False),
        ({"min": 1}, 0.5, False),
        ({"max": 1}, None, False),
        ([{"max": 1}, {"min": 0.2, "of": "main"}], 0.5, True),
    ],
)
def test_seconds(seconds: Any, took: float | None, holds: bool) -> None:
    seen = channels(seconds={} if took is None else {"main": took})
    assert (found({"seconds": seconds}, seen) == []) is holds


def test_problems_of_the_run_come_first_and_fail_alone() -> None:
    seen = channels(problems=["left over: reply 2\nof lane main"], exits={"main": 3})
    findings = found({"exit": 0}, seen)
    assert [f.channel for f in findings] == ["run", "exit"]
    assert str(findings[0]) == "run: left over: reply 2 of lane main"
    assert found({"exit": 3}, seen) == findings[:1]


def test_a_deadline_alone_is_known_as_such() -> None:
    slow = channels(seconds={"main": 9.0})
    assert only_late(found({"seconds": {"max": 1}}, slow), slow)
    both = found({"seconds": {"max": 1}, "exit": 1}, slow)
    assert not only_late(both, slow)
    assert not only_late([], slow)
    late = channels(late=True, problems=["finish: main did not end"], exits={"main": None})
    assert only_late(found({"exit": 0}, late), late)


def test_what_was_never_captured_fails_also_where_it_says_must_not() -> None:
    seen = channels(requests=[request(1, user("go"))])
    expect = {"requests": {"none": [{"text": {"contains": "{{session}}"}}]}, "files": {"{{session}}.txt": "absent"}}
    findings = found(expect, seen)
    assert [f.channel for f in findings] == ["requests", "files"]
    assert all("{{session}}" in f.wanted for f in findings)
    assert found(expect, seen, session="abc") == []


def test_equal_findings_are_said_once() -> None:
    seen = channels(outputs={"main": Output(b"x")})
    assert len(found({"output": {"stdout": {"contains": ["a", "a"]}}}, seen)) == 1


def test_every_expectation_has_a_result_held_or_not() -> None:
    expect = Expect.model_validate({"exit": 0, "output": {"stdout": {"contains": ["a", "b"], "max_length": 5}}})
    made = list(results(expect, channels(outputs={"main": Output(b"a")}), fresh()))
    assert [(r.where, r.held, r.negative) for r in made] == [
        ("exit", True, False),
        ("output.stdout", True, False),
        ("output.stdout", False, False),
        ("output.stdout", True, True),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MESSAGE_KEYS), inner, max_size=4),
    max_leaves=15,
)
EVERYTHING = Expect.model_validate(
    {
        "requests": {
            "count": 1,
            "every": {
                "text": {
                    "contains": "a",
                    "not_matches": "b",
                    "in_order": ["a", "b"],
                    "jsonl": {"broken": 0, "first": {"a": 1}},
                },
                "anywhere": {"not_contains": "z"},
                "raw": {"json": {"messages.0.content": "a"}},
                "tool_results": [{"begins": "error"}],
                "tools": {"has": "read", "only": ["read"]},
                "headers": {"authorization": {"matches": "^Bearer"}},
                "body": {"messages": {"any": [{"has": {"role": "user"}}], "length": 1}, "a.0": {"type": "null"}},
                "messages": {"at": {1: {"text": "a", "calls": [{"tool": "read", "args": {"path": "a"}}]}}, "count": 1},
                "distinct_ids": True,
            },
        },
        "files": {
            "f": {"equals": "a", "jsonl": {"every": {"a": 1}}, "json": {".": {"length": 1}}},
            "**/*": {"every": True, "latin1": "a"},
        },
        "output": {"stdout": {"json": {"a": {"every": {"min": 1}}}}, "stderr": {"lines": 1, "count": {"a": 1}}},
    }
)


@given(body=JSON, data=st.binary(max_size=40), out=st.binary(max_size=40))
def test_nothing_that_a_candidate_makes_breaks_the_judge(body: Any, data: bytes, out: bytes) -> None:
    sent = request(1, **(body if isinstance(body, dict) else {"messages": body}))
    sent.raw = data
    seen = channels({"workspace/f": file(data)}, requests=[sent], outputs={"main": Output(out, data)})
    findings = judge(EVERYTHING, seen, fresh())
    assert findings
    for finding in findings:
        assert "\n" not in str(finding)
        str(finding).encode("utf-8")
