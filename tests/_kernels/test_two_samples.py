"""Welch's t-test and the rank-sum test of neighbouring levels: as scipy and as all splits say, and where those fail."""

import subprocess
import sys
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from tests.oracles import monotonicity as oracle
from unveil._kernels import two_samples
from unveil._kernels.two_samples import EXACT_UP_TO, NeighbourTests, neighbour_tests, untied_p

Floats = NDArray[np.float64]

few_values = st.integers(-3, 3).map(float) | st.sampled_from([0.1 + 0.2, 0.3, 1e-17, 1e9, 1e9 + 1])
samples = st.lists(few_values, min_size=2, max_size=6)


def compared(*levels: ArrayLike, fast: bool = False) -> NeighbourTests:
    """Return the tests of one row."""
    arrays = [np.asarray(level, np.float64) for level in levels]
    values = np.full((1, len(arrays), max(each.size for each in arrays)), np.nan)
    for place, each in enumerate(arrays):
        values[0, place, : each.size] = each
    return neighbour_tests(values, fast=fast)


def welch(first: ArrayLike, second: ArrayLike) -> tuple[float, int]:
    found = compared(first, second)
    return float(found.welch[0, 0]), int(found.welch_sign[0, 0])


def rank_sum(first: ArrayLike, second: ArrayLike) -> tuple[float, int]:
    found = compared(first, second)
    return float(found.rank_sum[0, 0]), int(found.rank_sum_sign[0, 0])


@given(samples, samples)
def test_small_samples_with_ties_are_as_all_splits_say(first: list[float], second: list[float]) -> None:
    assert rank_sum(first, second) == pytest.approx(oracle.rank_sum(first, second), rel=1e-12)
    assert welch(first, second) == pytest.approx(oracle.welch(first, second), rel=1e-6, abs=1e-12)


@given(st.integers(2, 20), st.integers(2, 20), st.integers(0, 2**32), st.floats(0, 2))
def test_without_ties_both_tests_are_those_of_scipy(one: int, other: int, seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=one), rng.normal(shift, 2, size=other)
    exact = stats.mannwhitneyu(second, first, method="exact").pvalue
    assert rank_sum(first, second)[0] == pytest.approx(exact, rel=1e-9)
    expected = stats.ttest_ind(second, first, equal_var=False)
    assert welch(first, second) == pytest.approx((expected.pvalue, np.sign(expected.statistic)), rel=1e-9)


@given(st.integers(2, 60), st.integers(41, 60), st.integers(1, 8), st.integers(0, 2**32))
def test_large_samples_are_those_of_scipy(one: int, other: int, distinct: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, distinct, one) * 1.0, rng.integers(0, distinct + 1, other) * 1.0
    assert rank_sum(first, second) == pytest.approx(oracle.rank_sum(first.tolist(), second.tolist()), rel=1e-9)
    assert welch(first, second) == pytest.approx(oracle.welch(first.tolist(), second.tolist()), rel=1e-9)


@given(st.integers(2, 20), st.integers(2, 20), st.data())
def test_of_two_values_the_exact_test_is_hypergeometric(one: int, other: int, data: st.DataObject) -> None:
    high, mine = data.draw(st.integers(0, one)), data.draw(st.integers(0, other))
    found, sign = rank_sum([1.0] * high + [0.0] * (one - high), [1.0] * mine + [0.0] * (other - mine))
    chance = stats.hypergeom(one + other, high + mine, other)
    # The comparisons that the second wins, less those that it loses, for each number of its high values.
    number = np.arange(other + 1)
    lead = number * (one - (high + mine - number)) - (other - number) * (high + mine - number)
    expected = chance.pmf(number)[np.abs(lead) >= abs(lead[mine])].sum()
    assert (found, sign) == pytest.approx((expected, np.sign(lead[mine])), rel=1e-9)


