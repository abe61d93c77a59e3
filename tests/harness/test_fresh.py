"""Fresh values and placeholders."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon.harness.expect import TextMatch
from triathlon.harness.fixture import FixtureFile
from triathlon.harness.fresh import Fresh, UnknownPlaceholder, known_name, placeholders


def test_the_seed_and_the_case_decide() -> None:
    assert Fresh(1, "a/b").value("marker") == Fresh(1, "a/b").value("marker")
    others = {Fresh(2, "a/b").value("marker"), Fresh(1, "a/c").value("marker"), Fresh(1, "a/b").value("marker:x")}
    assert len({Fresh(1, "a/b").value("marker"), *others}) == 4


def test_values_have_the_form_that_is_promised() -> None:
    fresh = Fresh(0, "a/b")
    assert re.fullmatch(r"[a-z]{10}", fresh.value("marker:some-name"))
    assert re.fullmatch(r"key-[A-Za-z2-9]{24}", fresh.value("secret"))
    assert re.fullmatch(r"[1-9][0-9]{5}", fresh.value("number"))


def test_markers_are_distinct_over_many_cases() -> None:
    words = {Fresh(0, f"g/{i}").value(f"marker:{j}") for i in range(200) for j in range(10)}
    assert len(words) == 2000


def test_fill_goes_into_everything() -> None:
    fresh = Fresh(0, "a/b", {"workspace": "/work/w"})
    marker = fresh.value("marker")
    assert fresh.fill({"{{marker}}": ["x {{workspace}}/y", 3, None, ("{{marker}}",)]}) == {
        marker: ["x /work/w/y", 3, None, (marker,)]
    }
    filled = fresh.fill(TextMatch(contains=["{{marker}}!"]))
    assert filled.contains == [f"{marker}!"] and filled.model_fields_set == {"contains"}
    untouched = FixtureFile(text="plain")
    assert fresh.fill(untouched) is untouched


def test_literal_braces() -> None:
    fresh = Fresh(0, "a/b")
    assert fresh.fill("{{{{x}} {'a': {'b': 1}}") == "{{x}} {'a': {'b': 1}}"
    assert list(placeholders("{{{{x}} {y}")) == []


@pytest.mark.parametrize(
    "text", ["{{nobody}}", "{{}}", "{{ marker }}", "{{marker:}}", "{{marker:a b}}", "{{a", "{{Marker}}"]
)
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(UnknownPlaceholder):
        Fresh(0, "a/b").fill(text)
    assert not all(known_name(name) for name in placeholders(text))


def test_a_captured_name_is_known_from_then_on() -> None:
    fresh = Fresh(0, "a/b")
    with pytest.raises(UnknownPlaceholder, match="session"):
        fresh.fill("{{session}}")
    fresh.bind({"session": "abc"})
    assert fresh.fill("{{session}}") == "abc"


def test_quote_is_applied_to_what_is_put_in_only() -> None:
    fresh = Fresh(0, "a/b", {"workspace": "/w.x"})
    assert fresh.fill(r"^{{workspace}}/.*$", re.escape) == r"^/w\.x/.*$"


@given(st.text(max_size=40))
def test_text_without_double_braces_is_never_changed(text: str) -> None:
    plain = text.replace("{{", "{")
    while "{{" in plain:
        plain = plain.replace("{{", "{")
    assert Fresh(0, "a/b").fill(plain) == plain


@given(st.text(max_size=40))
def test_any_text_can_be_written(text: str) -> None:
    """What is meant literally is written by doubling each `{{`, and comes out as it was."""
    assert Fresh(0, "a/b").fill(re.sub(r"\{\{", "{{{{", text)) == text


@given(st.text(max_size=40))
def test_fill_fills_or_refuses_and_the_names_are_those_listed(text: str) -> None:
    fresh = Fresh(0, "a/b", dict.fromkeys(("workspace", "state"), "/p"))
    names = list(placeholders(text))
    try:
        fresh.fill(text)
    except UnknownPlaceholder as error:
        assert error.name in names
    else:
        assert all(known_name(name) for name in names)
