"""The run: resumes, repeats, shards, loses nothing, and tells our errors from the candidate's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from run_help import OBEDIENT, evaluate, make_cases, make_tree, one_case, rows

from triathlon.errors import NothingToDo, SandboxError, UsageError
from triathlon.harness import drive as drive_module
from triathlon.harness import run as run_module
from triathlon.sandbox import BoxSpec, Provider, Sandbox
from triathlon.store import Store

CONTROL = """
controls:
  - id: power
    run: {prompt: "print(ask('control'))"}
    script: [{say: "{{marker}}"}]
    expect: {output: {stdout: {contains: "{{marker}}"}}}
"""


def group(name: str, prompts: dict[str, str], control: str = "") -> str:
    cases = "".join(
        f"""
  - id: {case}
    kind: ordinary
    origin: {{spec: HEAD-01}}
    run: {{prompt: "{prompt}"}}
    expect: {{exit: 0}}
"""
        for case, prompt in prompts.items()
    )
    return f"group: {name}\nabout: A test.\nclauses: [HEAD-01]\n{control}cases:{cases}"


def count(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the cases that are really driven from now on."""
    driven: list[str] = []
    real = drive_module.drive

    def drive(case: Any, *rest: Any, **named: Any) -> Any:
        driven.append(case.id)
        return real(case, *rest, **named)

    monkeypatch.setattr(run_module, "drive", drive)
    return driven


