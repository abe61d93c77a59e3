"""Cases, groups and suites as objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_help import CASE, HEAD, case_of, suite_of
from pydantic import ValidationError

from triathlon.harness.case import suite_hash
from triathlon.harness.case_file import Arm, Origin

CONTROLS = """\
controls:
  - id: power
    run: {prompt: go}
    script: [{say: done}]
    expect: {output: {stdout: "done\\n"}}
  - id: neighbour
    reverse: true
    run: {prompt: go2}
    script: [{say: done}]
    expect: {output: {stdout: "done\\n"}}
"""


def test_run_is_short_for_start_and_finish(tmp_path: Path) -> None:
    short = case_of(tmp_path / "a", HEAD + CASE)
    long = case_of(
        tmp_path / "b", HEAD + CASE.replace("run: {prompt: go}", "steps: [{start: {prompt: go}}, {finish: main}]")
    )
    assert [step.kind for step in short.steps] == ["start", "finish"]
    assert short.steps[0].start is not None and short.steps[0].start.prompt == "go"
    assert short.sha256 == long.sha256


def test_within_is_the_deadline_of_run(tmp_path: Path) -> None:
    case = case_of(tmp_path, HEAD + CASE.replace("run: {prompt: go}", "run: {prompt: go}\n    within: 3"))
    assert case.steps[-1].within == 3


def test_controls_gate_all_cases_unless_named(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "a", HEAD + CONTROLS + CASE)
    case = suite.cases[0]
    assert case.controls == ("small/power", "small/neighbour")
    assert [(c.id, c.role, c.form) for c in suite.gating(case)] == [
        ("small/power", "control", "same_form"),
        ("small/neighbour", "control", "reverse"),
    ]
    named = suite_of(tmp_path / "b", HEAD + CONTROLS + CASE + "    controls: [power]\n")
    assert named.cases[0].controls == ("small/power",)
    none = suite_of(tmp_path / "c", HEAD + CONTROLS + CASE + "    controls: []\n")
    assert none.cases[0].controls == () and none.needed(none.cases) == ()


def test_a_suite_finds_by_id_and_needs_each_control_once(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, HEAD + CONTROLS + CASE + CASE.replace("cases:\n", "").replace("id: one", "id: two"))
    assert suite.case("small/two") is suite.cases[1]
    assert suite.case("small/power") is suite.controls["small/power"]
    assert suite.case("small/three") is None
    assert [c.id for c in suite.needed(suite.cases)] == ["small/power", "small/neighbour"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.txt:", "b.txt:"),
        ("prompt: go", "prompt: stop"),
        ("say: done", "say: ended"),
        ("run: {prompt: go}", "run: {prompt: go}\n    workspace: {x: y}"),
        ("run: {prompt: go}", "run: {prompt: go}\n    env: {A: b}"),
    ],
)
def test_the_hash_of_a_case_follows_what_decides_its_verdict(tmp_path: Path, old: str, new: str) -> None:
    before, after = suite_of(tmp_path / "a", HEAD + CASE), suite_of(tmp_path / "b", HEAD + CASE.replace(old, new))
    assert before.cases[0].sha256 != after.cases[0].sha256
    assert suite_hash(before) != suite_hash(after)


@pytest.mark.parametrize(
    ("old", "new", "suite_too"),
    [
        ("origin: {spec: PERM-01}", "origin: {spec: PERM-02}", False),
        ("kind: ordinary", "kind: boundary", True),
        ("kind: ordinary", "kind: ordinary\n    clauses: [PERM-02]", True),
        ("kind: ordinary", "kind: ordinary\n    about: Other words.", False),
        ("cases:", "# a comment\ncases:", False),
    ],
)
def test_a_result_stands_while_only_the_description_changes(
    tmp_path: Path, old: str, new: str, suite_too: bool
) -> None:
    before, after = suite_of(tmp_path / "a", HEAD + CASE), suite_of(tmp_path / "b", HEAD + CASE.replace(old, new))
    assert before.cases[0].sha256 == after.cases[0].sha256
    assert (suite_hash(before) != suite_hash(after)) is suite_too


def test_a_control_has_a_hash_of_its_own(tmp_path: Path) -> None:
    before = suite_of(tmp_path / "a", HEAD + CONTROLS + CASE)
    after = suite_of(tmp_path / "b", HEAD + CONTROLS.replace("prompt: go2", "prompt: go3") + CASE)
    assert before.cases[0].sha256 == after.cases[0].sha256
    assert before.controls["small/power"].sha256 == after.controls["small/power"].sha256
    assert before.controls["small/neighbour"].sha256 != after.controls["small/neighbour"].sha256
    assert suite_hash(before) != suite_hash(after)


@pytest.mark.parametrize(
    "origin",
    [
        {"issue": "anomalyco/opencode#43346"},
        {"issue": ["a/b#1", "c/d.e#2"]},
        {"diff": ["A", "B"], "feature": "links"},
        {"vary": "small/one"},
        {"spec": "PERM-01"},
    ],
)
def test_origins(origin: dict[str, object]) -> None:
    assert Origin.model_validate(origin).kind in origin


@pytest.mark.parametrize(
    "origin",
    [
        {},
        {"issue": "opencode#1"},
        {"issue": "a/b"},
        {"diff": ["A", "B"]},
        {"diff": ["A"], "feature": "x"},
        {"issue": "a/b#1", "spec": "PERM-01"},
        {"spec": "PERM-1"},
        {"spec": "PERM-01", "feature": "x"},
    ],
)
def test_wrong_origins(origin: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Origin.model_validate(origin)


@pytest.mark.parametrize(
    "action",
    [
        {"change": {"f": {"appendix": "x"}}},
        {"change": {"f": {"insert": "x"}}},
        {"change": {"f": 3}},
        {"wait_for": {"flie": "x"}},
        {"wait_for": {}},
        {"signal": "SIGKILL"},
    ],
)
def test_side_actions_are_checked_when_the_case_is_read(action: dict[str, object]) -> None:
    arm = {
        "run": {"prompt": "go"},
        "expect": {"exit": 0},
        "script": [{"say": "a"}, {"do": [action], "say": "b"}],
    }
    with pytest.raises(ValidationError, match="reply 2"):
        Arm.model_validate(arm)


def test_sound_side_actions_pass() -> None:
    actions = [
        {"change": {"f": "text", "g": "absent", "h": {"cut": 3}, "l": {"link": "f"}}},
        {"touch": "f"},
        {"signal": "INT", "to": "main"},
        {"wait": 0.1},
        {"wait_for": {"file": "f"}},
        {"release": "gate"},
    ]
    arm = Arm.model_validate({"run": {"prompt": "go"}, "expect": {"exit": 0}, "script": [{"do": actions, "say": "b"}]})
    assert arm.script is not None and len(arm.script.lanes["main"].replies[0].do) == 6
