"""Reading a list of words by a table of flags. (argparse would cost a third of the start-up.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .types import UsageError


class Flag(NamedTuple):
    """One flag. `kind`: "switch" (no value), "text", "texts" (repeatable), "optional" (its value may be left out),
    "whole" or "number".
    """

    names: tuple[str, ...]
    kind: str = "switch"
    value: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return self.names[-1].removeprefix("--").replace("-", "_")


def read(words: Sequence[str], flags: Sequence[Flag], positions: Sequence[str] = ()) -> dict[str, Any]:
    """The values by key, and the other words by the names in `positions`; what is not given is not in it.

    A value is the next word or stands after `=`; `--` ends the flags. Raises UsageError.
    """
    by_name = {name: flag for flag in flags for name in flag.names}
    given: dict[str, Any] = {}
    loose: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            loose += rest
            break
        if not _is_flag(word):
            loose.append(word)
            continue
        name, equals, text = word.partition("=")
        flag = by_name.get(name)
        if flag is None:
            raise UsageError(f"unknown flag {name}")
        value: str | None = text if equals else None
        if value is None and flag.kind != "switch" and rest and not _is_flag(rest[0]):
            value = rest.pop(0)
        _take(given, flag, name, value)
    if len(loose) > len(positions):
        raise UsageError(f"unknown word {loose[len(positions)]}")
    return given | dict(zip(positions, loose, strict=False))


def listing(flags: Sequence[Flag]) -> str:
    """The flags as `--help` shows them."""
    rows = [(f"  {', '.join(flag.names)}{' ' + flag.value if flag.value else ''}", flag.help) for flag in flags]
    return "\n".join(f"{left:<34}{help}" for left, help in rows)


def _is_flag(word: str) -> bool:
    """`-x` and `--x=y` are; `-`, negative numbers and texts that begin with a dash are not."""
    if not word.startswith("-") or word == "-":
        return False
    return not (word[1:].replace(".", "", 1).isdecimal() or " " in word.partition("=")[0])


def _take(given: dict[str, Any], flag: Flag, name: str, value: str | None) -> None:
    if flag.kind == "switch":
        if value is not None:
            raise UsageError(f"{name} takes no value")
        given[flag.key] = True
        return
    if value is None and flag.kind == "optional":
        value = ""
    if value is None:
        raise UsageError(f"{name} needs a value: {flag.value}")
    if flag.choices and value not in flag.choices:
        raise UsageError(f"{name}: {value!r} is not one of {', '.join(flag.choices)}")
    if flag.kind == "texts":
        given.setdefault(flag.key, []).append(value)
    else:
        given[flag.key] = _number(name, flag.kind, value) if flag.kind in ("whole", "number") else value


def _number(name: str, kind: str, value: str) -> float:
    try:
        return int(value) if kind == "whole" else float(value)
    except ValueError:
        raise UsageError(f"{name}: {value!r} is not a {kind if kind == 'number' else 'whole number'}") from None
