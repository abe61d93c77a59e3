"""Rates, ranks, weights and resampling: against hand-worked values and a second implementation."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from triathlon.population.rates import (
    Spread,
    by_model,
    by_part,
    family_weighted,
    gating,
    intervals,
    rank_by_category,
    rank_stability,
    ranks,
    spread,
)
from triathlon.population.table import Item, Member, Table


def table(rows: Sequence[str], models: str, families: str = "", ungated: Sequence[str] = ()) -> Table:
    """Rows of 1 and 0, one letter of `models` a row and of `families` a column."""
    families = families or "abcdefghijkl"[: len(rows[0])]
    items = [Item(f"{f}/{i}", "even" if i % 2 == 0 else "odd", "ordinary", group=f) for i, f in enumerate(families)]
    members = [Member(f"{m}{i}", model=m, build=i) for i, m in enumerate(models)]
    return Table.of(
        members, items, [[c == "1" for c in row] for row in rows], [[c == "1" for c in r] for r in ungated] or None
    )


def test_a_models_rate_is_the_mean_over_its_builds_with_n_minus_1() -> None:
    found = by_model(table(["1110", "1100", "1000", "1111"], "xxxy"))
    assert found["x"].mean == pytest.approx(statistics.mean([0.75, 0.5, 0.25]), abs=1e-12)
    assert found["x"].sd == pytest.approx(statistics.stdev([0.75, 0.5, 0.25]), abs=1e-12)
    assert found["y"] == Spread(1.0, None, 1)


@pytest.mark.parametrize("seed", range(5))
def test_spread_agrees_with_the_standard_library_and_numpy(seed: int) -> None:
    values = np.random.default_rng(seed).normal(50, 3, 7).tolist()
    found = spread(values)
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert found.sd == pytest.approx(statistics.stdev(values), abs=1e-9)
    assert found.sd == pytest.approx(float(np.std(values, ddof=1)), abs=1e-9)


def test_no_value_is_undefined_and_one_value_has_no_deviation() -> None:
    assert spread([]) == Spread(None, None, 0)
    assert spread([None, None]) == Spread(None, None, 0)
    assert spread([0.5, None]) == Spread(0.5, None, 1)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_agree_with_scipy_ties_included(seed: int) -> None:
    values = {str(i): float(v) for i, v in enumerate(np.random.default_rng(seed).integers(0, 5, 12))}
    expected = stats.rankdata([-v for v in values.values()], method="average")
    assert list(ranks(values).values()) == pytest.approx(expected.tolist(), abs=1e-12)


def test_who_has_no_value_has_no_rank() -> None:
    assert ranks({"a": None, "b": 1.0, "c": 2.0}) == {"a": None, "b": 2.0, "c": 1.0}


def test_parts_and_ranks_by_category() -> None:
    whole = table(["1010", "0101"], "xy")
    assert by_part(whole, "category")["even"] == {"x": Spread(1.0, None, 1), "y": Spread(0.0, None, 1)}
    assert rank_by_category(whole) == {"even": {"x": 1.0, "y": 2.0}, "odd": {"x": 2.0, "y": 1.0}}


def test_a_family_of_many_variations_weighs_as_one_case() -> None:
    # Family a: 3 of 4 cases failed together; b and c one case each, passed.
    assert family_weighted(table(["100011"], "x", "aaaabc")) == pytest.approx([(0.25 + 1 + 1) / 3], abs=1e-12)


def test_the_effect_of_the_gate() -> None:
    found = gating(table(["1000"], "x", ungated=["1110"]))[0]
    assert (found.ungated, found.gated, found.taken) == (0.75, 0.25, 2)


def test_an_interval_over_families_holds_the_mean_and_agrees_with_a_loop() -> None:
    rng = np.random.default_rng(1)
    rows = ["".join("01"[int(v)] for v in rng.integers(0, 2, 24)) for _ in range(2)]
    whole = table(rows, "xx", "aaabbbcccdddeeefffggghhh")
    found = intervals(whole, draws=4000)["x"]
    assert found is not None
    per_family = whole.passed.mean(axis=0).reshape(8, 3).mean(axis=1)
    picks = np.random.default_rng(2).integers(0, 8, (4000, 8))
    low, high = np.quantile(per_family[picks].mean(axis=1), [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.04)
    assert found.high == pytest.approx(high, abs=0.04)
    assert found.low <= whole.passed.mean() <= found.high


def test_one_family_or_missing_verdicts_give_no_interval() -> None:
    assert intervals(table(["11"], "x", "aa")) == {"x": None}
    whole = table(["10", "01"], "xy")
    holes = Table.of(whole.members, whole.items, whole.passed, known=[[True, False], [True, True]])
    assert intervals(holes) == {"x": None, "y": None}
    assert rank_stability(holes)["x"].low is None


def test_a_model_that_is_better_on_every_family_is_always_first() -> None:
    found = rank_stability(table(["111111", "101010", "000000"], "xyz", "aabbcc"))
    assert (found["x"].rank, found["x"].low, found["x"].high, found["x"].first) == (1.0, 1.0, 1.0, 1.0)
    assert (found["z"].rank, found["z"].high, found["z"].first) == (3.0, 3.0, 0.0)


def test_equal_models_share_the_first_place() -> None:
    found = rank_stability(table(["1100", "1100"], "xy", "abcd"))
    assert found["x"] == found["y"]
    assert (found["x"].rank, found["x"].median, found["x"].first) == (1.5, 1.5, 0.5)


def test_one_model_has_a_rank_and_no_stability() -> None:
    found = rank_stability(table(["10"], "x"))["x"]
    assert (found.rank, found.median, found.first) == (1.0, None, None)


def test_only_what_can_be_compared_is_compared() -> None:
    whole = table(["1111", "1111", "1111"], "xyz")
    known = [[True, True, True, False], [True, True, False, True], [True, False, False, False]]
    full = Table.of(whole.members, whole.items, whole.passed, known=known).full()
    assert [member.model for member in full.members] == ["x", "y"]
    assert [item.id for item in full.items] == ["a/0", "b/1"]


def test_a_table_without_a_case_or_a_candidate_is_defined() -> None:
    empty = Table.of([], [], [])
    assert by_model(empty.full()) == {}
    assert rank_stability(empty) == {}
    assert Table.of([Member("x")], [], [[]]).rates == [None]
