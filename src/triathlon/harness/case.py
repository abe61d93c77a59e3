"""A case: what is laid out, what is run, what the model says, what must be seen; and the controls that gate it.

`case_file.GroupFile` is one YAML file as written. `Case` is what the rest of the bench works with: set-up merged, `run`
opened into steps, variations made, defaults of the group filled in. A control is a `Case` whose role is `control`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from triathlon.harness.case_file import Kind, Origin
from triathlon.harness.expect import Expect
from triathlon.harness.setup import Setup
from triathlon.harness.steps import Start, Step
from triathlon.scripted.script import Script


@dataclass(frozen=True, eq=False)
class Case:
    """A case or control, ready to be run. Texts still hold placeholders.

    `id` is `<group>/<name>`, unique in a suite over cases and controls. `controls` are ids of the controls that gate
    it (of a control: none). `file` and `line` say where it is written.
    """

    id: str
    role: Literal["case", "control"]
    category: str
    clauses: tuple[str, ...]
    about: str
    setup: Setup
    steps: tuple[Step, ...]
    script: Script
    expect: Expect
    file: Path
    line: int
    kind: Kind | None = None
    origin: Origin | None = None
    cite: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    form: Literal["same_form", "reverse"] | None = None
    changed: str | None = None
    """Of a variation: what it changed, one of `CHANGES`."""

    @property
    def group(self) -> str:
        """The part of the id before the slash."""
        return self.id.partition("/")[0]

    @property
    def family(self) -> str:
        """The group, which a case shares with its variations."""
        return self.group

    @property
    def starts(self) -> tuple[Start, ...]:
        """The processes it starts, in order."""
        return tuple(step.start for step in self.steps if step.start is not None)

    @cached_property
    def body(self) -> dict[str, Any]:
        """What decides a verdict, as plain data: set-up, steps, script and expectations; defaults left out."""
        return {
            "setup": plain(self.setup),
            "steps": [plain(step) for step in self.steps],
            "script": plain(self.script),
            "expect": plain(self.expect),
        }

    @cached_property
    def sha256(self) -> str:
        """Hash of `body`: a result stands for as long as this is the same. Controls have their own."""
        return hashlib.sha256(canonical(self.body)).hexdigest()


@dataclass(frozen=True, eq=False)
class Suite:
    """All cases and controls below one folder."""

    root: Path
    cases: tuple[Case, ...]
    controls: dict[str, Case]

    def case(self, name: str) -> Case | None:
        """The case or control with this id."""
        return self.controls.get(name) or next((c for c in self.cases if c.id == name), None)

    def gating(self, case: Case) -> tuple[Case, ...]:
        """The controls that gate a case."""
        return tuple(self.controls[name] for name in case.controls)

    def needed(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """The controls that gate any of these cases, each once, in order."""
        return tuple(self.controls[name] for name in dict.fromkeys(n for c in cases for n in c.controls))

    @cached_property
    def sha256(self) -> str:
        """Hash of every case and control, and of what decides how they count."""
        rows = [
            [c.id, c.role, c.sha256, c.category, c.kind, list(c.clauses), list(c.controls), c.form]
            for c in (*self.cases, *self.controls.values())
        ]
        return hashlib.sha256(canonical(sorted(rows, key=lambda row: str(row[0])))).hexdigest()


def suite_hash(suite: Suite) -> str:
    """The suite's hash, as it stands in every result."""
    return suite.sha256


def plain(model: BaseModel) -> Any:
    """A model as plain data, in the file's own keys, without defaults."""
    return model.model_dump(by_alias=True, exclude_unset=True)


def canonical(value: Any) -> bytes:
    """One way to write plain data, for hashing."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
