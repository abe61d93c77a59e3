"""The two halves of the suite: what a repair is told of, and what it is not.

A keyed hash of the group decides, so that a case and its variations are on one side, and a new group changes no other.
Held-out means not fed back; it is not secret: the cases and the key ship with the bench.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Literal

from triathlon import protocol
from triathlon.errors import NothingToDo, UsageError
from triathlon.harness.case import Case

Half = Literal["public", "held-out"]
PARTS = ("public", "held-out", "all")


def half(group: str, key: str, held_out: float) -> Half:
    """The side of a group; `held_out` is the share of groups that are held out, in the long run."""
    digest = hmac.new(key.encode(), group.encode(), hashlib.sha256).digest()
    return "held-out" if int.from_bytes(digest[:8], "big") / 2**64 < held_out else "public"


def part(cases: Iterable[Case], which: str, numbers: protocol.Protocol | None = None) -> list[Case]:
    """The cases of one side, or `all`. Raises UsageError for another word, NothingToDo if there is none."""
    if which not in PARTS:
        raise UsageError(f"a split is {', '.join(PARTS)}, not {which!r}")
    numbers = numbers or protocol.load()
    key, share = numbers["split.key"], numbers["split.held_out"]
    chosen = [case for case in cases if which == "all" or half(case.group, key, share) == which]
    if not chosen:
        raise NothingToDo(f"no case is in the part {which}")
    return chosen
