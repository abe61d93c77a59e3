"""`triathlon harness evaluate` and `check` as a user meets them: output, exit codes, flags and their twins."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from run_help import make_cases, make_tree

from triathlon.sandbox import Provider

CASES = """
group: g
about: A test.
clauses: [HEAD-01]
controls:
  - {id: power, run: {prompt: pass}, expect: {exit: 0}}
cases:
  - {id: good, kind: ordinary, origin: {spec: HEAD-01}, run: {prompt: pass}, expect: {exit: 0}}
  - id: bad
    kind: boundary
    origin: {spec: HEAD-01}
    cite: The final text alone
    run: {prompt: "print('[red]seen[/red]')"}
    expect: {exit: 0, output: {stdout: "{{marker}}\\n"}}
"""


@pytest.fixture
def folder(namespaces: Provider, tmp_path: Path) -> Path:
    """A folder with a tree and two cases, of which the candidate passes one."""
    make_tree(tmp_path / "tree")
    make_cases(tmp_path / "cases", CASES)
    return tmp_path


def triathlon(folder: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in the folder."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TRIATHLON_")}
    command = [sys.executable, "-m", "triathlon", *words]
    return subprocess.run(command, cwd=folder, env=clean | (env or {}), capture_output=True, text=True, check=False)


def evaluate(folder: Path, *words: str, **named: Any) -> subprocess.CompletedProcess[str]:
    return triathlon(folder, "harness", "evaluate", "tree", "--cases", "cases", *words, **named)


def test_a_failing_case_is_told_with_wanted_seen_and_clause(folder: Path) -> None:
    done = evaluate(folder)
    assert done.returncode == 0, "a low score is no failure of the command"
    assert "g/bad: failed" in done.stdout
    assert "output.stdout: wanted" in done.stdout
    assert "[red]seen[/red]" in done.stdout, "what was seen is shown as it is"
    assert "decided by: The final text alone" in done.stdout
    assert "HEAD-01: " in done.stdout
    assert "50.0%" in done.stdout
    assert "part of the suite" not in done.stdout
    assert "[3/3]" in done.stderr, "plain lines where there is no terminal"
    assert (folder / "runs" / "triathlon.sqlite").exists()


def test_json_is_one_object_and_nothing_else_is_on_stdout(folder: Path) -> None:
    done = evaluate(folder, "--json", "--seed", "3", "-n", "2")
    said = json.loads(done.stdout)
    assert (said["cases"], said["passed"], said["controls"], said["seed"]) == (2, 1, 1, 3)
    assert {case["case"]: case["kind"] for case in said["results"]} == {"g/good": "ordinary", "g/bad": "boundary"}
    assert said["non_standard"] == ["evaluate.seed = 3 (standard: 0)"]


def test_fail_under_is_exit_1(folder: Path) -> None:
    assert evaluate(folder, "--fail-under", "0.5").returncode == 0
    done = evaluate(folder, "--fail-under", "0.6")
    assert done.returncode == 1
    assert "pass rate 0.5000 is under 0.6" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("harness", "evaluate", "missing"), 4, "missing: no tree: it is not there"),
        (("harness", "evaluate", "cases/headless/g.yaml"), 4, "no tree: it is a file"),
        (("harness", "evaluate", "tree", "--cases", "cases", "--shard", "3/2"), 4, "shard"),
        (("harness", "evaluate", "tree", "--cases", "cases", "--case", "g/goood"), 4, "did you mean"),
        (("harness", "evaluate", "tree", "--cases", "cases", "-k", "nothing-like-it"), 5, "no case"),
        (("harness", "evaluate", "tree", "--cases", "tree"), 4, "holds no case file"),
        (("harness", "evaluate", "tree", "--sandbox", "jail"), 4, "namespaces, none"),
        (("harness", "evaluate", "tree", "--colour"), 4, "--colour"),
        (("harness", "evaluate", "tree", "--cases", "cases", "--keep", "cases/headless/g.yaml"), 4, "no folder can"),
        (("harness", "check", "missing"), 4, "no tree"),
        (("store", "info", "--store", "missing.sqlite"), 4, "no such store"),
    ],
)
def test_wrong_use_is_one_line_with_its_exit_code(folder: Path, words: tuple[str, ...], status: int, said: str) -> None:
    done = triathlon(folder, *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_selection_marks_the_run_as_a_part(folder: Path) -> None:
    said = json.loads(evaluate(folder, "--case", "g/good", "--json").stdout)
    assert [case["case"] for case in said["results"]] == ["g/good"]
    assert said["non_standard"] == ["part of the suite: --case g/good"]
    assert not said["standard"]


def test_every_flag_has_a_twin_in_the_environment(folder: Path) -> None:
    env = {"TRIATHLON_CASE": "g/good", "TRIATHLON_STORE": "other.sqlite", "TRIATHLON_REPEAT": "2"}
    said = json.loads(evaluate(folder, "--json", env=env).stdout)
    assert (said["cases"], said["repetitions"]) == (1, 2)
    assert (folder / "other.sqlite").exists()
    assert not (folder / "runs").exists()
    help_text = triathlon(folder, "harness", "evaluate", "--help").stdout
    options = re.findall(r"^  (-.+?)  ", help_text, re.MULTILINE)
    assert len(options) > 15
    without = {"--json", "-h, --help"}
    assert " ".join(help_text.split()).count("env var: TRIATHLON_") == len([o for o in options if o not in without])


def test_keep_unpacks_the_channels(folder: Path) -> None:
    evaluate(folder, "--keep", "kept")
    assert (folder / "kept" / "g" / "bad" / "1" / "output" / "main.stdout").read_text() == "[red]seen[/red]\n"
    assert (folder / "kept" / "g" / "power" / "1" / "exit.json").exists()


def test_without_isolation_the_run_is_marked_and_warned_of(folder: Path) -> None:
    done = evaluate(folder, "--sandbox", "none", "--json")
    said = json.loads(done.stdout)
    assert (said["provider"], said["passed"]) == ("none", 1)
    assert said["non_standard"] == ["no isolation"]
    assert "isolates nothing" in done.stderr
    make_cases(
        folder / "cases", CASES.replace("group: g", "group: h").replace("cases:", "web: {h.test: {/: x}}\ncases:")
    )
    said = json.loads(evaluate(folder, "--sandbox", "none", "--json").stdout)
    assert (said["cases"], said["errors"]) == (2, 0)
    assert said["non_standard"] == ["no isolation", "2 cases with named hosts left out"]


def test_on_a_terminal_there_is_a_bar(folder: Path) -> None:
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "triathlon", "harness", "evaluate", "tree", "--cases", "cases", "--json"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm"}
    )
    os.close(slave)
    out, _ = process.communicate(timeout=60)
    assert json.loads(out)["cases"] == 2
    shown = b""
    try:
        while data := os.read(master, 65536):
            shown += data
    except OSError:
        pass
    os.close(master)
    assert b"cases and controls" in shown
    assert b"\x1b[" in shown


def test_stores_of_shards_are_merged_and_listed(folder: Path) -> None:
    make_cases(folder / "cases", CASES.replace("group: g", "group: h"))
    for part in (1, 2):
        evaluate(folder, "--shard", f"{part}/2", "--store", f"s{part}.sqlite")
    done = triathlon(folder, "store", "merge", "all.sqlite", "s1.sqlite", "s2.sqlite")
    assert (done.returncode, done.stdout) == (0, "all.sqlite: 6 rows, 6 taken over, 0 already there\n")
    assert json.loads(triathlon(folder, "store", "info", "--store", "all.sqlite", "--json").stdout)["rows"] == 6
    (run,) = json.loads(triathlon(folder, "store", "list", "--store", "all.sqlite", "--json").stdout)
    assert (run["case_rows"], run["case_rows_passed"], run["candidate"]) == (4, 2, "tree")
    line = triathlon(folder, "store", "list", "--store", "all.sqlite").stdout
    assert "2/4 cases (ungated)" in line
    assert triathlon(folder, "store", "merge", "all.sqlite", "all.sqlite").returncode == 4
    said = json.loads(evaluate(folder, "--store", "all.sqlite", "--json").stdout)
    assert (said["rows_executed"], said["rows_from_store"]) == (0, 6)


def test_check_prints_findings_and_exits_1(folder: Path) -> None:
    done = triathlon(folder, "harness", "check", "skeleton")
    assert done.returncode == 1
    assert all(":" in line for line in done.stdout.splitlines())
    assert "finding" in done.stderr
    said = json.loads(triathlon(folder, "harness", "check", "skeleton", "--json").stdout)
    assert said["candidate"] == "skeleton"
    assert {"file", "line", "what"} == set(said["findings"][0])
