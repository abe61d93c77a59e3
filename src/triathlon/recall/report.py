"""From scores to the output: `sets` (every metric per config and length), `rows` (the headline), controls, warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from triathlon.recall import metrics, rows
from triathlon.recall.items import CONFIGS, CONTROLS, KINDS, kind_of, length_key
from triathlon.recall.scores import Record, Scores, comparable, target_of

NOISE = {"float32": 1e-4, "float64": 1e-4}  # nats, standard deviation of one effect; half precision: below
NOISE_HALF = 0.05
LEAVE_WARNING = 0.05  # share of the counted targets that may be missing for the model


def build(scores: Scores, reference: Scores | None = None, *, allow_tokenizer_mismatch: bool = False) -> dict[str, Any]:
    """The whole output. With no reference the model's own numbers stand on both sides, so its ratios are exactly 1."""
    if reference is not None:
        comparable(scores, reference, allow_tokenizer_mismatch=allow_tokenizer_mismatch)
    effects = Effects(scores, reference)
    parts: dict[tuple[str, str], list[Record]] = {}
    for record in scores.records:
        parts.setdefault((record["set"], record["length"]), []).append(record)
    warnings: list[str] = []
    sets: dict[str, dict[str, Any]] = {}
    for config, length in sorted(parts, key=lambda k: (CONFIGS.index(k[0]), length_key(k[1]))):
        found = parts[config, length]
        make = {"facts": _facts, "tool_calls": _calls}.get(kind_of(config))
        value = make(found) if make else _rules(found, effects, f"{config}/{length}", warnings)
        sets.setdefault(config, {})[length] = value
    return {
        "rows": rows.headline(parts, effects, scores.limit is not None, warnings),
        "sets": sets,
        "controls": _controls(sets, parts, effects),
        "reference": None
        if reference is None
        else {"engine": reference.engine, "tokenizer": reference.tokenizer, "mode": reference.mode},
        "mode": scores.mode,
        "fingerprints": {"data": scores.data, "tokenizer": scores.tokenizer, "engine": scores.engine},
        "thresholds": scores.thresholds,
        "limit": scores.limit,
        "clamped": effects.clamped,
        "counts": dict(sorted(Counter(r["status"] for r in scores.records).items())),
        "warnings": warnings,
    }


class Effects:
    """The effect of the rule at every rules target, for the model and for its reference."""

    def __init__(self, scores: Scores, reference: Scores | None) -> None:
        self.clamped = 0
        self.noise = NOISE.get(str(scores.engine.get("dtype", "")), NOISE_HALF)
        self.model = self._effects(scores.records, count=True)
        self.own = reference is None
        self.ref = self.model if reference is None else self._effects(reference.records)

    def _effects(self, records: Iterable[Record], count: bool = False) -> dict[Any, float]:
        found = {}
        for record in records:
            if "family" in record and record["status"] == "ok":
                value, clamped = metrics.effect(record["without"], record["with"])
                found[target_of(record)] = value
                self.clamped += clamped and count
        return found

    def of(self, records: Sequence[Record]) -> tuple[list[float | None], list[float | None]]:
        """(model, reference) effects of some targets, None where one was not read."""
        keys = [target_of(r) for r in records]
        return [self.model.get(k) for k in keys], [self.ref.get(k) for k in keys]


def _statuses(records: Sequence[Record]) -> dict[str, int]:
    counts = Counter(r["status"] for r in records)
    return {name: counts.get(name, 0) for name in ("ok", "unaligned", "too_long", "degenerate")}


def _facts(records: Sequence[Record]) -> dict[str, Any]:
    queries = [r["right"] if r["status"] == "ok" else None for r in records]
    read = [r for r in records if r["status"] == "ok"]
    return metrics.facts(queries) | {
        "unaligned": sum(r["status"] == "unaligned" for r in records),
        "too_long": sum(r["status"] == "too_long" for r in records),
        "first_token_acc": metrics.first_token(queries),
        "mean_logp": metrics.mean([v for r in read for v in r["logp"]]),
        "by_distance": by_distance(read, lambda r: all(r["right"])),
        "by_depth": by_depth(read, lambda r: all(r["right"])),
    }


def _calls(records: Sequence[Record]) -> dict[str, Any]:
    read = [r for r in records if r["status"] == "ok"]
    groups = {
        "far": [r for r in read if r["far"]],
        "fresh": [r for r in read if r["far"] and r["fresh"]],
        "near": [r for r in read if not r["far"]],
    }
    out: dict[str, Any] = _statuses(records) | {"n": len(read), "merged": sum(r["merged"] for r in read)}
    for name, some in groups.items():
        out[f"n_{name}"] = len(some)
        out[f"{name}_acc"] = metrics.share_true([r["right"] for r in some])
        out[f"{name}_mean_logp"] = metrics.mean([r["logp"] for r in some])
    out["kinds"] = {
        kind: {"n": len(some), "acc": metrics.share_true([r["right"] for r in some])}
        for kind in KINDS
        if (some := [r for r in groups["far"] if r["kind"] == kind])
    }
    out["by_distance"] = by_distance(read, lambda r: bool(r["right"]))
    out["by_depth"] = by_depth(groups["far"], lambda r: bool(r["right"]))
    return out


