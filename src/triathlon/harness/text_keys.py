"""Single keys of a text matcher: what each wants, in words, and whether a text fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from triathlon.harness.fresh import Fresh
from triathlon.harness.match import SHOWN, at_most_zero, shorten, spoken, within


def text_key(name: str, value: Any, text: str, fresh: Fresh) -> Iterator[tuple[str, bool, bool, str]]:
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
