"""`harness evaluate`, top to bottom: select, skip what the store has, install, drive, judge, store, count."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import triathlon
from triathlon import protocol
from triathlon.errors import NothingToDo, SandboxUnavailable, TriathlonError
from triathlon.harness.candidate import Candidate
from triathlon.harness.case import Case, Suite
from triathlon.harness.channels import Channels
from triathlon.harness.drive import drive
from triathlon.harness.fresh import Fresh
from triathlon.harness.install import Installed, install, root_hash
from triathlon.harness.judge import judge, only_late
from triathlon.harness.record import pack
from triathlon.harness.selection import select
from triathlon.harness.spec import load_spec
from triathlon.protocol import Protocol
from triathlon.sandbox import Limits, Provider
from triathlon.store import Key, Row, Store

HANGS_AFTER = 5
"""So many cases late again, one after the other, when run alone: the candidate hangs, and the rest stands as it is."""

LET_GO_S = 5.0
"""How long an interrupted run waits for its threads to take their sandboxes down."""


@dataclass(frozen=True)
class Options:
    """How to run."""

    pattern: str | None = None
    ids: Sequence[str] = ()
    limit: int | None = None
    shard: tuple[int, int] | None = None
    in_flight: int = 0
    """Cases at the same time; 0 stands for three times the cores, since most of a case is waiting."""
    fresh: bool = False
    stop_at_failure: bool = False
    lite: bool = False
    """Only as many cases as it takes to cite every clause."""

    @property
    def part(self) -> str | None:
        """What makes the run less than the suite, in words; None for the whole."""
        parts = ["--lite"] if self.lite else []
        parts += [f"-k {self.pattern}"] if self.pattern else []
        parts += [f"--case {name}" for name in self.ids]
        parts += [f"--limit {self.limit}"] if self.limit is not None else []
        parts += [f"--shard {self.shard[0]}/{self.shard[1]}"] if self.shard else []
        return " ".join(parts) or None


@dataclass(frozen=True)
class Job:
    """One case or control in one repetition."""

    case: Case
    key: Key


@dataclass(frozen=True)
class Outcome:
    """What came of a job: a row with its channels, or an error of ours, which is no verdict."""

    job: Job
    row: Row | None = None
    channels: dict[str, bytes] | None = None
    error: str | None = None


@dataclass(frozen=True)
class Plan:
    """What is to be run, and under which circumstances."""

    candidate: Candidate
    suite: Suite
    cases: Sequence[Case]
    controls: Sequence[Case]
    protocol: Protocol
    provider: Provider
    facts: dict[str, Any]
    options: Options

    def key(self, case: Case, repetition: int) -> Key:
        """The row a case has in the store."""
        return Key(
            tree=self.candidate.sha256,
            case=hashlib.sha256(f"{case.id} {case.sha256}".encode()).hexdigest(),
            runner=runner_hash(),
            protocol=self.protocol.sha256,
            provider=self.provider.name,
            root=self.facts["root"],
            seed=self.protocol["evaluate.seed"],
            repetition=repetition,
        )

    def jobs(self) -> list[Job]:
        """Everything that is needed, controls before their cases, one repetition after the other."""
        repetitions = range(1, self.protocol["evaluate.repetitions"] + 1)
        return [Job(case, self.key(case, n)) for n in repetitions for case in (*self.controls, *self.cases)]


@dataclass(frozen=True)
class Report:
    """A run that came to its end: the rows of all jobs, last attempts, and what was our own fault."""

    plan: Plan
    rows: dict[Key, Row]
    """By the key of the first attempt."""
    executed: int
    """Rows written, second attempts included."""
    from_store: int
    """Rows that were there already."""
    errors: tuple[Outcome, ...]
    seconds: float
    stopped: bool = False
    """`-x` ended it before all was run."""


class Watcher:
    """Told of what happens; the base says nothing."""

    def begins(self, jobs: int, stored: int) -> None:
        """So many jobs are to be run, so many are in the store already."""

    def ended(self, outcome: Outcome) -> None:
        """One job has ended."""

    def again(self, jobs: int) -> None:
        """So many jobs failed by a deadline only, and are run once more, alone."""

    def over(self) -> None:
        """Nothing more will come."""


def plan(candidate: Candidate, suite: Suite, numbers: Protocol, provider: Provider, options: Options) -> Plan:
    """Select what is to be run. Raises NothingToDo or UsageError."""
    cases = select(suite, options.pattern, options.ids, options.limit, options.shard, options.lite)
    non_standard = [*numbers.non_standard, *provider.marks]
    if provider.name == "none":
        # It cannot give names to hosts: such a case would tell nothing about the candidate.
        there = [case for case in cases if not any(unit.setup.web for unit in (case, *suite.gating(case)))]
        if len(there) < len(cases):
            non_standard.append(f"{len(cases) - len(there)} cases with named hosts left out")
            cases = there
        if not cases:
            raise NothingToDo("every chosen case needs named hosts, which the sandbox `none` cannot give")
    if options.part is not None:
        non_standard.append(f"part of the suite: {options.part}")
    facts = {
        "root": root_hash(provider),
        "versions": dict(provider.fingerprint),
        "triathlon": triathlon.__version__,
        "non_standard": non_standard,
    }
    return Plan(candidate, suite, cases, suite.needed(cases), numbers, provider, facts, options)


def evaluate(plan: Plan, store: Store, watcher: Watcher | None = None) -> Report:
    """Run what the store does not have yet, and write each verdict to it at once.

    KeyboardInterrupt ends all cases in flight and passes on; what was finished is in the store.
    """
    watcher = watcher or Watcher()
    began = time.monotonic()
    jobs = plan.jobs()
    rows = {} if plan.options.fresh else _stored(plan, jobs, store)
    todo = [job for job in jobs if job.key not in rows]
    from_store = len(rows)
    watcher.begins(len(todo), from_store)
    errors: list[Outcome] = []
    executed = 0

    def take(outcome: Outcome) -> bool:
        nonlocal executed
        if outcome.row is None:
            errors.append(outcome)
        else:
            executed += 1
            store.put(outcome.row, outcome.channels or {})
            rows[outcome.job.key] = outcome.row
        watcher.ended(outcome)
        return not (plan.options.stop_at_failure and outcome.row is not None and not outcome.row.passed)

    try:
        installed = None
        if todo:
            installed = install(plan.candidate, plan.provider, limits_of(plan.protocol))
            work = _worker(plan, installed)
            whole = _in_flight(todo, _count(plan), work, take, plan.provider)
        else:
            whole = True
        late = [job for job in jobs if job.key in rows and rows[job.key].late and rows[job.key].key.attempt == 0]
        if whole and late:
            installed = installed or install(plan.candidate, plan.provider, limits_of(plan.protocol))
            watcher.again(len(late))
            whole = _once_more(late, _worker(plan, installed), take)
    finally:
        watcher.over()
    return Report(plan, rows, executed, from_store, tuple(errors), time.monotonic() - began, stopped=not whole)


def _count(plan: Plan) -> int:
    """Cases in flight. Where an installed layer is no fixed place, all sandboxes share it: one at a time."""
    return plan.options.in_flight or 3 * cores() if plan.provider.stable else 1


def _stored(plan: Plan, jobs: Sequence[Job], store: Store) -> dict[Key, Row]:
    """The last attempt of every job that the store has, by the key of the first."""
    wanted = {job.key for job in jobs}
    found: dict[Key, Row] = {}
    for row in store.rows(tree=plan.candidate.sha256, seed=plan.protocol["evaluate.seed"]):
        key = replace(row.key, attempt=0)
        if key in wanted and (key not in found or row.key.attempt > found[key].key.attempt):
            found[key] = row
    return found


def _in_flight(
    jobs: Iterable[Job], count: int, work: Callable[[Job], Outcome], take: Callable[[Outcome], bool], provider: Provider
) -> bool:
    """Run jobs in `count` threads and take their outcomes in this one, as they come. False if `take` said to stop."""
    todo, done = deque(jobs), SimpleQueue[Outcome | BaseException]()
    left = len(todo)

    def run() -> None:
        while True:
            try:
                job = todo.popleft()
            except IndexError:
                return
            try:
                done.put(work(job))
            except BaseException as error:
                done.put(error)

    threads = [threading.Thread(target=run, name=f"case-{n}", daemon=True) for n in range(min(count, left))]
    go_on = True
    try:
        for thread in threads:
            thread.start()
        while left:
            outcome = done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            left -= 1
            if not take(outcome) and go_on:
                go_on = False
                left -= len(todo)
                todo.clear()
    except BaseException:
        todo.clear()
        provider.close()  # ends every sandbox, so that nobody waits for a deadline
        for thread in threads:
            thread.join(LET_GO_S / len(threads))
        raise
    for thread in threads:
        thread.join()
    return go_on


def _once_more(jobs: Sequence[Job], work: Callable[[Job], Outcome], take: Callable[[Outcome], bool]) -> bool:
    """Run jobs one by one, as second attempts, until so many in a row are late again."""
    in_a_row = 0
    for job in jobs:
        outcome = work(replace(job, key=replace(job.key, attempt=1)))
        if not take(replace(outcome, job=job)):
            return False
        in_a_row = in_a_row + 1 if outcome.row is not None and outcome.row.late else 0
        if in_a_row == HANGS_AFTER:
            break
    return True


def _worker(plan: Plan, installed: Installed) -> Callable[[Job], Outcome]:
    """Drives and judges one job; what goes wrong on our side becomes an outcome without a row."""
    spec, suite, limits = load_spec().version, plan.suite.sha256, limits_of(plan.protocol)

    def work(job: Job) -> Outcome:
        case, key = job.case, job.key
        fresh = Fresh(f"{key.seed}.{key.repetition}", case.id)
        started, began = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
        try:
            channels = drive(
                case,
                installed,
                plan.provider,
                fresh=fresh,
                limits=limits,
                case_timeout_s=plan.protocol["evaluate.case_timeout_s"],
                max_bytes=plan.protocol["channels.max_bytes"],
            )
            findings = judge(case.expect, channels, fresh)
        except SandboxUnavailable:
            raise
        except TriathlonError as error:
            return Outcome(job, error=f"{type(error).__name__}: {error}")
        except Exception:
            return Outcome(job, error=traceback.format_exc())
        row = Row(
            key=key,
            candidate=plan.candidate.name,
            case_id=case.id,
            category=case.category,
            kind=case.kind or "control",
            passed=not findings,
            late=bool(findings) and only_late(findings, channels),
            reasons=(*map(str, findings), *(last_words(channels) if findings else ())),
            findings=tuple(vars(finding) for finding in findings),
            seconds=round(time.monotonic() - began, 4),
            cpu_s=round(channels.usage.cpu_s, 4),
            peak_mb=round(channels.usage.peak_mb, 1),
            started=started,
            spec=spec,
            suite=suite,
            facts=plan.facts,
        )
        return Outcome(job, row, pack(channels, plan.protocol["channels.max_bytes"]))

    return work


def last_words(channels: Channels) -> list[str]:
    """What helps to understand a failure and is none itself: the last line of a trace, memory that ran out."""
    said = [f"note: {note}" for note in channels.notes]
    if channels.usage.oom:
        said.append("note: the memory limit was reached, and something was killed for it")
    for name, output in channels.outputs.items():
        _, trace, rest = output.stderr_text.rpartition("Traceback (most recent call last):\n")
        ends = next((line for line in rest.splitlines() if not line.startswith(" ")), None)
        if trace and ends is not None:
            said.append(f"note: a trace on the standard error of {name} ends: {ends[:300]}")
    return said


def limits_of(numbers: Protocol) -> Limits:
    """The sandbox's limits as the protocol has them."""
    names = ("memory_mb", "tmpfs_mb", "pids", "file_size_mb", "open_files")
    return Limits(**{name: numbers[f"sandbox.{name}"] for name in names})


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))


@cache
def runner_hash() -> str:
    """Hash of the sources that drive and judge: another runner's verdicts are other rows."""
    root = Path(protocol.__file__).parent
    digest = hashlib.sha256()
    for folder in ("scripted", "sandbox", "harness"):
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
