"""The JSON Schema for editors says the same as the loader."""

from __future__ import annotations

from typing import Any

import pytest

from triathlon.harness.schema import keys_at, schema


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return schema()


def test_it_has_the_keys_of_a_group_and_forbids_others(made: dict[str, Any]) -> None:
    assert {"group", "about", "cases", "controls", "workspace", "stubs"} <= set(made["properties"])
    assert made["additionalProperties"] is False
    assert sorted(made["required"]) == ["about", "cases", "group"]


def test_keys_have_the_names_of_the_file_and_descriptions(made: dict[str, Any]) -> None:
    properties = made["$defs"]["CaseFile"]["properties"]
    assert "outside" in properties["outside"]["description"]
    assert "run" in properties and "origin" in properties
    assert "from" in made["$defs"]["Requests"]["properties"] and "onward" not in made["$defs"]["Requests"]["properties"]
    assert made["$defs"]["FileMatch"]["properties"]["size"].get("description") is None
    assert "octal" in made["$defs"]["FileMatch"]["properties"]["mode"]["description"]


def test_a_key_that_is_left_out_is_not_null(made: dict[str, Any]) -> None:
    run = made["$defs"]["CaseFile"]["properties"]["run"]
    assert {"type": "null"} not in run.get("anyOf", [])
    spelling = made["$defs"]["Spelling"]["properties"]["prompt"]
    assert {"type": "null"} in spelling["anyOf"]


def test_shorthands_are_in_it(made: dict[str, Any]) -> None:
    stdin = made["$defs"]["Start"]["properties"]["stdin"]
    assert any(choice.get("enum") == ["closed", "silent", "terminal"] for choice in stdin["anyOf"])
    text = made["$defs"]["RequestMatch"]["properties"]["tool_result"]
    assert {"type": "string"} in text["anyOf"]


@pytest.mark.parametrize(
    ("place", "key"),
    [
        ([], "cases"),
        (["cases", 0], "origin"),
        (["cases", 0, "expect", "requests", "at", 2, "tool_result"], "not_contains"),
        (["cases", 0, "script", "lanes", "main", "replies", 0], "call"),
        (["controls", 3, "steps", 1, "start"], "driver"),
        (["workspace", "some/file"], "latin1"),
    ],
)
def test_the_keys_at_a_place(place: list[str | int], key: str) -> None:
    assert key in keys_at(place)
    assert "nonsense" not in keys_at(place)
