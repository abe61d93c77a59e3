"""What pages load when they are opened, as script files, since `fetch` does not work from the file system.

A case's file holds its story and, for each candidate, verdict, reasons, findings and the four channels, still
compressed as they lie in the store: the browser opens them. Where that is much, further parts hold the rest.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triathlon.harness.case import Case
from triathlon.harness.spec import Spec
from triathlon.harness.story import story
from triathlon.report.data import Report
from triathlon.report.export.junit import reasons_of
from triathlon.store import Store

PART_BYTES = 3_000_000
"""A file is closed once it holds so much."""


def script(call: str, *arguments: object) -> str:
    """A script file that calls one function of the page with plain data."""
    written = (json.dumps(value, separators=(",", ":"), allow_nan=False) for value in arguments)
    plain = ", ".join(written).replace("<", "\\u003c")
    return f"{call}({plain});\n"


def site_data(report: Report) -> str:
    """What heat map, candidate and case pages share: candidates, cases and one letter per verdict."""
    population = report.population
    letters = {"passed": "p", "failed": "f", "gated": "g", "none": "-"}
    columns = zip(*population.verdicts, strict=True)
    cases = [
        {
            "id": item["case"],
            "file": report.slugs[item["case"]],
            "category": item["category"],
            "kind": item["kind"],
            "family": item["family"],
            "clauses": item["clauses"],
            "controls": list(case.controls),
            "verdicts": "".join(letters[verdict] for verdict in column),
        }
        for item, case, column in zip(report.data["items"], population.suite.cases, columns, strict=True)
    ]
    controls = [
        {
            "id": name,
            "file": report.slugs[name],
            "category": control.category,
            "kind": "control",
            "family": control.family,
            "clauses": list(control.clauses),
            "controls": [],
            "verdicts": "".join({True: "p", False: "f", None: "-"}[one.passes(name)] for one in population.seen),
        }
        for name, control in population.suite.controls.items()
    ]
    candidates = [
        {key: row[key] for key in ("slug", "name", "tree", "model", "build", "rate", "ungated", "measures", "marks")}
        for row in report.data["candidates"]
    ]
    return script("TRIATHLON.site", {"candidates": candidates, "cases": cases, "controls": controls})


def candidate_data(report: Report, at: int) -> str:
    """Why each case of a candidate that did not pass did not."""
    one = report.population.seen[at]
    reasons = {
        case.id: reasons_of(one, case)[:6]
        for case, verdict in zip(report.population.suite.cases, report.population.verdicts[at], strict=True)
        if verdict in ("failed", "gated")
    }
    facts = {key: value for key, value in report.data["candidates"][at].items() if not isinstance(value, dict)}
    return script("TRIATHLON.candidate", facts["slug"], {"facts": facts, "reasons": reasons})


def write_case(report: Report, store: Store, spec: Spec, case: Case, folder: Path) -> None:
    """Write the file, or files, of one case or control."""
    name = report.slugs[case.id]
    parts: list[list[dict[str, Any]]] = [[]]
    size = 0
    for row in _rows(report, store, case):
        weight = sum(map(len, row["channels"].values()))
        if parts[-1] and size + weight > PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(row)
        size += weight
    head = {
        "story": story(case, report.population.suite, spec).replace(str(report.population.suite.root), "cases"),
        "controls": list(case.controls),
        "parts": len(parts),
    }
    for number, rows in enumerate(parts):
        call = script("TRIATHLON.case", case.id, number, rows, head if number == 0 else None)
        (folder / f"{name}.{number}.js").write_text(call, "ascii")


def _rows(report: Report, store: Store, case: Case) -> Iterator[dict[str, Any]]:
    for at, one in enumerate(report.population.seen):
        row = one.telling(case.id)
        if row is None:
            continue
        yield {
            "c": at,
            "reasons": reasons_of(one, case),
            "findings": [dict(finding) for finding in row.findings],
            "seconds": row.seconds,
            "started": row.started,
            "repetition": row.key.repetition,
            "channels": {
                name: base64.b64encode(body).decode("ascii") for name, body in sorted(store.packed(row.key).items())
            },
        }
