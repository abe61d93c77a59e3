"""What the cases do: difficulty, item-rest correlation, floor and ceiling, and the gap between strong and weak."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from triathlon.population.relations import pearson
from triathlon.population.table import Floats, Table

SHARE = 0.27
Sort = Literal["floor", "ceiling", "discriminating"]


@dataclass(frozen=True)
class ItemStats:
    """One case over a population. `difficulty` is the share that pass; `rest` its correlation with the other cases."""

    id: str
    difficulty: float | None
    rest: float | None
    sort: Sort | None


def item_stats(table: Table) -> list[ItemStats]:
    """Every case; all undefined without a candidate."""
    totals = table.passed.sum(axis=1).astype(np.float64)
    found = []
    for at, item in enumerate(table.items):
        column = table.passed[:, at].astype(np.float64)
        if not len(column):
            found.append(ItemStats(item.id, None, None, None))
            continue
        right = int(column.sum())
        sort: Sort = "floor" if right == 0 else "ceiling" if right == len(column) else "discriminating"
        rest = pearson(column.tolist(), (totals - column).tolist())
        found.append(ItemStats(item.id, right / len(column), rest, sort))
    return found


@dataclass(frozen=True)
class Sorts:
    """How many cases nobody passes, everybody passes, and some pass."""

    floor: int
    ceiling: int
    discriminating: int


def sorts(table: Table) -> Sorts:
    """Counts over a table; with one candidate every case is floor or ceiling."""
    kinds = [stats.sort for stats in item_stats(table)] if len(table.items) else []
    return Sorts(kinds.count("floor"), kinds.count("ceiling"), kinds.count("discriminating"))


def strong_and_weak(totals: Sequence[float], share: float = SHARE) -> tuple[Floats, Floats] | None:
    """Weights (each adding to 1) of the strongest and the weakest `share` of candidates; None below two candidates.

    Each end holds max(1, round(share x n)) places. Candidates with equal totals at the cut share what is left of the
    places there, so that the gap does not hang on their order.
    """
    n = len(totals)
    if n < 2:
        return None
    places = max(1, math.floor(share * n + 0.5))
    values = np.asarray(totals, dtype=np.float64)
    return _top(values, places), _top(-values, places)


def _top(values: Floats, places: int) -> Floats:
    cut = np.sort(values)[::-1][places - 1]
    above, level = values > cut, values == cut
    weights = above.astype(np.float64)
    weights[level] = (places - above.sum()) / level.sum()
    shares: Floats = weights / places
    return shares


def gap(table: Table, totals: Sequence[float] | None = None) -> float | None:
    """Mean rate of the strong minus that of the weak, in 0..1; None below two candidates or without a case.

    Strong and weak are told by `totals`, by default the table's own rates. For a category the totals of the whole
    suite are given.
    """
    if not table.items or len(table.members) < 2:
        return None
    rates = table.passed.mean(axis=1)
    found = strong_and_weak([float(r) for r in rates] if totals is None else totals)
    return None if found is None else float(found[0] @ rates - found[1] @ rates)
