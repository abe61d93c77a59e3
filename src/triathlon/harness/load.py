"""Reads case files into a suite. Every complaint names file and line; all of a suite are collected, none hides another.

Layout: `<cases>/<category>/<group>.yaml`, one group a file. Checked here is what a run stands on (keys, types, ids,
clause ids, controls, variations); what makes a case a good one is checked by `lint`.
"""

from __future__ import annotations

import difflib
import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError
from yaml.nodes import Node

from triathlon import content
from triathlon.errors import CaseError, UsageError
from triathlon.harness.case import Case, Suite
from triathlon.harness.case_file import CATEGORIES, CaseFile, ControlFile, GroupFile
from triathlon.harness.setup import Setup
from triathlon.harness.vary import NotAVariation, vary
from triathlon.harness.yaml import line_of, parse
from triathlon.scripted.script import Script

Place = Sequence[str | int]
EMPTY_SCRIPT = Script.model_validate([])


def load_suite(root: Path | None = None, clauses: Collection[str] | None = None) -> Suite:
    """The suite below a folder (the benchmark's own if not given). Raises CaseError with the first complaint.

    `clauses` are the ids that may be cited; by default those of the spec.
    """
    suite, problems = read_suite(root, clauses)
    if problems:
        first, more = problems[0], len(problems) - 1
        rest = f" (and {more} more; `triathlon harness cases lint` shows all)" if more else ""
        raise CaseError(first.message + rest, first.file, first.line)
    return suite


def read_suite(root: Path | None = None, clauses: Collection[str] | None = None) -> tuple[Suite, list[CaseError]]:
    """What can be read of a suite, and all complaints in the order of files and lines.

    Raises UsageError if the folder is missing or holds no case file.
    """
    root = content.root() / "cases" if root is None else root
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder of cases")
    files = sorted(p for p in root.rglob("*.y*ml") if p.suffix in (".yaml", ".yml"))
    if not files:
        raise UsageError(f"{root} holds no case file (<category>/<group>.yaml)")
    known = spec_clauses() if clauses is None else frozenset(clauses)
    cases: list[Case] = []
    controls: dict[str, Case] = {}
    problems: list[CaseError] = []
    groups: dict[str, Path] = {}
    with _no_collection():
        for file in files:
            reader = GroupReader(file, root, known)
            group = reader.read()
            problems += sorted(reader.problems, key=lambda error: error.line or 0)
            if group is None:
                continue
            first = groups.setdefault(group, file)
            if first != file:
                problems.append(CaseError(f"the group {group!r} is in {first.relative_to(root)} already", file, 1))
                continue
            cases += reader.cases
            controls |= {c.id: c for c in reader.controls}
    return Suite(root, tuple(cases), controls), problems


