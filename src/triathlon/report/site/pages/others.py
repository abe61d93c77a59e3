"""What others published, with its source; apart from ours."""

from __future__ import annotations

from triathlon.report.data import Report
from triathlon.report.names import percent
from triathlon.report.published import MARK, published
from triathlon.report.site.chart import Point, legend, scatter
from triathlon.report.site.html import Cell, Markup, join, page, table, tag
from triathlon.report.site.pages.cells import plain

MODEL_COLUMNS = ("rate", "sd", "ordinary", "boundary", "lines", "modules")
DRAWN = ("random-baseline", "gpt-5", "o3", "claude-sonnet-4-20250514", "gemini-2.5-pro", "gpt-5-nano")


def others(report: Report) -> str:
    """The whole page."""
    paper, agents = published("doc2harness"), published("oolong_agents")
    models = [[row["name"], *(plain(row.get(name)) for name in MODEL_COLUMNS)] for row in paper["model"]]
    rows = [[row["model"], row["agent"], plain(row["score"]), plain(row.get("cost"))] for row in agents["row"]]
    body = [
        tag("p", f"All numbers on this page are {MARK}.", class_="warning", role="note"),
        tag("h2", "Doc2Harness"),
        tag("p", paper["source"], f", {paper['date']}."),
        table("Models of the paper, percent of 328 cases", ["model", *MODEL_COLUMNS], models, sortable=True),
        tag("h2", "Oolong"),
        tag("p", published("oolong")["source"], "."),
        *_oolong(),
        tag("p", agents["source"], "."),
        table("Oolong with agents, percent", ["model", "agent", "score", "cost, USD a question"], rows, sortable=True),
    ]
    return page("published.html", "Published, not run here", join(body), report.data["foot"])


def _oolong() -> list[Markup]:
    curves = published("oolong")["synth"]
    sizes = [f"{length // 1024}K" for length in curves["lengths"]]
    dots = [
        Point(at, 100 * value, f"{name}, {sizes[at]} tokens: {100 * value:.1f} %", series)
        for series, name in enumerate(DRAWN)
        for at, value in enumerate(curves["scores"][name])
    ]
    rows = [
        [name, *(Cell(percent(value), value) for value in values), *[""] * (len(sizes) - len(values))]
        for name, values in curves["scores"].items()
    ]
    title = "Oolong synth: score over context length, with the random baseline"
    return [
        scatter(title, "context length, tokens", "score, %", dots, lines=True, ticks=list(enumerate(sizes))),
        legend(DRAWN),
        table("Oolong synth: mean score by context length, percent", ["model", *sizes], rows, sortable=True),
    ]
