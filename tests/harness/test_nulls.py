"""Null runs: what doing nothing looks like."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_help import CASE, HEAD, case_of

from triathlon.harness.nulls import laid_out, must_nots, null_runs
from triathlon.harness.setup import Setup

SETUP = """\
workspace: {old.txt: "{{marker}}", in: {link: old.txt}}
settings: {project: {model: m}}
git: true
stubs: {gh: "exit 0"}
"""


def runs(root: Path, expect: str, more: str = "run: {prompt: go}") -> list[list[bool]]:
    text = HEAD + SETUP + CASE.replace('expect: {files: {a.txt: "{{marker}}"}}', f"expect: {expect}")
    case = case_of(root, text.replace("run: {prompt: go}", more))
    return [[result.held for result in run.results] for run in null_runs(case)]


@pytest.mark.parametrize(
    ("expect", "held"),
    [
        ("{files: {a.txt: absent}}", [True, True, True]),
        ("{files: {a.txt: present}}", [False, False, False]),
        ("{files: {old.txt: '{{marker}}'}}", [True, True, True]),
        ("{files: {old.txt: {same_as_laid_out: true}}}", [True, True, True]),
        ("{files: {in: {link: old.txt}}}", [True, True, True]),
        ("{files: {.git/refs/heads/main: {same_as_laid_out: true}}}", [True, True, True]),
        ("{files: {.git/refs/heads/main: {changed: true}}}", [False, False, False]),
        ("{files: {.harness/settings.json: {json: {model: m}}}}", [True, True, True]),
        ("{files: {'{{stubs}}/gh.log': absent}}", [True, True, True]),
        ("{exit: 0}", [True, False, False]),
        ("{exit: 1}", [False, True, False]),
        ("{exit: {not: 0}}", [False, True, True]),
        ("{exit: 137}", [False, False, False]),
        ("{requests: {count: 0}}", [True, True, True]),
        ("{requests: {none: [{text: {contains: x}}]}}", [True, True, True]),
        ("{requests: {last: {text: {not_contains: x}}}}", [False, False, False]),
        ("{requests: {every: {text: {not_contains: x}}}}", [False, False, False]),
        ("{output: {stdout: {empty: true}}}", [True, True, True]),
        ("{output: {stderr: {not_contains: x}}}", [True, True, True]),
        ("{output: {stderr: {contains: x}}}", [False, False, False]),
        ("{output: {screen: {not_contains: x}}}", [False, False, False]),
        ("{seconds: {max: 5}}", [True, True, True]),
        ("{seconds: {min: 1}}", [False, False, False]),
    ],
)
def test_what_holds_without_doing_anything(tmp_path: Path, expect: str, held: list[bool]) -> None:
    assert runs(tmp_path, expect) == [[one] for one in held]


def test_a_terminal_has_an_empty_screen(tmp_path: Path) -> None:
    steps = "steps: [{start: {driver: terminal}}, {finish: main}]"
    assert runs(tmp_path, "{output: {screen: {empty: true}}}", steps) == [[True]] * 3


def test_what_the_steps_change_from_outside_is_changed_in_a_null_run_too(tmp_path: Path) -> None:
    steps = (
        "steps: [{start: {prompt: go}}, {change: {old.txt: new, in: absent, b: {append: x}, d/e: {text: f}}}, "
        "{change: {'o*.txt': {append: '+'}}}, {finish: main}]"
    )
    assert runs(tmp_path / "1", "{files: {old.txt: new+, in: absent, b: absent, d/e: f}}", steps) == [[True] * 4] * 3
    assert runs(tmp_path / "2", "{files: {old.txt: {changed: true}}}", steps) == [[True]] * 3


def test_an_answer_that_was_captured_is_none_of_a_null_run(tmp_path: Path) -> None:
    steps = (
        "steps: [{start: {prompt: go}}, {finish: main}, {capture: {as: id, of: main, json: session_id}}, "
        "{change: {'{{id}}.txt': x}}]"
    )
    assert runs(tmp_path, "{files: {'{{id}}.txt': absent}}", steps) == [[False]] * 3


def test_must_nots_leave_out_an_exit_of_zero_and_keep_every_other(tmp_path: Path) -> None:
    expect = "{exit: 0, files: {a.txt: absent, b.txt: present}, output: {stderr: {empty: true}}}"
    text = HEAD + CASE.replace('expect: {files: {a.txt: "{{marker}}"}}', f"expect: {expect}")
    case = case_of(tmp_path / "1", text)
    assert [result.where for result in must_nots(null_runs(case))] == ["files.a.txt", "output.stderr"]
    case = case_of(tmp_path / "2", text.replace("exit: 0", "exit: 2"))
    assert [result.where for result in must_nots(null_runs(case))] == ["files.a.txt", "output.stderr", "exit"]


def test_laid_out_shows_folders_modes_and_changed_files() -> None:
    setup = Setup.model_validate(
        {
            "workspace": {"a/b/c": {"text": "x", "mode": "0600"}, "d/": {}},
            "home": {".bashrc": "y"},
            "git": {"branch": "dev", "changed": {"a/b/c": "z"}},
            "servers": {"s": {}},
        }
    )
    files = laid_out(setup)
    assert files["workspace/a"].kind == files["workspace/d"].kind == "dir"
    assert files["workspace/a/b/c"].data == b"z"
    assert files["home/.bashrc"].data == b"y"
    assert files["workspace/.git/refs/heads/dev"].kind == "file"
    assert "workspace/.harness/mcp.json" in files
