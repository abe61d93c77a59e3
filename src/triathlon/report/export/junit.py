"""JUnit XML, so that a harness team's CI shows cases as tests: one suite a candidate, one test a case."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from triathlon.harness.case import Case
from triathlon.harness.spec import load_spec
from triathlon.harness.story import story
from triathlon.population.read import Seen, Verdict
from triathlon.report.data import Report

# What XML 1.0 cannot hold, surrogates included.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: Report, at: int | None = None) -> bytes:
    """The verdicts of one candidate, or of all. Gated cases are failures that name their controls."""
    population = report.population
    root = ET.Element("testsuites", name="triathlon")
    for i, (one, cells) in enumerate(zip(population.seen, population.verdicts, strict=True)):
        if at is not None and i != at:
            continue
        suite = ET.SubElement(
            root,
            "testsuite",
            name=clean(f"{one.member.name} {one.member.tree[:12]}"),
            tests=str(len(cells)),
            failures=str(sum(cell in ("failed", "gated") for cell in cells)),
            errors="0",
            skipped=str(cells.count("none")),
            timestamp=one.started[:19],
        )
        facts = ET.SubElement(suite, "properties")
        for name, values in population.conditions.items():
            ET.SubElement(facts, "property", name=name, value=clean(", ".join(values)))
        for case, verdict in zip(population.suite.cases, cells, strict=True):
            _case(suite, report, one, case, verdict)
    ET.indent(root)
    body: bytes = ET.tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + body + b"\n"


def _case(suite: ET.Element, report: Report, one: Seen, case: Case, verdict: Verdict) -> None:
    row = one.telling(case.id)
    seconds = f"{row.seconds:.3f}" if row else "0"
    test = ET.SubElement(suite, "testcase", classname=f"{case.category}.{case.group}", name=case.id, time=seconds)
    if verdict == "none":
        ET.SubElement(test, "skipped", message="no verdict: it or a control of it was not run to its end")
    elif verdict != "passed":
        reasons = reasons_of(one, case)
        failure = ET.SubElement(test, "failure", type=verdict, message=clean(reasons[0] if reasons else verdict)[:500])
        failure.text = clean("\n".join(reasons) + "\n\n" + story(case, report.population.suite, load_spec()))


def reasons_of(one: Seen, case: Case) -> list[str]:
    """Why a case did not pass, controls that failed last."""
    row = one.telling(case.id)
    reasons = list(row.reasons) if row else []
    for name in case.controls:
        control = one.telling(name)
        if control is not None and not control.passed:
            reasons.append(f"control {name} failed: {next(iter(control.reasons), 'no reason given')}")
    return reasons


def clean(text: str) -> str:
    """Text as XML can hold it; what it cannot becomes U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)
