"""Settings, their schema, and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness.config_show import show
from harness.options import parse
from harness.schema import problem
from harness.sources import read
from harness.types import UsageError


@pytest.fixture
def places(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    for name in ("HARNESS_MODEL", "HARNESS_BASE_URL", "HARNESS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HARNESS_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HARNESS_MANAGED_SETTINGS", str(tmp_path / "managed.json"))
    (tmp_path / "state").mkdir()
    (workspace / ".harness").mkdir()
    (tmp_path / "managed.json").write_text("{}")
    folder = workspace / ".harness"
    return {
        "managed": tmp_path / "managed.json",
        "local": folder / "settings.local.json",
        "project": folder / "settings.json",
        "user": tmp_path / "state" / "settings.json",
    }


def _write(places: dict[str, Path], **values: Any) -> None:
    for name, value in values.items():
        places[name].write_text(json.dumps(value))


def test_the_strongest_scalar_wins_objects_join_and_lists_add_up(workspace: Path, places: dict[str, Path]) -> None:
    _write(
        places,
        user={"model": "u", "max_retries": 1, "env": {"A": "u", "B": "u"}, "permissions": {"deny": ["bash(u)"]}},
        project={"model": "p", "env": {"A": "p"}, "permissions": {"deny": ["bash(p)"], "allow": ["bash(x)"]}},
        local={"permissions": {"deny": ["bash(l)"]}},
    )
    settings = read(workspace, True, {"permissions": {"deny": ["bash(f)"]}}, pytest.fail)
    assert (settings.model, settings.max_retries, settings.env) == ("p", 1, {"A": "p", "B": "u"})
    assert settings.deny == ["bash(f)", "bash(l)", "bash(p)", "bash(u)"]
    shown = json.loads(show(settings, as_json=True))
    assert shown["model"] == {"value": "p", "source": "project"}
    assert shown["permissions.deny"]["source"] == "flag"
    assert shown["stream"] == {"value": True, "source": "default"}


def test_a_folder_that_is_not_trusted_can_only_forbid(workspace: Path, places: dict[str, Path]) -> None:
    rules = {"allow": ["bash"], "deny": ["bash(d)"], "ask": ["bash(a)"], "mode": "bypass", "dirs": ["/"]}
    _write(places, project={"model": "p", "permissions": rules, "hooks": [{"event": "stop", "script": "x"}]})
    warnings: list[str] = []
    settings = read(workspace, False, {}, warnings.append)
    assert (settings.deny, settings.ask, settings.allow, settings.dirs) == (["bash(d)"], ["bash(a)"], [], [])
    assert (settings.model, settings.mode, settings.hooks) == ("default", "default", [])
    assert len(warnings) == 1
    assert "not trusted" in warnings[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n"model": 1}', "model"),
        ('{\n"model" "x"}', "line 2"),
        ("[]", "object"),
        ('{"permissions": {"mode": "yolo"}}', "permissions.mode"),
        ('{"max_retries": -1}', "max_retries"),
        ('{"context_window": 0}', "context_window"),
        ('{"stream": "yes"}', "stream"),
        ('{"hooks": [{"event": "pre_tool"}]}', "hooks[0].script"),
        ('{"prices": {"m": {"input": true}}}', "prices.m.input"),
    ],
)
def test_a_wrong_file_is_named_with_the_place(workspace: Path, places: dict[str, Path], text: str, said: str) -> None:
    places["project"].write_text(text)
    with pytest.raises(UsageError, match=str(places["project"])) as error:
        read(workspace, False, {}, pytest.fail)
    assert said in error.value.message


def test_an_unknown_key_warns_and_changes_nothing(workspace: Path, places: dict[str, Path]) -> None:
    _write(places, user={"modell": "x", "permissions": {"denny": []}})
    warnings: list[str] = []
    assert read(workspace, True, {}, warnings.append).model == "default"
    assert [("modell" in warning, "permissions.denny" in warning) for warning in warnings] == [
        (True, False),
        (False, True),
    ]


def test_secrets_are_masked(workspace: Path, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_API_KEY", "sk-1")
    _write(places, user={"env": {"my_token": "t0p", "PLAIN": "p"}})
    text = show(read(workspace, True, {}, pytest.fail), as_json=False)
    assert "sk-1" not in text
    assert "t0p" not in text
    assert '"PLAIN": "p"' in text


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        (True, {"type": "integer"}, "integer"),
        (1.0, {"type": "integer"}, "integer"),
        ({"a": []}, {"properties": {"a": {"minItems": 1}}}, "a must have"),
        ({"a": [{"b": 1}]}, {"properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}}}, "a[0].b"),
        ({"z": 1}, {"additionalProperties": False}, "z is not allowed"),
        ({}, {"required": ["q"]}, "q is missing"),
        (1, {"const": True}, "must be true"),
        ("abc", {"maxLength": 2}, "at most 2"),
        (0, {"exclusiveMinimum": 0}, "more than 0"),
    ],
)
def test_what_does_not_fit_is_named(value: Any, schema: dict[str, Any], said: str) -> None:
    assert said in (problem(value, schema) or "")


@pytest.mark.parametrize(
    ("value", "schema"),
    [(2, {"type": "number"}), (None, {"type": ["null", "string"]}), ({"a": 1}, {}), ("x", {"enum": ["x"]}), ([], {})],
)
def test_what_fits(value: Any, schema: dict[str, Any]) -> None:
    assert problem(value, schema) is None


def test_flags_are_read_like_a_settings_file() -> None:
    options = parse(["-p", "go", "--deny", "bash", "--deny=read(x)", "--tools=", "--permission-mode", "plan"])
    assert (options.prompt, options.headless, options.tools, options.mode) == ("go", True, [], "plan")
    assert options.settings == {"permissions": {"mode": "plan", "deny": ["bash", "read(x)"]}}
    assert parse(["go on"]).headless is False
    assert parse(["-p"]).headless is True
    assert parse(["sessions", "export", "abcd", "--format", "json"]).format == "json"


@pytest.mark.parametrize(
    "words",
    [
        "--nope",
        "--model",
        "--permission-mode yolo",
        "--max-turns 0",
        "--max-turns 1.5",
        "--max-cost -1",
        "--timeout nan",
        "--fork",
        "--continue --resume abcd",
        "--input-format stream-json -p",
        "--input-format stream-json --output-format stream-json -p x",
        "--role king",
        "sessions",
        "sessions export",
        "rewind abcd x",
        "config",
        "serve --port x",
        "serve --resume abcd",
        "-p a b",
    ],
)
def test_wrong_words_are_usage_errors(words: str) -> None:
    with pytest.raises(UsageError):
        parse(words.split())