def test_where_the_exact_test_ends() -> None:
    first, second = np.arange(20) * 1.0, np.arange(21) + 4.5
    assert first.size + second.size == EXACT_UP_TO + 1
    exact = stats.mannwhitneyu(first, second[:20], method="exact").pvalue
    normal = stats.mannwhitneyu(first, second, method="asymptotic").pvalue
    assert rank_sum(first, second[:20])[0] == pytest.approx(exact, rel=1e-12)
    assert rank_sum(first, second)[0] == pytest.approx(normal, rel=1e-12)
    # With ties: 8 of 20 against 2 of 20, which is Fisher's test, and against 2 of 21.
    few, many = [1.0] * 2 + [0.0] * 18, [1.0] * 8 + [0.0] * 12
    assert rank_sum(few, many)[0] == pytest.approx(stats.fisher_exact([[2, 18], [8, 12]]).pvalue, rel=1e-12)
    normal = stats.mannwhitneyu([*few, 0.0], many, method="asymptotic").pvalue
    assert rank_sum([*few, 0.0], many)[0] == pytest.approx(normal, rel=1e-12)
    # Near the usual level the two are alike there, with and without ties.
    for values in (np.arange(40), np.arange(40) // 5):
        for shift in range(5, 9):
            one, other = values[:20] * 1.0, np.sort(values[:20] + shift * 1.0)
            near = stats.mannwhitneyu(one, other, method="asymptotic").pvalue
            assert rank_sum(one, other)[0] == pytest.approx(near, abs=0.003)


def test_three_against_three_can_never_be_significant_but_four_against_four_can() -> None:
    values = np.array(list(product(range(4), repeat=6)), np.float64).reshape(-1, 2, 3)
    found = neighbour_tests(values, fast=False)
    assert found.rank_sum.min() == pytest.approx(0.1)
    assert (found.welch < 0.05).any()
    assert rank_sum([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx((2 / 70, 1))
    assert rank_sum([1, 2], [5, 6, 7, 8])[0] == pytest.approx(2 / 15)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 5), (5, 3), (4, 4)])
def test_p_values_of_untied_samples_count_splits(sizes: tuple[int, int]) -> None:
    first, second = sizes
    ranks = range(1, first + second + 1)
    leads = [2 * sum(chosen) - second * (first + second + 1) for chosen in combinations(ranks, second)]
    for lead in set(leads):
        assert untied_p(first, second)[abs(lead)] == np.mean(np.abs(leads) >= abs(lead))


def test_constant_samples() -> None:
    assert welch([2, 2], [2, 2, 2]) == (1, 0)
    assert rank_sum([2, 2], [2, 2, 2]) == (1, 0)
    assert welch([2, 2], [1, 1, 1]) == (0, -1)
    assert rank_sum([2, 2], [1, 1, 1]) == pytest.approx((0.1, -1))
    assert rank_sum([0] * 50, [0] * 50) == (1, 0)
    assert rank_sum([0] * 5, [1] * 5) == pytest.approx((2 / 252, 1))
    # One of them only: an ordinary test.
    expected = stats.ttest_ind([1, 2, 3, 4], [0, 0, 0], equal_var=False).pvalue
    assert welch([0, 0, 0], [1, 2, 3, 4]) == pytest.approx((expected, 1))


def test_rounding_is_no_difference() -> None:
    # The mean of so many equal entropies, as metrics compute it: the last digits depend on their number.
    levels = [[float(np.cumsum(np.full(number, np.log2(100)))[-1] / number)] * 20 for number in (100, 101, 103, 1000)]
    assert len({level[0] for level in levels}) > 1
    found = compared(*levels)
    assert found.welch.tolist() == found.rank_sum.tolist() == [[1, 1, 1]]
    assert found.welch_sign.tolist() == found.rank_sum_sign.tolist() == [[0, 0, 0]]
    # Ties by rounding, among values that do differ.
    tied, rounded = rank_sum([0.3, 1, 2], [0.3, 3, 4]), rank_sum([0.3, 1, 2], [0.1 + 0.2, 3, 4])
    assert tied == rounded
    # Means of the same values in another order.
    assert welch([0.1, 0.2, 0.3], [0.2, 0.2, 0.2]) == (1, 0)
    # Small, but no rounding.
    assert welch([1.0] * 9, [1 + 1e-9] * 9) == (0, 1)


def test_missing_values_and_levels_are_passed_over() -> None:
    nan = np.nan
    full = compared([1, 2, 3, 4], [3, 4, 5], [9, 8, 7, 1])
    gaps = compared([nan] * 3, [1, nan, 2, 3, 4], [5], [nan, 3, 4, nan, 5], [], [9, 8, 7, 1, nan])
    assert gaps.pairs.tolist() == full.pairs.tolist() == [2]
    for one, other in zip(gaps[1:], full[1:], strict=True):
        np.testing.assert_array_equal(one[:, :2], other)
    assert np.isnan(gaps.welch[:, 2:]).all()
    assert np.isnan(gaps.rank_sum[:, 2:]).all()
    assert not gaps.welch_sign[:, 2:].any()
    assert compared([1, 2], [3]).pairs.tolist() == [0]


