"""HTML by small functions. Whatever is not `Markup` is escaped, so that nothing a candidate wrote becomes markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PAGES = (
    ("index.html", "Ranking"),
    ("categories.html", "Categories"),
    ("heatmap.html", "Cases × candidates"),
    ("statistics.html", "Statistics"),
    ("published.html", "Published"),
)

# One row per candidate and case, with every reason, is evidence: it grows as evidence does.
DOWNLOADS = {
    name: f"{'evidence' if name == 'verdicts.csv' else 'downloads'}/{name}"
    for name in ("models.csv", "candidates.csv", "categories.csv", "cases.csv", "verdicts.csv", "report.json")
}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Escaped, unless it is HTML already; None is nothing."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup("")
    return Markup(html.escape(str(value).encode("utf-8", "replace").decode(), quote=True))


def tag(name: str, *inside: object, **attributes: object) -> Markup:
    """One element. `class_` is class, `_` in a name is `-`; True is an attribute without a value, None is none."""
    given = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        written = key.rstrip("_").replace("_", "-")
        given += f" {written}" if value is True else f' {written}="{text(value)}"'
    return Markup(f"<{name}{given}>{''.join(map(text, inside))}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Markup:
    """Parts one after the other."""
    return Markup(between.join(map(text, parts)))


def link(to: str, *inside: object) -> Markup:
    """A link within the site."""
    return tag("a", *inside, href=to)


@dataclass(frozen=True)
class Cell:
    """A table cell: what is shown, and what it sorts by."""

    shown: object
    sort: float | str | None = None


def table(
    caption: str,
    head: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    sortable: bool = False,
    note: object = None,
) -> Markup:
    """A table whose first column is the row's head. Sortable ones get buttons from site.js."""
    heads = join(tag("th", name, scope="col") for name in head)
    body = []
    for row in rows:
        cells = []
        for at, value in enumerate(row):
            cell = value if isinstance(value, Cell) else Cell(value)
            cells.append(tag("td" if at else "th", cell.shown, scope=None if at else "row", data_sort=cell.sort))
        body.append(tag("tr", *cells))
    made = tag(
        "table",
        tag("caption", caption, " ", tag("span", note, class_="note") if note else ""),
        tag("thead", tag("tr", heads)),
        tag("tbody", *body),
        class_="sortable" if sortable else None,
    )
    return tag("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def page(name: str, title: str, body: object, foot: Mapping[str, Any], scripts: Sequence[str] = ()) -> str:
    """A whole page."""
    menu = join(tag("li", tag("a", words, href=to, aria_current="page" if to == name else None)) for to, words in PAGES)
    loads = join(tag("script", src=source, defer=True) for source in ("site.js", *scripts))
    head = join(
        (
            Markup('<meta charset="utf-8">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Markup('<meta name="color-scheme" content="light dark">'),
            Markup('<link rel="icon" href="data:,">'),
            tag("title", f"{title} · Doc2Harness"),
            Markup('<link rel="stylesheet" href="style.css">'),
            loads,
        )
    )
    top = tag(
        "header",
        tag("a", "Skip to the content", href="#main", class_="skip"),
        tag("p", "Doc2Harness", class_="brand"),
        tag("nav", tag("ul", menu), aria_label="Pages"),
        tag("button", "Theme", type="button", id="theme", aria_label="Switch between light and dark"),
    )
    main = tag("main", tag("h1", title), body, id="main", tabindex="-1")
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{top}{main}{_foot(foot)}</body></html>\n'


def _foot(foot: Mapping[str, Any]) -> Markup:
    rows = []
    for name, values in foot["conditions"].items():
        mixed = tag("strong", " (not the same for all candidates)", class_="mixed") if name in foot["mixed"] else ""
        shown = ", ".join(value or "standard" for value in values)
        rows.append(join((tag("dt", name), tag("dd", shown, mixed))))
    rows.append(join((tag("dt", "reported by"), tag("dd", f"triathlon {foot['reported_by']}"))))
    if foot["left_out"]:
        rows.append(join((tag("dt", "left out"), *(tag("dd", line) for line in foot["left_out"]))))
    downloads = join((link(path, name) for name, path in DOWNLOADS.items()), ", ")
    return tag("footer", tag("h2", "Measured with"), tag("dl", *rows), tag("p", "Download: ", downloads))
