"""Pass rates: mean and standard deviation over a model's builds, by any part of the suite, by family, with ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from triathlon.population.table import Table

DRAWS = 1000
SEED = 20261130
LEVEL = 0.95


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (n - 1) of `n` values; a value is None where it is undefined."""

    mean: float | None
    sd: float | None
    n: int


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


def spread(values: Sequence[float | None]) -> Spread:
    """Mean of the values there are; the deviation needs two of them."""
    there = [value for value in values if value is not None]
    if not there:
        return Spread(None, None, 0)
    mean = math.fsum(there) / len(there)
    if len(there) < 2:
        return Spread(mean, None, len(there))
    return Spread(mean, math.sqrt(math.fsum((x - mean) ** 2 for x in there) / (len(there) - 1)), len(there))


def by_model(table: Table) -> dict[str, Spread]:
    """Each model's pass rate over its builds, as the paper gives it."""
    return {model: spread([table.rates[at] for at in table.builds_of(model)]) for model in table.models}


def by_part(table: Table, part: str) -> dict[str, dict[str, Spread]]:
    """Part, then model. `part` is category, kind, origin or family."""
    names = dict.fromkeys(str(getattr(item, part)) for item in table.items)
    return {name: by_model(table.where(lambda item, n=name: str(getattr(item, part)) == n)) for name in names}  # type: ignore[misc]


def ranks(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Rank of each, 1 for the highest; equal values share the mean of their places; None keeps None."""
    there = sorted(((value, name) for name, value in values.items() if value is not None), reverse=True)
    found: dict[str, float | None] = dict.fromkeys(values)
    at = 0
    while at < len(there):
        end = at
        while end < len(there) and there[end][0] == there[at][0]:
            end += 1
        for _, name in there[at:end]:
            found[name] = (at + 1 + end) / 2
        at = end
    return found


def rank_by_category(table: Table) -> dict[str, dict[str, float | None]]:
    """Category, then model: the model's rank there by its mean."""
    parts = by_part(table, "category")
    return {name: ranks({model: found.mean for model, found in models.items()}) for name, models in parts.items()}


def family_weighted(table: Table) -> list[float | None]:
    """Of each candidate the mean over families of its rate in the family, so that many variations weigh as one case."""
    rates: list[float | None] = []
    for at in range(len(table.members)):
        parts = []
        for places in table.families().values():
            known = [i for i in places if table.known[at, i]]
            if known:
                parts.append(sum(bool(table.passed[at, i]) for i in known) / len(known))
        rates.append(math.fsum(parts) / len(parts) if parts else None)
    return rates


@dataclass(frozen=True)
class Gating:
    """What the controls did to one candidate: cases that passed alone, and how many of them a control took away."""

    ungated: float | None
    gated: float | None
    taken: int


def gating(table: Table) -> list[Gating]:
    """The effect of the gate on each candidate."""
    free, taken = table.without_gate().rates, (table.ungated & ~table.passed).sum(axis=1)
    return [Gating(free[at], table.rates[at], int(taken[at])) for at in range(len(table.members))]


def intervals(table: Table, draws: int = DRAWS) -> dict[str, Interval | None]:
    """Each model's mean pass rate with a bootstrap interval over families: another suite of the same kind.

    Cases of one family fail together, so an interval over single cases would be too narrow. None below two families,
    or where a build lacks verdicts.
    """
    families = list(table.families().values())
    if len(families) < 2 or not table.known.all():
        return dict.fromkeys(table.models)
    counts = _draws(len(families), draws)
    sizes = np.array([len(places) for places in families], dtype=np.float64)
    drawn = counts @ sizes
    found: dict[str, Interval | None] = {}
    for model in table.models:
        rows = table.passed[table.builds_of(model)]
        right = np.array([rows[:, places].sum() / len(rows) for places in families], dtype=np.float64)
        low, high = np.quantile(counts @ right / drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        found[model] = Interval(float(low), float(high))
    return found


def _draws(size: int, draws: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """(draws, size): how often each unit is drawn in each resample."""
    rng = np.random.default_rng(SEED)
    return rng.multinomial(size, np.full(size, 1 / size), size=draws).astype(np.float64)


@dataclass(frozen=True)
class Stability:
    """How firm one model's rank is: the middle and the 95 % range of its ranks over resamples, and how often first."""

    rank: float | None
    median: float | None
    low: float | None
    high: float | None
    first: float | None
    """Share of resamples in which it is at the top (a shared top counts as its share)."""


def rank_stability(table: Table, draws: int = DRAWS) -> dict[str, Stability]:
    """Ranks when case families, and each model's builds, are drawn again with replacement.

    Undefined below two families or two models, or where a build lacks verdicts.
    """
    now = ranks({model: found.mean for model, found in by_model(table).items()})
    families = list(table.families().values())
    if len(families) < 2 or len(table.models) < 2 or not table.known.all():
        return {model: Stability(now[model], None, None, None, None) for model in table.models}
    counts = _draws(len(families), draws)
    drawn = counts @ np.array([len(places) for places in families], dtype=np.float64)
    right = np.array([[row[places].sum() for places in families] for row in table.passed], dtype=np.float64)
    scores = counts @ right.T / drawn[:, None]
    rng = np.random.default_rng(SEED + 1)
    by_draw = np.empty((draws, len(table.models)))
    for at, model in enumerate(table.models):
        builds = np.array(table.builds_of(model))
        picked = builds[rng.integers(0, len(builds), (draws, len(builds)))]
        by_draw[:, at] = np.take_along_axis(scores, picked, axis=1).mean(axis=1)
    rounded = np.round(by_draw, 12)  # equal scores reached by another order of adding are equal
    above = (rounded[:, None, :] > rounded[:, :, None]).sum(axis=2)
    level = (rounded[:, None, :] == rounded[:, :, None]).sum(axis=2)
    placed = above + (level + 1) / 2
    tops = np.where(above == 0, 1 / level, 0.0)
    found = {}
    for at, model in enumerate(table.models):
        low, median, high = (float(q) for q in np.quantile(placed[:, at], [0.025, 0.5, 0.975]))
        found[model] = Stability(now[model], median, low, high, float(tops[:, at].mean()))
    return found
