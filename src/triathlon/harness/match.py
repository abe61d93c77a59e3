"""What matchers are made of: results, amounts, looking into JSON, and showing anything on one short line.

Everything here looks at what a candidate made: it may be huge, deep, or no text at all, and must not break the judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from triathlon.harness.expect import Amount, Paths
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
