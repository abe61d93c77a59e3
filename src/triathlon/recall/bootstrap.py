"""Intervals by cluster bootstrap: whole contexts are drawn, because the targets of one text are not independent.

Every number here is a ratio of sums over contexts (or the lowest of several such ratios), so a draw is a count per
context and a thousand draws are one matrix product. The seed is fixed; both sides of a comparison get the same draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

DRAWS = 1000
SEED = 20_240
LEVEL = 95.0

Floats = npt.NDArray[np.float64]


def draws(contexts: int, seed: int = SEED) -> Floats:
    """How often each context is drawn: [DRAWS, contexts]."""
    rng = np.random.Generator(np.random.PCG64(seed))
    picked = rng.integers(0, contexts, size=(DRAWS, contexts))
    counts = np.zeros((DRAWS, contexts))
    for column in range(contexts):
        np.add.at(counts, (np.arange(DRAWS), picked[:, column]), 1.0)
    return counts


def ratio_draws(pairs: Mapping[str, tuple[float, float]], order: Sequence[str], least: float = 0.0) -> Floats:
    """The ratio sum(a) / sum(b) in every draw over the contexts of `order`; NaN where |sum(b)| is at most `least`."""
    table = np.array([pairs.get(name, (0.0, 0.0)) for name in order], dtype=np.float64).reshape(len(order), 2)
    sums = draws(len(order)) @ table
    out = np.full(DRAWS, np.nan)
    fine = np.abs(sums[:, 1]) > least
    out[fine] = sums[fine, 0] / sums[fine, 1]
    return out


def interval(values: Floats) -> tuple[float, float] | None:
    """The middle 95 % of the draws that have a value; None when fewer than half have one."""
    live = values[~np.isnan(values)]
    if len(live) * 2 < len(values) or not len(live):
        return None
    low, high = np.percentile(live, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    return float(low), float(high)


def lowest(columns: Sequence[Floats]) -> Floats:
    """Per draw the lowest of several ratios; NaN where none has a value."""
    if not columns:
        return np.full(DRAWS, np.nan)
    table = np.stack(columns)
    filled = np.where(np.isnan(table), np.inf, table).min(axis=0)
    result: Any = np.where(np.isinf(filled), np.nan, filled)
    return np.asarray(result, dtype=np.float64)
