"""Matchers: a text or a JSON value against what a case wants of it. One result a key, held or not, each one line.

Everything here looks at what a candidate made: it may be huge, deep, or no text at all, and must not break the judge.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from triathlon.harness.expect import Amount, JsonLines, Paths, TextMatch, ValueMatch
from triathlon.harness.fresh import Fresh
from triathlon.harness.strict import Strict

SHOWN = 160
"""Characters of a text shown in one line."""


@dataclass(frozen=True)
class Result:
    """One atomic expectation: where, what was wanted, what was seen (shortened), and whether it held.

    `negative` is true if its form says what must not be.
    """

    where: str
    wanted: str
    saw: str
    held: bool
    negative: bool = False


@dataclass(frozen=True)
class Missing:
    """In place of a value that is not there; `why` says so in a few words."""

    why: str = "nothing there"


NOTHING: Final = Missing()


def shorten(value: Any, limit: int = SHOWN) -> str:
    """Any value on one line, its middle left out if it is long."""
    if isinstance(value, Missing):
        return value.why
    if isinstance(value, str):
        shown = value if len(value) <= 4 * limit else value[: 2 * limit] + value[-2 * limit :]
        text = repr(shown)
    else:
        try:
            text = json.dumps(value, ensure_ascii=False, default=repr)
        except (RecursionError, ValueError):
            text = f"a deeply nested {type(value).__name__}"
        text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]} ... {text[-limit // 3 :]}" + (
        f" ({len(value)} characters)" if isinstance(value, str) else ""
    )


def within(amount: Amount, number: float) -> bool:
    """Whether a number is in bounds."""
    return (amount.min is None or number >= amount.min) and (amount.max is None or number <= amount.max)


def spoken(amount: Amount) -> str:
    """Bounds in words."""
    low, high = amount.min, amount.max
    if low is not None and low == high:
        return f"{low:g}"
    if low is None:
        return f"at most {high:g}"
    return f"at least {low:g}" if high is None else f"{low:g} to {high:g}"


def at_most_zero(amount: Amount) -> bool:
    """Whether the bounds say: none at all."""
    return amount.max is not None and amount.max <= 0


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are the same: `true` is not 1, but 1 is 1.0. As deep as the shallower of the two."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


def parse_json(text: str) -> Any:
    """The JSON value of a text, or Missing. NaN and its like are no JSON."""
    try:
        return json.loads(text, parse_constant=_no_such_number)
    except RecursionError:
        return Missing("JSON nested too deep")
    except ValueError as error:
        return Missing(f"no JSON ({str(error)[:60]}): {shorten(text, 80)}")


def _no_such_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def json_lines(text: str) -> list[Any]:
    """One value a line; Missing for a line that is no JSON object. A last newline ends a line and begins none."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    values = (parse_json(line) for line in lines)
    return [v if isinstance(v, (dict, Missing)) else Missing(f"no object: {shorten(v, 60)}") for v in values]


def keys_of(path: str) -> list[str]:
    """The keys of a dotted path; `\\.` is a dot in a key, `.` alone the whole value."""
    if path == ".":
        return []
    return [part.replace("\0", ".") for part in path.replace("\\.", "\0").split(".")]


def lookup(value: Any, path: str) -> Any:
    """The value at a dotted path, or Missing."""
    for key in keys_of(path):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and re.fullmatch(r"-?\d{1,9}", key) and -len(value) <= int(key) < len(value):
            value = value[int(key)]
        else:
            return value if isinstance(value, Missing) else NOTHING
    return value


def fits(results: Iterator[Result]) -> bool:
    """Whether all of them held."""
    return all(result.held for result in results)


def check_text(
    where: str, text: str | Missing, match: TextMatch, fresh: Fresh, whole: bool = True, skip: Collection[str] = ()
) -> Iterator[Result]:
    """One result a key, save those to skip. `whole` is false if the text was cut: what it lacks cannot be said then."""
    given = [name for name in TextMatch.model_fields if name in match.model_fields_set and name not in skip]
    if isinstance(text, Missing):
        if given:
            wanted = "; ".join(
                f"{name.removeprefix('as_')} {shorten(fresh.fill(_shown(match, name)), 80)}" for name in given
            )
            yield Result(where, wanted, text.why, held=False)
        return
    for name in given:
        value = getattr(match, name)
        if name == "as_json":
            parsed = parse_json(text)
            yield from check_paths(f"{where}.json", parsed, value, fresh)
        elif name == "jsonl":
            yield from check_lines(f"{where}.jsonl", text, value, fresh)
        else:
            for wanted, held, negative, saw in _text_key(name, value, text, fresh):
                lost = not whole and (negative or name in ("lines", "length", "max_length", "empty", "count"))
                yield Result(where, wanted, saw + (" (cut)" if not whole else ""), held and not lost, negative)


def _shown(match: TextMatch, name: str) -> Any:
    value = getattr(match, name)
    return value if isinstance(value, (str, int, list, bool)) else "as the case says"


