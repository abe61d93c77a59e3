"""The two halves of a suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_help import CASE, CLAUSES, HEAD, put

from triathlon import protocol
from triathlon.errors import NothingToDo, UsageError
from triathlon.harness.case import Suite
from triathlon.harness.load import load_suite
from triathlon.harness.split import half, part


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    one = CASE.removeprefix("cases:\n")
    for n in range(12):
        cases = one + one.replace("id: one", "id: two")
        put(tmp_path, f"{HEAD.replace('small', f'group-{n}')}cases:\n{cases}", f"group-{n}")
    return load_suite(tmp_path, CLAUSES)


def test_the_halves_make_the_whole_and_groups_stay_together(suite: Suite) -> None:
    public, held_out = part(suite.cases, "public"), part(suite.cases, "held-out")
    assert {c.id for c in public} | {c.id for c in held_out} == {c.id for c in suite.cases}
    assert not {c.group for c in public} & {c.group for c in held_out}
    assert part(suite.cases, "all") == list(suite.cases)


def test_the_key_decides() -> None:
    groups = [f"group-{n}" for n in range(200)]
    one, other = ([half(name, key, 0.5) for name in groups] for key in ("a", "b"))
    assert one != other
    assert 60 < one.count("held-out") < 140


def test_the_share_is_that_of_the_protocol(suite: Suite) -> None:
    assert half("any", "key", 1.0) == "held-out"
    assert half("any", "key", 0.0) == "public"
    numbers = protocol.load().change("split.held_out", 1.0)
    assert len(part(suite.cases, "held-out", numbers)) == len(suite.cases)
    with pytest.raises(NothingToDo):
        part(suite.cases, "public", numbers)


def test_another_word_is_wrong_use(suite: Suite) -> None:
    with pytest.raises(UsageError, match="held-out"):
        part(suite.cases, "secret")
