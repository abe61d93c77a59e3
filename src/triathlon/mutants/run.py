"""Which faults the cases notice: first the cases of the fault's clause, then some of all, for how much it breaks.

A fault is *killed* by a case that cites its clause and fails while all its controls pass. One that breaks over a tenth
of the suite is *coarse*: anything would notice it, so it proves nothing about its clause.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from triathlon.errors import NothingToDo, TriathlonError
from triathlon.harness.candidate import Candidate
from triathlon.harness.case import Case, Suite
from triathlon.harness.install import Installed, install
from triathlon.harness.result import result_of
from triathlon.harness.run import Options, Outcome, Report, Watcher, evaluate, limits_of, plan
from triathlon.mutants.catalogue import Mutant
from triathlon.mutants.tree import forget, planted, put_in_place
from triathlon.protocol import Protocol
from triathlon.sandbox import Provider
from triathlon.store import Row, Store

COARSE = 0.1
"""A fault that fails a larger share of the suite does not count."""

SAMPLE = (20, 60)
"""Cases tried for that share: the first so many, and if one of them fails, so many in all."""

Breadth = Literal["sample", "all", "none"]


@dataclass(frozen=True)
class Verdict:
    """What the cases made of a fault."""

    mutant: Mutant
    killed_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Cases that cite the clause and noticed it, with the channels on which they did."""
    citing: int = 0
    """Cases of the clause that were run."""
    tried: int = 0
    failed: int = 0
    """Of all cases, those tried for how much the fault breaks, and those that failed or were gated."""
    errors: tuple[str, ...] = ()
    """What was our own fault, or why the patch does not apply: then there is no verdict."""

    @property
    def coarse(self) -> bool:
        """It breaks more than a fault of one clause may."""
        return self.tried > 0 and self.failed / self.tried > COARSE

    @property
    def survived(self) -> bool:
        """No case of its clause noticed it."""
        return not self.killed_by

    def as_json(self) -> dict[str, Any]:
        """As `mutants run --json` prints it."""
        return {
            "id": self.mutant.id,
            "clause": self.mutant.clause,
            "kind": self.mutant.kind,
            "about": self.mutant.about,
            "killed_by": list(self.killed_by),
            "noticed_on": {case: list(channels) for case, channels in self.killed_by.items()},
            "citing": self.citing,
            "tried": self.tried,
            "fails": self.failed,
            "coarse": self.coarse,
            "survived": self.survived,
            "errors": list(self.errors),
        }


@dataclass(frozen=True)
class Bench:
    """Everything the runs have in common."""

    suite: Suite
    reference: Candidate
    numbers: Protocol
    provider: Provider
    store: Path
    in_flight: int = 0
    fresh: bool = False
    breadth: Breadth = "sample"
    chooses: Callable[[Mutant], list[Case]] | None = None
    """The cases that are to notice a fault; None: those that cite its clause."""
    until_noticed: bool = False
    """Whether the first failure ends the run of a fault."""

    def citing(self, mutant: Mutant) -> list[Case]:
        """The cases that are to notice a fault."""
        if self.chooses is not None:
            return self.chooses(mutant)
        return [case for case in self.suite.cases if mutant.clause in case.clauses]

    def sample(self) -> list[Case]:
        """The cases tried for how much a fault breaks, in the order in which they are tried."""
        if self.breadth == "none":
            return []
        mixed = sorted(self.suite.cases, key=lambda case: hashlib.sha256(case.id.encode()).digest())
        return mixed if self.breadth == "all" else mixed[: SAMPLE[1]]

    def run(self, candidate: Candidate, cases: Sequence[Case], store: Store, watcher: Watcher | None = None) -> Report:
        """Evaluate some cases against a candidate, in this order."""
        options = Options(in_flight=self.in_flight, fresh=self.fresh, stop_at_failure=self.until_noticed)
        whole = plan(candidate, self.suite, self.numbers, self.provider, options)
        possible = {case.id for case in whole.cases}
        chosen = [case for case in cases if case.id in possible]
        return evaluate(replace(whole, cases=chosen, controls=self.suite.needed(chosen)), store, watcher)


class LeanStore(Store):
    """A store that keeps what was seen of failures only: hundreds of candidates that pass would fill it."""

    def put(self, row: Row, channels: Mapping[str, bytes]) -> None:
        super().put(row, {} if row.passed else channels)


