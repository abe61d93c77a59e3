"""`triathlon harness compare A B`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from triathlon.population.against import Sides

STORE = typer.Option(None, "--store", envvar="TRIATHLON_STORE", help="The store (runs/triathlon.sqlite).")


def compare(
    a: str = typer.Argument(..., metavar="A", help="Before: a folder, the first digits of its hash, or a name."),
    b: str = typer.Argument(..., metavar="B", help="After: the same."),
    store: Path | None = STORE,
    other: Path | None = typer.Option(None, "--other-store", help="Where B is, if it is another store."),
    suite: Path | None = typer.Option(None, "--cases", envvar="TRIATHLON_CASES", help="A folder of cases of your own."),
    fail_on_worse: bool = typer.Option(False, "--fail-on-worse", help="Exit 1 if a case passes in A and not in B."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object on standard output."),
) -> int:
    """Which cases changed between two evaluated trees, and whether that can be chance."""
    from triathlon.cli.needs import numpy_is_there
    from triathlon.harness.load import load_suite
    from triathlon.store import Store, default_path

    numpy_is_there()
    from triathlon.population.against import against
    from triathlon.population.read import population

    cases = load_suite(suite)
    with Store(store or default_path(), create=False) as opened:
        first = population(opened, cases, every_tree=True, any_protocol=True)
    second = first
    if other is not None:
        with Store(other, create=False) as opened:
            second = population(opened, cases, every_tree=True, any_protocol=True)
    sides = against(first, a, second, b)
    if as_json:
        print(json.dumps(sides.as_json(), indent=2))
    else:
        _print(sides)
    return 1 if fail_on_worse and sides.gated.worse else 0


def _print(sides: Sides) -> None:
    found = sides.gated
    for name, ids in (("better", found.better), ("worse", found.worse)):
        for case in ids:
            print(f"{name:<7} {case}")
    if sides.differ:
        print(f"not the same for both beside the code: {', '.join(sides.differ)}", file=sys.stderr)
    if found.rate_a is None or found.rate_b is None or found.difference is None:
        print("no case has a verdict for both")
        return
    print(
        f"{sides.a.member.name} {sides.a.member.tree[:12]} {found.rate_a:.2%} -> "
        f"{sides.b.member.name} {sides.b.member.tree[:12]} {found.rate_b:.2%} over {found.cases} cases"
    )
    interval = found.interval
    spread = f"95 % interval {interval.low:+.2%} to {interval.high:+.2%}" if interval else "interval undefined"
    print(f"difference {found.difference:+.2%}, {spread} (over case groups)")
    print(
        f"{len(found.better)} better, {len(found.worse)} worse; {_p('McNemar', found.mcnemar_p)}, "
        f"{_p('permutation over case groups', found.permutation_p)}"
    )


def _p(name: str, value: float | None) -> str:
    return f"{name} p = {value:.4g}" if value is not None else f"{name} undefined"
