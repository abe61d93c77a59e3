"""Everything a report shows, as plain data: computed once, then written as pages, CSV, JSON or Markdown.

Rates are shares of 1; None is "undefined". Nothing here depends on the order of rows in the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import triathlon
from triathlon.population.builds import FACTS
from triathlon.population.items import gap, item_stats, sorts
from triathlon.population.measures import Measures
from triathlon.population.rates import (
    Interval,
    by_model,
    by_part,
    family_weighted,
    gating,
    intervals,
    rank_by_category,
    rank_stability,
    ranks,
    spread,
)
from triathlon.population.read import Population
from triathlon.population.relations import between, category_matrix, partial, pearson, without_each
from triathlon.population.reliability import kr20, kr20_by_family
from triathlon.population.table import Table
from triathlon.report.names import slugs

Data = dict[str, Any]


@dataclass(frozen=True)
class Report:
    """A population with everything computed from it."""

    population: Population
    data: Data
    slugs: Mapping[str, str]
    """Case and control ids to file names."""


def report(population: Population, measures: Mapping[str, Measures] | None = None) -> Report:
    """Compute it all. `measures` are by tree hash."""
    measures = measures or {}
    full = population.table.full()
    candidates = _candidates(population, measures, full)
    data: Data = {
        "foot": _foot(population),
        "counts": {
            "cases": len(population.suite.cases),
            "controls": len(population.suite.controls),
            "gated": sum(item.gated for item in population.table.items),
            "candidates": len(candidates),
            "compared_candidates": len(full.members),
            "compared_cases": len(full.items),
        },
        "models": _models(full),
        "candidates": candidates,
        "categories": _categories(full),
        "items": _items(population, full),
        "reliability": {"kr20": kr20(full), "kr20_by_family": kr20_by_family(full)},
        "matrix": asdict(category_matrix(full)),
        "matrix_of_models": asdict(category_matrix(full, over="models")),
        "code": _code(full, measures),
    }
    ids = [*(case.id for case in population.suite.cases), *population.suite.controls]
    return Report(population, data, slugs(ids))


def _foot(population: Population) -> Data:
    return {
        "conditions": {name: list(values) for name, values in population.conditions.items()},
        "mixed": list(population.mixed),
        "left_out": list(population.left_out),
        "reported_by": triathlon.__version__,
    }


def _interval(found: Interval | None) -> Data:
    return {"low": found.low if found else None, "high": found.high if found else None}


def _models(table: Table) -> list[Data]:
    """Models by rank. Only candidates that can be compared are in it."""
    rates, spans, firm = by_model(table), intervals(table), rank_stability(table)
    parts = {part: by_part(table, part) for part in ("category", "kind", "origin")}
    places = rank_by_category(table)
    rank = ranks({model: found.mean for model, found in rates.items()})
    fair, free = family_weighted(table), gating(table)
    rows = []
    for model in table.models:
        at = table.builds_of(model)
        row: Data = {
            "model": model,
            "rank": rank[model],
            "builds": len(at),
            "rate": rates[model].mean,
            "sd": rates[model].sd,
            **_interval(spans[model]),
            "family_weighted": spread([fair[i] for i in at]).mean,
            "ungated": spread([free[i].ungated for i in at]).mean,
            "stability": asdict(firm[model]),
        }
        for part, found in parts.items():
            row[part] = {name: asdict(models[model]) for name, models in found.items()}
        row["category_rank"] = {name: found[model] for name, found in places.items()}
        for fact in FACTS:
            values = [v for i in at if (v := table.members[i].facts.get(fact)) is not None]
            if values:
                numbers = isinstance(values[0], int | float) and not isinstance(values[0], bool)
                row[fact] = spread(values).mean if numbers else ", ".join(dict.fromkeys(map(_word, values)))
        rows.append(row)
    return sorted(rows, key=lambda row: (row["rank"] is None, row["rank"], row["model"]))


def _word(value: Any) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _candidates(population: Population, measures: Mapping[str, Measures], full: Table) -> list[Data]:
    table = population.table
    fair, free = family_weighted(table), gating(table)
    names = slugs([f"{one.member.name}-{one.member.tree[:8]}" for one in population.seen])
    compared = {(member.name, member.tree) for member in full.members}
    found = []
    for at, one in enumerate(population.seen):
        member, counted = one.member, int(table.known[at].sum())
        seconds = sum(row.seconds for rows in one.rows.values() for row in rows)
        by_category = {
            name: table.where(lambda item, n=name: item.category == n).rates[at]  # type: ignore[misc]
            for name in table.categories
        }
        size = measures.get(member.tree)
        found.append(
            {
                "slug": names[f"{member.name}-{member.tree[:8]}"],
                "name": member.name,
                "tree": member.tree,
                "model": member.builder_model,
                "build": member.build,
                "rate": table.rates[at],
                "ungated": free[at].ungated,
                "taken_by_controls": free[at].taken,
                "family_weighted": fair[at],
                "verdicts": counted,
                "compared": (member.name, member.tree) in compared,
                "category": by_category,
                "controls_failed": sum(one.passes(name) is False for name in population.suite.controls),
                "evaluation_s": round(seconds, 2),
                "started": one.started,
                "marks": list(one.marks),
                **{fact: member.facts.get(fact) for fact in FACTS},
                "measures": size.as_json() if size else None,
            }
        )
    return found


def _categories(table: Table) -> list[Data]:
    whole = [float(r or 0.0) for r in table.rates]
    rows = []
    for name in table.categories:
        part = table.where(lambda item, n=name: item.category == n)  # type: ignore[misc]
        mean = spread([found.mean for found in by_model(part).values()]).mean
        rows.append(
            {"category": name, "cases": len(part.items), "mean": mean, "gap": gap(part, whole)} | asdict(sorts(part))
        )
    total = {"category": "all", "cases": len(table.items), "gap": gap(table)} | asdict(sorts(table))
    total["mean"] = spread([found.mean for found in by_model(table).values()]).mean
    return [*rows, total]


def _items(population: Population, full: Table) -> list[Data]:
    stats = {found.id: found for found in item_stats(full)} if full.items else {}
    rows = []
    for item in population.table.items:
        found = stats.get(item.id)
        rows.append(
            {
                "case": item.id,
                "category": item.category,
                "kind": item.kind,
                "origin": item.origin,
                "family": item.family,
                "clauses": list(item.clauses),
                "gated": item.gated,
                "difficulty": found.difficulty if found else None,
                "rest": found.rest if found else None,
                "sort": found.sort if found else None,
            }
        )
    return rows


def _code(table: Table, measures: Mapping[str, Measures]) -> Data:
    """Relations of code size with the pass rate, over the candidates that were measured and can be compared."""
    at = [i for i, member in enumerate(table.members) if member.tree in measures and table.rates[i] is not None]
    sizes = [measures[table.members[i].tree] for i in at]
    models = [table.members[i].builder_model for i in at]
    rate = [float(table.rates[i] or 0.0) for i in at]
    lines, modules = [float(s.lines) for s in sizes], [float(s.modules) for s in sizes]
    places: Sequence[float] = [float(s.permission_places or 0) for s in sizes]
    return {
        "measured": len(at),
        "lines_with_rate": pearson(lines, rate),
        "modules_given_lines": partial(modules, rate, lines),
        "modules_given_lines_without": without_each(models, modules, rate, lines),
        "permission_places_given_lines": partial(places, rate, lines),
        "lines_between_models": asdict(between(models, lines)),
        "lines_least": min(lines, default=None),
        "lines_most": max(lines, default=None),
        "points": [
            {"model": model, "tree": table.members[i].tree, "rate": r, "lines": s.lines, "modules": s.modules}
            for model, i, r, s in zip(models, at, rate, sizes, strict=True)
        ],
    }
