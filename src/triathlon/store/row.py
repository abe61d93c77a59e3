"""What one row of the store says, and the key that makes it the same row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Key:
    """Two runs with the same key are the same measurement.

    `tree`, `case`, `runner`, `protocol` and `root` are hex hashes: the candidate's tree, the case with its fixtures,
    the sources that drive and judge, the frozen numbers, and the versions of what stands in the sandbox's root.
    """

    tree: str
    case: str
    runner: str
    protocol: str
    provider: str
    root: str
    seed: int
    repetition: int
    """Counted from 1."""
    attempt: int = 0
    """1 is the second run, alone, of a case that failed by a deadline only."""


@dataclass(frozen=True)
class Row:
    """A verdict on a candidate: on one case or control, by itself (gating is worked out from the rows)."""

    key: Key
    candidate: str
    """The name it was evaluated under."""
    case_id: str
    category: str
    kind: str
    """`ordinary`, `boundary` or `control`."""
    passed: bool
    late: bool
    """It failed by a deadline alone."""
    reasons: tuple[str, ...] = ()
    findings: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    cpu_s: float = 0.0
    """CPU seconds of everything that ran inside the sandbox."""
    peak_mb: float = 0.0
    started: str = ""
    """UTC, ISO 8601."""
    spec: str = ""
    suite: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Marks of the run: changed protocol numbers, the root's versions, triathlon's version."""
