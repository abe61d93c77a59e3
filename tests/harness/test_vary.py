"""Variations: exactly one thing changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_help import CASE, CLAUSES, HEAD, put

from triathlon.harness.case import Case
from triathlon.harness.load import load_suite, read_suite

TWO_CALLS = CASE.replace("{say: done}]", "{calls: [{read: {path: b}}, {read: {path: c}}]}, {say: done}]")
RAW = CASE.replace('{write: {path: a.txt, content: "{{marker}}"}}', "{tool: write, raw: '{'}")


def varied(root: Path, vary: str, cases: str = CASE) -> Case:
    put(root, f"{HEAD}{cases}    vary:\n      - {vary}\n")
    suite = load_suite(root, CLAUSES)
    assert len(suite.cases) == 2
    return suite.cases[1]


def first_call(case: Case, reply: int = 0, call: int = 0) -> dict[str, Any]:
    made = case.script.lanes["main"].replies[reply].tool_calls[call]
    return {made.tool: made.args}


def test_another_tool(tmp_path: Path) -> None:
    case = varied(tmp_path, "{id: v, tool: {edit: {path: a.txt, old: '', new: x}}}")
    assert case.id == "small/v" and case.changed == "tool" and case.line == 12
    assert case.origin is not None and case.origin.vary == "small/one"
    assert first_call(case) == {"edit": {"path": "a.txt", "old": "", "new": "x"}}
    assert (case.kind, case.clauses, case.group) == ("ordinary", ("PERM-01",), "small")


def test_another_shape_of_the_input(tmp_path: Path) -> None:
    case = varied(tmp_path, "{id: v, input: {path: ./a.txt}}")
    assert first_call(case) == {"write": {"path": "./a.txt", "content": "{{marker}}"}}


def test_a_bad_parameter(tmp_path: Path) -> None:
    assert first_call(varied(tmp_path / "a", "{id: v, parameter: {drop: content}}")) == {"write": {"path": "a.txt"}}
    case = varied(tmp_path / "b", "{id: v, parameter: {set: {content: 7}}}")
    assert first_call(case) == {"write": {"path": "a.txt", "content": 7}}
    case = varied(tmp_path / "c", "{id: v, parameter: {flag: {--max-turns: '0'}}}")
    assert case.starts[0].flags == ["--max-turns", "0"]
    with_flag = CASE.replace("{prompt: go}", "{prompt: go, flags: [--trust, --max-turns, 3]}")
    case = varied(tmp_path / "d", "{id: v, parameter: {flag: {--max-turns: '0'}}}", with_flag)
    assert case.starts[0].flags == ["--trust", "--max-turns", "0"]


def test_another_spelling_of_the_command(tmp_path: Path) -> None:
    case = varied(tmp_path, "{id: v, spelling: {prompt: null, stdin: {pipe: go}}}")
    assert case.starts[0].prompt is None and case.starts[0].stdin.pipe == "go"
    assert case.changed == "spelling"


def test_another_place(tmp_path: Path) -> None:
    case = varied(tmp_path, "{id: v, place: {flags: [--output-format, json]}, expect: {exit: 1}}")
    assert case.starts[0].flags == ["--output-format", "json"]
    assert case.expect.files is not None and case.expect.exit is not None
    api = varied(tmp_path / "b", "{id: v, place: {driver: api}}")
    assert (api.starts[0].driver, api.starts[0].prompt) == ("api", "go")


def test_what_is_expected_is_replaced_by_channel(tmp_path: Path) -> None:
    case = varied(tmp_path, "{id: v, input: {path: b.txt}, expect: {files: {b.txt: present}}}")
    assert list(case.expect.files or {}) == ["b.txt"]


def test_description_and_controls_may_differ(tmp_path: Path) -> None:
    vary = "{id: v, about: Other., kind: boundary, clauses: [PERM-02], cite: [a b c], controls: [], input: {path: b}}"
    case = varied(tmp_path, vary)
    assert (case.about, case.kind, case.clauses, case.cite) == ("Other.", "boundary", ("PERM-02",), ("a b c",))


def test_one_call_of_several(tmp_path: Path) -> None:
    case = varied(tmp_path, "{id: v, at: 3, input: {path: d}}", TWO_CALLS)
    assert first_call(case, 1, 0) == {"read": {"path": "b"}}
    assert first_call(case, 1, 1) == {"read": {"path": "d"}}


def test_steps_change_in_their_first_start(tmp_path: Path) -> None:
    steps = CASE.replace("run: {prompt: go}", "steps: [{start: {prompt: go}}, {finish: main, within: 5}]")
    case = varied(tmp_path, "{id: v, spelling: {cwd: sub}}", steps)
    assert case.starts[0].cwd == "sub" and case.steps[1].within == 5


@pytest.mark.parametrize(
    ("vary", "cases", "words"),
    [
        ("{id: v, input: {path: b}, place: {driver: api}}", CASE, "exactly one of"),
        ("{id: v, tool: {edit: {}}, parameter: {drop: path}}", CASE, "exactly one of"),
        ("{id: v}", CASE, "exactly one of"),
        ("{id: v, tool: {edit: {}, read: {}}}", CASE, "at most 1 item"),
        ("{id: v, tool: {write: {path: b}}}", CASE, "use `input`"),
        ("{id: v, input: {path: a.txt}}", CASE, "same before and after"),
        ("{id: v, input: {path: b, content: '{{marker}}'}}", CASE, "same before and after"),
        ("{id: v, input: {}}", CASE, "at least 1 item"),
        ("{id: v, parameter: {drop: old}}", CASE, "no argument 'old'"),
        ("{id: v, parameter: {set: {path: a.txt}}}", CASE, "same before and after"),
        ("{id: v, parameter: {set: {path: 1, content: 2}}}", CASE, "at most 1 item"),
        ("{id: v, parameter: {drop: path, set: {path: 1}}}", CASE, "exactly one of"),
        ("{id: v, spelling: {prompt: go}}", CASE, "changes nothing"),
        ("{id: v, spelling: {}}", CASE, "is empty"),
        ("{id: v, place: {driver: headless}}", CASE, "changes nothing"),
        ("{id: v, place: {driver: terminal}}", CASE, "cannot be run"),
        ("{id: v, input: {path: b}}", TWO_CALLS, "say which one"),
        ("{id: v, at: 4, input: {path: b}}", TWO_CALLS, "has 3 calls"),
        ("{id: v, at: 1, spelling: {prompt: x}}", CASE, "changes none"),
        ("{id: v, input: {path: b}}", RAW, "only `tool`"),
        ("{id: v, workspace: {x: y}, input: {path: b}}", CASE, "unknown key 'workspace'"),
        ("{id: v, input: {path: b}, expect: {disk: {}}}", CASE, "unknown key 'disk'"),
    ],
)
def test_what_does_not_change_one_thing_is_refused_with_its_line(
    tmp_path: Path, vary: str, cases: str, words: str
) -> None:
    file = put(tmp_path, f"{HEAD}{cases}    vary:\n      - {vary}\n")
    _, problems = read_suite(tmp_path, CLAUSES)
    assert next((p.file, p.line) for p in problems) == (file, 12), problems
    assert words in problems[0].message


def test_a_case_without_calls_has_none_to_change(tmp_path: Path) -> None:
    cases = CASE.replace('[{call: {write: {path: a.txt, content: "{{marker}}"}}}, {say: done}]', "[{say: done}]")
    put(tmp_path, f"{HEAD}{cases}    vary:\n      - {{id: v, input: {{path: b}}}}\n")
    assert "no call to change" in read_suite(tmp_path, CLAUSES)[1][0].message