def spec_clauses() -> frozenset[str]:
    """The ids of all clauses of the spec."""
    from triathlon.harness.spec import load_spec

    return frozenset(load_spec().clauses)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Loading makes many objects and no garbage: the collector would only walk them again and again (half the time)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class GroupReader:
    """Reads one file; `cases`, `controls` and `problems` hold what came of it."""

    def __init__(self, file: Path, root: Path, clauses: Collection[str]) -> None:
        self.file, self.root, self.known_clauses = file, root, clauses
        self.category = ""
        self.cases: list[Case] = []
        self.controls: list[Case] = []
        self.problems: list[CaseError] = []
        self._tree: Node | None = None

    def read(self) -> str | None:
        """The group's name, None if the file is no group at all."""
        parts = self.file.relative_to(self.root).parts
        if len(parts) != 2 or parts[0] not in CATEGORIES:
            names = ", ".join(CATEGORIES)
            self.problems.append(CaseError(f"a case file stands in a category's folder: {names}", self.file))
            return None
        self.category = parts[0]
        if not self.file.is_file():
            self.problems.append(CaseError("this is no file: a folder, a pipe, a link to nothing", self.file))
            return None
        try:
            data, self._tree = parse(self.file.read_text(encoding="utf-8"), self.file)
            if not isinstance(data, dict):
                raise CaseError("a case file is a mapping with `group`, `about` and `cases`", self.file, 1)
            group = GroupFile.model_validate(data)
        except CaseError as error:
            self.problems.append(error)
            return None
        except UnicodeDecodeError as error:
            self.problems.append(CaseError(f"not UTF-8 at byte {error.start}", self.file))
            return None
        except OSError as error:
            self.problems.append(CaseError(f"cannot be read: {error.strerror}", self.file))
            return None
        except ValidationError as error:
            self.problems += explain(error, self.file, self._tree)
            return None
        self._build(group)
        return group.group

    def _build(self, group: GroupFile) -> None:
        if group.group != self.file.stem:
            self._wrong(f"the group {group.group!r} stands in a file of another name", ["group"])
        self._check_clauses(group.clauses, ["clauses"])
        names: dict[str, int] = {}
        for i, control in enumerate(group.controls):
            self._take(names, control.id, ["controls", i])
            self.controls.append(self._control(group, control, ["controls", i]))
        for i, case in enumerate(group.cases):
            self._take(names, case.id, ["cases", i])
            made = self._case(group, case, ["cases", i])
            self.cases.append(made)
            for j, variation in enumerate(case.vary):
                path: Place = ["cases", i, "vary", j]
                self._take(names, variation.id, path)
                try:
                    varied = vary(case, variation, made.id)
                except NotAVariation as error:
                    self._wrong(f"variation {variation.id!r}: {error}", path)
                    continue
                self.cases.append(self._case(group, varied, path, variation.changes))

    def _control(self, group: GroupFile, control: ControlFile, path: Place) -> Case:
        setup = self._setup(group, control, path)
        return Case(
            id=f"{group.group}/{control.id}",
            role="control",
            category=self.category,
            clauses=self._clauses(group, control, path),
            about=control.about or group.about,
            setup=setup,
            steps=control.opened(),
            script=control.script or EMPTY_SCRIPT,
            expect=control.expect,
            file=self.file,
            line=line_of(self._tree, path),
            form="reverse" if control.reverse else "same_form",
        )

    def _case(self, group: GroupFile, case: CaseFile, path: Place, changed: str | None = None) -> Case:
        there = [control.id for control in group.controls]
        wanted = there if case.controls is None else case.controls
        for name in wanted:
            if name not in there:
                self._wrong(f"case {case.id!r}: there is no control {name!r}{_near(name, there)}", [*path, "controls"])
        setup = self._setup(group, case, path)
        return Case(
            id=f"{group.group}/{case.id}",
            role="case",
            category=self.category,
            clauses=self._clauses(group, case, path),
            about=case.about or group.about,
            setup=setup,
            steps=case.opened(),
            script=case.script or EMPTY_SCRIPT,
            expect=case.expect,
            file=self.file,
            line=line_of(self._tree, path),
            kind=case.kind,
            origin=case.origin,
            cite=tuple(case.cite),
            controls=tuple(f"{group.group}/{name}" for name in dict.fromkeys(wanted) if name in there),
            changed=changed,
        )

    def _setup(self, group: GroupFile, arm: CaseFile | ControlFile, path: Place) -> Setup:
        setup = Setup.over(arm, group)
        for clash in setup.clashes():
            self._wrong(f"{arm.id!r}: {clash}", path)
        return setup

    def _clauses(self, group: GroupFile, arm: CaseFile | ControlFile, path: Place) -> tuple[str, ...]:
        if arm.clauses is not None:
            self._check_clauses(arm.clauses, [*path, "clauses"])
        clauses = group.clauses if arm.clauses is None else arm.clauses
        if not clauses:
            self._wrong(f"{arm.id!r} cites no clause, nor does its group", path)
        return tuple(dict.fromkeys(clauses))

    def _check_clauses(self, clauses: list[str], path: Place) -> None:
        for i, clause in enumerate(clauses):
            if clause not in self.known_clauses:
                self._wrong(f"the spec has no clause {clause}", [*path, i])

    def _take(self, names: dict[str, int], name: str, path: Place) -> None:
        line = line_of(self._tree, path)
        if name in names:
            self._wrong(f"the id {name!r} is taken in line {names[name]}", [*path, "id"])
        names.setdefault(name, line)

    def _wrong(self, message: str, path: Place) -> None:
        error = CaseError(message, self.file, line_of(self._tree, path))
        if str(error) not in map(str, self.problems):
            self.problems.append(error)


def explain(error: ValidationError, file: Path, tree: Node | None) -> list[CaseError]:
    """Pydantic's complaints in the words of the file, each with its line."""
    from triathlon.harness.schema import keys_at

    found = []
    for item in error.errors(include_url=False):
        place = list(item["loc"])
        line = line_of(tree, place)
        if item["type"] == "extra_forbidden":
            key = str(place.pop())
            message = f"unknown key {key!r}{_near(key, keys_at(place))}"
        elif item["type"] == "no_value":
            key = item["ctx"]["key"]
            line = line_of(tree, [*place, key])
            message = f"the key {key!r} has no value"
        elif item["type"] == "missing":
            message = f"the key {place.pop()!r} is missing"
        elif item["type"] in ("model_type", "model_attributes_type", "dict_type"):
            message = f"needs a mapping, not {item['input']!r:.60}"
        else:
            message = item["msg"].removeprefix("Value error, ").removeprefix("Input ")
            if item["type"] != "value_error":
                message += f", not {item['input']!r:.60}"
        where = ".".join(str(part) for part in place)
        found.append(CaseError(f"{where}: {message}" if where else message, file, line))
    return found


def _near(name: str, names: Collection[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
