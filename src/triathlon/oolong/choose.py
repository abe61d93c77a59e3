"""Which rows are asked: filters, and an even draw over windows and kinds instead of the first N."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from triathlon.errors import NothingToDo, UsageError
from triathlon.oolong.windows import ANSWER_TYPES, GROUPS, SOURCES, TASKS, VALIDATION, RealRow, Row


@dataclass(frozen=True, slots=True)
class Choice:
    """Filters; empty means all. `per_source` 0 means every row."""

    sources: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    groups: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    split: str = "all"
    per_source: int = 10
    seed: int = 0


def from_environment(environ: Mapping[str, str] = os.environ) -> dict[str, int]:
    """`OOLONG_MAX_PER_DATASET` and `OOLONG_CONTEXT_LEN`, as users of the TypeScript port know them."""
    found: dict[str, int] = {}
    for name, key in (("OOLONG_MAX_PER_DATASET", "per_source"), ("OOLONG_CONTEXT_LEN", "length")):
        text = environ.get(name, "").strip()
        if not text:
            continue
        if not text.isdecimal():
            raise UsageError(f"{name}={text!r} is no number; use 0 for all or a number of rows or tokens")
        found[key] = int(text)
    return found


def check(choice: Choice, known_sources: Iterable[str] = SOURCES) -> None:
    """Refuse names that no row can have. Raises UsageError with the known names."""
    for value, known, what in (
        *((name, (*SOURCES, *known_sources), "source") for name in choice.sources),
        *((name, GROUPS, "group") for name in choice.groups),
        *((name, TASKS + ANSWER_TYPES, "task") for name in choice.tasks),
        (choice.split, ("validation", "test", "all"), "split"),
    ):
        if value not in known:
            raise UsageError(f"unknown {what} {value!r}; known: {', '.join(dict.fromkeys(known))}")
    if choice.per_source < 0:
        raise UsageError("--per-source must be 0 (all) or more")


def choose(rows: Iterable[Row | RealRow], choice: Choice) -> list[Row | RealRow]:
    """The rows to ask, window after window, in one fixed order. Raises NothingToDo where none is left."""
    kept = [row for row in rows if _fits(row, choice)]
    by_source: dict[str, list[Row | RealRow]] = {}
    for row in kept:
        by_source.setdefault(row.dataset, []).append(row)
    chosen: list[Row | RealRow] = []
    for source in sorted(by_source):
        pool = by_source[source]
        number = choice.per_source or len(pool)
        chosen += _spread(pool, number, random.Random(f"{choice.seed}/{source}"))
    if not chosen:
        raise NothingToDo("no row fits; loosen --source, --context-len, --group, --task or --split")
    # Questions of one window follow each other, so that a provider's prompt cache serves them.
    return sorted(chosen, key=lambda row: (row.dataset, row.context_len, row.window, row.key))


def _fits(row: Row | RealRow, choice: Choice) -> bool:
    if choice.ids and row.key not in choice.ids:
        return False
    if choice.sources and row.dataset not in choice.sources:
        return False
    if not isinstance(row, Row):
        return not (choice.lengths or choice.groups or choice.tasks)
    if choice.split != "all" and (row.dataset in VALIDATION) != (choice.split == "validation"):
        return False
    return (
        (not choice.lengths or row.context_len in choice.lengths)
        and (not choice.groups or row.task_group in choice.groups)
        and (
            not choice.tasks
            or row.task.removeprefix("TASK_TYPE.") in choice.tasks
            or row.answer_type.removeprefix("ANSWER_TYPE.") in choice.tasks
        )
    )


def _spread(pool: Sequence[Row | RealRow], number: int, rng: random.Random) -> list[Row | RealRow]:
    """`number` rows, one of each (window, kind) before a second of any, windows and kinds in turn."""
    if number >= len(pool):
        return list(pool)
    piles: dict[tuple[str, str], list[Row | RealRow]] = {}
    for row in sorted(pool, key=lambda row: row.key):
        kind = f"{row.task_group}/{row.task}/{row.answer_type}" if isinstance(row, Row) else row.question_type
        piles.setdefault((kind, row.window), []).append(row)
    kinds = sorted({kind for kind, _ in piles})
    windows = sorted({window for _, window in piles})
    rng.shuffle(kinds)
    rng.shuffle(windows)
    # Walk the grid of kinds x windows diagonally: neighbours differ in both.
    order = [
        (kind, windows[(n + turn) % len(windows)])
        for turn in range(len(windows))
        for n, kind in enumerate(kinds)
        if (kind, windows[(n + turn) % len(windows)]) in piles
    ]
    for pile in piles.values():
        rng.shuffle(pile)
    chosen: list[Row | RealRow] = []
    while len(chosen) < number:
        for key in order:
            if piles[key] and len(chosen) < number:
                chosen.append(piles[key].pop())
    return chosen
