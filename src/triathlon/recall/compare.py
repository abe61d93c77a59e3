"""`recall compare A B`: rows side by side with paired intervals, and the targets that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from triathlon.errors import UsageError
from triathlon.recall import bootstrap, metrics, rows
from triathlon.recall.items import CONFIGS, kind_of, length_key
from triathlon.recall.report import Effects
from triathlon.recall.scores import Record, Scores, target_of


def compare(a: Scores, b: Scores, reference: Scores | None = None) -> dict[str, Any]:
    """What changed from A to B. Rules are judged by `reference`, by A when none is given.

    Both must have been read from the same data in the same mode; only targets that both have are compared.
    """
    if a.mode != b.mode or a.thresholds != b.thresholds:
        raise UsageError(f"the two were read differently (modes {a.mode} and {b.mode})")
    for part in a.data.keys() & b.data.keys():
        if a.data[part] != b.data[part]:
            raise UsageError(f"the two were made from different data: {part}")
    first = {target_of(r): r for r in a.records}
    second = {target_of(r): r for r in b.records}
    common = [t for t in first if t in second]
    if not common:
        raise UsageError("the two have no target in common")
    effects = (Effects(a, reference or a), Effects(b, reference or a))
    groups: dict[tuple[str, str], list[Any]] = {}
    for target in common:
        groups.setdefault((target[0], target[1]), []).append(target)
    out_rows = []
    changed = []
    for config, length in sorted(groups, key=lambda k: (CONFIGS.index(k[0]), length_key(k[1]))):
        targets = groups[config, length]
        pairs = [(first[t], second[t]) for t in targets]
        verdicts = [(_verdict(x, effects[0]), _verdict(y, effects[1])) for x, y in pairs]
        out_rows.append(_row(config, length, [x for x, _ in pairs], verdicts))
        changed += [
            _change(x, y, v) for (x, y), v in zip(pairs, verdicts, strict=True) if None not in v and v[0] != v[1]
        ]
    return {
        "rows": out_rows,
        "changed": changed,
        "common": len(common),
        "only_a": len(first) - len(common),
        "only_b": len(second) - len(common),
        "reference": "given" if reference else "a",
    }


METRIC = {"facts": "query_acc", "tool_calls": "far_acc", "rules": "follow"}


def _verdict(record: Record, effects: Effects) -> bool | None:
    """Right or wrong, followed or not; None where the target does not count."""
    if record["status"] != "ok":
        return None
    kind = kind_of(record["set"])
    if kind == "facts":
        return all(record["right"])
    if kind == "tool_calls":
        return bool(record["right"]) if record["far"] else None
    (model,), (ref,) = effects.of([record])
    if model is None or ref is None or abs(ref) < metrics.THRESHOLD:
        return None
    return metrics.follows(model, ref)


def _row(
    config: str, length: str, records: Sequence[Record], verdicts: Sequence[tuple[bool | None, bool | None]]
) -> dict[str, Any]:
    both = [(float(x), float(y)) if x is not None and y is not None else None for x, y in verdicts]
    live = [v for v in both if v is not None]
    row: dict[str, Any] = {"set": config, "length": length, "metric": METRIC[kind_of(config)], "n": len(live)}
    if not live:
        return row | {"a": None, "b": None, "difference": None, "low": None, "high": None, "lost": 0, "gained": 0}
    order = rows.contexts(records)
    sides = [
        bootstrap.ratio_draws(rows.sums(records, [None if v is None else (v[i], 1.0) for v in both]), order)
        for i in (0, 1)
    ]
    low, high = bootstrap.interval(np.subtract(sides[1], sides[0])) or (None, None)
    a, b = (sum(v[i] for v in live) / len(live) for i in (0, 1))
    return row | {
        "a": a,
        "b": b,
        "difference": b - a,
        "low": low,
        "high": high,
        "lost": sum(v == (1.0, 0.0) for v in live),
        "gained": sum(v == (0.0, 1.0) for v in live),
    }


def _change(x: Record, y: Record, verdict: tuple[bool | None, bool | None]) -> dict[str, Any]:
    """A changed target with its evidence: what both models said there."""
    names = ("right", "top", "expected", "logp", "without", "with", "top", "kind", "family", "placement")
    return {
        "set": x["set"],
        "length": x["length"],
        "item": x["item"],
        "target": x["target"],
        "distance": x["distance"],
        "a": {"verdict": verdict[0]} | {n: x[n] for n in names if n in x},
        "b": {"verdict": verdict[1]} | {n: y[n] for n in names if n in y},
    }
