"""Reading a suite: every complaint has a file and a line."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path

import pytest
from case_help import CASE, CLAUSES, HEAD, put, suite_of

from triathlon.errors import CaseError, UsageError
from triathlon.harness.load import load_suite, read_suite


def problems_of(
    root: Path, text: str, name: str = "small", category: str = "permissions"
) -> list[tuple[int | None, str]]:
    put(root, text, name, category)
    return [(error.line, error.message) for error in read_suite(root, CLAUSES)[1]]


def test_a_good_suite_has_no_complaint(tmp_path: Path) -> None:
    put(tmp_path, HEAD + CASE)
    put(tmp_path, HEAD.replace("small", "other") + CASE, "other", "files")
    suite = load_suite(tmp_path, CLAUSES)
    assert [(case.id, case.category) for case in suite.cases] == [("other/one", "files"), ("small/one", "permissions")]
    assert suite.cases[1].file.name == "small.yaml" and suite.cases[1].line == 5


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("kind: ordinary", "kind: ordinary\n    knid: x", 7, "unknown key 'knid' (did you mean 'kind'?)"),
        ("kind: ordinary", "kind: strange", 6, "'boundary' or 'ordinary'"),
        ("kind: ordinary\n", "\n", 5, "the key 'kind' is missing"),
        ("kind: ordinary", "kind: ordinary\n    kind: boundary", 7, "stands twice"),
        ("kind: ordinary", "kind: ordinary\n    clauses: [PERM-99]", 7, "the spec has no clause PERM-99"),
        ("clauses: [PERM-01]", "clauses: [PERM-01, FILE-77]", 3, "the spec has no clause FILE-77"),
        ("clauses: [PERM-01]", "clauses: [perm-1]", 3, "should match pattern"),
        ("clauses: [PERM-01]\n", "", 4, "cites no clause"),
        ("id: one", "id: One Two", 5, "should match pattern"),
        ("prompt: go", "prmopt: go", 8, "unknown key 'prmopt' (did you mean 'prompt'?)"),
        ("prompt: go", "prompt: no_string: x", 8, "not YAML"),
        ("prompt: go", "prompt: yes", None, ""),
        ("prompt: go", "prompt: 12", 8, "should be a valid string, not 12"),
        ("prompt: go", "prompt: null", 8, "'prompt' has no value"),
        ("run: {prompt: go}\n", "\n", 5, "exactly one of run, steps; found none"),
        ("script: [", "script: [{say: a, cal: x}, ", 9, "unknown key 'cal'"),
        ("script: [", "script: [{}, ", 9, "a reply needs one of"),
        ("files: {a.txt", "flies: {a.txt", 10, "unknown key 'flies' (did you mean 'files'?)"),
        ('"{{marker}}"}}\n', "{contians: x}}}\n", 10, "unknown key 'contians' (did you mean 'contains'?)"),
        ("kind: ordinary", "kind: ordinary\n    controls: [powr]", 7, "there is no control 'powr'"),
        ("kind: ordinary", "kind: ordinary\n    workspace: {x: {mode: 0755}}", 7, "quote it"),
        ("kind: ordinary", "kind: ordinary\n    workspace: {/x: y}", 7, "relative"),
        ("group: small", "group: large", 1, "file of another name"),
        ("group: small\n", "", 1, "'group' is missing"),
        ("about: A small group.", "about: ''", 2, "at least 1 character"),
    ],
)
def test_complaints_have_a_line(tmp_path: Path, old: str, new: str, line: int | None, words: str) -> None:
    text = HEAD + CASE
    assert old in text
    problems = problems_of(tmp_path, text.replace(old, new, 1))
    if line is None:
        assert problems == []
        return
    assert any(words in message and at == line for at, message in problems), problems


def test_ids_are_unique_over_cases_controls_and_variations(tmp_path: Path) -> None:
    text = HEAD + CASE + "    vary: [{id: two, input: {content: x}}, {id: two, input: {content: y}}]\n"
    text += CASE.replace("cases:\n", "").replace("id: one", "id: two")
    problems = problems_of(tmp_path, text)
    assert [(at, m) for at, m in problems] == [
        (11, "the id 'two' is taken in line 11"),
        (12, "the id 'two' is taken in line 11"),
    ]


def test_all_complaints_of_all_files_are_collected(tmp_path: Path) -> None:
    put(tmp_path, HEAD + CASE.replace("kind: ordinary", "kind: odd").replace("prompt", "prmpt"))
    put(tmp_path, "a: [}", "broken", "files")
    _, problems = read_suite(tmp_path, CLAUSES)
    assert [(Path(str(p.file)).name, p.line) for p in problems] == [
        ("broken.yaml", 1),
        ("small.yaml", 6),
        ("small.yaml", 8),
    ]
    with pytest.raises(CaseError, match=r"broken\.yaml:1: .*and 2 more") as caught:
        load_suite(tmp_path, CLAUSES)
    assert caught.value.exit_code == 4


def test_where_a_file_may_stand(tmp_path: Path) -> None:
    (tmp_path / "top.yaml").write_text(HEAD)
    put(tmp_path, HEAD, category="permision")
    put(tmp_path, HEAD + CASE)
    put(tmp_path, HEAD + CASE, category="files")
    found = {str(Path(str(p.file)).relative_to(tmp_path)): p.message for p in read_suite(tmp_path, CLAUSES)[1]}
    assert "category" in found["top.yaml"] and "category" in found["permision/small.yaml"]
    assert found["permissions/small.yaml"] == "the group 'small' is in files/small.yaml already"


def test_a_folder_without_cases_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case file"):
        load_suite(tmp_path, CLAUSES)
    with pytest.raises(UsageError, match="not a folder"):
        load_suite(tmp_path / "gone", CLAUSES)


def test_bytes_that_are_no_text_are_a_complaint(tmp_path: Path) -> None:
    put(tmp_path, "").write_bytes(b"group: \xff\n")
    assert "UTF-8" in read_suite(tmp_path, CLAUSES)[1][0].message


def test_what_is_no_readable_file_is_a_complaint(tmp_path: Path) -> None:
    put(tmp_path, HEAD + CASE)
    (tmp_path / "files" / "folder.yaml").mkdir(parents=True)
    (tmp_path / "files" / "gone.yaml").symlink_to("/nowhere")
    (tmp_path / "files" / "loop.yaml").symlink_to("loop.yaml")
    os.mkfifo(tmp_path / "files" / "pipe.yaml")  # reading it would wait for ever
    problems = read_suite(tmp_path, CLAUSES)[1]
    assert [Path(str(p.file)).stem for p in problems] == ["folder", "gone", "loop", "pipe"]
    assert all("this is no file" in p.message for p in problems)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("workspace: {a: x, a/b: y}", "'one': workspace: 'a/b' cannot be laid out: 'a' is a file"),
        ("home: {a/b: x, a/b/c/d: {}}", "'a/b' is a file"),
        ("workspace: {%s: x}" % ("a" * 256), "at most 255 bytes"),
        ("env: {'A=B': x}", "name in the environment"),
        ('env: {A: "x\\0"}', "zero byte"),
    ],
)
def test_what_cannot_be_laid_out_or_started_is_a_complaint(tmp_path: Path, key: str, words: str) -> None:
    problems = problems_of(tmp_path, HEAD + key + "\n" + CASE)
    assert len(problems) == 1 and words in problems[0][1], problems


def test_a_file_below_a_folder_is_none(tmp_path: Path) -> None:
    assert problems_of(tmp_path, HEAD + "workspace: {a: {}, a/b: x, c/: {}, c/d: y}\n" + CASE) == []


def test_a_zero_byte_in_a_prompt_and_a_pattern_too_large_are_complaints(tmp_path: Path) -> None:
    assert "zero byte" in problems_of(tmp_path, HEAD + CASE.replace("prompt: go", 'prompt: "a\\0b"'))[0][1]
    expect = "expect: {output: {stdout: {matches: 'a{1,4294967296}'}}}"
    case = CASE.replace('expect: {files: {a.txt: "{{marker}}"}}', expect)
    assert "not a regular expression" in problems_of(tmp_path, HEAD + case)[0][1]


def test_a_control_of_two_forms_is_refused(tmp_path: Path) -> None:
    control = "controls:\n  - {id: c, same_form: true, reverse: true, run: {prompt: x}, expect: {exit: 0}}\n"
    assert problems_of(tmp_path, HEAD + control + CASE)[0][0] == 5


def test_setup_of_group_and_case_join(tmp_path: Path) -> None:
    case = CASE.replace("run: {prompt: go}", "run: {prompt: go}\n    workspace: {b: '2', c: '3'}")
    suite = suite_of(tmp_path, HEAD + "workspace: {a: '1', b: '1'}\n" + case)
    assert {path: file.text for path, file in suite.cases[0].setup.workspace.items()} == {"a": "1", "b": "2", "c": "3"}


def test_loading_leaves_the_collector_as_it_was(tmp_path: Path) -> None:
    put(tmp_path, HEAD + CASE)
    assert gc.isenabled()
    load_suite(tmp_path, CLAUSES)
    assert gc.isenabled()


def test_four_hundred_cases_load_in_under_a_second(tmp_path: Path) -> None:
    one = CASE.removeprefix("cases:\n")
    for group in range(100):
        cases = "".join(one.replace("id: one", f"id: case-{n}").replace("go}", f"go {group}.{n}}}") for n in range(4))
        put(tmp_path, HEAD.replace("small", f"group-{group}") + "cases:\n" + cases, f"group-{group}")
    load_suite(tmp_path, CLAUSES)
    began = time.process_time()
    suite = load_suite(tmp_path, CLAUSES)
    assert len(suite.cases) == 400
    assert time.process_time() - began < 1.0
