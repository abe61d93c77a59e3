"""The steps of a run."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from triathlon.harness.steps import KINDS, Start, Step


@pytest.mark.parametrize(
    "step",
    [
        {"start": {"prompt": "go"}},
        {"start": {"driver": "terminal", "size": [30, 100]}},
        {"start": {"driver": "api", "prompt": "go", "settings": {"model": "m"}}},
        {"start": {"name": "list", "args": ["sessions", "list", "--json"]}},
        {"start": {"prompt": "go", "stdin": "silent"}},
        {"start": {"prompt": "go", "stdin": {"pipe": "text", "open": True}}},
        {"start": {"stdin": {"file": {"repeat": "x", "times": 10}}}},
        {"finish": "main", "within": 3},
        {"wait_for": {"request": 2, "lane": "child"}},
        {"wait_for": {"file": "a"}, "within": 0.5},
        {"wait_for": {"seconds": 1}},
        {"type": "go\n", "to": "main"},
        {"keys": ["Enter", "Shift-Tab"]},
        {"paste": "a\nb"},
        {"resize": [10, 40]},
        {"send": "{}\n"},
        {"close_stdin": "main"},
        {"hang_up": "main"},
        {"change": {"a": "absent", "b": {"append": "x"}}},
        {"touch": "a"},
        {"signal": "KILL", "to": "main"},
        {"release": "gate"},
        {"capture": {"as": "id", "of": "main", "json": "session_id"}},
        {"capture": {"as": "id", "file": "{{state}}/sessions/*/*.jsonl", "stem": True}},
        {"http": {"method": "POST", "path": "/sessions", "json": None, "as": "new"}},
        {"call": {"prompt": "more"}},
        {"install": "again"},
    ],
)
def test_every_kind_of_step_is_read(step: dict[str, Any]) -> None:
    read = Step.model_validate(step)
    assert read.kind in step and getattr(read, read.kind) is not None


def test_no_kind_is_forgotten() -> None:
    assert set(Step.model_fields) == {*KINDS, "to", "within"}


@pytest.mark.parametrize(
    "step",
    [
        {},
        {"to": "main"},
        {"type": "a", "paste": "b"},
        {"finish": "main", "to": "main"},
        {"type": "a", "within": 1},
        {"finish": "main", "within": 0},
        {"finish": "main", "within": 901},
        {"wait_for": {}},
        {"wait_for": {"file": "a", "seconds": 1}},
        {"wait_for": {"file": "a", "lane": "x"}},
        {"resize": [10]},
        {"resize": [0, 10]},
        {"signal": "SIGKILL"},
        {"change": {}},
        {"capture": {"as": "id"}},
        {"capture": {"as": "Id", "json": "x"}},
        {"capture": {"as": "id", "json": "x", "regex": "y"}},
        {"capture": {"as": "id", "of": "main", "file": "x", "regex": "y"}},
        {"capture": {"as": "id", "stem": True}},
        {"http": {"path": "/", "json": {}, "body": ""}},
        {"http": {"path": "/", "method": "get"}},
        {"install": "twice"},
        {"start": None},
        {"strat": {}},
    ],
)
def test_wrong_steps_are_refused(step: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Step.model_validate(step)


@pytest.mark.parametrize(
    "start",
    [
        {"args": ["x"], "prompt": "go"},
        {"args": ["x"], "flags": ["--y"]},
        {"driver": "api", "prompt": "go", "flags": ["--y"]},
        {"settings": {"a": 1}},
        {"driver": "terminal", "prompt": "go"},
        {"driver": "serve", "stdin": "closed"},
        {"size": [24, 80]},
        {"driver": "telnet"},
        {"name": "Main"},
        {"stdin": "open"},
        {"stdin": {"pipe": "a", "file": "b"}},
        {"stdin": {"kind": "closed", "open": True}},
        {"flags": ["--n", 1.5]},
        {"flags": [True]},
        {"prompt": None},
    ],
)
def test_wrong_starts_are_refused(start: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Start.model_validate(start)


def test_whole_numbers_may_stand_in_an_argument_list() -> None:
    assert Start.model_validate({"flags": ["--max-turns", 3]}).flags == ["--max-turns", "3"]
    assert Start.model_validate({"args": "sessions"}).args == ["sessions"]
