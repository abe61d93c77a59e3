"""What an engine is asked, and what it must answer.

Position p means: the model has seen `ids[:p]`. An engine is any object with `read(ids, positions, tokens)`; one that
gains from seeing all sequences at once also has `read_many(reads)`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from triathlon.errors import UsageError


class EngineError(UsageError):
    """An engine answered something that cannot be a score: too few numbers, NaN, +inf."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Per position the top-1 token (lowest id on a tie) and the log-probabilities, in nats, of the asked tokens.

    `top` may hold None where an engine cannot say it. `ties` counts the positions where several tokens are on top.
    """

    top: Sequence[int | None]
    logps: Sequence[Sequence[float]]
    ties: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """One sequence to read, cut after its last position."""

    ids: Any  # int32 array
    positions: tuple[int, ...]  # ascending, each at least 1
    tokens: tuple[tuple[int, ...], ...]  # asked tokens per position
    name: str  # for messages: config, length, item


class Backend(Protocol):
    """The least an engine must have."""

    def read(self, ids: Any, positions: Sequence[int], tokens: Sequence[Sequence[int]]) -> Any:
        """Read one sequence; see `Answer`."""


@runtime_checkable
class ManyBackend(Protocol):
    """An engine that schedules many sequences itself."""

    def read_many(self, reads: Sequence[Read]) -> Sequence[Answer]:
        """Read sequences that may share their beginnings; answers in the order of `reads`."""


def read_all(backend: Any, reads: Sequence[Read]) -> list[Answer]:
    """Ask an engine for all of `reads` and check every answer."""
    if isinstance(backend, ManyBackend):
        answers: Sequence[Any] = backend.read_many(reads)
    else:
        answers = [backend.read(r.ids, r.positions, r.tokens) for r in reads]
    if len(answers) != len(reads):
        raise EngineError(f"the engine answered {len(answers)} of {len(reads)} sequences")
    return [checked(a, r) for a, r in zip(answers, reads, strict=True)]


def checked(answer: Any, read: Read) -> Answer:
    """The answer, if it has as many numbers as were asked and each may be a log-probability."""
    if isinstance(answer, Mapping):
        answer = Answer(answer["top"], answer["logps"], answer.get("ties", 0))
    elif not isinstance(answer, Answer):
        parts = tuple(answer)
        answer = Answer(*parts[:3])
    if len(answer.top) != len(read.positions) or len(answer.logps) != len(read.positions):
        raise EngineError(f"{read.name}: the engine answered {len(answer.logps)} of {len(read.positions)} positions")
    rows: list[list[float]] = []
    for position, values, tokens in zip(read.positions, answer.logps, read.tokens, strict=True):
        row = [float(v) for v in values]
        if len(row) != len(tokens):
            raise EngineError(
                f"{read.name}: position {position}: {len(row)} of {len(tokens)} log-probabilities came back"
            )
        for value in row:
            if math.isnan(value) or value > 1e-3:
                raise EngineError(f"{read.name}: position {position}: {value} is not a log-probability")
        rows.append(row)
    top = [None if t is None else int(t) for t in answer.top]
    return Answer(top, rows, int(answer.ties))
