"""The metrics against the oracle, and their edge cases."""

from __future__ import annotations

import importlib.util
import itertools
import math
import random
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from triathlon.recall import metrics

_spec = importlib.util.spec_from_file_location("recall_oracle", Path(__file__).with_name("oracle.py"))
assert _spec is not None and _spec.loader is not None
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.999, 2.0, -2.0, 5e-324, -5e-324, 100.0)


def _table(seed: int) -> tuple[list[float | None], list[float | None]]:
    pick = random.Random(seed)

    def value() -> float | None:
        kind = pick.random()
        if kind < 0.1:
            return None
        return pick.choice(EDGES) if kind < 0.4 else pick.gauss(0, 3)

    size = pick.randrange(13)
    return [value() for _ in range(size)], [value() for _ in range(size)]


@settings(max_examples=10_000, deadline=None)
@given(st.integers(min_value=0, max_value=2**64))
def test_equal_to_the_oracle_on_random_tables(seed: int) -> None:
    model, ref = _table(seed)
    assert metrics.rules(model, ref) == oracle.rules(model, ref)
    pick = random.Random(seed)
    queries = [
        None if pick.random() < 0.2 else [pick.random() < 0.7 for _ in range(pick.randrange(1, 8))]
        for _ in range(pick.randrange(8))
    ]
    assert metrics.facts(queries) == oracle.facts(queries)
    cells = {(f, p, n): pick.choice([None, 0.5, pick.gauss(1, 1)]) for f in "abc" for p in "su" for n in (8, 32)}
    kept = {k: v for k, v in cells.items() if pick.random() < 0.8}
    assert metrics.worst(kept) == oracle.worst(kept)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e6, 1e6)),
            st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from(EDGES)),
        ),
        max_size=12,
    )
)
def test_rules_equal_to_the_oracle_on_any_floats(pairs: list[tuple[float | None, float | None]]) -> None:
    model, ref = [m for m, _ in pairs], [r for _, r in pairs]
    assert metrics.rules(model, ref) == oracle.rules(model, ref)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=40))
def test_the_reference_alone_is_exactly_one(effects: list[float]) -> None:
    got = metrics.rules(effects, effects)
    assert got["follow"] in (None, 1.0) and got["retained"] in (None, 1.0) and got["retained_aligned"] in (None, 1.0)
    assert (got["n"] == 0) == all(abs(e) < 1 for e in effects)


@settings(max_examples=1000, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_spans_equal_to_the_oracle(seed: int) -> None:
    pick = random.Random(seed)
    text = "".join(pick.choice("ab  .4\n") for _ in range(pick.randrange(4, 20)))
    cuts = sorted({0, len(text), *(pick.randrange(len(text)) for _ in range(pick.randrange(8)))})
    offsets: list[Any] = [(None if pick.random() < 0.1 else s, e) for s, e in itertools.pairwise(cuts)]
    a = pick.randrange(len(text))
    b = pick.randrange(a + 1, len(text) + 1)
    assert metrics.span_tokens(offsets, a, b, text) == oracle.span_tokens(offsets, a, b, text=text)


def test_a_negative_effect_that_is_ignored_is_not_followed() -> None:
    assert metrics.rules([0.0], [-2.0])["follow"] == 0.0
    assert metrics.literal_follow([(0.0, -2.0)]) == 1.0


def test_minus_infinity_is_clamped_and_said() -> None:
    assert metrics.effect(-math.inf, -1.0) == (99.0, True)
    assert metrics.effect(-3.0, -1.0) == (2.0, False)
    assert metrics.effect(-math.inf, -math.inf) == (0.0, True)


def test_means_have_no_nan() -> None:
    assert metrics.mean([]) is None and metrics.mean([-math.inf, 1.0]) is None and metrics.mean([1.0, 2.0]) == 1.5
    assert metrics.share_true([]) is None and metrics.first_token([None]) is None
