"""The table every statistic is taken over: candidates by cases, each cell passed, failed or without a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Item:
    """One case, as far as the statistics need it. `family` is a case with its variations; `origin` one word."""

    id: str
    category: str
    kind: str
    origin: str = "spec"
    group: str = ""
    gated: bool = False
    clauses: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The unit that fails together: the group."""
        return self.group or self.id.partition("/")[0]


@dataclass(frozen=True)
class Member:
    """One candidate: a tree, the model that built it, and which of the model's builds it is."""

    name: str
    tree: str = ""
    model: str = ""
    build: int = 1
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Builder, turns, tokens, cost, wall_s, accepted, measures, marks: whatever is known."""

    @property
    def builder_model(self) -> str:
        """The model, or the candidate's own name where none is known."""
        return self.model or self.name


@dataclass(frozen=True)
class Table:
    """Shapes: `passed` (with controls), `ungated` and `known` are all (members, items)."""

    members: tuple[Member, ...]
    items: tuple[Item, ...]
    passed: Flags
    ungated: Flags
    known: Flags

    @classmethod
    def of(
        cls, members: Sequence[Member], items: Sequence[Item], passed: Any, ungated: Any = None, known: Any = None
    ) -> Table:
        """A table from nested sequences. Raises ValueError where the shapes do not fit."""
        shape = (len(members), len(items))
        right = np.asarray(passed, dtype=np.bool_).reshape(shape)
        alone = right if ungated is None else np.asarray(ungated, dtype=np.bool_).reshape(shape)
        there = np.ones(shape, np.bool_) if known is None else np.asarray(known, dtype=np.bool_).reshape(shape)
        return cls(tuple(members), tuple(items), right & there, alone & there, there)

    def where(self, wanted: Callable[[Item], bool]) -> Table:
        """The same candidates over some of the cases."""
        return self.columns([at for at, item in enumerate(self.items) if wanted(item)])

    def columns(self, at: Sequence[int]) -> Table:
        """The same candidates over the cases at these places."""
        which = list(at)
        items = tuple(self.items[i] for i in which)
        return Table(self.members, items, self.passed[:, which], self.ungated[:, which], self.known[:, which])

    def rows(self, at: Sequence[int]) -> Table:
        """Some candidates over the same cases."""
        which = list(at)
        members = tuple(self.members[i] for i in which)
        return Table(members, self.items, self.passed[which], self.ungated[which], self.known[which])

    def full(self) -> Table:
        """What can be compared: candidates with as many verdicts as the fullest, over the cases all of them have."""
        if not self.members or not self.items:
            return self
        counts = self.known.sum(axis=1)
        rows = self.rows([int(i) for i in np.flatnonzero(counts == counts.max())])
        return rows.columns([int(i) for i in np.flatnonzero(rows.known.all(axis=0))])

    def without_gate(self) -> Table:
        """The same with controls left aside."""
        return replace(self, passed=self.ungated)

    @cached_property
    def rates(self) -> list[float | None]:
        """Pass rate of each candidate over the cases it has a verdict on; None where it has none."""
        counts, right = self.known.sum(axis=1), self.passed.sum(axis=1)
        return [float(r) / int(n) if n else None for r, n in zip(right, counts, strict=True)]

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Categories in the order of the cases."""
        return tuple(dict.fromkeys(item.category for item in self.items))

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Models in the order of the candidates."""
        return tuple(dict.fromkeys(member.builder_model for member in self.members))

    def builds_of(self, model: str) -> list[int]:
        """Places of a model's builds among the candidates."""
        return [at for at, member in enumerate(self.members) if member.builder_model == model]

    def families(self) -> dict[str, list[int]]:
        """Places of the cases of each family."""
        found: dict[str, list[int]] = {}
        for at, item in enumerate(self.items):
            found.setdefault(item.family, []).append(at)
        return found
