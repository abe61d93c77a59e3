"""Categories, ours and the paper's; then every case with its item statistics."""

from __future__ import annotations

from triathlon.report.data import Report
from triathlon.report.names import UNDEFINED
from triathlon.report.published import MARK, published
from triathlon.report.site.html import join, link, page, table, tag
from triathlon.report.site.pages.cells import Row, figure, share

HEAD = ("category", "cases", "mean, %", "strong-weak gap", "floor", "ceiling", "discriminating")
CASES = ("case", "category", "kind", "origin", "clauses", "gated", "pass, %", "item-rest r", "sort")


def categories(report: Report) -> str:
    """The whole page."""
    data = report.data
    paper = [
        _category(row | {"category": row["name"], "mean": row["mean"] / 100, "gap": _share(row.get("gap"))})
        for row in published("doc2harness")["category"]
    ]
    cases = [
        [
            link(f"case.html#{row['case']}", row["case"]),
            row["category"],
            row["kind"],
            row["origin"],
            " ".join(row["clauses"]),
            "yes" if row["gated"] else "no",
            share(row["difficulty"]),
            figure(row["rest"], 2),
            row["sort"] or UNDEFINED,
        ]
        for row in data["items"]
    ]
    note = "The gap is the top against the bottom 27 % of candidates, told by the whole suite."
    body = [
        table("Categories.", HEAD, map(_category, data["categories"]), sortable=True, note=note),
        tag("h2", "The paper"),
        table(f"Categories of the paper ({MARK})", HEAD, paper),
        tag("h2", "Cases"),
        table("Every case over the ranked candidates", CASES, cases, sortable=True),
    ]
    return page("categories.html", "Categories", join(body), data["foot"])


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _category(row: Row) -> list[object]:
    counts = [row[name] for name in ("floor", "ceiling", "discriminating")]
    return [row["category"], row["cases"], share(row["mean"]), share(row["gap"]), *counts]
