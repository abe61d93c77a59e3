"""The forms of an expectation."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from triathlon.harness.case import plain
from triathlon.harness.expect import Expect


def opened(data: dict[str, Any]) -> Any:
    return plain(Expect.model_validate(data))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"exit": 0}, {"exit": {"main": {"one_of": [0]}}}),
        ({"exit": [0, 1]}, {"exit": {"main": {"one_of": [0, 1]}}}),
        ({"exit": {"not": 0}}, {"exit": {"main": {"not": [0]}}}),
        (
            {"exit": {"main": 137, "again": {"not": [1, 2]}}},
            {"exit": {"main": {"one_of": [137]}, "again": {"not": [1, 2]}}},
        ),
        ({"files": {"a": "absent"}}, {"files": {"a": {"absent": True}}}),
        ({"files": {"a": "present"}}, {"files": {"a": {"present": True}}}),
        ({"files": {"a": "text"}}, {"files": {"a": {"equals": "text"}}}),
        ({"files": {"a": {"json": {"k": 1}}}}, {"files": {"a": {"json": {"k": {"equals": 1}}}}}),
        ({"output": {"stdout": "x"}}, {"output": {"stdout": {"equals": "x"}}}),
        ({"output": {"again": {"stderr": "x"}}}, {"output": {"again": {"stderr": {"equals": "x"}}}}),
        ({"seconds": {"max": 10}}, {"seconds": [{"max": 10.0}]}),
        ({"requests": {"count": 2}}, {"requests": {"count": {"min": 2, "max": 2}}}),
        (
            {"requests": {"last": {"body": {"a.b": None, "c": [1]}, "text": {"contains": "x"}}}},
            {
                "requests": {
                    "last": {"body": {"a.b": {"equals": None}, "c": {"equals": [1]}}, "text": {"contains": ["x"]}}
                }
            },
        ),
        (
            {"requests": {"last": {"headers": {"X": {"absent": True}}}}},
            {"requests": {"last": {"headers": {"X": {"absent": True}}}}},
        ),
    ],
)
def test_shorthands_are_opened(short: dict[str, Any], long: dict[str, Any]) -> None:
    assert opened(short) == long


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"requests": {}},
        {"requests": {"last": {}}},
        {"requests": {"last": {"text": {}}}},
        {"requests": {"last": {"text": None}}},
        {"requests": {"last": {"text": 3}}},
        {"requests": {"last": {"tekst": "a"}}},
        {"requests": {"at": {0: {"text": "a"}}}},
        {"requests": {"at": {"first": {"text": "a"}}}},
        {"requests": {"count": -0.5}},
        {"requests": {"count": {"min": 3, "max": 2}}},
        {"requests": {"count": {}}},
        {"requests": {"count": "2"}},
        {"requests": {"any": {"text": "a"}}},
        {"requests": {"lanes": {"child": {}}}},
        {"requests": {"same": [{"requests": [1]}]}},
        {"requests": {"last": {"text": {"matches": "("}}}},
        {"requests": {"last": {"body": {"a": {"contain": "x"}}}}},
        {"files": {}},
        {"files": {"a": {}}},
        {"files": {"a": {"absent": False}}},
        {"files": {"a": None}},
        {"exit": "0"},
        {"exit": True},
        {"exit": {}},
        {"exit": None},
        {"output": {}},
        {"output": {"stdot": "x"}},
        {"output": {"again": {"stdot": "x"}}},
        {"output": {"again": {}}},
        {"output": {"stdout": {"jsonl": {}}}},
        {"seconds": {"of": "main"}},
        {"web": {}},
        {"disk": {"a": "absent"}},
    ],
)
def test_empty_misspelt_and_mistyped_expectations_are_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Expect.model_validate(data)


def test_a_literal_object_is_written_with_equals() -> None:
    value = Expect.model_validate({"output": {"stdout": {"json": {"a": {"equals": {"min": 1}}}}}})
    assert plain(value)["output"]["stdout"]["json"]["a"] == {"equals": {"min": 1}}