@pytest.mark.parametrize("shape", [(0, 6, 5), (2, 0, 5), (2, 1, 5), (2, 6, 0), (2, 6, 1), (0, 0, 0)])
def test_nothing_to_test(shape: tuple[int, int, int]) -> None:
    found = neighbour_tests(np.zeros(shape))
    assert found.pairs.tolist() == [0] * shape[0]
    for each in found[1:]:
        assert each.shape == (shape[0], max(shape[1] - 1, 0))
    assert np.isnan(found.welch).all()


@pytest.mark.parametrize("fast", [False, True])
def test_infinite_and_huge_values(fast: bool) -> None:
    inf = np.inf
    found = compared([1, 2, 3, 4], [5, 6, 7, inf], [inf] * 4, [inf] * 4, [-inf] * 4, [-inf, -inf, 0, inf], fast=fast)
    assert found.welch.tolist() == [[1, 1, 1, 0, 1]]
    assert found.welch_sign.tolist() == [[0, 0, 0, -1, 0]]
    assert found.rank_sum[0, :3] == pytest.approx([2 / 70, 1 / 7, 1])
    assert found.rank_sum_sign.tolist() == [[1, 1, 0, -1, 1]]
    small = compared([1, 2, 3], [2, 4, 4], [-9, 4, 9], fast=fast)
    for scale in (1e-310, 1e-200, 1e300, 1.9e307):
        large = compared(*(np.array(level) * scale for level in ([1, 2, 3], [2, 4, 4], [-9, 4, 9])), fast=fast)
        np.testing.assert_allclose(large.welch, small.welch, rtol=1e-9)
        np.testing.assert_allclose(large.rank_sum, small.rank_sum, rtol=1e-9)


def many_rows(seed: int) -> Floats:
    """Return rows of all kinds: continuous, tied, constant, missing, of different sizes."""
    rng = np.random.default_rng(seed)
    values = np.concatenate(
        [
            rng.normal(size=(6, 4, 25)) + np.arange(4)[:, None] / 2,
            rng.integers(0, 4, (6, 4, 25)).astype(np.float64),
            rng.integers(0, 2, (6, 4, 1)) * np.ones(25),
        ]
    )
    values[rng.random(values.shape) < np.linspace(0, 0.9, 18)[:, None, None]] = np.nan
    return values


def test_plain_and_compiled_and_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values = many_rows(1)
    plain, fast = neighbour_tests(values, fast=False), neighbour_tests(values, fast=True)
    monkeypatch.setattr(two_samples, "_BLOCK", 500)
    parts = neighbour_tests(values)
    for one, other, third in zip(plain, fast, parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
        np.testing.assert_array_equal(one, third)


@given(st.integers(0, 2**32))
def test_neither_order_nor_units_matter_and_directions_mirror(seed: int) -> None:
    values = many_rows(seed)
    found = neighbour_tests(values)
    shuffled = neighbour_tests(np.random.default_rng(seed).permuted(values, axis=2))
    mirrored = neighbour_tests(-2 * values)
    for one, other in zip(found, shuffled, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(mirrored.welch, found.welch, rtol=1e-6, atol=1e-300)
    np.testing.assert_allclose(mirrored.rank_sum, found.rank_sum, rtol=1e-12)
    np.testing.assert_array_equal(mirrored.welch_sign, -found.welch_sign)
    np.testing.assert_array_equal(mirrored.rank_sum_sign, -found.rank_sum_sign)


def test_values_are_left_as_they_were() -> None:
    values = many_rows(2)
    before = values.copy()
    values.flags.writeable = False
    neighbour_tests(values)
    np.testing.assert_array_equal(values, before)


def test_where_nothing_differs_few_are_significant_and_the_exact_test_never_more_than_allowed() -> None:
    rng = np.random.default_rng(8)
    rows = 8000
    for drawn in (rng.normal(size=(rows, 2, 8)), rng.integers(0, 5, (rows, 2, 8)).astype(np.float64)):
        found = neighbour_tests(drawn)
        # Three standard errors of a share of 0.05.
        slack = 3 * np.sqrt(0.05 * 0.95 / rows)
        assert (found.rank_sum < 0.05).mean() <= 0.05 + slack
        assert (found.rank_sum < 0.05).mean() >= 0.03
        assert abs((found.welch < 0.05).mean() - 0.05) < slack + 0.005


def test_scipy_stats_is_not_needed() -> None:
    program = """
import sys
import numpy as np
from unveil._kernels.two_samples import neighbour_tests
neighbour_tests(np.arange(12.0).reshape(1, 3, 4))
sys.exit(f"{'scipy.stats' in sys.modules} {'numba' in sys.modules}")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == "False False"
