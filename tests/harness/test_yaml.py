"""YAML as the case files use it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon.errors import CaseError
from triathlon.harness.yaml import compose, line_of, load, parse

# Without what YAML lets stand only as an escape: control and line-separating characters, half pairs, no characters.
PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Zl", "Zp"]), max_size=30)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | PRINTABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PRINTABLE, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "word", ["yes", "no", "on", "off", "Yes", "NO", "On", "y", "n", "2020-01-31", "12:30", "1_000", "<<"]
)
def test_words_that_yaml_1_1_takes_for_something_else_are_strings(word: str) -> None:
    assert load(f"{{key: {word}, {word}: key}}") == {"key": word, word: "key"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("~", None),
        ("", None),
        ("true", True),
        ("FALSE", False),
        ("0", 0),
        ("-12", -12),
        ("+3", 3),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("6.02E+2", 602.0),
        ("1.", 1.0),
        ("0o8", "0o8"),
        ("-0x1F", "-0x1F"),
        ("1.2.3", "1.2.3"),
        ("0b11", "0b11"),
        ("+", "+"),
        (".", "."),
        ("tRUE", "tRUE"),
    ],
)
def test_plain_scalars_follow_the_core_schema(text: str, value: object) -> None:
    loaded = load(f"key: {text}")["key"]
    assert loaded == value and type(loaded) is type(value)


@pytest.mark.parametrize("text", ["'12'", '"12"', "|-\n  12", ">-\n  12"])
def test_what_is_quoted_or_a_block_is_a_string(text: str) -> None:
    assert load(f"key: {text}") == {"key": "12"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "stands twice"),
        ("a:\n  b: 0755\n", 2, "quote it"),
        ("a: 1\nb: .inf\n", 2, "JSON has no such number"),
        ("a: .NaN", 1, "JSON has no such number"),
        ("a: 1e999", 1, "too large"),
        ("a: !!python/object:os.system x", 1, "tags"),
        ("a: !mine {b: 1}", 1, "tags"),
        ("a: 1\n1.5: 2", 2, "a key must be"),
        ("a: 1\ntrue: 2", 2, "a key must be"),
        ("a: 1\n? [x]\n: 2", 2, "a key must be"),
        ("a: &x\n  b: *x\n", 1, "alias inside"),
        ("a: [1, 2\nb: 3\n", 2, "not YAML"),
        ("a: 1\n\tb: 2\n", 2, "not YAML"),
        ("a: 1\n---\nb: 2\n", 2, "not YAML"),
        ("a: 1\nb: *none\n", 2, "not YAML"),
        ("", 1, "empty"),
        ("# only a comment\n", 1, "empty"),
        ("a: 1\nb: \x01\n", 2, "not YAML"),
    ],
)
def test_complaints_name_file_and_line(text: str, line: int, words: str) -> None:
    with pytest.raises(CaseError, match=words) as caught:
        load(text, "some/file.yaml")
    assert (caught.value.file, caught.value.line) == ("some/file.yaml", line)


def test_an_alias_stands_for_what_it_names() -> None:
    assert load("a: &x {k: [1]}\nb: *x\n") == {"a": {"k": [1]}, "b": {"k": [1]}}


def test_a_number_with_too_many_digits_is_a_complaint_and_not_a_crash() -> None:
    with pytest.raises(CaseError, match="digits"):
        load("a: " + "9" * 5000)


def test_so_many_digits_in_another_base_are_a_complaint_too() -> None:
    with pytest.raises(CaseError, match="digits"):
        load("a: 0x" + "f" * 5000)


def test_aliases_of_aliases_are_refused_before_they_fill_the_memory() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(CaseError, match=r"bomb\.yaml:\d+: over 1,000,000 values"):
        load("\n".join(lines), "bomb.yaml")


def test_separators_and_control_characters_come_in_as_escapes() -> None:
    assert load(r'a: "\u2028\u0000\x1b\ufeff\U0001F600"') == {"a": "\u2028\0\x1b\ufeff\U0001f600"}


def test_deep_nesting_is_read_or_refused() -> None:
    assert load("[" * 50 + "]" * 50) == json.loads("[" * 50 + "]" * 50)
    for depth in (900, 100_000):
        with pytest.raises(CaseError, match=r"nest(ed|ing)"):
            load("[" * depth + "]" * depth)


@given(JSON)
def test_any_json_is_read_as_what_it_is(value: object) -> None:
    loaded = load(json.dumps(value, ensure_ascii=False))
    assert loaded == value
    assert json.dumps(loaded) == json.dumps(value)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        load(text, "f.yaml")
    except CaseError as error:
        assert error.line is None or 1 <= error.line <= text.count("\n") + text.count("\r") + 3


@given(st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), st.integers(0, 99), min_size=1, max_size=8))
def test_every_key_is_found_in_its_line(values: dict[str, int]) -> None:
    text = "".join(f"{key}:\n  deep: [{value}]\n" for key, value in values.items())
    root = compose(text)
    for number, key in enumerate(values):
        assert line_of(root, [key]) == 2 * number + 1
        assert line_of(root, [key, "deep", 0]) == 2 * number + 2


def test_parts_that_are_not_in_the_file_are_passed_over() -> None:
    _, root = parse("a:\n- b:\n    c: 1\n")
    assert line_of(root, ["a", 0, "some-form", "b", "c"]) == 3
    assert line_of(root, ["a", 5]) == 1
    assert line_of(None, ["a"]) == 1
