"""From answers to numbers: means by length, group, task, type and source, with intervals over windows.

Windows are the clusters: the 25 questions of one window share its text, so an interval over questions would be too
narrow. A mean needs at least one answer; an interval at least two windows, else it is None ("undefined").
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

DRAWS = 1000
SEED = 20261130

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its 95 % interval (None: undefined), its number of questions and of windows."""

    value: float
    low: float | None
    high: float | None
    questions: int
    windows: int


def mean(
    records: Sequence[Record], value: Callable[[Record], float] = lambda record: float(record["score"])
) -> Mean | None:
    """The mean over questions with a bootstrap interval over windows; None without any answer."""
    if not records:
        return None
    clusters: dict[str, list[float]] = {}
    for record in records:
        clusters.setdefault(f"{record['dataset']}/{record['window']}", []).append(value(record))
    sums = [(sum(values), len(values)) for _, values in sorted(clusters.items())]
    total = sum(part for part, _ in sums) / sum(count for _, count in sums)
    low, high = _interval(sums)
    return Mean(total, low, high, len(records), len(sums))


def _interval(sums: Sequence[tuple[float, int]]) -> tuple[float | None, float | None]:
    if len(sums) < 2:
        return None, None
    rng = random.Random(SEED)
    draws = []
    for _ in range(DRAWS):
        chosen = rng.choices(sums, k=len(sums))
        draws.append(sum(part for part, _ in chosen) / sum(count for _, count in chosen))
    draws.sort()
    return draws[int(0.025 * DRAWS)], draws[int(0.975 * DRAWS) - 1]


def by(records: Iterable[Record], column: str) -> dict[str, list[Record]]:
    """Records by the value of a column, in the column's order."""
    groups: dict[Any, list[Record]] = {}
    for record in records:
        groups.setdefault(record[column], []).append(record)
    return {str(key): groups[key] for key in sorted(groups, key=lambda key: (str(type(key)), key))}


def quantile(values: Sequence[float], share: float) -> float | None:
    """The value at a share of the sorted values (nearest rank); None without any."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def summary(records: Sequence[Record], flagged: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Everything a report shows of one condition. `flagged` are the ids the audit does not trust."""
    clean = [record for record in records if record["id"] not in flagged]
    return {
        "model": records[0]["model"],
        "agent": records[0]["agent"],
        "profile": records[0]["profile"],
        "labels": records[0]["labels"],
        "simulated": records[0]["simulated"],
        "scored_by": sorted({record["scored_by"] for record in records}),
        "score": _shown(mean(records)),
        "score_without_flagged": _shown(mean(clean)),
        "flagged": len(records) - len(clean),
        "perfect": _shown(mean(records, lambda record: float(record["score"] >= 1.0))),
        "lenient": _shown(mean(records, lambda record: float(record["lenient"]))),
        "format_loss": fmean(record["lenient"] - record["score"] for record in records),
        "by": {
            column: {name: _shown(mean(group)) for name, group in by(records, column).items()}
            for column in ("context_len", "task_group", "task", "answer_type", "dataset")
        },
        "status": dict(Counter(record["status"] for record in records)),
        "confidence": dict(Counter(str(record["confidence"]) for record in records)),
        "calls": _spread([record["calls"] for record in records]),
        "tokens": _spread([record["input_tokens"] + record["output_tokens"] for record in records]),
        "seconds": _spread([record["seconds"] for record in records]),
        "cost": _spread([record["cost"] for record in records if record["cost"] is not None]),
    }


def _shown(found: Mean | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "mean": found.value,
        "low": found.low,
        "high": found.high,
        "questions": found.questions,
        "windows": found.windows,
    }


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    return {
        "total": sum(values) if values else None,
        "p50": quantile(values, 0.5),
        "p95": quantile(values, 0.95),
    }


def difference(first: Sequence[Record], second: Sequence[Record]) -> dict[str, Any] | None:
    """Paired difference (first minus second) over the ids both have, with an interval over windows; None if none."""
    other = {record["id"]: record for record in second}
    pairs = [record for record in first if record["id"] in other]
    found = mean(pairs, lambda record: record["score"] - other[record["id"]]["score"])
    return None if found is None else _shown(found)


def matrix(groups: dict[tuple[str, str], Sequence[Record]]) -> dict[str, Any]:
    """Harness x model: the mean of each cell, and the share of variance each axis explains (crossed, with interaction).

    Keys are (agent, model). The shares are of the variation between cell means over the questions all cells share;
    below 2 x 2, with empty cells, or without any variation they are None ("undefined").
    """
    agents = sorted({agent for agent, _ in groups})
    models = sorted({model for _, model in groups})
    cells = {f"{agent} | {model}": _shown(mean(list(records))) for (agent, model), records in groups.items()}
    result: dict[str, Any] = {"agents": agents, "models": models, "cells": cells, "shares": None}
    complete = len(groups) == len(agents) * len(models)
    if len(agents) < 2 or len(models) < 2 or not complete:
        return result
    shared = set.intersection(*({record["id"] for record in records} for records in groups.values()))
    if not shared:
        return result
    scores = {
        key: {record["id"]: float(record["score"]) for record in records if record["id"] in shared}
        for key, records in groups.items()
    }
    window = {r["id"]: f"{r['dataset']}/{r['window']}" for records in groups.values() for r in records}
    result["shares"] = _shares(scores, agents, models, sorted(shared))
    if result["shares"] is not None:
        result["shares"]["interval"] = _share_intervals(scores, agents, models, sorted(shared), window)
    result["questions"] = len(shared)
    return result


def _shares(
    scores: dict[tuple[str, str], dict[str, float]], agents: Sequence[str], models: Sequence[str], ids: Sequence[str]
) -> dict[str, Any] | None:
    """Shares of the variance of cell means: agent, model and their interaction (two-way, one value a cell)."""
    cell = {key: fmean(values[i] for i in ids) for key, values in scores.items()}
    grand = fmean(cell.values())
    rows = {agent: fmean(cell[agent, model] for model in models) for agent in agents}
    columns = {model: fmean(cell[agent, model] for agent in agents) for model in models}
    by_agent = len(models) * sum((value - grand) ** 2 for value in rows.values())
    by_model = len(agents) * sum((value - grand) ** 2 for value in columns.values())
    total = sum((value - grand) ** 2 for value in cell.values())
    if total <= 1e-15:
        return None
    inter = sum((cell[a, m] - rows[a] - columns[m] + grand) ** 2 for a in agents for m in models)
    return {"agent": by_agent / total, "model": by_model / total, "interaction": inter / total}


def _share_intervals(
    scores: dict[tuple[str, str], dict[str, float]],
    agents: Sequence[str],
    models: Sequence[str],
    ids: Sequence[str],
    window: dict[str, str],
) -> dict[str, list[float]] | None:
    windows: dict[str, list[str]] = {}
    for i in ids:
        windows.setdefault(window[i], []).append(i)
    if len(windows) < 2:
        return None
    rng, names, draws = random.Random(SEED), sorted(windows), []
    for _ in range(200):
        drawn = [i for name in rng.choices(names, k=len(names)) for i in windows[name]]
        found = _shares(scores, agents, models, drawn)
        if found is not None:
            draws.append(found)
    if not draws:
        return None
    out = {}
    for part in ("agent", "model", "interaction"):
        values = sorted(draw[part] for draw in draws)
        out[part] = [values[int(0.025 * len(values))], values[max(0, int(0.975 * len(values)) - 1)]]
    return out
