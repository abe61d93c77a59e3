"""Whether cases are good ones: what the loader cannot see in one file alone, and what only a judge can see.

A case must not be passed by doing nothing, a *must not* needs a control of the same form, and the words that decide a
case stand in the spec. Each finding has a file and a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from triathlon.errors import CaseError, UsageError
from triathlon.harness.case import Case, Suite
from triathlon.harness.case_file import CATEGORIES
from triathlon.harness.fresh import UnknownPlaceholder, known_name, placeholders
from triathlon.harness.load import read_suite
from triathlon.harness.nulls import must_nots, null_runs
from triathlon.harness.spec import Spec, load_spec

LEAST_WORDS = 3
"""A citation of fewer words could stand anywhere."""


@dataclass(frozen=True)
class LintFinding:
    """One thing wrong with a case. `rule` is a short name for the kind of thing."""

    file: str
    line: int | None
    case: str | None
    rule: str
    message: str

    def __str__(self) -> str:
        at = f"{self.file}:{self.line}" if self.line is not None else self.file
        return f"{at}: {f'{self.case}: ' if self.case else ''}{self.message}"

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def lint(path: Path | None = None, spec: Spec | None = None) -> tuple[Suite, list[LintFinding]]:
    """Reads a suite and looks at every case. `path` is a suite, one of its categories, or one file of it.

    Returns what could be read and all findings, in the order of files and lines. Raises UsageError for a wrong path.
    """
    root, only = _root_of(path)
    spec = spec or load_spec()
    suite, problems = read_suite(root, spec.clauses)
    findings = [_from_error(error) for error in problems]
    for arm in (*suite.cases, *suite.controls.values()):
        findings += [LintFinding(str(arm.file), arm.line, arm.id, rule, text) for rule, text in check(arm, suite, spec)]
    findings += _identical(suite)
    if only is not None:
        findings = [f for f in findings if Path(f.file) == only or only in Path(f.file).parents]
        suite = _part(suite, only)
    return suite, sorted(findings, key=lambda f: (f.file, f.line or 0))


def _root_of(path: Path | None) -> tuple[Path | None, Path | None]:
    """(the suite's folder, the part of it that is meant)."""
    if path is None:
        return None, None
    if path.is_file():
        return path.parent.parent, path
    if not path.is_dir():
        raise UsageError(f"{path} is neither a case file nor a folder of cases")
    return (path.parent, path) if path.name in CATEGORIES else (path, None)


def _part(suite: Suite, only: Path) -> Suite:
    def inside(case: Case) -> bool:
        return case.file == only or only in case.file.parents

    controls = {name: control for name, control in suite.controls.items() if inside(control)}
    return Suite(suite.root, tuple(filter(inside, suite.cases)), controls)


def _from_error(error: CaseError) -> LintFinding:
    return LintFinding(str(error.file), error.line, None, "format", error.message)


def check(arm: Case, suite: Suite, spec: Spec) -> Iterator[tuple[str, str]]:
    """(rule, message) of everything wrong with one case or control."""
    unknown = sorted(set(_unknown_placeholders(arm)))
    for name in unknown:
        said = f"{{{{{name}}}}} is no placeholder" if name else "`{{` names nothing: write `{{{{` for two braces"
        yield "placeholder", said
    yield from (("name", message) for message in _names(arm))
    if arm.role == "case":
        yield from _citations(arm, spec)
        if (
            arm.origin is not None
            and arm.origin.vary is not None
            and arm.origin.vary not in {c.id for c in suite.cases}
        ):
            yield "origin", f"it varies {arm.origin.vary}, which is no case of the suite"
    if not unknown:
        yield from _on_null_runs(arm, suite)


def _on_null_runs(arm: Case, suite: Suite) -> Iterator[tuple[str, str]]:
    try:
        runs = null_runs(arm)
    except UnknownPlaceholder as error:
        yield "placeholder", f"the set-up cannot use {{{{{error.name}}}}}: nothing is captured before the first step"
        return
    for run in runs:
        if run.passes:
            yield "vacuous", f"a harness that does nothing and exits {run.exit} passes: expect something it must do"
            break
    held = must_nots(runs)
    if arm.role == "case" and held and not any(c.form == "same_form" for c in suite.gating(arm)):
        first = f"{held[0].where}: {held[0].wanted}"
        more = f" (and {len(held) - 1} more)" if len(held) > 1 else ""
        yield "control", f"{first}{more} holds without doing anything: it needs a same-form control"


def _citations(case: Case, spec: Spec) -> Iterator[tuple[str, str]]:
    if not case.cite:
        yield "cite", "it cites no words of the spec (`cite`)"
    clauses = [spec.clauses[name] for name in case.clauses if name in spec.clauses]
    for words in case.cite:
        if len(re.findall(r"\w+", words)) < LEAST_WORDS:
            yield "cite", f"{words!r} is too short to decide anything: cite at least {LEAST_WORDS} words"
        elif not any(clause.says(words) for clause in clauses):
            there = [clause.id for clause in spec.clauses.values() if clause.says(words)]
            hint = f"; {', '.join(there[:3])} has them" if there else "; no clause has them"
            yield "cite", f"{words!r} does not stand in {', '.join(case.clauses)}{hint}"


def _unknown_placeholders(arm: Case) -> Iterator[str]:
    captured = {step.capture.name for step in arm.steps if step.capture is not None}
    everything: tuple[Any, ...] = (arm.setup, list(arm.steps), arm.script, arm.expect)
    for part in everything:
        for name in placeholders(part):
            if name not in captured and not known_name(name):
                yield name


def _names(arm: Case) -> Iterator[str]:
    """Names of processes, answers and lanes that nothing has."""
    started: set[str] = set()
    answers: set[str] = set()
    for number, step in enumerate(arm.steps, 1):
        if step.start is not None:
            if step.start.name in started:
                yield f"step {number}: a second process is called {step.start.name!r}"
            started.add(step.start.name)
        if step.http is not None:
            answers.add(step.http.name)
        used = [step.finish, step.close_stdin, step.hang_up]
        used += [step.to] if step.kind in ("type", "keys", "paste", "resize", "send", "signal") else []
        if step.wait_for is not None:
            wait = step.wait_for
            used += [wait.exit, wait.of if wait.output is not None or wait.screen is not None else None]
        used += [part.of for part in (step.capture, step.http, step.call) if part is not None]
        for name in used:
            if name is not None and name not in started:
                yield f"step {number}: no process {name!r} has been started"
    for lane in arm.script.lanes.values():
        for action in (action for reply in lane.replies for action in reply.do):
            name = (action.to or "main") if action.signal is not None else None
            if name is not None and name not in started:
                yield f"a side action sends a signal to {name!r}, which is never started"
    calls = {step.call.name for step in arm.steps if step.call is not None}
    calls |= {start.name for start in arm.starts if start.driver == "api"}
    yield from _expected_names(arm, started, answers, calls)


def _expected_names(arm: Case, started: set[str], answers: set[str], calls: set[str]) -> Iterator[str]:
    expect, output = arm.expect, arm.expect.output
    wanted: list[tuple[str, Iterable[str], set[str]]] = [
        ("exit", expect.exit or {}, started),
        ("seconds", [seconds.of for seconds in expect.seconds or []], started | answers | calls),
        ("requests.lanes", expect.requests.lanes if expect.requests else {}, set(arm.script.lanes)),
    ]
    if output is not None:
        streams = {"stdout", "stderr", "screen"} & output.model_fields_set
        wanted += [
            ("output", [*(output.model_extra or {}), *(["main"] if streams else [])], started),
            ("output.http", output.http, answers),
            ("output.result", output.result, calls),
        ]
    for where, names, there in wanted:
        for name in names:
            if name not in there:
                yield f"expect.{where}: there is no {name!r}" + (
                    f" (there is {', '.join(sorted(there))})" if there else ""
                )


def _identical(suite: Suite) -> Iterator[LintFinding]:
    first: dict[str, Case] = {}
    for arm in (*suite.cases, *suite.controls.values()):
        other = first.setdefault(arm.sha256, arm)
        if other is not arm and (other.role == arm.role == "case" or other.group == arm.group):
            where = f"{other.id} (line {other.line} of {other.file.name})"
            yield LintFinding(str(arm.file), arm.line, arm.id, "identical", f"it is the same as {where}")


def differences(case: Case, control: Case) -> list[str]:
    """The fields in which a control differs from its case, as dotted paths; expectations by channel only."""
    found = [
        f"{part}{path}"
        for part in ("setup", "steps", "script")
        for path in _differ(case.body[part], control.body[part])
    ]
    mine, theirs = case.body["expect"], control.body["expect"]
    return found + [f"expect.{name}" for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]


def _differ(a: Any, b: Any, path: str = "") -> Iterator[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in {**a, **b}:
            if key not in a or key not in b:
                yield f"{path}.{key}"
            else:
                yield from _differ(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for number, (x, y) in enumerate(zip(a, b, strict=True), 1):
            yield from _differ(x, y, f"{path}.{number}")
    elif a != b:
        yield path
