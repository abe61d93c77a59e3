"""Comparing two runs: exact tests against scipy, enumeration and hand-worked tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from triathlon.population.paired import compare, mcnemar, sign_flips


@pytest.mark.parametrize(("better", "worse"), [(0, 1), (1, 0), (3, 9), (10, 2), (5, 5), (40, 71)])
def test_mcnemar_is_the_binomial_test(better: int, worse: int) -> None:
    assert mcnemar(better, worse) == pytest.approx(float(stats.binomtest(better, better + worse, 0.5).pvalue), abs=1e-9)


def test_nothing_changed_is_undefined_not_one() -> None:
    assert mcnemar(0, 0) is None
    assert sign_flips([0, 0]) is None


@pytest.mark.parametrize("sums", [[1], [2, -1, 3], [1, 1, 1, 1, -2], [4, -4]])
def test_few_families_are_flipped_in_all_ways(sums: list[int]) -> None:
    flips = [abs(sum(s * v for s, v in zip(signs, sums, strict=True))) for signs in product((-1, 1), repeat=len(sums))]
    assert sign_flips(sums) == pytest.approx(sum(f >= abs(sum(sums)) for f in flips) / len(flips), abs=1e-9)


def test_many_families_agree_with_scipys_paired_permutation_test() -> None:
    sums = np.random.default_rng(4).integers(-2, 4, 30)
    expected = stats.permutation_test(
        (sums, np.zeros_like(sums)),
        lambda a, b, axis: (a - b).sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9_999,
        rng=np.random.default_rng(1),
    )
    assert sign_flips(sums.tolist()) == pytest.approx(float(expected.pvalue), abs=0.02)


def test_what_changed_is_named() -> None:
    a = {"g/1": True, "g/2": False, "h/1": True, "only-a/1": True}
    b = {"g/1": False, "g/2": True, "h/1": True, "only-b/1": True}
    found = compare(a, b, {name: name.partition("/")[0] for name in a | b})
    assert (found.cases, found.better, found.worse) == (3, ("g/2",), ("g/1",))
    assert (found.rate_a, found.rate_b, found.difference) == (2 / 3, 2 / 3, 0.0)
    # The two changes are in one family and cancel there: no family changed.
    assert (found.mcnemar_p, found.permutation_p) == (1.0, None)


def test_variations_of_one_defect_weigh_as_one_family() -> None:
    names = [f"g/{i}" for i in range(12)] + ["h/1", "k/1"]
    found = compare(
        dict.fromkeys(names, False),
        {name: name.startswith("g") for name in names},
        {name: name.partition("/")[0] for name in names},
    )
    assert found.mcnemar_p == pytest.approx(2 / 2**12, abs=1e-12)
    assert found.permutation_p == 1.0
    assert found.interval is not None and found.interval.low <= found.difference  # type: ignore[operator]


def test_the_interval_covers_the_difference_and_is_near_a_normal_one() -> None:
    rng = np.random.default_rng(8)
    names = [f"f{i}/c" for i in range(200)]
    a = {name: bool(rng.random() < 0.4) for name in names}
    b = {name: bool(a[name] or rng.random() < 0.2) for name in names}
    found = compare(a, b, {name: name.partition("/")[0] for name in names})
    changes = np.array([int(b[name]) - int(a[name]) for name in names], dtype=float)
    error = changes.std(ddof=1) / 200**0.5
    assert found.interval is not None
    assert found.interval.low == pytest.approx(changes.mean() - 1.96 * error, abs=0.02)
    assert found.interval.high == pytest.approx(changes.mean() + 1.96 * error, abs=0.02)


def test_no_case_in_common_is_undefined() -> None:
    found = compare({"a/1": True}, {"b/1": True}, {"a/1": "a", "b/1": "b"})
    assert (found.cases, found.rate_a, found.difference, found.interval) == (0, None, None, None)