def run(
    bench: Bench,
    mutants: Sequence[Mutant],
    at_once: int,
    say: Callable[[str], None],
    watcher: Watcher | None = None,
) -> list[Verdict]:
    """The verdicts, in the order of the faults. KeyboardInterrupt passes on; what was finished is in the store."""
    wanted = {case.id: case for mutant in mutants for case in bench.citing(mutant)}
    wanted |= {case.id: case for case in bench.sample()}
    if not wanted:
        raise NothingToDo("no case cites a clause of these mutants")
    base = replace(bench, until_noticed=False, fresh=False)
    with Store(bench.store) as store:
        good = _passed(base.run(bench.reference, list(wanted.values()), store, watcher))
    if left_out := sorted(wanted.keys() - good):
        say(f"left out, since the reference itself does not pass them: {', '.join(left_out)}")
    installed = install(bench.reference, bench.provider, limits_of(bench.numbers))
    todo, done = deque(enumerate(mutants)), SimpleQueue[tuple[int, Verdict] | BaseException]()

    def work() -> None:
        try:
            with LeanStore(bench.store) as store:
                while todo:
                    try:
                        number, mutant = todo.popleft()
                    except IndexError:
                        return
                    done.put((number, judge(bench, mutant, installed, good, store)))
        except BaseException as error:
            done.put(error)

    verdicts: dict[int, Verdict] = {}
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(at_once, len(mutants)))]
    try:
        for thread in threads:
            thread.start()
        while len(verdicts) < len(mutants):
            item = done.get()
            if isinstance(item, BaseException):
                raise item
            verdicts[item[0]] = item[1]
            say(f"[{len(verdicts)}/{len(mutants)}] {line(item[1])}")
    except BaseException:
        todo.clear()
        bench.provider.close()  # ends every sandbox, so that nobody waits for a deadline
        raise
    return [verdicts[number] for number in range(len(mutants))]


def judge(bench: Bench, mutant: Mutant, installed: Installed, good: set[str], store: Store) -> Verdict:
    """One fault. `good` are the cases that the reference passes."""
    cases = [case for case in bench.citing(mutant) if case.id in good]
    sample = [case for case in bench.sample() if case.id in good]
    tried, failed = 0, 0
    more: tuple[Outcome, ...] = ()
    try:
        with planted(mutant, bench.reference.tree) as candidate:
            put_in_place(mutant, candidate, installed, bench.provider)
            try:
                report = bench.run(candidate, cases, store) if cases else None
                if report is not None and report.stopped and not noticed(report):
                    # A control failed first: the cases of other controls are yet to be run.
                    report = replace(bench, until_noticed=False, fresh=False).run(candidate, cases, store)
                killers = noticed(report) if report is not None else {}
                if killers:  # how much it breaks matters only where it would count
                    tried, failed, more = _breaks(bench, candidate, sample, store)
            finally:
                forget(candidate, bench.provider)
    except TriathlonError as error:
        return Verdict(mutant, errors=(str(error),))
    errors = (*(report.errors if report is not None else ()), *more)
    said = tuple(f"{outcome.job.case.id}: {outcome.error}" for outcome in errors)
    return Verdict(mutant, killers, len(cases), tried, failed, said)


def noticed(report: Report) -> dict[str, tuple[str, ...]]:
    """The cases that failed while all their controls passed, with the channels on which something was not as wanted."""
    found: dict[str, tuple[str, ...]] = {}
    for case in report.plan.cases:
        row = report.rows.get(report.plan.key(case, 1))
        controls = [report.rows.get(report.plan.key(control, 1)) for control in report.plan.suite.gating(case)]
        if row is not None and not row.passed and all(control is not None and control.passed for control in controls):
            found[case.id] = tuple(dict.fromkeys(str(finding["channel"]) for finding in row.findings))
    return found


def _breaks(
    bench: Bench, candidate: Candidate, sample: list[Case], store: Store
) -> tuple[int, int, tuple[Outcome, ...]]:
    """(cases tried, cases failed, errors); few are tried where none of them fails."""
    wide = replace(bench, until_noticed=False)
    first = sample[: SAMPLE[0]] if bench.breadth == "sample" else sample
    if not first:
        return 0, 0, ()
    report = wide.run(candidate, first, store)
    failed = len(first) - len(_passed(report))
    if not failed or len(first) == len(sample):
        return len(first), failed, report.errors
    rest = sample[len(first) :]
    more = wide.run(candidate, rest, store)
    return len(sample), failed + len(rest) - len(_passed(more)), (*report.errors, *more.errors)


def _passed(report: Report) -> set[str]:
    return {result.case.id for result in result_of(report).cases if result.status == "passed"}


def line(verdict: Verdict) -> str:
    """A verdict in a line."""
    if verdict.errors:
        return f"{verdict.mutant.id}: no verdict: {verdict.errors[0]}"
    if not verdict.citing:
        return f"{verdict.mutant.id}: no case cites {verdict.mutant.clause}"
    share = f", fails {verdict.failed} of {verdict.tried} tried" if verdict.tried else ""
    word = "survived" if verdict.survived else "coarse" if verdict.coarse else "killed"
    by = f" by {len(verdict.killed_by)} of {verdict.citing}" if verdict.killed_by else f" {verdict.citing} cases"
    return f"{verdict.mutant.id}: {word}{by}{share}"
