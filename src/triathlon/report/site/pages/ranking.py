"""The first page: models by rank, and every candidate below."""

from __future__ import annotations

from collections.abc import Sequence

from triathlon.report.data import Report
from triathlon.report.names import UNDEFINED, percent, plain_rate
from triathlon.report.site.html import Cell, Markup, join, link, page, table, tag
from triathlon.report.site.pages.cells import Row, plain, share, span

FACTS = ("builder", "turns", "tokens", "cost", "wall_s", "accepted")
MODEL_TAIL = ("ordinary", "boundary", "by family", "ungated", "builds", "builder", "turns", "tokens", "cost, USD")
CANDIDATE_TAIL = ("ungated", "taken by controls", "controls failed", "lines", "modules", "evaluation, s", "marks")


def ranking(report: Report) -> str:
    """The whole page."""
    data, counts = report.data, report.data["counts"]
    names = list(report.population.table.categories)
    what = (
        f"{counts['compared_candidates']} candidates of {len(data['models'])} models over {counts['compared_cases']} of"
        f" {counts['cases']} cases; {counts['gated']} cases are gated by controls, which stand in no denominator. Only"
        " candidates with a verdict on as many cases as the fullest are ranked."
    )
    body = [
        tag("p", what),
        _warning(data["foot"]["mixed"]),
        _models(data["models"], data["candidates"], names),
        tag("h2", "Candidates"),
        _candidates(data["candidates"], names),
    ]
    return page("index.html", "Ranking", join(body), data["foot"])


def _warning(mixed: Sequence[str]) -> Markup:
    if not mixed:
        return Markup("")
    words = (
        f"Not the same for all candidates: {', '.join(mixed)}. Differences between candidates may come from these; see"
        " the foot of the page."
    )
    return tag("p", words, class_="warning", role="note")


def _models(models: Sequence[Row], candidates: Sequence[Row], names: Sequence[str]) -> Markup:
    head = ["model", "rank", "pass rate, %", "95 % interval", "rank range", *names, *MODEL_TAIL, "wall, s", "accepted"]
    rows = []
    for row in models:
        builds = [one for one in candidates if one["model"] == row["model"]]
        between = f"{percent(row['low'])} to {percent(row['high'])}" if row["low"] is not None else UNDEFINED
        rows.append(
            [
                link(f"candidate.html#{builds[0]['slug']}", row["model"]),
                Cell(f"{row['rank']:g}", row["rank"]),
                Cell(plain_rate(row["rate"], row["sd"]), row["rate"]),
                Cell(between, row["low"]),
                Cell(span(row["stability"]["low"], row["stability"]["high"]), row["stability"]["low"]),
                *(share(row["category"].get(name, {}).get("mean")) for name in names),
                *(share(row["kind"].get(kind, {}).get("mean")) for kind in ("ordinary", "boundary")),
                share(row["family_weighted"]),
                share(row["ungated"]),
                join((link(f"candidate.html#{one['slug']}", one["build"]) for one in builds), " "),
                *(plain(row.get(name)) for name in FACTS),
            ]
        )
    note = "Mean ± standard deviation (n - 1) over builds; intervals and rank ranges are over case groups."
    return table("Models by mean pass rate over their builds.", head, rows, sortable=True, note=note)


def _candidates(found: Sequence[Row], names: Sequence[str]) -> Markup:
    rows = []
    for one in found:
        size = one["measures"] or {}
        verdicts = str(one["verdicts"]) if one["compared"] else f"{one['verdicts']} (partial, not ranked)"
        rows.append(
            [
                link(f"candidate.html#{one['slug']}", one["name"], " ", tag("code", one["tree"][:8])),
                one["model"],
                one["build"],
                share(one["rate"]),
                Cell(verdicts, one["verdicts"]),
                *(share(one["category"].get(name)) for name in names),
                share(one["ungated"]),
                one["taken_by_controls"],
                one["controls_failed"],
                plain(size.get("lines")),
                plain(size.get("modules")),
                one["evaluation_s"],
                "; ".join(one["marks"]) or "standard",
            ]
        )
    head = ["candidate", "model", "build", "pass rate, %", "verdicts", *names, *CANDIDATE_TAIL]
    return table("Every candidate", head, rows, sortable=True)
