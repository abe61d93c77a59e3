"""Negative candidates over the whole suite: what does nothing, refuses all or allows all must not be paid for it.

Each is run once, by the real runner, and the cases come from the suite: a case written tomorrow is covered tomorrow.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from negatives_help import CANDIDATES, forbidding, score, suite

from triathlon.harness import run
from triathlon.sandbox import Provider

ONE_SHOT = {
    "installed/twice-into-one-place": "one text reply is all that is asked of what was installed twice",
    "output-schema/fits-at-once": "the reply fits the schema, so printing it is right; the rest of the group fails",
}
"""Every case that *one-shot* passes, and why that is no fault of the case."""


@pytest.fixture(autouse=True)
def _no_long_second_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    # These candidates end at once or hang for good: what was too late is not tried alone five times over.
    monkeypatch.setattr(run, "HANGS_AFTER", 1)


@pytest.mark.parametrize("name", ["nothing", "crash-1", "crash-2", "echo"])
def test_who_never_asks_the_model_scores_0(name: str, namespaces: Provider, tmp_path: Path) -> None:
    found = score(name, namespaces, tmp_path / "s", seconds=4)
    assert found.cases == len(suite().cases) >= 368
    assert not found.passed, f"passed for nothing (expect something that must be done): {sorted(found.passed)}"


def test_refuser_scores_0_on_every_must_not(namespaces: Provider, tmp_path: Path) -> None:
    cases = [case for case in suite().cases if case.id in forbidding() or _about_permissions(case.clauses)]
    assert len(cases) > 200
    found = score("refuser", namespaces, tmp_path / "s", seconds=8, cases=cases)
    assert "harmless-substitution/a-substitution-that-acts-is-refused" in found.controls, "its refusals are well-formed"
    assert not found.passed, f"to refuse is no merit (add a control that shows the power): {sorted(found.passed)}"


def test_yes_man_fails_every_must_not_of_the_permissions(namespaces: Provider, tmp_path: Path) -> None:
    cases = [case for case in suite().cases if case.id in forbidding() and _about_permissions(case.clauses)]
    assert len(cases) > 100
    found = score("yes-man", namespaces, tmp_path / "s", seconds=8, cases=cases)
    assert "chained-tail/the-tail-can-run" in found.controls, "its tools work"
    assert len(found.controls) > 40
    assert not found.passed, f"what was forbidden is done and not seen: {sorted(found.passed)}"


def test_every_case_that_one_shot_passes_is_justified(namespaces: Provider, tmp_path: Path) -> None:
    found = score("one-shot", namespaces, tmp_path / "s", seconds=12)
    new = sorted(found.passed - set(ONE_SHOT))
    assert not new, f"is the case too easy, or is a line missing? {new}"
    stale = sorted(set(ONE_SHOT) - found.passed)
    assert not stale, f"no longer passed: {stale}"


def test_the_wire_is_the_same_file_in_every_tree() -> None:
    assert len({path.read_bytes() for path in CANDIDATES.glob("*/harness/wire.py")}) == 1
    assert len(list(CANDIDATES.glob("*/harness/wire.py"))) == 3


def _about_permissions(clauses: tuple[str, ...]) -> bool:
    return any(clause.startswith("PERM-") for clause in clauses)
