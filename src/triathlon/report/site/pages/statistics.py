"""Reliability, category correlations, code against rate, firmness of ranks; each beside the paper's value."""

from __future__ import annotations

from collections.abc import Sequence

from triathlon.report.data import Report
from triathlon.report.names import UNDEFINED
from triathlon.report.published import MARK, published
from triathlon.report.site.chart import Point, legend, scatter
from triathlon.report.site.html import Cell, Markup, join, page, table, tag
from triathlon.report.site.pages.cells import Row, figure, share, span


def statistics(report: Report) -> str:
    """The whole page."""
    data, matrix = report.data, report.data["matrix"]
    square = [
        [name, *(figure(value, 2) for value in values)]
        for name, values in zip(matrix["names"], matrix["values"], strict=True)
    ]
    firm = [
        [
            row["model"],
            Cell(f"{row['rank']:g}", row["rank"]),
            figure(row["stability"]["median"], 1),
            span(row["stability"]["low"], row["stability"]["high"]),
            share(row["stability"]["first"]),
        ]
        for row in data["models"]
    ]
    body = [
        table("Reliability and relations", ["statistic", "here", f"paper ({MARK})"], _numbers(data)),
        tag("p", "How each is computed, and when it is undefined, stands in docs/reading-the-numbers.md."),
        tag("h2", "Categories with each other"),
        table("Correlation of pass rates between categories, over candidates", ["category", *matrix["names"]], square),
        tag("h2", "Code and pass rate"),
        *_charts(data["code"]["points"]),
        tag("h2", "How firm the ranks are"),
        table(
            "Ranks when case groups and builds are drawn again",
            ["model", "rank", "median", "95 % range", "first, %"],
            firm,
            sortable=True,
        ),
    ]
    return page("statistics.html", "Statistics", join(body), data["foot"])


def _numbers(data: Row) -> list[list[object]]:
    paper = published("doc2harness")
    overall, theirs, ours, matrix = paper["overall"], paper["code"], data["code"], data["matrix"]
    signs = [(name, value) for name, value in ours["modules_given_lines_without"].items() if value is not None]
    each = ", ".join(f"{name}: {value:+.2f}" for name, value in signs) or UNDEFINED
    between = ours["lines_between_models"]
    pairs = f"{overall['category_correlations_positive']} of {overall['category_correlations']}"
    return [
        ["KR-20 over cases", figure(data["reliability"]["kr20"]), figure(overall["kr20"])],
        ["KR-20 over case groups", figure(data["reliability"]["kr20_by_family"]), ""],
        ["mean correlation of categories", figure(matrix["mean"]), figure(overall["category_correlation_mean"])],
        ["positive correlations", f"{matrix['positive']} of {matrix['pairs']}", pairs],
        ["lines with pass rate", figure(ours["lines_with_rate"]), figure(theirs["lines_with_rate"])],
        [
            "modules with pass rate, lines given",
            figure(ours["modules_given_lines"]),
            figure(theirs["modules_given_lines"]),
        ],
        ["the same with each model left out", each, "always negative"],
        ["places that decide a permission, lines given", figure(ours["permission_places_given_lines"]), ""],
        ["line variance between models (eta squared)", figure(between["eta"]), figure(theirs["between_models"])],
        ["line variance between models (ICC 1)", figure(between["icc"]), ""],
    ]


def _charts(points: Sequence[Row]) -> list[Markup]:
    if not points:
        return [tag("p", "No candidate's folder is known: name them in a builds file (--builds).")]
    models = list(dict.fromkeys(point["model"] for point in points))
    charts = []
    for size, title in (("lines", "lines of code"), ("modules", "modules")):
        dots = [
            Point(
                point[size],
                100 * point["rate"],
                f"{point['model']}: {point[size]:,} {size}, {100 * point['rate']:.1f} %",
                models.index(point["model"]),
            )
            for point in points
        ]
        charts.append(scatter(f"Pass rate against {title}", size, "pass rate, %", dots))
    return [*charts, legend(models)]
