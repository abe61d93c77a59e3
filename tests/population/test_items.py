"""Floor, ceiling, item-rest correlation, the strong-weak gap and reliability: by hand and by a second way."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from triathlon.population.items import gap, item_stats, sorts, strong_and_weak
from triathlon.population.reliability import alpha, kr20, kr20_by_family
from triathlon.population.table import Item, Member, Table


def made(rows: NDArray[np.bool_], families: int = 0) -> Table:
    items = [Item(f"g{i % families if families else i}/{i}", "files", "ordinary") for i in range(rows.shape[1])]
    return Table.of([Member(f"m{i}") for i in range(rows.shape[0])], items, rows)


def some(seed: int, people: int = 12, cases: int = 15) -> NDArray[np.bool_]:
    rng = np.random.default_rng(seed)
    skill, hard = rng.normal(size=(people, 1)), rng.normal(size=(1, cases))
    return np.asarray(rng.random((people, cases)) < 1 / (1 + np.exp(hard - skill)))


@pytest.mark.parametrize("seed", range(6))
def test_item_rest_correlation_agrees_with_scipy(seed: int) -> None:
    rows = some(seed)
    for at, found in enumerate(item_stats(made(rows))):
        column = rows[:, at].astype(float)
        rest = np.delete(rows, at, axis=1).sum(axis=1)
        assert found.difficulty == pytest.approx(float(column.mean()), abs=1e-12)
        if column.std() == 0 or rest.std() == 0:
            assert found.rest is None
        else:
            assert found.rest == pytest.approx(float(stats.pearsonr(column, rest).statistic), abs=1e-9)


def test_floor_ceiling_and_discriminating() -> None:
    found = sorts(made(np.array([[0, 1, 1], [0, 1, 0]], dtype=bool)))
    assert (found.floor, found.ceiling, found.discriminating) == (1, 1, 1)


def test_degenerate_tables_have_no_correlation_and_no_crash() -> None:
    for rows in (np.ones((4, 3)), np.zeros((4, 3)), np.ones((1, 3)), np.ones((2, 1)), np.zeros((0, 2))):
        whole = made(rows.astype(bool))
        assert all(found.rest is None for found in item_stats(whole))
        assert kr20(whole) is None
        assert kr20_by_family(whole) is None
    assert item_stats(made(np.zeros((0, 1), dtype=bool)))[0].difficulty is None
    assert sorts(made(np.zeros((3, 0), dtype=bool))).floor == 0


def kr20_by_the_book(rows: NDArray[np.bool_]) -> float:
    """Kuder and Richardson's formula 20, term by term."""
    people, k = len(rows), len(rows[0])
    totals = [sum(int(v) for v in row) for row in rows]
    mean = sum(totals) / people
    variance = sum((t - mean) ** 2 for t in totals) / people
    shares = [sum(int(row[j]) for row in rows) / people for j in range(k)]
    return k / (k - 1) * (1 - sum(p * (1 - p) for p in shares) / variance)


@pytest.mark.parametrize("seed", range(6))
def test_kr20_agrees_with_the_formula_and_with_the_covariance_form(seed: int) -> None:
    rows = some(seed)
    cov = np.cov(rows.astype(float).T)
    k = rows.shape[1]
    assert kr20(made(rows)) == pytest.approx(kr20_by_the_book(rows), abs=1e-9)
    assert kr20(made(rows)) == pytest.approx(k / (k - 1) * (1 - np.trace(cov) / cov.sum()), abs=1e-9)


def test_kr20_of_a_perfect_scale_by_hand() -> None:
    # Totals 0..3 of three cases, each harder than the last: variance 1.25, sum pq = 3/16 + 4/16 + 3/16.
    rows = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)
    assert kr20(made(rows)) == pytest.approx(1.5 * (1 - 0.625 / 1.25), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_kr20_by_family_is_alpha_of_the_families_sums(seed: int) -> None:
    rows = some(seed)
    parts = np.stack([rows[:, f::5].sum(axis=1) for f in range(5)], axis=1).astype(float)
    cov = np.cov(parts.T)
    assert kr20_by_family(made(rows, 5)) == pytest.approx(5 / 4 * (1 - np.trace(cov) / cov.sum()), abs=1e-9)
    assert alpha(parts) == kr20_by_family(made(rows, 5))


def test_copies_of_a_case_lift_the_plain_number_only() -> None:
    rows = some(3, 20, 6)
    copied = np.repeat(rows, 5, axis=1)
    items = [Item(f"g{i // 5}/{i}", "files", "ordinary") for i in range(30)]
    whole = Table.of([Member(f"m{i}") for i in range(20)], items, copied)
    plain, by_family, alone = kr20(whole), kr20_by_family(whole), kr20(made(rows))
    assert plain is not None and alone is not None and plain > alone + 0.1
    assert by_family == pytest.approx(alone, abs=1e-9)


def test_the_gap_takes_27_percent_at_each_end() -> None:
    found = strong_and_weak(range(57))
    assert found is not None
    strong, weak = found
    assert (np.flatnonzero(strong) >= 42).all() and (strong > 0).sum() == 15
    assert (np.flatnonzero(weak) < 15).all() and weak.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_gap_agrees_with_sorting_where_no_totals_are_equal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = some(seed, 11, 40)
    totals = rng.permutation(11).astype(float)
    order = np.argsort(totals)
    rates = rows.mean(axis=1)
    expected = rates[order[-3:]].mean() - rates[order[:3]].mean()
    assert gap(made(rows), totals.tolist()) == pytest.approx(float(expected), abs=1e-9)


def test_the_gap_does_not_hang_on_the_order_of_equal_candidates() -> None:
    rows = np.array([[1, 1], [1, 0], [1, 0], [0, 0]], dtype=bool)
    whole = made(rows)
    assert gap(whole) == pytest.approx(1.0, abs=1e-12)
    assert gap(whole, [1.0, 1.0, 1.0, 1.0]) == pytest.approx(0.0, abs=1e-12)


def test_one_candidate_has_no_gap() -> None:
    assert gap(made(np.ones((1, 3), dtype=bool))) is None
    assert gap(made(np.ones((3, 0), dtype=bool))) is None
    assert strong_and_weak([0.5]) is None
