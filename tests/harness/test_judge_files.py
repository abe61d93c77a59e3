"""The channel of files."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from case_help import channels, file, folder, fresh, link

from triathlon.harness.channels import Channels
from triathlon.harness.expect import Expect
from triathlon.harness.judge import judge
from triathlon.sandbox import Entry

MARKER = fresh().value("marker")
BEFORE = {
    "workspace": folder(),
    "workspace/kept": file("same"),
    "workspace/edited": file("old"),
    "workspace/script": file("#!", 0o755),
    "workspace/gone": file("x"),
    "workspace/in": link("real"),
    "workspace/turned": file("x"),
}
AFTER = {
    **{key: value for key, value in BEFORE.items() if key != "workspace/gone"},
    "workspace/edited": file("new"),
    "workspace/script": file("#!", 0o644),
    "workspace/turned": link("kept"),
    "workspace/sub": folder(),
    "workspace/sub/a.txt": file(f"{MARKER}\n"),
    "workspace/sub/b.txt": file("b"),
    "workspace/latin": file(b"caf\xe9"),
    "workspace/copy": file("same"),
    f"workspace/{MARKER}": file(""),
    "workspace/a[1].txt": file("brackets"),
    "outside/shared/x": file("out"),
    "state/sessions/w/1.jsonl": file('{"a": 1}\n{"a": 2}\n'),
    "state/sessions/w/2.jsonl": file('{"a": 3}\n'),
    "stubs/gh.log": file('["issue", "create"]\n'),
}


def holds(path: str, match: Any, seen: Channels | None = None) -> bool:
    expect = Expect.model_validate({"files": {path: match}})
    return judge(expect, seen or channels(AFTER, laid_out=BEFORE), fresh()) == []


@pytest.mark.parametrize(
    ("path", "good", "bad"),
    [
        ("kept", "same", "other"),
        ("kept", "present", "absent"),
        ("gone", "absent", "present"),
        ("kept", {"same_as_laid_out": True}, {"changed": True}),
        ("edited", {"changed": True, "equals": "new"}, {"same_as_laid_out": True}),
        ("script", {"changed": True}, {"same_as_laid_out": True}),
        ("script", {"mode": "0644"}, {"mode": "0755"}),
        ("turned", {"changed": True, "kind": "link"}, {"same_as_laid_out": True}),
        ("in", {"same_as_laid_out": True, "link": "real"}, {"link": "unreal"}),
        ("in", {"kind": "link"}, {"contains": "x"}),
        ("sub", {"kind": "folder"}, {"kind": "file"}),
        ("sub/a.txt", "{{marker}}\n", "{{marker}}"),
        ("sub/../sub//a.txt", {"contains": "{{marker}}"}, {"not_contains": "{{marker}}"}),
        ("{{workspace}}/kept", "same", "absent"),
        ("{{marker}}", "", {"empty": False}),
        ("../outside/shared/x", "out", "absent"),
        ("{{outside}}/shared/x", "out", "absent"),
        ("{{stubs}}/gh.log", {"contains": "create"}, "absent"),
        ("latin", {"latin1": "café"}, "café"),
        ("latin", {"base64": "Y2Fm6Q=="}, {"base64": "Y2Fmww=="}),
        ("latin", {"contains": "caf", "length": 4}, {"length": 5}),
        ("kept", {"size": 4}, {"size": {"min": 5}}),
        ("copy", {"same_as": "kept"}, {"same_as": "edited"}),
        ("a[1].txt", "brackets", "absent"),
        ("never", "absent", {"same_as_laid_out": True}),
        ("gone", "absent", {"changed": True}),
        ("gone", "absent", {"not_contains": "x"}),
        ("*.gone", "absent", "present"),
        ("sub/*", "present", "absent"),
        ("sub/*.txt", {"contains": "{{marker}}"}, {"contains": "nowhere"}),
        ("sub/*.txt", {"found": 2}, {"found": 1}),
        ("**/*.txt", {"found": 3}, {"found": 1}),
        ("sub/*.txt", {"every": True, "size": {"min": 1}}, {"every": True, "size": 1}),
        ("s*", {"kind": "folder"}, {"kind": "link"}),
        ("{{state}}/sessions/*/*.jsonl", {"jsonl": {"count": 2}}, {"jsonl": {"count": 3}}),
        ("{{state}}/sessions/**/*.jsonl", {"every": True, "jsonl": {"every": {"a": {"min": 1}}}}, {"found": 0}),
        ("/etc/passwd", "absent", "present"),
    ],
)
def test_files(path: str, good: Any, bad: Any) -> None:
    assert holds(path, good)
    assert not holds(path, bad)


def long(data: bytes, kept: int, sha256: str | None = None) -> Entry:
    digest = hashlib.sha256(data).hexdigest() if sha256 is None else sha256
    return Entry("file", 0o644, len(data), 0.0, data=data[:kept], truncated=True, sha256=digest)


def test_a_file_too_long_to_keep_is_compared_by_its_hash() -> None:
    data = "é".encode() * 100
    seen = channels({"workspace/f": long(data, 11)}, laid_out={"workspace/f": long(data, 11)})
    assert holds("f", "é" * 100, seen)
    assert not holds("f", "é" * 99 + "ab", seen)
    assert holds("f", {"contains": "éé"}, seen)
    assert not holds("f", {"not_contains": "x"}, seen)
    assert holds("f", {"same_as_laid_out": True}, seen)
    other = channels({"workspace/f": long(data[:-2] + b"xy", 11)}, laid_out={"workspace/f": long(data, 11)})
    assert not holds("f", {"same_as_laid_out": True}, other)


def test_files_that_were_not_read_whole_are_never_called_equal() -> None:
    seen = channels({"workspace/f": long(b"a" * 9, 3, "")}, laid_out={"workspace/f": long(b"a" * 9, 3, "")})
    assert not holds("f", {"same_as_laid_out": True}, seen)


def test_a_special_file_is_no_file() -> None:
    seen = channels({"workspace/pipe": Entry("other", 0o644, 0, 0.0)})
    assert not holds("pipe", "", seen)
    assert not holds("pipe", {"kind": "file"}, seen)
    assert not holds("pipe", "absent", seen)


def test_a_finding_says_what_is_there() -> None:
    expect = Expect.model_validate({"files": {"edited": "older", "gone": "x", "in": "y"}})
    lines = [str(finding) for finding in judge(expect, channels(AFTER, laid_out=BEFORE), fresh())]
    assert lines == [
        "files.edited: wanted equals 'older'; saw 'new'",
        "files.gone: wanted 'x'; saw nothing there",
        "files.in: wanted 'y'; saw a link to 'real'",
    ]
