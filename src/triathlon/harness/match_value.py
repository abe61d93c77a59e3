"""JSON values against what a case wants of them. One result a key, held or not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from triathlon.harness.expect import Paths, ValueMatch
from triathlon.harness.fresh import Fresh
from triathlon.harness.match import (
    Missing,
    Result,
    at_most_zero,
    fits,
    lookup,
    said_paths,
    same,
    shorten,
    spoken,
    within,
)
from triathlon.harness.text_keys import text_key


def check_paths(where: str, value: Any, paths: Paths, fresh: Fresh) -> Iterator[Result]:
    """Dotted paths into one JSON value. If that is missing, `absent` below it does not hold either."""
    if isinstance(value, Missing):
        yield Result(where, said_paths(paths, fresh), value.why, held=False)
        return
    for path, match in paths.items():
        path = fresh.fill(path)
        yield from check_value(where if path == "." else f"{where}.{path}", lookup(value, path), match, fresh)


def check_value(where: str, value: Any, match: ValueMatch, fresh: Fresh) -> Iterator[Result]:
    """One result a key of the matcher."""
    for name in ValueMatch.model_fields:
        if name not in match.model_fields_set:
            continue
        wanted = getattr(match, name)
        if name == "has":
            yield from check_paths(where, value, wanted, fresh)
        elif name in ("contains", "not_contains", "matches", "not_matches", "begins", "ends"):
            yield from _text_like(where, name, wanted, value, fresh)
        else:
            words, held, negative = _value_key(name, wanted, value, fresh)
            yield Result(where, words, shorten(value), held, negative)


def _text_like(where: str, name: str, wanted: Any, value: Any, fresh: Fresh) -> Iterator[Result]:
    if isinstance(value, list) and name in ("contains", "not_contains"):
        for item in fresh.fill(wanted):
            there = any(same(item, other) for other in value)
            words = ("has" if name == "contains" else "does not have") + f" {shorten(item)}"
            yield Result(where, words, shorten(value), there is (name == "contains"), name == "not_contains")
    elif isinstance(value, str):
        for words, held, negative, saw in text_key(name, wanted, value, fresh):
            yield Result(where, words, saw, held, negative)
    else:
        yield Result(
            where, f"a text that {name.replace('_', ' ')} {shorten(fresh.fill(wanted))}", shorten(value), False
        )


def _value_key(name: str, wanted: Any, value: Any, fresh: Fresh) -> tuple[str, bool, bool]:
    """(what is wanted in words, held, negative) of one key of a value matcher."""
    there = not isinstance(value, Missing)
    if name == "absent":
        return "nothing there", not there, True
    if name == "present":
        return "something there", there, False
    if name == "equals":
        wanted = fresh.fill(wanted)
        return shorten(wanted), there and same(wanted, value), False
    if name == "one_of":
        wanted = fresh.fill(wanted)
        return f"one of {shorten(wanted)}", there and any(same(item, value) for item in wanted), False
    if name == "not_":
        wanted = fresh.fill(wanted)
        return f"not {shorten(wanted)}", there and not same(wanted, value), True
    if name == "type":
        return f"type {wanted}", there and wanted in _types(value), False
    if name in ("min", "max"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
        good = number and (value >= wanted if name == "min" else value <= wanted)
        return f"{'at least' if name == 'min' else 'at most'} {wanted:g}", good, False
    if name == "length":
        sized = isinstance(value, (str, list, dict))
        return f"length {spoken(wanted)}", sized and within(wanted, len(value)), at_most_zero(wanted)
    items = value if isinstance(value, list) else []
    if name == "any":
        good = all(any(fits(check_value("", item, match, fresh)) for item in items) for match in wanted)
        return "an item that fits each entry", good, False
    if name == "none":
        good = not any(fits(check_value("", item, match, fresh)) for item in items for match in wanted)
        return "no item that fits an entry", isinstance(value, list) and good, True
    good = all(fits(check_value("", item, wanted, fresh)) for item in items)
    return "every item fits, and there is one", bool(items) and good, False


def _types(value: Any) -> set[str]:
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return {"number", "integer"}
    names = {float: "number", str: "string", list: "array", dict: "object", type(None): "null"}
    return {names.get(type(value), "")}
