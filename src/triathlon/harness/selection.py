"""Which cases of a suite are meant: by pattern, by id, the first few, one shard of several."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from triathlon.errors import NothingToDo, UsageError
from triathlon.harness.case import Case, Suite


def select(
    suite: Suite,
    pattern: str | None = None,
    ids: Iterable[str] = (),
    limit: int | None = None,
    shard: tuple[int, int] | None = None,
    lite: bool = False,
) -> list[Case]:
    """The cases meant, in the suite's order.

    `lite`: of the suite as many cases as it takes for every cited clause to be cited once (`cover`).

    `pattern`: pieces divided by commas, any of which must occur in `category/group/name`, the kind or a cited clause;
    with `*` or `?` a piece must match one of these whole; a piece after `!` takes cases out. `ids`: `group/name`, or a
    group for all its cases. `shard` is (i, n) from 1: groups stay together, so that a control is run in one shard
    only. Raises UsageError for an unknown id or a wrong shard, NothingToDo if no case is left.
    """
    cases = cover(suite) if lite else list(suite.cases)
    wanted = list(ids)
    if wanted:
        known = {case.id for case in cases} | {case.group for case in cases}
        for name in wanted:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                raise UsageError(f"there is no case {name!r}" + (f": did you mean {near[0]}?" if near else ""))
        cases = [case for case in cases if case.id in wanted or case.group in wanted]
    if pattern:
        cases = [case for case in cases if fits(case, pattern)]
    if shard is not None:
        cases = _shard(cases, shard)
    if limit is not None:
        if limit < 1:
            raise UsageError(f"--limit is at least 1, not {limit}")
        cases = cases[:limit]
    if not cases:
        raise NothingToDo("no case is selected")
    return cases


def cover(suite: Suite) -> list[Case]:
    """A small part of the suite that still cites every clause: a first look in a fraction of the time.

    Greedy: always the case that adds most clauses for the controls it brings along, the suite's order among equals.
    """
    open_clauses = {clause for case in suite.cases for clause in case.clauses}
    gating = {case.id: {control.id for control in suite.gating(case)} for case in suite.cases}
    chosen: set[str] = set()
    controls: set[str] = set()

    def worth(case: Case) -> float:
        return len(open_clauses.intersection(case.clauses)) / (1 + len(gating[case.id] - controls))

    while open_clauses:
        best = max((case for case in suite.cases if case.id not in chosen), key=worth)
        chosen.add(best.id)
        controls |= gating[best.id]
        open_clauses.difference_update(best.clauses)
    return [case for case in suite.cases if case.id in chosen]


def fits(case: Case, pattern: str) -> bool:
    """Whether a case is meant by a pattern."""
    pieces = [piece.strip() for piece in pattern.split(",") if piece.strip()]
    wanted = [piece for piece in pieces if not piece.startswith("!")]
    unwanted = [piece[1:] for piece in pieces if piece.startswith("!")]
    names = [f"{case.category}/{case.id}", case.id, case.category, case.kind or "", *case.clauses]
    return (not wanted or any(_occurs(p, names) for p in wanted)) and not any(_occurs(p, names) for p in unwanted)


def _occurs(piece: str, names: Sequence[str]) -> bool:
    piece = piece.lower()
    if "*" in piece or "?" in piece:
        return any(fnmatchcase(name.lower(), piece) for name in names)
    return any(piece in name.lower() for name in names)


def _shard(cases: list[Case], shard: tuple[int, int]) -> list[Case]:
    """Groups dealt to the shard that has the fewest cases so far, large groups first."""
    number, of = shard
    if of < 1 or not 1 <= number <= of:
        raise UsageError(f"a shard is i/n with i from 1 to n, not {number}/{of}")
    sizes: dict[str, int] = {}
    for case in cases:
        sizes[case.group] = sizes.get(case.group, 0) + 1
    load = [0] * min(of, len(sizes))  # more parts than groups: the rest stay empty
    mine: set[str] = set()
    for group, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        at = load.index(min(load))
        load[at] += size
        if at == number - 1:
            mine.add(group)
    return [case for case in cases if case.group in mine]


def parse_shard(text: str) -> tuple[int, int]:
    """`2/5` as (2, 5). Raises UsageError."""
    number, slash, of = text.partition("/")
    if len(text) > 20 or not (slash and number.isascii() and of.isascii() and number.isdigit() and of.isdigit()):
        raise UsageError(f"a shard is written i/n, for example 2/5, not {text!r:.60}")
    return int(number), int(of)
