"""The report's tables as flat rows, and as CSV and Parquet. Empty cells are undefined or unknown values."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from triathlon.errors import MissingExtra
from triathlon.report.data import Report

Rows = list[dict[str, Any]]


def verdicts(report: Report) -> Rows:
    """One row per candidate and case."""
    rows: Rows = []
    for one, cells, facts in zip(
        report.population.seen, report.population.verdicts, report.data["candidates"], strict=True
    ):
        for item, verdict in zip(report.population.table.items, cells, strict=True):
            row = one.telling(item.id)
            rows.append(
                {
                    "model": facts["model"],
                    "build": facts["build"],
                    "candidate": facts["name"],
                    "tree": facts["tree"],
                    "case": item.id,
                    "category": item.category,
                    "kind": item.kind,
                    "origin": item.origin,
                    "family": item.family,
                    "clauses": " ".join(item.clauses),
                    "verdict": verdict,
                    "seconds": row.seconds if row else None,
                    "reasons": "\n".join(row.reasons) if row else "",
                }
            )
    return rows


def models(report: Report) -> Rows:
    """One row per model, by rank; categories and kinds as columns."""
    return [_flat(row) for row in report.data["models"]]


def candidates(report: Report) -> Rows:
    """One row per candidate."""
    return [_flat(row) for row in report.data["candidates"]]


def cases(report: Report) -> Rows:
    """One row per case with its item statistics."""
    return [_flat(row) for row in report.data["items"]]


def categories(report: Report) -> Rows:
    """One row per category, and one for all."""
    return [_flat(row) for row in report.data["categories"]]


TABLES: dict[str, Callable[[Report], Rows]] = {
    "models": models,
    "candidates": candidates,
    "categories": categories,
    "cases": cases,
    "verdicts": verdicts,
}


def _flat(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            found[prefix + name] = " ".join(map(str, value))
        else:
            found[prefix + name] = value
    return found


def as_csv(rows: Rows) -> str:
    """Rows as CSV (RFC 4180) with a head line; the columns of all rows."""
    columns = _columns(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode("utf-8", "replace").decode()


def as_parquet(rows: Rows, path: Path) -> None:
    """Write rows as one Parquet file. Raises MissingExtra without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtra("Parquet", "oolong") from error
    columns = {name: [_clean(row.get(name)) for row in rows] for name in _columns(rows)}
    pq.write_table(pa.table(columns), path)


def _clean(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _columns(rows: Rows) -> Sequence[str]:
    return list(dict.fromkeys(name for row in rows for name in row))
