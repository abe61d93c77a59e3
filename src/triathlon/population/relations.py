"""How numbers go together: correlation, partial correlation, variance between models, categories with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from triathlon.population.table import Table

TINY = 1e-12
"""Variance below this share of the squared size of the values is rounding, not variance."""


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's correlation; None below three pairs or where one side does not vary."""
    if len(x) != len(y):
        raise ValueError("both sides need as many values")
    if len(x) < 3:
        return None
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    da, db = a - a.mean(), b - b.mean()
    va, vb = float(da @ da), float(db @ db)
    if va <= TINY * max(float(a @ a), 1e-300) or vb <= TINY * max(float(b @ b), 1e-300):
        return None
    return max(-1.0, min(1.0, float(da @ db) / math.sqrt(va * vb)))


def partial(x: Sequence[float], y: Sequence[float], given: Sequence[float]) -> float | None:
    """Correlation of x and y with `given` held constant; None below four rows or where it has no value."""
    xy, xz, yz = pearson(x, y), pearson(x, given), pearson(y, given)
    if len(x) < 4 or xy is None or xz is None or yz is None:
        return None
    left = (1 - xz * xz) * (1 - yz * yz)
    if left <= TINY:
        return None
    return max(-1.0, min(1.0, (xy - xz * yz) / math.sqrt(left)))


def without_each(
    groups: Sequence[str], x: Sequence[float], y: Sequence[float], given: Sequence[float]
) -> dict[str, float | None]:
    """The partial correlation with each group (model) left out in turn."""
    found = {}
    for name in dict.fromkeys(groups):
        kept = [at for at, group in enumerate(groups) if group != name]
        found[name] = partial([x[i] for i in kept], [y[i] for i in kept], [given[i] for i in kept])
    return found


@dataclass(frozen=True)
class Between:
    """Share of variance between groups. `eta` is eta squared (what the paper's 95.9 % is), `icc` the one-way ICC(1)."""

    eta: float | None
    icc: float | None


def between(groups: Sequence[str], values: Sequence[float]) -> Between:
    """Variance between groups against all; ICC(1) with the usual mean size where groups differ in size.

    Both None below two groups or without variance; ICC also None where no group has two values. It may be negative.
    """
    cells: dict[str, list[float]] = {}
    for group, value in zip(groups, values, strict=True):
        cells.setdefault(group, []).append(value)
    n, k = len(values), len(cells)
    if k < 2:
        return Between(None, None)
    grand = math.fsum(values) / n
    means = {name: math.fsum(cell) / len(cell) for name, cell in cells.items()}
    outer = math.fsum(len(cell) * (means[name] - grand) ** 2 for name, cell in cells.items())
    inner = math.fsum((v - means[name]) ** 2 for name, cell in cells.items() for v in cell)
    total = outer + inner
    if total <= TINY * max(math.fsum(v * v for v in values), 1e-300):
        return Between(None, None)
    eta = outer / total
    if n == k:
        return Between(eta, None)
    across, within = outer / (k - 1), inner / (n - k)
    size = (n - math.fsum(len(cell) ** 2 for cell in cells.values()) / n) / (k - 1)
    return Between(eta, (across - within) / (across + (size - 1) * within))


@dataclass(frozen=True)
class Matrix:
    """Correlations between categories; `values[a][b]`, None where undefined; `mean` over the pairs that have one."""

    names: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    mean: float | None
    pairs: int
    """Pairs with a value."""
    positive: int


def category_matrix(table: Table, over: str = "candidates") -> Matrix:
    """Correlation of the rates in each two categories, over `candidates` or over `models` (means of their builds)."""
    names = table.categories
    rates = []
    for name in names:
        column = table.where(lambda item, n=name: item.category == n).passed.mean(axis=1)  # type: ignore[misc]
        if over == "models":
            column = np.array([column[table.builds_of(model)].mean() for model in table.models])
        rates.append([float(r) for r in column])
    values = [[pearson(a, b) for b in rates] for a in rates]
    pairs = [v for i, j in combinations(range(len(names)), 2) if (v := values[i][j]) is not None]
    mean = math.fsum(pairs) / len(pairs) if pairs else None
    return Matrix(names, tuple(map(tuple, values)), mean, len(pairs), sum(v > 0 for v in pairs))