def test_the_same_command_again_runs_nothing(
    namespaces: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, store = make_tree(tmp_path / "tree"), tmp_path / "s"
    cases = make_cases(tmp_path / "cases", group("g", {"good": "pass", "bad": "sys.exit(1)"}, CONTROL))
    driven = count(namespaces, monkeypatch)
    first = evaluate(namespaces, tree, cases, store)
    assert sorted(driven) == ["g/bad", "g/good", "g/power"]
    assert {case.case.id: case.status for case in first.cases} == {"g/good": "passed", "g/bad": "failed"}
    again = evaluate(namespaces, tree, cases, store)
    assert len(driven) == 3
    assert [case.as_json() for case in again.cases] == [case.as_json() for case in first.cases]
    assert (again.report.executed, again.report.from_store) == (0, 3)


def test_what_changes_a_verdict_is_run_again(
    namespaces: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, store = make_tree(tmp_path / "tree"), tmp_path / "s"
    cases = make_cases(tmp_path / "cases", group("g", {"a": "pass", "b": "pass"}))
    driven = count(namespaces, monkeypatch)

    def driven_by(**options: Any) -> list[str]:
        driven.clear()
        evaluate(namespaces, tree, cases, store, **options)
        return sorted(driven)

    assert driven_by() == ["g/a", "g/b"]
    make_cases(tmp_path / "cases", group("g", {"a": "pass", "b": "pass # changed"}))
    assert driven_by() == ["g/b"], "a case that changed"
    assert driven_by(numbers={"evaluate.seed": 1}) == ["g/a", "g/b"], "another seed"
    assert driven_by(numbers={"evaluate.case_timeout_s": 60}) == ["g/a", "g/b"], "another protocol"
    assert driven_by(fresh=True) == ["g/a", "g/b"]
    assert driven_by(numbers={"evaluate.repetitions": 2}) == ["g/a", "g/b"], "only the second repetition"
    monkeypatch.setattr(run_module, "runner_hash", lambda: "another runner")
    assert driven_by() == ["g/a", "g/b"], "another runner"
    (tree / "main.py").write_text(OBEDIENT + "\n# another tree\n")
    assert driven_by() == ["g/a", "g/b"]
    assert driven_by() == []


def test_repetitions_are_rows_of_their_own_and_a_case_that_varies_is_named(
    namespaces: Provider, tmp_path: Path
) -> None:
    flaky = "{{marker}}'[0] < 'm"
    prompts = {"steady": "pass", "flaky": f"sys.exit('{flaky}')"}
    cases = make_cases(tmp_path / "cases", group("g", prompts))
    done = evaluate(
        namespaces, make_tree(tmp_path / "tree"), cases, tmp_path / "s", numbers={"evaluate.repetitions": 12}
    )
    steady, varying = done.cases
    assert (steady.status, steady.rows, steady.rows_passed) == ("passed", 12, 12)
    assert varying.unstable, "markers are fresh in every repetition"
    assert varying.status == "failed"
    assert varying.reasons[0].startswith("repetition ")
    assert len(rows(tmp_path / "s")) == 24
    assert done.as_json()["unstable"] == ["g/flaky"]
    assert done.as_json()["non_standard"] == ["evaluate.repetitions = 12 (standard: 1)"]


def test_a_failed_control_gates_its_cases(namespaces: Provider, tmp_path: Path) -> None:
    broken = CONTROL.replace("print(ask('control'))", "ask('control')")
    cases = make_cases(tmp_path / "cases", group("g", {"good": "pass"}, broken))
    make_cases(tmp_path / "cases", group("h", {"free": "pass"}))
    done = evaluate(namespaces, make_tree(tmp_path / "tree"), cases, tmp_path / "s")
    said = done.as_json()
    assert {case["case"]: case["status"] for case in said["results"]} == {"g/good": "gated", "h/free": "passed"}
    assert (said["passed"], said["pass_rate"], said["ungated_pass_rate"]) == (1, 0.5, 1.0)
    assert (said["cases"], said["controls"]) == (2, 1)
    assert said["results"][0]["reasons"][0].startswith("control g/power failed: output.stdout")
    assert said["controls_failed"][0]["control"] == "g/power"


def test_the_end_of_a_trace_is_told(namespaces: Provider, tmp_path: Path) -> None:
    cases = make_cases(tmp_path / "cases", group("g", {"a": "raise ValueError('broken here')"}))
    done = evaluate(namespaces, make_tree(tmp_path / "tree"), cases, tmp_path / "s")
    note = "note: a trace on the standard error of main ends: ValueError: broken here"
    assert done.cases[0].reasons == ("exit: wanted 0; saw 1", note)


def test_shards_together_are_the_whole_and_merge(namespaces: Provider, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    for name in "abcde":
        cases = make_cases(tmp_path / "cases", group(name, {"one": "pass", "two": "pass"}, CONTROL))
    for part in (1, 2):
        evaluate(namespaces, tree, cases, tmp_path / f"s{part}", shard=(part, 2))
    with Store(tmp_path / "whole") as whole:
        for part in (1, 2):
            with Store(tmp_path / f"s{part}") as one:
                assert whole.merge(one)["differ"] == 0
    done = evaluate(namespaces, tree, cases, tmp_path / "whole")
    assert (done.report.executed, done.report.from_store) == (0, 15)
    assert done.pass_rate == 1.0


def test_stop_at_the_first_failure_and_go_on_later(namespaces: Provider, tmp_path: Path) -> None:
    prompts = {"a": "pass", "b": "sys.exit(1)"} | {f"c{n}": "time.sleep(0.3)" for n in range(10)}
    cases, tree = make_cases(tmp_path / "cases", group("g", prompts)), make_tree(tmp_path / "tree")
    done = evaluate(namespaces, tree, cases, tmp_path / "s", stop_at_failure=True, in_flight=1)
    assert done.report.stopped
    ran = done.report.executed
    assert ran in (2, 3), "what was in flight comes to its end"
    assert [case.status for case in done.cases[:2]] == ["passed", "failed"]
    assert {case.status for case in done.cases[3:]} == {"error"}, "not run: no verdict"
    rest = evaluate(namespaces, tree, cases, tmp_path / "s")
    assert (rest.report.executed, rest.report.from_store) == (12 - ran, ran)


def test_a_deadline_alone_is_run_once_more_alone_and_both_are_kept(namespaces: Provider, tmp_path: Path) -> None:
    body = """
    run: {prompt: "time.sleep(60)"}
    within: 0.3
    expect: {exit: 0}
"""
    cases, tree = one_case(tmp_path / "cases", body), make_tree(tmp_path / "tree")
    done = evaluate(namespaces, tree, cases, tmp_path / "s")
    assert "main had not ended after 0.3 s" in done.cases[0].reasons[0]
    assert [(row.key.attempt, row.late, row.passed) for row in rows(tmp_path / "s")] == [
        (0, True, False),
        (1, True, False),
    ]
    assert evaluate(namespaces, tree, cases, tmp_path / "s").report.executed == 0


def test_the_second_attempt_counts(namespaces: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
    run: {prompt: "pass"}
    expect: {exit: 0, seconds: {max: 5}}
"""
    real = run_module.drive
    slow = iter([100.0, 0.1])

    def drive(*args: Any, **named: Any) -> Any:
        channels = real(*args, **named)
        channels.seconds["main"] = next(slow)
        return channels

    monkeypatch.setattr(run_module, "drive", drive)
    done = evaluate(namespaces, make_tree(tmp_path / "tree"), one_case(tmp_path / "cases", body), tmp_path / "s")
    assert done.cases[0].status == "passed"
    assert [row.passed for row in rows(tmp_path / "s")] == [False, True]


def test_a_candidate_that_always_hangs_is_not_run_twice_for_ever(namespaces: Provider, tmp_path: Path) -> None:
    text = group("g", {f"c{n}": "time.sleep(60)" for n in range(8)}).replace(
        "    expect:", "    within: 0.2\n    expect:"
    )
    done = evaluate(namespaces, make_tree(tmp_path / "tree"), make_cases(tmp_path / "cases", text), tmp_path / "s")
    assert done.pass_rate == 0.0
    assert done.report.executed == 8 + run_module.HANGS_AFTER


def test_the_case_timeout_bounds_every_wait(namespaces: Provider, tmp_path: Path) -> None:
    body = "    run: {prompt: 'time.sleep(60)'}\n    expect: {exit: 0}\n"
    began = time.monotonic()
    done = evaluate(
        namespaces,
        make_tree(tmp_path / "tree"),
        one_case(tmp_path / "cases", body),
        tmp_path / "s",
        numbers={"evaluate.case_timeout_s": 0.5},
    )
    assert "the case's 0.5 s" in done.cases[0].reasons[0]
    assert time.monotonic() - began < 10


class Breaking:
    """A provider that cannot open some of its sandboxes."""

    def __init__(self, provider: Provider, failures: Iterator[Exception | None]) -> None:
        self._provider, self._failures = provider, failures

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    def open(self, spec: BoxSpec) -> Sandbox:
        failure = next(self._failures, None)
        if failure is not None:
            raise failure
        return self._provider.open(spec)


@pytest.mark.parametrize("failure", [SandboxError("the box broke"), RuntimeError("a bug of ours")])
def test_our_own_error_is_no_verdict_and_is_run_again(namespaces: Provider, tmp_path: Path, failure: Exception) -> None:
    cases = make_cases(tmp_path / "cases", group("g", {"a": "pass", "b": "pass"}, CONTROL))
    # A tree that was never installed here before: an installed one is found again, and nothing is opened for it.
    tree = make_tree(tmp_path / "tree", OBEDIENT + f"\n# {uuid.uuid4()}\n")
    install_control_and_one_case = [None, None, failure]
    broken: Any = Breaking(namespaces, iter(install_control_and_one_case))
    done = evaluate(broken, tree, cases, tmp_path / "s", in_flight=1)
    (error,) = done.report.errors
    assert str(failure) in (error.error or "")
    assert [case.status for case in done.cases] == ["error", "passed"]
    assert (done.pass_rate, done.as_json()["errors"]) == (1.0, 1)
    assert len(rows(tmp_path / "s")) == 2
    again = evaluate(namespaces, tree, cases, tmp_path / "s")
    assert (again.report.executed, [case.status for case in again.cases]) == (1, ["passed", "passed"])


def test_nothing_chosen_is_nothing_to_do(namespaces: Provider, tmp_path: Path) -> None:
    cases = make_cases(tmp_path / "cases", group("g", {"a": "pass"}))
    with pytest.raises(NothingToDo):
        evaluate(namespaces, make_tree(tmp_path / "tree"), cases, tmp_path / "s", pattern="no-such-case")


@contextmanager
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """`harness evaluate` of many slow cases, in a process of its own, once some verdicts are stored."""
    prompts = {f"c{n:02}": "time.sleep(0.4)" for n in range(40)}
    make_cases(tmp_path / "cases", group("g", prompts))
    make_tree(tmp_path / "tree")
    # Whoever starts the tests in the background may have SIGINT ignored, which children would inherit.
    command = ["env", "--default-signal=INT", sys.executable, "-m", "triathlon"]
    command += ["harness", "evaluate", str(tmp_path / "tree"), "-n", "4"]
    command += ["--cases", str(tmp_path / "cases"), "--store", str(tmp_path / "s")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 240
        while stored(tmp_path / "s") < 4:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()


def stored(store: Path) -> int:
    """Rows of a store that another process is just making."""
    try:
        return len(rows(store))
    except UsageError:
        return 0


def descendants(pid: int) -> set[int]:
    """Processes below a process."""
    found: set[int] = set()
    todo = [pid]
    while todo:
        parent = todo.pop()
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            children = [int(child) for child in task.read_text().split()]
            found.update(children)
            todo += children
    return found


def gone(pids: set[int], within: float) -> bool:
    until = time.monotonic() + within
    while time.monotonic() < until:
        if not any(
            Path(f"/proc/{pid}/stat").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text() for pid in pids
        ):
            return True
        time.sleep(0.05)
    return False


def test_kill_9_of_the_runner_loses_no_verdict_and_leaves_no_process(namespaces: Provider, tmp_path: Path) -> None:
    with running(tmp_path) as process:
        below = descendants(process.pid)
        assert below
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert gone(below, 5)
    finished = len(rows(tmp_path / "s"))
    assert finished >= 4
    done = evaluate(namespaces, tmp_path / "tree", tmp_path / "cases", tmp_path / "s")
    assert done.report.from_store == finished
    assert (done.report.executed, done.pass_rate) == (40 - finished, 1.0)


def test_ctrl_c_is_exit_2_and_the_same_command_goes_on(namespaces: Provider, tmp_path: Path) -> None:
    with running(tmp_path) as process:
        below = descendants(process.pid)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 2
        assert gone(below, 5)
        assert process.stderr is not None
        assert "interrupted" in process.stderr.read()
    finished = len(rows(tmp_path / "s"))
    done = evaluate(namespaces, tmp_path / "tree", tmp_path / "cases", tmp_path / "s")
    assert (done.report.from_store, done.pass_rate) == (finished, 1.0)


def test_the_result_object_has_what_a_reader_needs(namespaces: Provider, tmp_path: Path) -> None:
    cases = make_cases(tmp_path / "cases", group("g", {"a": "pass"}, CONTROL))
    done = evaluate(namespaces, make_tree(tmp_path / "tree"), cases, tmp_path / "s")
    said = json.loads(json.dumps(done.as_json()))
    assert set(said["candidate"]) == {"name", "tree_sha256"}
    assert said["candidate"]["name"] == "tree"
    wanted = {"protocol", "spec", "suite", "cases", "controls", "passed", "pass_rate", "ungated_pass_rate"}
    wanted |= {"categories", "results", "provider", "root", "seed", "repetitions", "errors", "non_standard"}
    assert wanted <= set(said)
    assert set(said["results"][0]) >= {"case", "category", "kind", "clauses", "status", "reasons", "seconds"}
    assert said["categories"]["headless"] == {"cases": 1, "passed": 1, "pass_rate": 1.0, "ungated_pass_rate": 1.0}
    assert said["root"]["versions"]["python"]
    assert said["standard"] is True
