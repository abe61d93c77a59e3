"""The gate: a case and all its controls, or it does not count."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_help import CASE, HEAD, case_of

from triathlon.harness.case import Case
from triathlon.harness.gate import Rates, gate, rates

CONTROLS = """\
controls:
  - {id: power, run: {prompt: go}, expect: {exit: 0}}
  - {id: neighbour, reverse: true, run: {prompt: go}, expect: {exit: 1}}
"""


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return case_of(tmp_path, HEAD + CONTROLS + CASE)


@pytest.mark.parametrize(
    ("one", "power", "neighbour", "status", "failed"),
    [
        (True, True, True, "passed", ()),
        (True, False, True, "gated", ("small/power",)),
        (True, True, False, "gated", ("small/neighbour",)),
        (True, False, False, "gated", ("small/power", "small/neighbour")),
        (False, True, True, "failed", ()),
        (False, False, True, "failed", ("small/power",)),
    ],
)
def test_a_case_needs_all_its_controls(
    case: Case, one: bool, power: bool, neighbour: bool, status: str, failed: tuple[str, ...]
) -> None:
    verdict = gate(case, {"small/one": one, "small/power": power, "small/neighbour": neighbour, "small/other": False})
    assert (verdict.status, verdict.failed_controls) == (status, failed)
    assert verdict.passed is (status == "passed") and verdict.ungated is one


def test_a_control_that_was_not_run_is_no_pass(case: Case) -> None:
    with pytest.raises(KeyError):
        gate(case, {"small/one": True, "small/power": True})


def test_controls_stand_in_no_denominator(case: Case) -> None:
    good = gate(case, {"small/one": True, "small/power": True, "small/neighbour": True})
    vacuous = gate(case, {"small/one": True, "small/power": False, "small/neighbour": True})
    bad = gate(case, {"small/one": False, "small/power": True, "small/neighbour": True})
    made = rates([good, vacuous, bad, bad])
    assert made == Rates(cases=4, passed=1, ungated=2)
    assert (made.pass_rate, made.ungated_pass_rate) == (0.25, 0.5)
    assert rates([]).pass_rate == rates([]).ungated_pass_rate == 0.0
