"""Write the site: pages, what they load, and every table as a download."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from triathlon.errors import UsageError
from triathlon.harness.spec import load_spec
from triathlon.report.data import Report
from triathlon.report.export.tables import TABLES, as_csv
from triathlon.report.site.evidence import candidate_data, site_data, write_case
from triathlon.report.site.html import DOWNLOADS, Markup, page
from triathlon.report.site.pages.categories import categories
from triathlon.report.site.pages.others import others
from triathlon.report.site.pages.ranking import ranking
from triathlon.report.site.pages.statistics import statistics
from triathlon.store import Store

MARK = ".triathlon-site"
ASSETS = ("style.css", "site.js", "heatmap.js", "candidate.js", "case.js")
NEEDS_SCRIPT = "<noscript><p>This page is made by a script of this folder; allow scripts to see it.</p></noscript>"

STATIC: dict[str, Callable[[Report], str]] = {
    "index.html": ranking,
    "categories.html": categories,
    "statistics.html": statistics,
    "published.html": others,
}
MADE_BY_SCRIPT = {
    "heatmap.html": ("Cases × candidates", ("data/site.js", "heatmap.js")),
    "candidate.html": ("Candidate", ("data/site.js", "candidate.js")),
    "case.html": ("Case", ("data/site.js", "case.js")),
}


def write_site(report: Report, store: Store, out: Path) -> Path:
    """Write the site into `out` and return its first page.

    A site that stands there already is replaced; any other folder with something in it is a UsageError. Pages are
    written last, so that a page never points to what is not there yet.
    """
    _prepare(out)
    spec = load_spec()
    for folder in ("data", "evidence/candidates", "downloads"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    suite = report.population.suite
    for case in (*suite.cases, *suite.controls.values()):
        write_case(report, store, spec, case, out / "evidence")
    for at, row in enumerate(report.data["candidates"]):
        (out / "evidence/candidates" / f"{row['slug']}.js").write_text(candidate_data(report, at), "ascii")
    (out / "data/site.js").write_text(site_data(report), "ascii")
    for name, rows in TABLES.items():
        (out / DOWNLOADS[f"{name}.csv"]).write_bytes(as_csv(rows(report)).encode())
    (out / DOWNLOADS["report.json"]).write_text(json.dumps(report.data, indent=1, allow_nan=False) + "\n", "ascii")
    for name in ASSETS:
        (out / name).write_bytes((files("triathlon.report.site") / "assets" / name).read_bytes())
    for name, (title, scripts) in MADE_BY_SCRIPT.items():
        body = Markup(f'<div id="content" aria-live="polite"></div>{NEEDS_SCRIPT}')
        (out / name).write_text(page(name, title, body, report.data["foot"], scripts), "utf-8")
    for name, write in STATIC.items():
        (out / name).write_text(write(report), "utf-8")
    return out / "index.html"


def _prepare(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file; give a folder for the site")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARK).exists():
            raise UsageError(f"{out}: holds something that is no site of triathlon; give another folder")
        for folder in ("data", "evidence", "downloads"):
            shutil.rmtree(out / folder, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).write_text("a folder that `triathlon report` may write over\n", "ascii")