def rule_numbers(records: Sequence[Record], effects: Effects) -> dict[str, Any]:
    """Follow, retained and what belongs to them, over some targets of one config."""
    model, ref = effects.of(records)
    pairs = metrics.counted(model, ref)
    reacts = [r for r in ref if r is not None and abs(r) >= metrics.THRESHOLD]
    return metrics.rules(model, ref) | {
        "eff": metrics.mean([m for m, _ in pairs]),
        "eff_ref": metrics.mean([r for _, r in pairs]),
        "follow_literal": metrics.literal_follow(pairs),
        "left": len(reacts) - len(pairs),
        "near_threshold": sum(abs(abs(r) - metrics.THRESHOLD) < 3 * effects.noise for r in ref if r is not None),
    }


def _rules(records: Sequence[Record], effects: Effects, where: str, warnings: list[str]) -> dict[str, Any]:
    out: dict[str, Any] = _statuses(records)
    out |= {"all": rule_numbers(records, effects), "placements": {}, "cells": {}}
    for placement in dict.fromkeys(r["placement"] for r in records):
        some = [r for r in records if r["placement"] == placement]
        out["placements"][placement] = rule_numbers(some, effects)
        for family in dict.fromkeys(r["family"] for r in some):
            cell = [r for r in some if r["family"] == family]
            out["cells"][f"{family}/{placement}"] = rule_numbers(cell, effects)
    for name in ("first", "mentioned"):
        out[name] = rule_numbers([r for r in records if r[name]], effects)
    read = [r for r in records if r["status"] == "ok"]
    out["mean_logp_without"] = metrics.mean([r["without"] for r in read])
    out["mean_logp_with"] = metrics.mean([r["with"] for r in read])
    counted = [
        (r, m, e)
        for r, m, e in zip(read, *effects.of(read), strict=True)
        if m is not None and e is not None and abs(e) >= metrics.THRESHOLD
    ]
    followed = {target_of(r): metrics.follows(m, e) for r, m, e in counted}
    out["by_distance"] = by_distance([r for r, _, _ in counted], lambda r: followed[target_of(r)])
    out["by_depth"] = by_depth([r for r, _, _ in counted], lambda r: followed[target_of(r)])
    left, total = out["all"]["left"], out["all"]["left"] + out["all"]["n"]
    if total and left / total > LEAVE_WARNING:
        warnings.append(f"{where}: {left} of {total} counted targets are missing for this model")
    return out


def by_distance(records: Sequence[Record], right: Callable[[Record], bool]) -> list[dict[str, Any]]:
    """Accuracy in bins of distance that double: 0, 512, 1024, ..."""
    edges = [0, *(512 << i for i in range(12))]
    return _bins(records, right, lambda r: r["distance"], edges)


def by_depth(records: Sequence[Record], right: Callable[[Record], bool]) -> list[dict[str, Any]]:
    """Accuracy by how far into the text the target lies, in fifths."""
    return _bins(records, right, lambda r: r["depth"], [0, 0.2, 0.4, 0.6, 0.8, 1.0001])


def _bins(
    records: Sequence[Record], right: Callable[[Record], bool], value: Callable[[Record], float], edges: Sequence[float]
) -> list[dict[str, Any]]:
    out = []
    for low, high in pairwise(edges):
        some = [right(r) for r in records if low <= value(r) < high]
        if some:
            out.append(
                {"from": low, "to": min(high, 1.0) if high < 2 else high, "n": len(some), "acc": sum(some) / len(some)}
            )
    return out


def _controls(
    sets: dict[str, Any], parts: dict[tuple[str, str], list[Record]], effects: Effects
) -> list[dict[str, Any]]:
    """Each control beside the metric it controls, and metric minus control, per length."""
    out: list[dict[str, Any]] = []
    for control, main in CONTROLS.items():
        for length, value in sets.get(control, {}).items():
            kind = kind_of(control)
            entry: dict[str, Any] = {"control": control, "of": main, "length": length}
            if kind == "rules":
                entry |= _rule_control(parts.get((main, length), ()), parts[control, length], effects)
            else:
                name = "query_acc" if kind == "facts" else "far_acc"
                entry |= {"metric": name, "control_value": value[name], "n": value["n"]}
                entry["value"] = sets.get(main, {}).get(length, {}).get(name)
            both = (entry["value"], entry["control_value"])
            entry["difference"] = None if None in both else both[0] - both[1]
            out.append(entry)
    return out


def _rule_control(main: Sequence[Record], control: Sequence[Record], effects: Effects) -> dict[str, Any]:
    """Mean effect at the same targets, with the rule and with the control's line."""

    def place(r: Record) -> tuple[Any, ...]:
        return r["context"], r["family"], r["placement"], r["char"]

    by_place = {place(r): r for r in main}
    pairs = [(by_place[place(r)], r) for r in control if place(r) in by_place]
    values = [
        (effects.model[target_of(a)], effects.model[target_of(b)])
        for a, b in pairs
        if target_of(a) in effects.model and target_of(b) in effects.model
    ]
    return {
        "metric": "eff",
        "n": len(values),
        "value": metrics.mean([a for a, _ in values]),
        "control_value": metrics.mean([b for _, b in values]),
    }
