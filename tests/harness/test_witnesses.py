"""Who passes a case, by the store."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_help import CASE, HEAD, suite_of

from triathlon.harness.case import Case, Suite
from triathlon.harness.witnesses import case_key, unconfirmed, witnesses
from triathlon.store import Key, Row, Store

CONTROLS = """\
controls:
  - {id: power, run: {prompt: go}, script: [{say: done}], expect: {exit: 0}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return suite_of(tmp_path / "cases", HEAD + CONTROLS + CASE)


def put(store: Store, case: Case, name: str, passed: bool, seed: int = 0, key: str | None = None) -> None:
    made = Key(f"tree of {name}", key or case_key(case), "r", "p", "namespaces", "root", seed, 1)
    store.put(Row(made, name, case.id, case.category, case.kind or "control", passed, late=False), {})


def names(store: Store, suite: Suite) -> list[str]:
    return [one.name for one in witnesses(store, suite)["small/one"]]


def test_a_pass_needs_its_controls(suite: Suite, tmp_path: Path) -> None:
    case, control = suite.cases[0], suite.controls["small/power"]
    with Store(tmp_path / "s") as store:
        put(store, case, "reference", True)
        assert names(store, suite) == []
        put(store, control, "reference", True)
        assert names(store, suite) == ["reference"]
        assert unconfirmed(witnesses(store, suite)) == ["small/one"]
        put(store, case, "other", True)
        put(store, control, "other", False)
        assert names(store, suite) == ["reference"]
        put(store, control, "other", True)
        assert names(store, suite) == ["other", "reference"]
        assert unconfirmed(witnesses(store, suite)) == []


def test_the_newest_verdict_counts(suite: Suite, tmp_path: Path) -> None:
    case, control = suite.cases[0], suite.controls["small/power"]
    with Store(tmp_path / "s") as store:
        put(store, control, "reference", True)
        put(store, case, "reference", True, seed=0)
        put(store, case, "reference", False, seed=1)
        assert names(store, suite) == []


def test_a_case_that_was_another_and_a_mutant_are_no_witnesses(suite: Suite, tmp_path: Path) -> None:
    case, control = suite.cases[0], suite.controls["small/power"]
    with Store(tmp_path / "s") as store:
        for name in ("reference", "mutant:PERM-01/a"):
            put(store, control, name, True)
        put(store, case, "mutant:PERM-01/a", True)
        put(store, case, "reference", True, key="as it was")
        assert witnesses(store, suite) == {"small/one": ()}
        assert unconfirmed(witnesses(store, suite)) == []
