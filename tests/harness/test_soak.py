"""Soaking: many seeds, random orders, and what was not always passed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from run_help import OBEDIENT, make_cases, make_tree

from triathlon import protocol
from triathlon.harness import candidate
from triathlon.harness.load import load_suite
from triathlon.harness.run import Options
from triathlon.harness.soak import Soaked, soak
from triathlon.sandbox import Provider
from triathlon.store import Store

CASES = """
group: g
about: A test.
clauses: [HEAD-01]
controls:
  - {id: power, run: {prompt: pass}, expect: {exit: 0}}
cases:
  - {id: steady, kind: ordinary, origin: {spec: HEAD-01}, run: {prompt: pass}, expect: {exit: 0}}
  - id: lucky
    kind: ordinary
    origin: {spec: HEAD-01}
    run: {prompt: "import sys; sys.exit({{number}} % 2)"}
    expect: {exit: 0}
"""


def soaked(provider: Provider, folder: Path, seeds: range, *, fresh: bool = False) -> tuple[Soaked, list[str]]:
    make_tree(folder / "tree", OBEDIENT)
    cases = make_cases(folder / "cases", CASES)
    said: list[str] = []
    with Store(folder / "s") as store:
        found = soak(
            candidate.load(str(folder / "tree")),
            load_suite(cases),
            protocol.load(),
            provider,
            store,
            Options(in_flight=2, fresh=fresh),
            seeds,
            said.append,
        )
    return found, said


def test_what_hangs_on_the_seed_is_found(namespaces: Provider, tmp_path: Path) -> None:
    found, said = soaked(namespaces, tmp_path, range(6))
    assert (found.seeds, found.cases, len(said)) == (6, 2, 6)
    (one,) = found.unstable
    assert one.case == "g/lucky"
    assert 0 < one.passed < 6, "the number under six seeds is even and odd"
    assert len(one.seeds) == 6 - one.passed
    assert "exit" in one.reason
    with Store(tmp_path / "s") as store:
        assert {row.key.seed for row in store.rows()} == set(range(6))
        before = len(store.rows())
    again, _ = soaked(namespaces, tmp_path, range(6))
    assert again == found
    with Store(tmp_path / "s") as store:
        assert len(store.rows()) == before


def test_orders_differ(namespaces: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from triathlon.harness import soak as module

    orders: list[list[str]] = []
    inner = module.evaluate

    def noted(planned: Any, *rest: Any) -> Any:
        orders.append([case.id for case in planned.cases])
        return inner(planned, *rest)

    monkeypatch.setattr(module, "evaluate", noted)
    soaked(namespaces, tmp_path, range(5))
    assert {tuple(order) for order in orders} == {("g/steady", "g/lucky"), ("g/lucky", "g/steady")}
