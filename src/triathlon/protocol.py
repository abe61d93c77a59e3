"""The frozen numbers of a standard run (`protocol.toml`), their hash, and what a run changed."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError

FILE = Path(__file__).with_name("protocol.toml")
# These two stand in a result row by themselves: another seed or one more repetition is no other protocol.
IN_THE_ROW = ("evaluate.seed", "evaluate.repetitions")


@dataclass(frozen=True)
class Protocol:
    """The numbers of one run.

    `numbers` maps dotted names (`evaluate.case_timeout_s`) to values; `changed` maps the names that this run changed to
    the standard's value.
    """

    numbers: Mapping[str, Any]
    changed: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]

    def change(self, name: str, value: Any) -> Protocol:
        """The same with one number changed; `value` None leaves it. Raises UsageError for a name that is none."""
        if name not in self.numbers:
            raise UsageError(f"protocol: no number is called {name}; known: {', '.join(sorted(self.numbers))}")
        if value is None or value == self.numbers[name]:
            return self
        standard = self.changed.get(name, self.numbers[name])
        changed = {key: old for key, old in self.changed.items() if key != name}
        if value != standard:
            changed[name] = standard
        return replace(self, numbers={**self.numbers, name: value}, changed=changed)

    @property
    def sha256(self) -> str:
        """Hash of every number but seed and repetitions, which a result row carries by themselves."""
        kept = {name: value for name, value in self.numbers.items() if name not in IN_THE_ROW}
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()

    @property
    def non_standard(self) -> list[str]:
        """One line per changed number; empty for a standard run."""
        return [f"{name} = {self.numbers[name]!r} (standard: {self.changed[name]!r})" for name in sorted(self.changed)]

    @property
    def label(self) -> str:
        """`standard`, or `non-standard: ` and the changed numbers."""
        return "standard" if not self.changed else "non-standard: " + "; ".join(self.non_standard)


@cache
def load() -> Protocol:
    """The standard's numbers."""
    tables = tomllib.loads(FILE.read_text("utf-8"))
    return Protocol({f"{table}.{name}": value for table, values in tables.items() for name, value in values.items()})
