"""The headline rows, named as on the card, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from triathlon.recall import bootstrap, metrics
from triathlon.recall.items import FAMILIES, PLACEMENTS, length_key
from triathlon.recall.scores import Record

LANGUAGES = {"rules_cs": "Czech", "rules_de": "German"}
WORST = "Rules kept far back, worst case (1.00 = as the original)"
FEW = 5  # targets in a cell, below which it is warned of

Parts = Mapping[tuple[str, str], Sequence[Record]]
Pair = tuple[float, float]


class EffectsOf(Protocol):
    """Model and reference effects of some targets."""

    def of(self, records: Sequence[Record]) -> tuple[list[float | None], list[float | None]]:
        """Two lists as long as `records`."""


def headline(parts: Parts, effects: EffectsOf, limited: bool, warnings: list[str]) -> list[dict[str, Any]]:
    """All rows that the read parts allow, in the card's order."""
    out = [facts_row(f"Facts recalled at {n} tokens", parts["facts", n]) for n in _lengths(parts, "facts")]
    out += [
        calls_row(f"Distant tool calls at {n} tokens", parts["tool_calls", n]) for n in _lengths(parts, "tool_calls")
    ]
    out += [
        follow_row(f"Rules followed at {n} tokens", parts["rules_en", n], effects) for n in _lengths(parts, "rules_en")
    ]
    for config, language in {"rules_en": "", **LANGUAGES}.items():
        if _lengths(parts, config):
            name = f"{language} rules kept far back, worst case" if language else WORST
            out.append(worst_row(name, config, parts, effects, limited, warnings))
    out += [
        follow_row(f"Rules in {language} followed at {n} tokens", parts[config, n], effects)
        for config, language in LANGUAGES.items()
        for n in _lengths(parts, config)[-1:]
    ]
    return out


def _lengths(parts: Parts, config: str) -> list[str]:
    return sorted((n for c, n in parts if c == config), key=length_key)


def sums(records: Sequence[Record], values: Sequence[Pair | None]) -> dict[str, Pair]:
    """Sums of (numerator, denominator) a context."""
    out: dict[str, Pair] = {}
    for record, value in zip(records, values, strict=True):
        if value is not None:
            a, b = out.get(record["context"], (0.0, 0.0))
            out[record["context"]] = (a + value[0], b + value[1])
    return out


def contexts(records: Sequence[Record]) -> list[str]:
    """The contexts of some records, in order."""
    return list(dict.fromkeys(r["context"] for r in records))


def _row(name: str, value: float | None, draws: Any, records: Sequence[Record], n: int) -> dict[str, Any]:
    limits = bootstrap.interval(draws) if value is not None else None
    low, high = limits or (None, None)
    return {"row": name, "value": value, "low": low, "high": high, "n": n, "contexts": len(contexts(records))}


def fact_pairs(records: Sequence[Record]) -> list[Pair | None]:
    """(right, 1) a query that was read."""
    return [(float(all(r["right"])), 1.0) if r["status"] == "ok" else None for r in records]


def call_pairs(records: Sequence[Record]) -> list[Pair | None]:
    """(right, 1) a far target that was read."""
    return [(float(r["right"]), 1.0) if r["status"] == "ok" and r["far"] else None for r in records]


def facts_row(name: str, records: Sequence[Record]) -> dict[str, Any]:
    """Query accuracy."""
    return _ratio_row(name, records, fact_pairs(records))


def calls_row(name: str, records: Sequence[Record]) -> dict[str, Any]:
    """Far accuracy."""
    return _ratio_row(name, records, call_pairs(records))


def follow_row(name: str, records: Sequence[Record], effects: EffectsOf) -> dict[str, Any]:
    """Follow, rules in the system prompt, all families."""
    records = [r for r in records if r["placement"] == "system"]
    return _ratio_row(name, records, follow_pairs(records, effects))


def follow_pairs(records: Sequence[Record], effects: EffectsOf) -> list[Pair | None]:
    """(followed, 1) a counted target."""
    return [
        (float(metrics.follows(m, r)), 1.0) if m is not None and r is not None and abs(r) >= metrics.THRESHOLD else None
        for m, r in zip(*effects.of(records), strict=True)
    ]


def _ratio_row(name: str, records: Sequence[Record], pairs: Sequence[Pair | None]) -> dict[str, Any]:
    live = [p for p in pairs if p is not None]
    value = sum(a for a, _ in live) / len(live) if live else None
    order = contexts(records)
    draws = bootstrap.ratio_draws(sums(records, pairs), order) if order else None
    return _row(name, value, draws, records, len(live))


def worst_row(
    name: str, config: str, parts: Parts, effects: EffectsOf, limited: bool, warnings: list[str]
) -> dict[str, Any]:
    """The lowest retained over family, placement and length, with its cell named."""
    cells: dict[str, float | None] = {}
    columns = []
    records_all: list[Record] = []
    n = 0
    for length in _lengths(parts, config):
        records = parts[config, length]
        records_all += records
        order = contexts(records)
        for family in FAMILIES:
            for placement in PLACEMENTS:
                some = [r for r in records if r["family"] == family and r["placement"] == placement]
                if limited and not some:
                    continue  # a limit makes fewer cells to expect
                cell = f"{family}/{placement}/{length}"
                found = metrics.rules(*effects.of(some))
                cells[cell] = found["retained"]
                n += found["n"]
                if found["retained"] is not None:
                    columns.append(cell_draws(some, order, effects))
                    if found["n"] < FEW:
                        warnings.append(f"{config} {cell}: only {found['n']} targets count")
    got = metrics.worst(cells)
    row = _row(name, got["worst"], bootstrap.lowest(columns), records_all, n)
    empty = sorted(cell for cell, value in cells.items() if value is None)
    return row | {"cell": got["cell"], "cells_counted": got["counted"], "cells": got["of"], "empty_cells": empty}


def cell_draws(records: Sequence[Record], order: Sequence[str], effects: EffectsOf) -> Any:
    """Retained of a cell in every draw."""
    pairs = [
        (m, r) if m is not None and r is not None and abs(r) >= metrics.THRESHOLD else None
        for m, r in zip(*effects.of(records), strict=True)
    ]
    return bootstrap.ratio_draws(sums(records, pairs), order, least=metrics.THRESHOLD)
