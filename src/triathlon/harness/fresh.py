"""Fresh values: marker words, secrets and numbers that a seed decides, so that no answer can be known beforehand.

In a case file, `{{marker}}` and `{{marker:NAME}}` are words, `{{secret}}` a key-like text, `{{number}}` six digits;
each is another in every case and for every seed. `{{workspace}}` and its like are places, known once the sandbox is
open. A name from a `capture` step is known once that step is done. A literal `{{` is written `{{{{`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from triathlon.errors import UsageError

MADE = ("marker", "secret", "number")
PLACES = ("workspace", "workspace_name", "outside", "home", "state", "tmp", "stubs", "endpoint")
PLACEHOLDER = re.compile(r"\{\{\{\{|\{\{([^{}\n]*)\}\}|\{\{")
NAME = re.compile(r"[a-z][a-z0-9_]*(:[a-zA-Z0-9_-]+)?")
CONSONANTS, VOWELS = "bdfgjklmnprstvz", "aeiou"
SECRET_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"

T = TypeVar("T")


class UnknownPlaceholder(UsageError):
    """A placeholder without a value: misspelt, or its `capture` has not been done."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown placeholder {{{{{name}}}}}" if name else "`{{` without a name: write `{{{{`")
        self.name = name


class Fresh:
    """The values of one run of one case. Threads may fill while another captures."""

    def __init__(self, seed: int | str, case: str, places: Mapping[str, str] | None = None) -> None:
        self._key = f"{seed}\0{case}"
        self._known: dict[str, str] = dict(places or {})

    def bind(self, values: Mapping[str, str]) -> None:
        """Give places their paths, or captured names their values."""
        for name, value in values.items():
            self._known[name] = value

    def value(self, name: str) -> str:
        """The value of a placeholder. Raises UnknownPlaceholder."""
        known = self._known.get(name)
        if known is not None:
            return known
        kind = name.partition(":")[0]
        if kind not in MADE or not NAME.fullmatch(name):
            raise UnknownPlaceholder(name)
        made = _make(kind, hashlib.sha512(f"{self._key}\0{name}".encode()).digest())
        self._known[name] = made
        return made

    def fill(self, value: T, quote: Callable[[str], str] = str) -> T:
        """The same value with every placeholder in every text filled in; `quote` is applied to what is put in.

        Takes texts, lists, mappings (keys too) and pydantic objects of any depth. Raises UnknownPlaceholder.
        """
        return self._fill(value, quote)  # type: ignore[no-any-return]

    def _fill(self, value: Any, quote: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return self._text(value, quote) if "{{" in value else value
        if isinstance(value, dict):
            return {self._fill(k, quote): self._fill(v, quote) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._fill(item, quote) for item in value)
        if isinstance(value, BaseModel):
            given = {name: self._fill(getattr(value, name), quote) for name in value.model_fields_set}
            changed = {name: new for name, new in given.items() if new is not getattr(value, name)}
            return value.model_copy(update=changed) if changed else value
        return value

    def _text(self, text: str, quote: Callable[[str], str]) -> str:
        def put(match: re.Match[str]) -> str:
            if match[0] == "{{{{":
                return "{{"
            return quote(self.value(match[1] or ""))

        return PLACEHOLDER.sub(put, text)


def placeholders(value: Any) -> Iterator[str]:
    """The names of all placeholders in all texts of a value; an empty one for a `{{` that names none."""
    if isinstance(value, str):
        if "{{" in value:
            yield from (match[1] or "" for match in PLACEHOLDER.finditer(value) if match[0] != "{{{{")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from placeholders(key)
            yield from placeholders(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from placeholders(item)
    elif isinstance(value, BaseModel):
        for name in value.model_fields_set:
            yield from placeholders(getattr(value, name))


def known_name(name: str) -> bool:
    """Whether a placeholder is one of those every case has."""
    return name in PLACES or (name.partition(":")[0] in MADE and NAME.fullmatch(name) is not None)


def _make(kind: str, bits: bytes) -> str:
    number = int.from_bytes(bits, "big")
    if kind == "number":
        return str(100_000 + number % 900_000)
    if kind == "secret":
        return "key-" + "".join(_draw(number, SECRET_SIGNS) for number in _split(number, 24))
    pairs = ((CONSONANTS, VOWELS)[i % 2] for i in range(10))
    return "".join(_draw(number, signs) for number, signs in zip(_split(number, 10), pairs, strict=True))


def _split(number: int, parts: int) -> Iterator[int]:
    for _ in range(parts):
        yield number & 0xFFFF
        number >>= 16


def _draw(number: int, signs: str) -> str:
    return signs[number % len(signs)]
