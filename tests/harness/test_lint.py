"""Lint: what makes a case a good one."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_help import CASE, HEAD, put, suite_of

from triathlon.errors import UsageError
from triathlon.harness.lint import differences, lint
from triathlon.harness.spec import Clause, Spec

SPEC = Spec(
    "1",
    "2026-01-01",
    {
        "PERM-01": Clause("PERM-01", "permissions.md", ("D",), "A write needs\napproval in `default`.", 1),
        "PERM-02": Clause("PERM-02", "permissions.md", ("D",), "Nothing else is done.", 2),
    },
    {},
)
CITED = CASE.replace("kind: ordinary", "kind: ordinary\n    cite: A write needs approval")
MUST_NOT = CITED.replace("files: {a.txt: ", "files: {b.txt: absent, a.txt: ")
CONTROL = """\
controls:
  - id: power
    run: {prompt: go}
    script: [{call: {write: {path: b.txt, content: x}}}, {say: done}]
    expect: {files: {b.txt: x}}
"""


def found(root: Path, text: str) -> list[tuple[int | None, str, str]]:
    put(root, text)
    return [(finding.line, finding.rule, finding.message) for finding in lint(root, SPEC)[1]]


def rules(root: Path, text: str) -> list[str]:
    return [rule for _, rule, _ in found(root, text)]


def test_a_good_case_is_clean(tmp_path: Path) -> None:
    assert found(tmp_path, HEAD + CITED) == []
    assert found(tmp_path, HEAD + CONTROL + MUST_NOT) == []


def test_errors_of_the_format_are_findings_with_file_and_line(tmp_path: Path) -> None:
    file = put(tmp_path, HEAD + CITED.replace("prompt", "prmpt"))
    (finding,) = lint(tmp_path, SPEC)[1]
    assert str(finding).startswith(f"{file}:9: ") and finding.rule == "format"
    assert found(tmp_path, HEAD.replace("PERM-01", "PERM-55") + CITED)[0][:2] == (3, "format")


def test_a_must_not_needs_a_control_of_the_same_form(tmp_path: Path) -> None:
    assert found(tmp_path, HEAD + MUST_NOT) == [
        (5, "control", "files.b.txt: nothing there holds without doing anything: it needs a same-form control")
    ]
    assert rules(tmp_path, HEAD + CONTROL.replace("id: power", "id: power\n    reverse: true") + MUST_NOT) == [
        "control"
    ]
    assert rules(tmp_path, HEAD + CONTROL + MUST_NOT + "    controls: []\n") == ["control"]


def test_several_must_nots_are_counted(tmp_path: Path) -> None:
    text = HEAD + MUST_NOT.replace("b.txt: absent", "b.txt: absent, c.txt: absent")
    assert "(and 1 more)" in found(tmp_path, text)[0][2]


@pytest.mark.parametrize("expect", ["{files: {b.txt: absent}}", "{exit: 2, requests: {count: 0}}", "{exit: 0}"])
def test_a_case_that_doing_nothing_passes_is_refused(tmp_path: Path, expect: str) -> None:
    text = HEAD + CONTROL + CITED.replace('{files: {a.txt: "{{marker}}"}}', expect)
    assert "vacuous" in rules(tmp_path, text)


def test_no_single_null_run_must_pass(tmp_path: Path) -> None:
    expect = "{exit: {main: 1, again: 0}, files: {b.txt: absent}}"
    steps = "steps: [{start: {prompt: go}}, {finish: main}, {start: {name: again, prompt: go}}, {finish: again}]"
    text = CITED.replace('{files: {a.txt: "{{marker}}"}}', expect).replace("run: {prompt: go}", steps)
    assert rules(tmp_path, HEAD + CONTROL + text) == []


def test_a_control_must_show_something(tmp_path: Path) -> None:
    text = HEAD + CONTROL.replace("{files: {b.txt: x}}", "{files: {b.txt: absent}}") + CITED
    assert found(tmp_path, text)[0][:2] == (5, "vacuous")


@pytest.mark.parametrize(
    ("cite", "words"),
    [
        ("cite: A write is refused", "no clause has them"),
        ("cite: Nothing else is done", "PERM-02 has them"),
        ("cite: A write", "too short"),
        ("cite: []", "cites no words"),
        ("about: x", "cites no words"),
        ("cite: [A write needs approval, approval is not needed]", "approval is not needed"),
    ],
)
def test_citations_stand_in_a_cited_clause(tmp_path: Path, cite: str, words: str) -> None:
    (finding,) = found(tmp_path, HEAD + CITED.replace("cite: A write needs approval", cite))
    assert finding[1] == "cite" and words in finding[2]


@pytest.mark.parametrize("cite", ["cite: a write needs", "cite: write  needs approval in `default`"])
def test_citations_are_compared_by_words_and_by_case(tmp_path: Path, cite: str) -> None:
    clean = cite.startswith("cite: write")
    assert (found(tmp_path, HEAD + CITED.replace("cite: A write needs approval", cite)) == []) is clean


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("prompt: go", 'prompt: "{{nobody}}"'),
        ("say: done", 'say: "{{marker:}}"'),
        ("a.txt:", '"{{a.txt":'),
        ("run:", 'workspace: {x: "{{Marker}}"}\n    run:'),
    ],
)
def test_unknown_placeholders(tmp_path: Path, old: str, new: str) -> None:
    assert rules(tmp_path, HEAD + CITED.replace(old, new, 1)) == ["placeholder"]


def test_captured_names_are_placeholders_after_the_first_step(tmp_path: Path) -> None:
    steps = "steps: [{start: {prompt: go}}, {finish: main}, {capture: {as: id, of: main, json: x}}]"
    text = HEAD + CITED.replace("run: {prompt: go}", steps).replace("a.txt: ", '"{{id}}": ')
    assert found(tmp_path, text) == []
    early = text.replace("steps:", 'workspace: {f: "{{id}}"}\n    steps:')
    assert rules(tmp_path, early) == ["placeholder"]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("[{start: {prompt: a}}, {start: {prompt: b}}]", "a second process is called 'main'"),
        ("[{finish: main}]", "no process 'main'"),
        ("[{start: {prompt: a}}, {finish: again}]", "no process 'again'"),
        ("[{start: {prompt: a}}, {signal: KILL, to: x}]", "no process 'x'"),
        ("[{start: {prompt: a}}, {wait_for: {exit: x}}]", "no process 'x'"),
        ("[{start: {prompt: a}}, {wait_for: {output: x, of: y}}]", "no process 'y'"),
        ("[{start: {prompt: a}}, {capture: {as: id, of: x, json: y}}]", "no process 'x'"),
        ("[{type: x}]", "no process 'main'"),
        ("[{start: {prompt: a}}, {close_stdin: x}]", "no process 'x'"),
    ],
)
def test_steps_name_what_is_there(tmp_path: Path, steps: str, words: str) -> None:
    text = HEAD + CITED.replace("run: {prompt: go}", f"steps: {steps}")
    assert [(rule, words in message) for _, rule, message in found(tmp_path, text)] == [("name", True)]


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("exit: {again: 0}", "expect.exit: there is no 'again' (there is main)"),
        ("output: {stdot: {stdout: x}}", "expect.output: there is no 'stdot'"),
        ("output: {http: {x: {status: 200}}}", "expect.output.http: there is no 'x'"),
        ("output: {result: {main: {a: 1}}}", "expect.output.result: there is no 'main'"),
        ("seconds: {min: 1, of: x}", "expect.seconds: there is no 'x'"),
        ("requests: {lanes: {child: {count: 1}}}", "expect.requests.lanes: there is no 'child'"),
    ],
)
def test_expectations_name_what_is_there(tmp_path: Path, expect: str, words: str) -> None:
    text = HEAD + CITED.replace("expect: {files", f"expect: {{{expect}, files")
    assert [(rule, words in message) for _, rule, message in found(tmp_path, text)] == [("name", True)]


def test_a_side_action_signals_what_is_there(tmp_path: Path) -> None:
    text = HEAD + CITED.replace("{say: done}", "{do: [{signal: INT, to: x}], say: done}")
    assert rules(tmp_path, text) == ["name"]
    assert rules(tmp_path, text.replace("to: x", "to: main")) == []


def test_no_two_cases_are_the_same(tmp_path: Path) -> None:
    twice = CITED + CITED.removeprefix("cases:\n").replace("id: one", "id: two")
    assert found(tmp_path, HEAD + twice) == [(12, "identical", "it is the same as small/one (line 5 of small.yaml)")]
    put(tmp_path, HEAD + CITED)
    put(tmp_path, HEAD.replace("small", "other") + CITED, "other")
    assert [finding.case for finding in lint(tmp_path, SPEC)[1]] == ["small/one"]


def test_a_control_that_is_its_case_is_no_control(tmp_path: Path) -> None:
    body = CITED.partition("    run:")[2]
    text = HEAD + "controls:\n  - id: power\n    run:" + body + CITED
    assert "identical" in rules(tmp_path, text)


def test_a_varied_case_must_exist(tmp_path: Path) -> None:
    assert rules(tmp_path, HEAD + CITED.replace("{spec: PERM-01}", "{vary: small/none}")) == ["origin"]


def test_a_part_of_a_suite_can_be_looked_at(tmp_path: Path) -> None:
    bad = put(tmp_path, HEAD + CASE)
    good = put(tmp_path, HEAD.replace("small", "fine") + CITED.replace("go}", "go on}"), "fine", "files")
    assert len(lint(bad, SPEC)[1]) == 1 and lint(good, SPEC)[1] == []
    assert len(lint(bad.parent, SPEC)[1]) == 1 and lint(good.parent, SPEC)[1] == []
    assert [case.id for case in lint(good, SPEC)[0].cases] == ["fine/one"]
    with pytest.raises(UsageError, match="neither"):
        lint(tmp_path / "gone", SPEC)


def test_findings_come_in_the_order_of_files_and_lines(tmp_path: Path) -> None:
    put(tmp_path, HEAD + CASE + CASE.removeprefix("cases:\n").replace("id: one", "id: two").replace("go}", "go on}"))
    put(tmp_path, HEAD.replace("small", "fine") + CASE.replace("go}", "no}"), "fine", "files")
    assert [(f.case, f.line) for f in lint(tmp_path, SPEC)[1]] == [("fine/one", 5), ("small/one", 5), ("small/two", 11)]


def test_differences_between_a_case_and_its_control(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, HEAD + "workspace: {f: x}\n" + CONTROL + MUST_NOT)
    assert differences(suite.cases[0], suite.controls["small/power"]) == [
        "script.lanes.main.replies.1.call.args.path",
        "script.lanes.main.replies.1.call.args.content",
        "expect.files",
    ]
    assert differences(suite.cases[0], suite.cases[0]) == []


def test_the_benchmarks_own_cases_are_clean() -> None:
    suite, findings = lint()
    assert [str(finding) for finding in findings] == []
    assert suite.cases and suite.controls