def _text_key(name: str, value: Any, text: str, fresh: Fresh) -> Iterator[tuple[str, bool, bool, str]]:
    """(wanted, held, negative, saw) of one key of a text matcher."""
    saw = shorten(text)
    if name in ("contains", "not_contains"):
        for piece in fresh.fill(value):
            there = piece in text
            if name == "contains":
                yield f"contains {shorten(piece)}", there, False, saw
            else:
                yield f"does not contain {shorten(piece)}", not there, True, _around(text, piece) if there else saw
    elif name in ("matches", "not_matches"):
        for pattern in fresh.fill(value, re.escape):
            found = re.search(pattern, text)
            if name == "matches":
                yield f"matches {shorten(pattern)}", found is not None, False, saw
            else:
                yield f"does not match {shorten(pattern)}", found is None, True, shorten(found[0]) if found else saw
    elif name == "equals":
        wanted = fresh.fill(value)
        yield f"equals {shorten(wanted)}", text == wanted, False, _difference(wanted, text)
    elif name == "one_of":
        allowed = fresh.fill(value)
        yield f"one of {shorten(allowed)}", text in allowed, False, saw
    elif name == "begins":
        wanted = fresh.fill(value)
        yield f"begins {shorten(wanted)}", text.startswith(wanted), False, saw
    elif name == "ends":
        wanted = fresh.fill(value)
        yield f"ends {shorten(wanted)}", text.endswith(wanted), False, saw
    elif name == "count":
        for piece, amount in value.items():
            number = text.count(fresh.fill(piece))
            wanted = f"{shorten(fresh.fill(piece))} occurs {spoken(amount)} times"
            yield wanted, within(amount, number), at_most_zero(amount), f"{number} times in {saw}"
    elif name == "in_order":
        pieces = fresh.fill(value)
        yield f"in this order {shorten(pieces)}", _in_order(text, pieces), False, saw
    elif name == "lines":
        number = text.count("\n") + (not text.endswith("\n") and text != "")
        yield f"{spoken(value)} lines", within(value, number), at_most_zero(value), f"{number}: {saw}"
    elif name == "length":
        yield f"{spoken(value)} characters", within(value, len(text)), at_most_zero(value), f"{len(text)}: {saw}"
    elif name == "max_length":
        yield f"at most {value} characters", len(text) <= value, True, f"{len(text)}: {saw}"
    elif name == "empty":
        yield ("empty" if value else "not empty"), (text == "") is value, value, saw


def _around(text: str, piece: str) -> str:
    at = text.find(piece)
    return shorten(text[max(at - 60, 0) : at + len(piece) + 60])


def _difference(wanted: str, text: str) -> str:
    if len(wanted) <= SHOWN // 2 and len(text) <= SHOWN:
        return shorten(text)
    at = next((i for i, (a, b) in enumerate(zip(wanted, text, strict=False)) if a != b), min(len(wanted), len(text)))
    return f"{len(text)} characters, from character {at}: {shorten(text[at : at + 80])}"


def _in_order(text: str, pieces: Sequence[str]) -> bool:
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


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
        for words, held, negative, saw in _text_key(name, wanted, value, fresh):
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


def check_lines(where: str, text: str, match: JsonLines, fresh: Fresh) -> Iterator[Result]:
    """Text of one JSON object a line."""
    values = json_lines(text)
    good = [value for value in values if not isinstance(value, Missing)]
    broken = [value for value in values if isinstance(value, Missing)]
    if match.broken is not None:
        words = f"{spoken(match.broken)} broken lines"
        held = within(match.broken, len(broken))
        yield Result(f"{where}.broken", words, str(len(broken)), held, at_most_zero(match.broken))
    elif broken:
        at = next(i for i, value in enumerate(values, 1) if isinstance(value, Missing))
        yield Result(where, "one JSON object a line", f"line {at}: {broken[0].why}", held=False)
        return
    if match.count is not None:
        held = within(match.count, len(good))
        yield Result(f"{where}.count", f"{spoken(match.count)} lines", str(len(good)), held, at_most_zero(match.count))
    picked: list[tuple[str, int, Paths]] = [(f"at.{number}", number, paths) for number, paths in match.at.items()]
    picked += [(name, n, p) for name, n, p in (("first", 1, match.first), ("last", -1, match.last)) if p is not None]
    for name, number, paths in picked:
        yield from check_paths(f"{where}.{name}", pick(good, number, "lines"), paths, fresh)
    for i, paths in enumerate(match.any):
        held = any(fits(check_paths("", value, paths, fresh)) for value in good)
        yield Result(f"{where}.any.{i}", f"a line with {said_paths(paths, fresh)}", f"{len(good)} lines, none", held)
    for i, paths in enumerate(match.none):
        found = next((value for value in good if fits(check_paths("", value, paths, fresh))), NOTHING)
        words = f"no line with {said_paths(paths, fresh)}"
        yield Result(f"{where}.none.{i}", words, shorten(found), isinstance(found, Missing), negative=True)
    if match.every is not None:
        if not good:
            yield Result(f"{where}.every", "a line", "no line", held=False)
        for number, value in enumerate(good, 1):
            yield from check_paths(f"{where}.every.{number}", value, match.every, fresh)


def pick(items: Sequence[Any], number: int, what: str) -> Any:
    """The item of this number, from 1 or from the end by -1; Missing if there are not so many."""
    at = number - 1 if number > 0 else number
    return items[at] if -len(items) <= at < len(items) else Missing(f"only {len(items)} {what}")


def said_paths(paths: Paths, fresh: Fresh) -> str:
    """Dotted paths and what is wanted there, on one line."""
    return ", ".join(f"{path}: {said(match, fresh)}" for path, match in fresh.fill(paths).items())


def said(match: Strict, fresh: Fresh, limit: int = 100) -> str:
    """A matcher as the case writes it, filled in, on one line."""
    return shorten(terse(fresh.fill(match.model_dump(exclude_unset=True, by_alias=True))), limit)


def terse(value: Any) -> Any:
    """A matcher's plain data with its shorthands put back: `{equals: x}` is x, `{min: 2, max: 2}` is 2."""
    if isinstance(value, list):
        return [terse(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"equals"}:
        return value["equals"]
    if value.keys() == {"min", "max"} and value["min"] == value["max"] and float(value["min"]).is_integer():
        return int(value["min"])
    if value.keys() == {"one_of"} and len(value["one_of"]) == 1:
        return value["one_of"][0]
    return {key: terse(item) for key, item in value.items()}
