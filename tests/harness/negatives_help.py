"""Scores of the negative candidates: all controls are run first, and then only cases that can still be passed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from triathlon import protocol
from triathlon.harness import candidate, run
from triathlon.harness.case import Case, Suite
from triathlon.harness.gate import gate
from triathlon.harness.load import load_suite
from triathlon.harness.nulls import must_nots, null_runs
from triathlon.sandbox import Provider
from triathlon.store import Store

CANDIDATES = Path(__file__).parent.parent / "candidates"
IN_FLIGHT = 6


@dataclass(frozen=True)
class Score:
    """What a candidate passes, by id."""

    passed: frozenset[str]
    """Cases that it passes with all controls that gate them."""
    controls: frozenset[str]
    """Controls that it passes."""
    cases: int
    """Cases that could be passed: those run, and those gated by a control that fails."""


@cache
def suite() -> Suite:
    """The benchmark's own suite."""
    return load_suite()


@cache
def forbidding() -> frozenset[str]:
    """Ids of the cases that have a *must not*: an expectation that holds where nothing is done."""
    return frozenset(case.id for case in suite().cases if must_nots(null_runs(case)))


def score(name: str, provider: Provider, store: Path, *, seconds: float, cases: Sequence[Case] | None = None) -> Score:
    """Run a candidate by the real runner over cases (all), each ended after so many seconds.

    A case whose control fails counts as not passed without being run: most of the suite, for a negative candidate.
    """
    chosen = list(suite().cases if cases is None else cases)
    numbers = protocol.load().change("evaluate.case_timeout_s", seconds)
    tree = candidate.load(str(CANDIDATES / name))
    whole = run.plan(tree, suite(), numbers, provider, run.Options(in_flight=IN_FLIGHT))
    with Store(store) as kept:
        controls = _verdicts(replace(whole, cases=(), controls=suite().needed(chosen)), kept)
        left = [case for case in chosen if all(controls[control] for control in case.controls)]
        verdicts = controls | (_verdicts(replace(whole, cases=left, controls=()), kept) if left else {})
    good = frozenset(control for control, passed in controls.items() if passed)
    return Score(frozenset(case.id for case in left if gate(case, verdicts).passed), good, len(chosen))


def _verdicts(plan: run.Plan, store: Store) -> dict[str, bool]:
    report = run.evaluate(plan, store)
    assert not report.errors, report.errors[0].error
    return {row.case_id: row.passed for row in report.rows.values()}
