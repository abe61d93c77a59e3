"""Matchers of texts and JSON values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from case_help import fresh
from hypothesis import given
from hypothesis import strategies as st

from triathlon.harness.expect import TextMatch, ValueMatch
from triathlon.harness.match import (
    NOTHING,
    Missing,
    json_lines,
    keys_of,
    lookup,
    parse_json,
    pick,
    same,
    shorten,
    terse,
)
from triathlon.harness.match_text import check_text
from triathlon.harness.match_value import check_value

FRESH = fresh()
MARKER = FRESH.value("marker")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def text_holds(text: str | Missing, match: Any, whole: bool = True) -> bool:
    results = list(check_text("t", text, TextMatch.model_validate(match), FRESH, whole))
    assert results
    return all(result.held for result in results)


def value_holds(value: Any, match: Any) -> bool:
    results = list(check_value("v", value, ValueMatch.model_validate(match), FRESH))
    assert results
    return all(result.held for result in results)


@pytest.mark.parametrize(
    ("match", "good", "bad"),
    [
        ({"equals": "a"}, "a", "a "),
        ({"equals": ""}, "", "x"),
        ({"equals": "{{marker}}"}, MARKER, "{{marker}}"),
        ({"one_of": ["a", "b"]}, "b", "c"),
        ({"contains": "a"}, "bab", "bb"),
        ({"contains": ["a", "b"]}, "b a", "a"),
        ({"not_contains": "a"}, "b", "bab"),
        ({"not_contains": ["a", "b"]}, "c", "b"),
        ({"begins": "error: "}, "error: x", " error: x"),
        ({"ends": "x\n"}, "x\n", "x"),
        ({"matches": r"^\d+$"}, "12", "12a"),
        ({"matches": ["a", "b"]}, "ab", "a"),
        ({"matches": "^{{marker}}.$"}, MARKER + "!", MARKER),
        ({"matches": "^{{workspace}}$"}, "/work/w", "/work.w"),
        ({"not_matches": "a.c"}, "ac", "abc"),
        ({"count": {"a": 2}}, "aba", "aaa"),
        ({"count": {"a": {"max": 1}}}, "b", "aa"),
        ({"in_order": ["a", "b", "a"]}, "xaba", "baa"),
        ({"in_order": ["aa", "aa"]}, "aaaa", "aaa"),
        ({"lines": 2}, "a\nb", "a\n"),
        ({"lines": 2}, "a\nb\n", "a\nb\n\n"),
        ({"lines": 0}, "", "\n"),
        ({"length": {"min": 2}}, "ab", "a"),
        ({"max_length": 2}, "ab", "abc"),
        ({"empty": True}, "", " "),
        ({"empty": False}, " ", ""),
        ({"json": {"a.0": 1}}, '{"a": [1]}', '{"a": ["1"]}'),
        ({"json": {".": [1, 2]}}, "[1, 2]\n", "[2, 1]"),
        ({"json": {"a": 1}}, '{"a": 1}', '{"a": 1} {}'),
        ({"json": {"a": {"absent": True}}}, '{"b": 1}', ""),
        ({"json": {"a": {"absent": True}}}, "{}", '{"a": null}'),
    ],
)
def test_text_keys(match: Any, good: str, bad: str) -> None:
    assert text_holds(good, match)
    assert not text_holds(bad, match)
    assert not text_holds(Missing("no such thing"), match)


@pytest.mark.parametrize(
    ("match", "good", "bad"),
    [
        ({"count": 2}, "{}\n{}\n", "{}\n"),
        ({"first": {"a": 1}}, '{"a": 1}\n{"a": 2}', '{"a": 2}\n{"a": 1}'),
        ({"last": {"a": 2}}, '{"a": 1}\n{"a": 2}\n', '{"a": 2}\n{"a": 1}\n'),
        ({"at": {2: {"a": 2}}}, '{"a": 1}\n{"a": 2}', '{"a": 2}'),
        ({"any": [{"a": 1}, {"b": 1}]}, '{"b": 1}\n{"a": 1}', '{"a": 1}'),
        ({"none": [{"a": 1}]}, '{"a": 2}', '{"b": 0}\n{"a": 1}'),
        ({"every": {"a": {"type": "integer"}}}, '{"a": 1}\n{"a": 2}', '{"a": 1}\n{"b": 2}'),
        ({"every": {"a": {"present": True}}}, '{"a": 1}', ""),
        ({"count": 1}, "{}", "{}\n\x00\x00\n"),
        ({"count": 1, "broken": 1}, "{}\n\x00\x00\n", "{}\n{}\n"),
        ({"broken": 0}, "{}\n", '{}{"a": 1}\n'),
        ({"broken": 1}, '{}\n[]\n"a"'.replace('\n"a"', ""), "[]\n3\n"),
        ({"count": 1}, '{"a": "\u2028"}\n', '{"a":\n 1}\n'),
    ],
)
def test_json_lines(match: Any, good: str, bad: str) -> None:
    assert text_holds(good, {"jsonl": match})
    assert not text_holds(bad, {"jsonl": match})


@pytest.mark.parametrize(
    ("match", "good", "bad"),
    [
        ({"equals": 1}, 1, True),
        ({"equals": True}, True, 1),
        ({"equals": None}, None, NOTHING),
        ({"equals": {"a": [1, {"b": None}]}}, {"a": [1.0, {"b": None}]}, {"a": [1, {"b": None, "c": 1}]}),
        ({"equals": "{{marker}}"}, MARKER, ""),
        ({"one_of": [1, "a"]}, "a", "1"),
        ({"not": "success"}, "error", "success"),
        ({"not": None}, 0, None),
        ({"type": "string"}, "", 1),
        ({"type": "number"}, 1.5, True),
        ({"type": "integer"}, 2.0, 2.5),
        ({"type": "boolean"}, False, 0),
        ({"type": "null"}, None, NOTHING),
        ({"type": "array"}, [], {}),
        ({"type": "object"}, {}, []),
        ({"absent": True}, NOTHING, None),
        ({"present": True}, None, NOTHING),
        ({"min": 1}, 1, 0.5),
        ({"max": 1}, 1, "1"),
        ({"max": 1}, 0, True),
        ({"length": 2}, [1, 2], [1]),
        ({"length": {"max": 1}}, "a", 1),
        ({"contains": "a"}, "bab", "b"),
        ({"contains": "a"}, ["a", 1], ["ab"]),
        ({"contains": ["a", "b"]}, ["b", "a"], ["a"]),
        ({"not_contains": "a"}, ["b"], ["a"]),
        ({"not_contains": "a"}, "b", 3),
        ({"begins": "a"}, "ab", ["a"]),
        ({"ends": "b"}, "ab", None),
        ({"matches": "^a"}, "ab", "ba"),
        ({"not_matches": "^a"}, "ba", "ab"),
        ({"has": {"a.b": 1}}, {"a": {"b": 1}}, {"a": 1}),
        ({"any": [{"has": {"t": "x"}}]}, [{"t": "y"}, {"t": "x"}], [{"t": "y"}]),
        ({"none": [{"equals": 1}]}, [2], [1]),
        ({"none": [{"equals": 1}]}, [], {}),
        ({"every": {"type": "string"}}, ["a"], []),
        ({"every": {"type": "string"}}, ["a", "b"], ["a", 1]),
    ],
)
def test_value_keys(match: Any, good: Any, bad: Any) -> None:
    assert value_holds(good, match)
    assert not value_holds(bad, match)
    if "absent" not in match:
        assert not value_holds(NOTHING, match)


def test_what_a_cut_text_lacks_cannot_be_said() -> None:
    assert text_holds("abc", {"contains": "a"}, whole=False)
    assert not text_holds("abc", {"not_contains": "x"}, whole=False)
    assert not text_holds("abc", {"max_length": 10}, whole=False)


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", "{} {}", "[" * 100_000, "\ud800", "9" * 5000])
def test_no_text_breaks_the_reader_of_json(text: str) -> None:
    assert isinstance(parse_json(text), Missing)


@given(JSON)
def test_same_is_equality_of_what_json_means(value: Any) -> None:
    assert same(value, json.loads(json.dumps(value)))
    assert not same(value, [value])
    assert not same({"k": value}, {"k": value, "l": 1})


@given(JSON, JSON)
def test_same_is_even_handed_and_agrees_with_the_bytes(a: Any, b: Any) -> None:
    assert same(a, b) == same(b, a)
    if json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True):
        assert same(a, b)


@given(
    st.lists(
        st.text(min_size=1, max_size=5).filter(lambda key: key != "." and "\\" not in key and "\0" not in key),
        min_size=1,
        max_size=4,
    )
)
def test_a_dotted_path_finds_what_was_put_there(keys: list[str]) -> None:
    path = ".".join(key.replace(".", "\\.") for key in keys)
    assert keys_of(path) == keys
    value: Any = "found"
    for key in reversed(keys):
        value = {key: value}
    assert lookup(value, path) == "found"
    assert lookup(value, ".") is value


def test_places_in_lists_count_from_both_ends() -> None:
    assert lookup({"a": [1, 2, 3]}, "a.-1") == 3
    assert lookup({"a": [1]}, "a.1") is NOTHING
    assert lookup({"a": [1]}, "a.x") is NOTHING
    assert lookup("text", "a") is NOTHING
    assert pick("abc", -3, "letters") == "a"
    assert pick("abc", 4, "letters") == Missing("only 3 letters")


@given(st.text(), st.text(min_size=1, max_size=3))
def test_contains_and_its_opposite_never_agree(text: str, piece: str) -> None:
    literal = piece.replace("{{", "{{{{")
    if "{" not in piece:
        assert text_holds(text, {"contains": literal}) is not text_holds(text, {"not_contains": literal})


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_lines_of_json_end_at_newlines_alone(text: str) -> None:
    line = json.dumps({"t": text}, ensure_ascii=False)
    assert json_lines(f"{line}\n{line}\n") == [{"t": text}] * 2


@given(st.one_of(JSON, st.text(max_size=2000), st.binary(max_size=50)), st.integers(20, 200))
def test_what_is_shown_is_one_short_printable_line(value: Any, limit: int) -> None:
    shown = shorten(value, limit)
    assert "\n" not in shown
    assert len(shown) <= limit + 40
    shown.encode("utf-8", "surrogatepass" if not isinstance(value, str) else "strict")


def test_shorten_says_how_much_there_was() -> None:
    assert shorten("x" * 5000).endswith("(5000 characters)")
    assert shorten(Missing("gone")) == "gone"
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "deeply nested" in shorten(deep)


def test_a_long_text_shows_where_it_differs() -> None:
    (result,) = check_text("t", "a" * 500 + "X" + "b" * 500, TextMatch(equals="a" * 500 + "Y" + "b" * 500), FRESH)
    assert not result.held and "from character 500" in result.saw and "'Xbbb" in result.saw


def test_terse_puts_the_shorthands_back() -> None:
    assert terse({"count": {"min": 2.0, "max": 2.0}, "a": [{"equals": "x"}], "exit": {"one_of": [0]}}) == {
        "count": 2,
        "a": ["x"],
        "exit": 0,
    }
