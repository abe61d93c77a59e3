"""`triathlon harness cases`, as a user runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from case_help import CASE, HEAD, put

from triathlon import cli

GOOD = CASE.replace("kind: ordinary", "kind: ordinary\n    cite: Any other value, and a flag without a value")
CONTROL = (
    'controls:\n  - id: power\n    run: {prompt: x}\n    script: [{say: ok}]\n    expect: {output: {stdout: "ok\\n"}}\n'
)


class Ran:
    """Exit status and both streams of one command."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    def runs(*words: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["triathlon", "harness", "cases", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        out, err = capsys.readouterr()
        return Ran(int(caught.value.code or 0), out, err)

    return runs


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, HEAD + CONTROL + GOOD)
    return tmp_path


def test_list_as_lines_and_as_json(run, suite: Path) -> None:  # type: ignore[no-untyped-def]
    ran = run("list", "--cases", suite)
    assert ran.status == 0 and ran.out.split() == ["small/one", "permissions", "ordinary", "PERM-01"]
    assert "1 cases, gated by 1 controls" in ran.err
    ran = run("list", "--cases", suite, "--json")
    assert json.loads(ran.out) == [
        {
            "id": "small/one",
            "group": "small",
            "category": "permissions",
            "kind": "ordinary",
            "clauses": ["PERM-01"],
            "origin": {"spec": "PERM-01"},
            "controls": ["small/power"],
        }
    ]
    assert ran.err == ""


def test_list_takes_a_pattern(run, suite: Path) -> None:  # type: ignore[no-untyped-def]
    assert run("list", "--cases", suite, "-k", "PERM-01").status == 0
    assert run("list", "--cases", suite, "-k", "nothing").status == 5


def test_show(run, suite: Path) -> None:  # type: ignore[no-untyped-def]
    ran = run("show", "small/one", "--cases", suite)
    assert ran.status == 0 and "The model says:\n  1. calls write" in ran.out
    assert json.loads(run("show", "small/power", "--cases", suite, "--json").out)["role"] == "control"
    ran = run("show", "small/two", "--cases", suite)
    assert ran.status == 4 and "did you mean small/one" in ran.err and ran.out == ""


def test_lint_is_clean_or_exits_with_one(run, suite: Path) -> None:  # type: ignore[no-untyped-def]
    ran = run("lint", suite)
    assert (ran.status, ran.out) == (0, "") and "0 findings in 1 cases and 1 controls" in ran.err
    file = put(suite, HEAD + CONTROL + CASE)
    ran = run("lint", suite)
    assert ran.status == 1 and ran.out == f"{file}:10: small/one: it cites no words of the spec (`cite`)\n"
    data = json.loads(run("lint", file, "--json").out)
    assert data["findings"][0] == {
        "file": str(file),
        "line": 10,
        "case": "small/one",
        "rule": "cite",
        "message": "it cites no words of the spec (`cite`)",
    }


def test_lint_shows_differences(run, suite: Path) -> None:  # type: ignore[no-untyped-def]
    ran = run("lint", suite, "--differences")
    assert ran.status == 0 and ran.out.startswith("small/one against small/power: steps.1.start.prompt, script.lanes")
    data = json.loads(run("lint", suite, "--differences", "--json").out)
    assert data["differences"][0]["control"] == "small/power"


def test_wrong_paths_are_wrong_use(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for words in (
        ("lint", tmp_path / "gone"),
        ("list", "--cases", tmp_path),
        ("show", "a/b", "--cases", tmp_path / "x"),
    ):
        ran = run(*words)
        assert ran.status == 4 and ran.out == "" and len(ran.err.splitlines()) == 1


def test_a_broken_suite_is_one_line_with_file_and_line(run, suite: Path) -> None:  # type: ignore[no-untyped-def]
    file = put(suite, HEAD + GOOD.replace("prompt", "prmpt"))
    ran = run("list", "--cases", suite)
    assert ran.status == 4 and f"{file}:9: cases.0.run: unknown key 'prmpt'" in ran.err


def test_schema_is_json(run) -> None:  # type: ignore[no-untyped-def]
    assert json.loads(run("schema").out)["title"] == "A Triathlon case file"


def test_the_benchmarks_own_cases_are_listed(run) -> None:  # type: ignore[no-untyped-def]
    listed = json.loads(run("list", "--json").out)
    assert {"id", "group", "category", "kind", "clauses", "origin", "controls"} == set(listed[0])
