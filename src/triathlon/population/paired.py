"""Two candidates, or two runs, over the same cases: what changed, and whether that can be chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from triathlon.population.rates import DRAWS, SEED, Interval

FLIPS = 10_000
EXACT_UP_TO = 13
"""So many families can be flipped in all ways (8,192); more are drawn."""


@dataclass(frozen=True)
class Comparison:
    """B against A over the cases both have. `better` and `worse` are ids; rates are over `cases`.

    `interval` (95 %, over families) and the p values are None where undefined: no case changed, one family.
    """

    cases: int
    rate_a: float | None
    rate_b: float | None
    better: tuple[str, ...]
    worse: tuple[str, ...]
    difference: float | None
    interval: Interval | None
    mcnemar_p: float | None
    """Exact, two-sided: cases taken as independent, which variations are not."""
    permutation_p: float | None
    """Two-sided, over families: each family's changes are turned round together."""


def mcnemar(better: int, worse: int) -> float | None:
    """Exact two-sided McNemar test from the two counts of changed cases; None where nothing changed."""
    n = better + worse
    if not n:
        return None
    tail = sum(math.comb(n, i) for i in range(min(better, worse) + 1))
    return min(1.0, float(2 * tail / 2**n))


def sign_flips(sums: Sequence[int]) -> float | None:
    """Two-sided p of the sum under independent turns of each family's sum; exact for few, drawn for many.

    Drawn p values count the observed one as one of the draws, so that none is 0. None where no family changed.
    """
    changed = np.array([value for value in sums if value], dtype=np.int64)
    if not len(changed):
        return None
    seen = abs(int(changed.sum()))
    if len(changed) <= EXACT_UP_TO:
        signs = np.array(list(product((-1, 1), repeat=len(changed))), dtype=np.int64)
        return float((np.abs(signs @ changed) >= seen).mean())
    rng = np.random.default_rng(SEED)
    signs = rng.integers(0, 2, (FLIPS, len(changed))) * 2 - 1
    return (int((np.abs(signs @ changed) >= seen).sum()) + 1) / (FLIPS + 1)


def compare(a: Mapping[str, bool], b: Mapping[str, bool], families: Mapping[str, str]) -> Comparison:
    """Verdicts by case id, and the family of each case."""
    shared = [name for name in a if name in b]
    if not shared:
        return Comparison(0, None, None, (), (), None, None, None, None)
    better = tuple(name for name in shared if b[name] and not a[name])
    worse = tuple(name for name in shared if a[name] and not b[name])
    groups: dict[str, list[int]] = {}
    for name in shared:
        groups.setdefault(families[name], []).append(int(b[name]) - int(a[name]))
    return Comparison(
        cases=len(shared),
        rate_a=sum(a[name] for name in shared) / len(shared),
        rate_b=sum(b[name] for name in shared) / len(shared),
        better=better,
        worse=worse,
        difference=(len(better) - len(worse)) / len(shared),
        interval=_interval(list(groups.values())),
        mcnemar_p=mcnemar(len(better), len(worse)),
        permutation_p=sign_flips([sum(changes) for changes in groups.values()]),
    )


def _interval(groups: Sequence[Sequence[int]]) -> Interval | None:
    if len(groups) < 2:
        return None
    rng = np.random.default_rng(SEED)
    counts = rng.multinomial(len(groups), np.full(len(groups), 1 / len(groups)), size=DRAWS).astype(np.float64)
    sums = np.array([sum(group) for group in groups], dtype=np.float64)
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    low, high = np.quantile((counts @ sums) / (counts @ sizes), [0.025, 0.975])
    return Interval(float(low), float(high))
