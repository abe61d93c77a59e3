"""The metrics, from numbers already read; no model and no file is touched here.

`facts`, `rules` and `worst` return what the oracle in the tests returns, bit for bit. A value that is not defined is
None, never NaN. Effects are in nats: log p with the rule minus log p without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

THRESHOLD = 1.0  # the reference reacts to the rule: at least one nat
SHARE = 0.5  # follow: at least half of the reference's effect, on its side
FLOOR = -100.0  # what a log-probability of -inf counts as inside an effect

Offsets = Sequence[tuple[int | None, int]]


def span_tokens(offsets: Offsets, a: int, b: int, text: str, low: int = 0, high: int | None = None) -> list[int] | None:
    """Indices of the tokens that make up `text[a:b]`, or None where the tokenizer's cuts do not fit the span.

    White space at the start of the span is not asked for (a tokenizer may keep it as a token of its own or glue it to
    what follows). `offsets` holds (start, end) in characters, start None for a token that begins inside a character;
    only indices in [low, high) are looked at.
    """
    first = a
    while first < b and text[first].isspace():
        first += 1
    end = len(offsets) if high is None else min(high, len(offsets))
    found = [i for i in range(low, end) if (s := offsets[i][0]) is not None and offsets[i][1] > first and s < b]
    if not found:
        return None
    start = offsets[found[0]][0]
    if start is None or start < a or offsets[found[-1]][1] > b:
        return None
    return found


def facts(queries: Sequence[Sequence[bool] | None]) -> dict[str, Any]:
    """Query and token accuracy; a query is None (unaligned) or one bool an answer token."""
    aligned = [q for q in queries if q is not None]
    tokens = sum(len(q) for q in aligned)
    return {
        "n": len(aligned),
        "unaligned": len(queries) - len(aligned),
        "query_acc": sum(map(all, aligned)) / len(aligned) if aligned else None,
        "token_acc": sum(map(sum, aligned)) / tokens if tokens else None,
    }


def first_token(queries: Iterable[Sequence[bool] | None]) -> float | None:
    """Accuracy of the first answer token: the only one that no later digit helps."""
    firsts = [q[0] for q in queries if q]
    return sum(firsts) / len(firsts) if firsts else None


def effect(without: float, with_rule: float) -> tuple[float, bool]:
    """The effect of the rule, and whether a -inf was clamped to the floor."""
    a, b = max(without, FLOOR), max(with_rule, FLOOR)
    return b - a, without == -math.inf or with_rule == -math.inf


def counted(
    e_model: Sequence[float | None], e_ref: Sequence[float | None], threshold: float = THRESHOLD
) -> list[tuple[float, float]]:
    """The pairs that count: the reference reacts, and the model was read there."""
    return [
        (m, r) for m, r in zip(e_model, e_ref, strict=True) if m is not None and r is not None and abs(r) >= threshold
    ]


def rules(
    e_model: Sequence[float | None],
    e_ref: Sequence[float | None],
    threshold: float = THRESHOLD,
    share: float = SHARE,
) -> dict[str, Any]:
    """Follow and retained over the targets to which the reference reacts."""
    pairs = counted(e_model, e_ref, threshold)
    if not pairs:
        return {"n": 0, "follow": None, "retained": None, "retained_aligned": None, "negative_ref": 0}
    total, ref = math.fsum(m for m, _ in pairs), math.fsum(r for _, r in pairs)
    aligned = math.fsum(on_side(m, r) for m, r in pairs) / math.fsum(abs(r) for _, r in pairs)
    return {
        "n": len(pairs),
        "follow": sum(follows(m, r, share) for m, r in pairs) / len(pairs),
        "retained": total / ref if abs(ref) >= threshold else None,
        "retained_aligned": aligned,
        "negative_ref": sum(r < 0 for _, r in pairs),
    }


def follows(m: float, r: float, share: float = SHARE) -> bool:
    """At least `share` of the reference's effect, on the reference's side.

    For a negative effect the literal reading (m >= share * r) would call a model that ignores the rule a follower.
    """
    return m * math.copysign(1, r) >= share * abs(r)


def on_side(m: float, r: float) -> float:
    """The model's effect, counted positive where it goes the reference's way."""
    return math.copysign(m, m * r) if m and r else 0.0


def literal_follow(pairs: Sequence[tuple[float, float]], share: float = SHARE) -> float | None:
    """Follow as the card words it, without regard to the effect's side; shown beside the other one."""
    return sum(m >= share * r for m, r in pairs) / len(pairs) if pairs else None


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None of nothing. A -inf among the values makes it None: JSON has no such number."""
    if not values:
        return None
    total = math.fsum(values)
    return total / len(values) if math.isfinite(total) else None


def share_true(values: Sequence[bool]) -> float | None:
    """Share of the true ones; None of nothing."""
    return sum(values) / len(values) if values else None


def worst(cells: Mapping[Any, float | None]) -> dict[str, Any]:
    """The lowest value over the cells that have one, with the cell named; ties go to the smallest cell."""
    live = {k: v for k, v in cells.items() if v is not None}
    if not live:
        return {"worst": None, "cell": None, "counted": 0, "of": len(cells)}
    cell = min(live, key=lambda c: (live[c], c))
    return {"worst": live[cell], "cell": cell, "counted": len(live), "of": len(cells)}
