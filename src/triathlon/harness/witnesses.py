"""Who passes a case: what a store knows of it. A case that the reference alone passes is not confirmed by anybody."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triathlon.harness.case import Case, Suite
from triathlon.store import Row, Store

REFERENCE = "reference"
NO_WITNESS = ("mutant:",)
"""Candidates whose names begin so are made from the reference: that they pass confirms nothing."""


@dataclass(frozen=True)
class Witness:
    """A candidate that passes a case with all its controls."""

    name: str
    tree: str

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"name": self.name, "tree_sha256": self.tree}


def witnesses(store: Store, suite: Suite) -> dict[str, tuple[Witness, ...]]:
    """By case, the candidates whose newest verdicts on it, as it is now, and on all its controls are passes."""
    wanted = {case_key(case): case.id for case in (*suite.cases, *suite.controls.values())}
    newest: dict[str, dict[str, Row]] = {}
    for row in store.rows():
        name = wanted.get(row.key.case)
        if name is not None and not row.candidate.startswith(NO_WITNESS):
            newest.setdefault(row.key.tree, {})[name] = row
    found: dict[str, list[Witness]] = {case.id: [] for case in suite.cases}
    for tree, rows in newest.items():
        for case in suite.cases:
            own = rows.get(case.id)
            if own is not None and all(name in rows and rows[name].passed for name in (case.id, *case.controls)):
                found[case.id].append(Witness(own.candidate, tree))
    return {name: tuple(sorted(those, key=lambda one: (one.name, one.tree))) for name, those in found.items()}


def case_key(case: Case) -> str:
    """How a row of the store says which case it is about."""
    return hashlib.sha256(f"{case.id} {case.sha256}".encode()).hexdigest()


def is_unconfirmed(those: Sequence[Witness]) -> bool:
    """Whether the reference passes and nobody else does."""
    return bool(those) and all(one.name == REFERENCE for one in those)


def unconfirmed(known: Mapping[str, Sequence[Witness]]) -> list[str]:
    """The cases that the reference alone passes."""
    return [name for name, those in known.items() if is_unconfirmed(those)]
