"""From a store to a population: which rows belong together, and what each says once its controls are counted.

A population is taken of one suite (by the hashes of its cases, so a row counts exactly as long as its case is
unchanged) and one protocol. Of each candidate it takes one tree under one condition: the newest. What is left out, and
what is not the same for all candidates, is named, never hidden.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from triathlon.errors import NothingToDo
from triathlon.harness.case import Case, Suite
from triathlon.harness.gate import gate
from triathlon.population.builds import Build
from triathlon.population.table import Item, Member, Table
from triathlon.store import Row, Store

Verdict = Literal["passed", "failed", "gated", "none"]
CONDITION = ("runner", "protocol", "provider", "root", "seed")


@dataclass(frozen=True)
class Seen:
    """One candidate and its rows: of each case or control every repetition, last attempts only."""

    member: Member
    rows: Mapping[str, Sequence[Row]]
    started: str = ""
    marks: tuple[str, ...] = ()
    """Changed protocol numbers and other marks of its runs."""

    def passes(self, unit: str) -> bool | None:
        """Whether a case or control passed in every repetition; None if it was not run."""
        rows = self.rows.get(unit)
        return all(row.passed for row in rows) if rows else None

    def telling(self, unit: str) -> Row | None:
        """The row to show: the first repetition that failed, else the first."""
        rows = self.rows.get(unit)
        return next((row for row in rows if not row.passed), rows[0]) if rows else None


@dataclass(frozen=True)
class Population:
    """Candidates over the cases of a suite. `verdicts[i][j]` is of candidate i on case j."""

    suite: Suite
    seen: tuple[Seen, ...]
    table: Table
    verdicts: tuple[tuple[Verdict, ...], ...]
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    """What the store holds besides, one line each."""

    @property
    def mixed(self) -> tuple[str, ...]:
        """Conditions that are not the same for all candidates."""
        return tuple(name for name, values in self.conditions.items() if len(values) > 1)


def unit_hash(unit: Case) -> str:
    """What a row's key holds for a case or control as it is now (as `harness.run.Plan.key` makes it)."""
    return hashlib.sha256(f"{unit.id} {unit.sha256}".encode()).hexdigest()


def population(
    store: Store, suite: Suite, builds: Sequence[Build] = (), *, every_tree: bool = False, any_protocol: bool = False
) -> Population:
    """The population of a store over a suite. Raises NothingToDo if no row is of one of the suite's cases.

    Without `builds` each name is one candidate: its newest tree. With them each tree that an entry fits is one. With
    `every_tree` each tree is one. `any_protocol` lets trees of different protocols stand side by side.
    """
    known = {unit_hash(unit) for unit in (*suite.cases, *suite.controls.values())}
    every = store.rows()
    rows = [row for row in every if row.key.case in known]
    if not rows:
        other = f"; it holds {len(every)} rows of other cases or of older texts of these" if every else ""
        raise NothingToDo(f"{store.path}: no row is of a case of this suite{other}")
    left_out = (
        [f"{len(every) - len(rows)} rows of other cases or of older texts of them"] if len(every) > len(rows) else []
    )
    if not any_protocol:
        newest = max(rows, key=lambda row: row.started).key.protocol
        kept = [row for row in rows if row.key.protocol == newest]
        if len(kept) < len(rows):
            left_out.append(f"{len(rows) - len(kept)} rows under another protocol than {newest[:8]}")
        rows = kept
    seen = _seen(rows, builds, every_tree, left_out)
    verdicts = tuple(tuple(_verdict(one, case) for case in suite.cases) for one in seen)
    return Population(suite, seen, _table(suite, seen, verdicts), verdicts, _conditions(seen, suite), tuple(left_out))


def _seen(rows: Iterable[Row], builds: Sequence[Build], every_tree: bool, left_out: list[str]) -> tuple[Seen, ...]:
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.key.tree, *(getattr(row.key, name) for name in CONDITION)), []).append(row)
    candidates: dict[str, Seen] = {}
    for group in sorted(groups.values(), key=lambda group: max(row.started for row in group)):
        newest = max(group, key=lambda row: row.started)
        name, tree = newest.candidate, newest.key.tree
        build = next((build for build in builds if build.fits(name, tree)), None)
        by_name = not every_tree and not (build is not None and build.tree is not None)
        known_as = name if by_name else tree
        if known_as in candidates:
            old = candidates[known_as]
            left_out.append(f"an earlier run of {name}: tree {old.member.tree[:12]}, {old.started[:19]}")
        member = Member(
            name, tree, build.model if build else "", build.build if build else 1, build.facts if build else {}
        )
        marks = tuple(dict.fromkeys(mark for row in group for mark in row.facts.get("non_standard", ())))
        candidates[known_as] = Seen(member, _units(group), newest.started, marks)
    return tuple(
        sorted(candidates.values(), key=lambda one: (one.member.builder_model, one.member.build, one.member.tree))
    )


def _units(rows: Iterable[Row]) -> dict[str, list[Row]]:
    last: dict[tuple[str, int], Row] = {}
    for row in rows:
        at = (row.case_id, row.key.repetition)
        if at not in last or row.key.attempt > last[at].key.attempt:
            last[at] = row
    units: dict[str, list[Row]] = {}
    for (name, _), row in sorted(last.items()):
        units.setdefault(name, []).append(row)
    return units


def _verdict(one: Seen, case: Case) -> Verdict:
    passed = {name: one.passes(name) for name in (case.id, *case.controls)}
    known = {name: value for name, value in passed.items() if value is not None}
    if case.id in known and not known[case.id]:
        return "failed"  # whatever its controls say
    return gate(case, known).status if len(known) == len(passed) else "none"


def _table(suite: Suite, seen: Sequence[Seen], verdicts: Sequence[Sequence[Verdict]]) -> Table:
    items = tuple(
        Item(case.id, case.category, case.kind or "", origin_of(case), case.group, bool(case.controls), case.clauses)
        for case in suite.cases
    )
    shape = (len(seen), len(items))
    cells = np.array(verdicts, dtype="U6").reshape(shape)
    return Table(
        members=tuple(one.member for one in seen),
        items=items,
        passed=cells == "passed",
        ungated=(cells == "passed") | (cells == "gated"),
        known=cells != "none",
    )


def origin_of(case: Case) -> str:
    """issue, diff, vary or spec."""
    if case.origin is None:
        return "spec"
    return next(name for name in ("issue", "diff", "vary", "spec") if getattr(case.origin, name) is not None)


def _conditions(seen: Sequence[Seen], suite: Suite) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {"spec": {}, "suite": {suite.sha256: None}}
    found |= {name: {} for name in (*CONDITION, "triathlon", "marks")}
    for one in seen:
        for rows in one.rows.values():
            for row in rows:
                found["spec"][row.spec] = None
                found["triathlon"][str(row.facts.get("triathlon", ""))] = None
                for name in CONDITION:
                    found[name][str(getattr(row.key, name))] = None
        found["marks"]["; ".join(one.marks)] = None
    return {name: tuple(sorted(values)) for name, values in found.items()}
