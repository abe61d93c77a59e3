"""What a case lays out."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from triathlon.harness.fixture import Change, FixtureFile
from triathlon.harness.setup import Setup


def made(value: Any) -> FixtureFile:
    return Setup.model_validate({"workspace": {"f": value}}).workspace["f"]


@pytest.mark.parametrize(
    ("value", "kind", "data"),
    [
        ("text\n", "file", b"text\n"),
        ("", "file", b""),
        ({"text": "café"}, "file", "café".encode()),
        ({"latin1": "café"}, "file", b"caf\xe9"),
        ({"utf16": "a"}, "file", b"\xff\xfea\x00"),
        ({"base64": "AP8="}, "file", b"\x00\xff"),
        ({"repeat": "ab", "times": 3, "prefix": "<", "suffix": ">"}, "file", b"<ababab>"),
        ({"parts": ["a", {"repeat": "x", "times": 2}, "b"]}, "file", b"axxb"),
        ({"link": "../x"}, "link", b""),
        ({}, "folder", b""),
        ({"mode": "0700"}, "folder", b""),
    ],
)
def test_every_form_of_a_file(value: Any, kind: str, data: bytes) -> None:
    file = made(value)
    assert (file.kind, file.data()) == (kind, data)


def test_modes_and_times() -> None:
    assert made("x").bits == 0o644 and made({}).bits == 0o755
    assert made({"text": "x", "mode": "0600"}).bits == 0o600
    assert made({"text": "x", "mtime": "1970-01-01T00:01:00Z"}).moment == 60.0
    assert made("x").moment is None


@pytest.mark.parametrize(
    "value",
    [
        {"text": "a", "link": "b"},
        {"text": "a", "mode": 755},
        {"text": "a", "mode": "999"},
        {"text": "a", "mtime": "yesterday"},
        {"text": "a", "mtime": "2020-01-01T00:00:00"},
        {"base64": "***"},
        {"latin1": "€"},
        {"repeat": "a"},
        {"text": "a", "times": 2},
        {"text": "a", "suffix": "b"},
        {"link": "a", "mode": "0755"},
        {"txt": "a"},
        {"text": None},
        3,
        ["a"],
    ],
)
def test_wrong_files_are_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        made(value)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "", "a\0b"])
def test_paths_stay_in_their_place(path: str) -> None:
    with pytest.raises(ValidationError, match="place"):
        Setup.model_validate({"home": {path: "x"}})


def test_setups_join_path_by_path_and_name_by_name() -> None:
    below = Setup.model_validate(
        {
            "workspace": {"a": "1", "b": "1"},
            "settings": {"user": {"model": "m"}, "project": {"x": 1}},
            "web": {"h.test": {"/a": "1", "/b": "1"}},
            "env": {"A": "1"},
            "git": True,
        }
    )
    above = Setup.model_validate(
        {
            "workspace": {"b": "2", "c": "2"},
            "settings": {"project": {"y": 2}},
            "web": {"h.test": {"/b": "2"}},
            "env": {"A": None},
            "readonly": True,
        }
    )
    both = above.over(below)
    assert {path: file.text for path, file in both.workspace.items()} == {"a": "1", "b": "2", "c": "2"}
    assert both.settings is not None
    assert (both.settings.user, both.settings.project) == ({"model": "m"}, {"y": 2})
    assert {path: page.body for path, page in both.web["h.test"].items()} == {"/a": "1", "/b": "2"}
    assert both.env == {"A": None} and both.readonly and both.git is not None
    assert both.outside == {} and "outside" not in both.model_fields_set


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ({"append": "c"}, b"ab", b"abc"),
        ({"cut": 1}, b"ab", b"a"),
        ({"cut": 9}, b"ab", b""),
        ({"insert": "X\n", "after_line": 0}, b"1\n2\n", b"X\n1\n2\n"),
        ({"insert": "X\n", "after_line": 1}, b"1\n2\n", b"1\nX\n2\n"),
        ({"insert": "\0\0\n", "after": "two"}, b"one\nthe two\nthree", b"one\nthe two\n\0\0\nthree"),
        ({"replace": {"a": "b", "c": ""}}, b"aca", b"bb"),
    ],
)
def test_changes_of_what_is_there(change: dict[str, Any], old: bytes, new: bytes) -> None:
    assert Change.model_validate(change).apply(old) == new


@pytest.mark.parametrize("change", [{"insert": "x", "after": "gone"}, {"replace": {"gone": "x"}}])
def test_a_change_that_finds_nothing_says_so(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="gone"):
        Change.model_validate(change).apply(b"here\n")


def test_changes_take_files_in_short_form() -> None:
    assert Change.model_validate("absent").absent
    for value in ("text", {"text": "text"}):
        file = Change.model_validate(value).file
        assert file is not None and file.data() == b"text"
    folder = Change.model_validate({}).file
    assert folder is not None and folder.kind == "folder"


@pytest.mark.parametrize(
    "change",
    [
        {"append": "a", "cut": 1},
        {"insert": "a"},
        {"insert": "a", "after": "b", "after_line": 1},
        {"append": "a", "after": "b"},
        {"cut": -1},
        {"appendix": "a"},
    ],
)
def test_wrong_changes_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Change.model_validate(change)


@pytest.mark.parametrize(
    "setup",
    [
        {"stubs": {"a/b": "x"}},
        {"stubs": {"a": {"script": "x", "says": "y"}}},
        {"stubs": {"a": {"log": "x/y"}}},
        {"servers": {"s": {"behaviour": "sulk"}}},
        {"settings": {}},
        {"settings": {"global": {}}},
        {"git": False},
        {"web": {"h": {"/": {"status": 99}}}},
        {"env": {"A": 1}},
        {"work": {}},
    ],
)
def test_wrong_setups_are_refused(setup: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Setup.model_validate(setup)
