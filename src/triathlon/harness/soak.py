"""Whether cases are stable: the same candidate under many seeds, in random orders, with far too much at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triathlon.harness.candidate import Candidate
from triathlon.harness.case import Suite
from triathlon.harness.result import result_of
from triathlon.harness.run import Options, Watcher, cores, evaluate, plan
from triathlon.protocol import Protocol
from triathlon.sandbox import Provider
from triathlon.store import Store

TIMES_THE_CORES = 8
"""Cases in flight per core: far more than a run has, so that what depends on time shows."""


@dataclass(frozen=True)
class Unstable:
    """A case that was not passed under every seed."""

    case: str
    passed: int
    seeds: tuple[int, ...]
    """Those under which it failed, was gated or had no verdict."""
    reason: str

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"case": self.case, "passed": self.passed, "failed_seeds": list(self.seeds), "reason": self.reason}


@dataclass(frozen=True)
class Soaked:
    """What came of it. `alone` are cases that passed only when they were run once more, alone."""

    seeds: int
    cases: int
    unstable: tuple[Unstable, ...]
    alone: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As `cases soak --json` prints it."""
        return {
            "seeds": self.seeds,
            "cases": self.cases,
            "unstable": [one.as_json() for one in self.unstable],
            "passed_alone": list(self.alone),
        }


def soak(
    candidate: Candidate,
    suite: Suite,
    numbers: Protocol,
    provider: Provider,
    store: Store,
    options: Options,
    seeds: Sequence[int],
    say: Callable[[str], None] = lambda text: None,
    watcher: Watcher | None = None,
) -> Soaked:
    """Run the chosen cases under every seed. A seed that the store has whole is not run again, unless `fresh`."""
    options = replace(options, in_flight=options.in_flight or TIMES_THE_CORES * cores())
    passed: dict[str, int] = {}
    failed: dict[str, list[tuple[int, str]]] = {}
    alone: set[str] = set()
    for seed in seeds:
        planned = plan(candidate, suite, numbers.change("evaluate.seed", seed), provider, options)
        order = random.Random(seed)
        planned = replace(
            planned,
            cases=order.sample(list(planned.cases), len(planned.cases)),
            controls=order.sample(list(planned.controls), len(planned.controls)),
        )
        report = evaluate(planned, store, watcher)
        alone |= {row.case_id for row in report.rows.values() if row.key.attempt and row.passed}
        bad = 0
        for result in result_of(report).cases:
            if result.status == "passed":
                passed[result.case.id] = passed.get(result.case.id, 0) + 1
            else:
                bad += 1
                failed.setdefault(result.case.id, []).append((seed, next(iter(result.reasons), result.status)))
        say(f"seed {seed}: {len(planned.cases) - bad} of {len(planned.cases)} passed in {report.seconds:.1f} s")
    unstable = [
        Unstable(name, passed.get(name, 0), tuple(seed for seed, _ in those), those[0][1])
        for name, those in failed.items()
    ]
    unstable.sort(key=lambda one: (one.passed, one.case))
    return Soaked(len(seeds), len({*passed, *failed}), tuple(unstable), tuple(sorted(alone)))
