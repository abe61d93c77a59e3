"""`harness compare`: find the two sides, say what differs between them beside the code, and compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.harness.candidate import hash_tree
from triathlon.population.paired import Comparison, compare
from triathlon.population.read import CONDITION, Population, Seen


@dataclass(frozen=True)
class Sides:
    """Two candidates and how they compare; `differ` names conditions that are not the same for both."""

    a: Seen
    b: Seen
    gated: Comparison
    differ: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As `--json` prints it; rates and differences as shares."""
        sides = {
            name: {
                "candidate": side.member.name,
                "tree": side.member.tree,
                "started": side.started,
                "marks": side.marks,
            }
            for name, side in (("a", self.a), ("b", self.b))
        }
        return {**sides, "differ": self.differ, **asdict(self.gated)}


def find(population: Population, wanted: str) -> int:
    """The candidate meant: a folder (by its hash), the first digits of a tree's hash, or a name (its newest tree).

    Raises UsageError where none or more than one tree fits.
    """
    seen = population.seen
    path = Path(wanted)
    if path.is_dir():
        tree = hash_tree(path)
        found = [at for at, one in enumerate(seen) if one.member.tree == tree]
        if not found:
            raise UsageError(f"{wanted}: the store has no row of this tree ({tree[:12]}); evaluate it first")
        return found[0]
    named = [at for at, one in enumerate(seen) if one.member.name == wanted]
    if named:
        return max(named, key=lambda at: seen[at].started)
    hashed = [at for at, one in enumerate(seen) if len(wanted) >= 4 and one.member.tree.startswith(wanted)]
    if len(hashed) == 1:
        return hashed[0]
    if hashed:
        raise UsageError(f"{wanted}: more than one tree begins so; give more digits")
    names = ", ".join(dict.fromkeys(f"{one.member.name} ({one.member.tree[:12]})" for one in seen))
    raise UsageError(f"{wanted}: the store knows no such candidate, tree or folder; it knows {names}")


def against(first: Population, a: str, second: Population, b: str) -> Sides:
    """Compare candidate `a` of one population with `b` of another, over the same suite."""
    at, bt = find(first, a), find(second, b)
    sides = [_verdicts(first, at), _verdicts(second, bt)]
    families = {item.id: item.family for item in first.table.items}
    one, other = first.seen[at], second.seen[bt]
    return Sides(one, other, compare(sides[0], sides[1], families), _differ(one, other))


def _verdicts(population: Population, at: int) -> dict[str, bool]:
    cells = zip(population.table.items, population.verdicts[at], strict=True)
    return {item.id: verdict == "passed" for item, verdict in cells if verdict != "none"}


def _differ(a: Seen, b: Seen) -> tuple[str, ...]:
    found = []
    for name in ("spec", *CONDITION):
        values: Sequence[set[str]] = [
            {str(getattr(row, name, None) or getattr(row.key, name, "")) for rows in side.rows.values() for row in rows}
            for side in (a, b)
        ]
        if values[0] != values[1]:
            found.append(name)
    return tuple(found) + (("marks",) if a.marks != b.marks else ())
