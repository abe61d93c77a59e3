"""Correlations and variance shares, each against a second implementation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from triathlon.population.relations import between, category_matrix, partial, pearson, without_each
from triathlon.population.table import Item, Member, Table


@pytest.mark.parametrize("seed", range(6))
def test_pearson_agrees_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(1e4, 3e3, 57)
    y = x * 0.002 + rng.normal(0, 8, 57)
    assert pearson(x.tolist(), y.tolist()) == pytest.approx(float(stats.pearsonr(x, y).statistic), abs=1e-9)


def residuals(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    design = np.column_stack([np.ones_like(z), z])
    return np.asarray(y - design @ np.linalg.lstsq(design, y, rcond=None)[0])


@pytest.mark.parametrize("seed", range(6))
def test_partial_correlation_is_the_correlation_of_residuals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=40)
    x, y = z + rng.normal(size=40), 0.6 * z - rng.normal(size=40)
    expected = float(stats.pearsonr(residuals(x, z), residuals(y, z)).statistic)
    assert partial(x.tolist(), y.tolist(), z.tolist()) == pytest.approx(expected, abs=1e-9)


def test_partial_correlation_by_hand() -> None:
    # r_xy = 0, r_xz = r_yz = 0.5 gives (0 - 0.25) / 0.75.
    z = [1.0, 1.0, -1.0, -1.0]
    x, y = [1.0, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0, -1.0]
    rxy, rxz = pearson(x, y), pearson(x, z)
    assert rxy is not None and rxz is not None
    ryz = pearson(y, z)
    assert ryz is not None
    assert partial(x, y, z) == pytest.approx((rxy - rxz * ryz) / ((1 - rxz**2) * (1 - ryz**2)) ** 0.5, abs=1e-12)


def test_without_each_leaves_one_model_out() -> None:
    rng = np.random.default_rng(0)
    groups = [g for g in "abcd" for _ in range(3)]
    x, y, z = (rng.normal(size=12).tolist() for _ in range(3))
    found = without_each(groups, x, y, z)
    assert found["a"] == pytest.approx(partial(x[3:], y[3:], z[3:]), abs=1e-12)
    assert found["d"] == pytest.approx(partial(x[:9], y[:9], z[:9]), abs=1e-12)


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1.0], [2.0]), ([1.0, 2.0], [1.0, 3.0]), ([1.0] * 5, [1.0, 2, 3, 4, 5]), ([0.1 + 0.2] * 4, [0.3] * 4)],
)
def test_no_variance_or_too_few_pairs_is_undefined(x: list[float], y: list[float]) -> None:
    assert pearson(x, y) is None
    assert partial(x, y, list(range(len(x)))) is None


def test_partial_is_undefined_where_what_is_held_constant_explains_all() -> None:
    z = [1.0, 2.0, 3.0, 5.0]
    assert partial(z, [1.0, 0.0, 1.0, 4.0], z) is None


def test_sides_of_unequal_length_are_an_error() -> None:
    with pytest.raises(ValueError, match="as many"):
        pearson([1.0, 2.0], [1.0])


@pytest.mark.parametrize("seed", range(6))
def test_eta_and_icc_agree_with_a_one_way_analysis_of_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = [rng.normal(5000 * i, 900, 3) for i in rng.permutation(8)]
    groups = [str(i) for i in range(8) for _ in range(3)]
    f = float(stats.f_oneway(*cells).statistic)
    found = between(groups, np.concatenate(cells).tolist())
    # From F alone: eta^2 = (k-1)F / ((k-1)F + n-k); ICC(1) = (F-1) / (F+m-1).
    assert found.eta == pytest.approx(7 * f / (7 * f + 16), abs=1e-9)
    assert found.icc == pytest.approx((f - 1) / (f + 2), abs=1e-9)


def test_eta_and_icc_with_groups_of_unequal_size() -> None:
    cells = [[1.0, 2.0], [4.0, 5.0, 9.0], [7.0]]
    f = float(stats.f_oneway(*cells).statistic)
    size = (6 - (4 + 9 + 1) / 6) / 2
    found = between(list("aabbbc"), [v for cell in cells for v in cell])
    assert found.eta == pytest.approx(2 * f / (2 * f + 3), abs=1e-9)
    assert found.icc == pytest.approx((f - 1) / (f - 1 + size), abs=1e-9)


def test_shares_without_groups_or_variance_are_undefined() -> None:
    assert between(["a", "a"], [1.0, 2.0]).eta is None
    assert between(["a", "b"], [2.0, 2.0]).eta is None
    assert between([], []).eta is None
    single = between(["a", "b"], [1.0, 2.0])
    assert (single.eta, single.icc) == (1.0, None)
    whole = between(["a", "a", "b", "b"], [1.0, 1.0, 2.0, 2.0])
    assert (whole.eta, whole.icc) == (1.0, 1.0)


def test_the_category_matrix_agrees_with_numpy() -> None:
    rng = np.random.default_rng(5)
    rows = rng.random((9, 12)) < rng.random((9, 1))
    items = [Item(f"g/{i}", "abc"[i % 3], "ordinary") for i in range(12)]
    whole = Table.of([Member(f"m{i}", model=f"M{i // 3}") for i in range(9)], items, rows)
    rates = np.stack([rows[:, i::3].mean(axis=1) for i in range(3)])
    found, expected = category_matrix(whole), np.corrcoef(rates)
    assert np.array(found.values, dtype=float) == pytest.approx(expected, abs=1e-9)
    assert found.mean == pytest.approx((expected[0, 1] + expected[0, 2] + expected[1, 2]) / 3, abs=1e-9)
    by_model = category_matrix(whole, over="models")
    means = rates.reshape(3, 3, 3).mean(axis=2)
    assert np.array(by_model.values, dtype=float) == pytest.approx(np.corrcoef(means), abs=1e-9)


def test_a_category_everyone_passes_has_no_correlation() -> None:
    rows = [[True, True], [True, False], [True, True]]
    whole = Table.of([Member(n) for n in "xyz"], [Item("a/1", "a", "ordinary"), Item("b/1", "b", "ordinary")], rows)
    found = category_matrix(whole)
    assert (found.values[0], found.mean, found.pairs) == ((None, None), None, 0)
