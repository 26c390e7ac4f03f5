"""Rank swapping by distribution and by buckets, and the true probabilities of all rank swapping."""

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles.masking import Choice, by_bucket, by_weight, by_window, swap_kernel, swap_outcomes, value_chances
from tests.protections.masks import aligned, posterior, release_with
from tests.protections.tables import table, truth_of
from unveil._kernels.table.rank_kernel import bucket_chances, bucket_line, exact_band, pairs_within
from unveil.errors import InputError
from unveil.protections import TableProtection
from unveil.protections.table._rank_schemes import Buckets, Offsets, Scheme, bucket_partners, weighted_partners
from unveil.protections.table.rank_swapping import RankChances, RankSwapping
from unveil.protections.table.rank_swapping_variants import RankSwappingBuckets, RankSwappingDistribution

WEIGHT = [0.5, 1.0, 0.25, 0.125]


def schemes(n: int) -> list[tuple[Scheme, Choice]]:
    buckets = Buckets(3)
    return [
        (Offsets(np.ones(2)), by_window(2)),
        (Offsets(np.ones(30)), by_window(30)),
        (Offsets(np.array(WEIGHT)), by_weight(WEIGHT)),
        (buckets, by_bucket(buckets.buckets(n).tolist())),
    ]


def test_the_number_of_the_specification() -> None:
    kernel = Offsets(np.ones(3)).exact(11)
    assert kernel is not None
    assert kernel[10, 10] == pytest.approx(29 / 54)  # .537
    np.testing.assert_allclose(kernel, swap_kernel(11, by_window(3)), atol=1e-14)
    # Not even over the window, and the lowest never stays.
    assert kernel[0, 0] == 0
    assert len({round(chance, 6) for chance in kernel[10] if chance > 0}) > 2


@pytest.mark.parametrize("n", range(1, 9))
def test_the_kernel_is_that_of_all_outcomes(n: int) -> None:
    for scheme, choose in schemes(n):
        found = scheme.exact(n)
        assert found is not None
        np.testing.assert_allclose(found, swap_kernel(n, choose), atol=1e-14)
        np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_long_band_repeats_itself_between_its_ends() -> None:
    # Forty ranks with a window of two are too many outcomes to list, but every second line must be the same in between.
    band = exact_band(400, np.ones(3))
    full = band.sum(axis=1)
    full += sum(np.append(np.zeros(d), band[: 400 - d, d]) for d in (1, 2, 3))
    np.testing.assert_allclose(full, 1, atol=1e-12)
    np.testing.assert_allclose(band[200], band[202], atol=1e-14)
    np.testing.assert_allclose(band[:10], exact_band(60, np.ones(3))[:10], atol=1e-14)
    np.testing.assert_allclose(band[-10:], exact_band(360, np.ones(3))[-10:], atol=1e-12)


@settings(max_examples=22)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.sampled_from(["window", "all", "weight", "buckets"]),
    st.booleans(),
)
def test_chances_of_values_are_those_of_all_outcomes(values: list[int], which: str, in_order: bool) -> None:
    scheme, choose = dict(zip(["window", "all", "weight", "buckets"], schemes(len(values)), strict=True))[which]
    counts = np.bincount(np.unique(values, return_inverse=True)[1])
    chances = RankChances(counts, scheme, in_order)
    expected = value_chances(values, choose, in_order=in_order)
    found = chances(np.arange(counts.size + 1))
    np.testing.assert_allclose(found[:-1, :-1].T, expected, atol=1e-12)
    np.testing.assert_array_equal(found[-1], np.append(np.zeros(counts.size), 1))
    assert chances.error == 0


@pytest.mark.unwatched
def test_simulated_chances_are_near_the_exact_ones_by_the_error_they_state() -> None:
    scheme = Offsets(np.ones(12))
    for counts in (np.ones(41, np.int64), np.ones(60, np.int64), np.array([3, 5, 1, 1, 9, 12, 10])):
        everything = np.arange(counts.size)
        exact = scheme.lines(counts, None, 0)[0](everything)
        lines, error = scheme._simulated(counts, 4000, 5)
        seen = np.sqrt(((lines(everything) - exact) ** 2).sum() / (exact**2).sum())
        assert 0 < error < 0.05
        assert seen < 4 * error
        assert ((lines(everything) > 0) >= (exact > 0)).all()


@pytest.mark.parametrize("n", [12, 13])
def test_simulated_buckets_are_near_the_exact_ones(n: int) -> None:
    scheme = Buckets(4)
    counts = np.ones(n, np.int64)
    bucket = scheme.buckets(n)
    exact = scheme.lines(counts, None, 0)[0](np.arange(n))
    found = bucket_chances(bucket, np.random.default_rng(1).random((20_000, n, 2)))
    assert found is not None
    np.testing.assert_allclose([bucket_line(*found, bucket, rank) for rank in range(n)], exact, atol=0.008)


@pytest.mark.unwatched
@pytest.mark.parametrize("in_order", [True, False])
def test_chances_beyond_what_is_exact_are_those_of_many_swaps(in_order: bool) -> None:
    counts = np.array([30, 14, 5, 1])
    rng = np.random.default_rng(11)
    for scheme in (Offsets(np.ones(20)), Offsets(np.exp(-((np.arange(1, 25) - 3.0) ** 2) / 18)), Buckets(7)):
        seen = np.zeros((4, 4))
        for _ in range(1500):
            order = np.arange(4) if in_order else rng.permutation(4)
            value = np.repeat(order, counts[order])
            np.add.at(seen, (value[scheme.partners(50, rng)], value), 1 / 1500)
        chances = RankChances(counts, scheme, in_order, 1600, 3)
        assert chances.error < 0.05
        np.testing.assert_allclose(chances(np.arange(4))[:, :-1], seen / counts, atol=0.05)


def test_cells_of_many_ranks_keep_to_the_window() -> None:
    scheme = Offsets(np.ones(64))
    lines, _ = scheme._simulated(np.ones(500, np.int64), 800, 0)
    found = lines(np.arange(500))
    apart = np.abs(np.arange(500)[:, None] - np.arange(500))
    assert (found[apart > 64] == 0).all()
    assert (found[(apart <= 64) & (apart > 0)] > 0).all()
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=0.1)


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.integers(0, 9), st.booleans())
def test_pairs_within_reach_are_counted(size: int, gap: int, other: int, reach: int, same: bool) -> None:
    one = range(3, 3 + size)
    two = one if same else range(3 + size + gap, 3 + size + gap + other)
    expected = sum(0 < abs(a - b) <= reach for a, b in product(one, two))
    ends = [np.array([end]) for end in (one.start, one.stop, two.start, two.stop)]
    assert pairs_within(ends[0], ends[1], ends[2], ends[3], reach).tolist() == [expected]
    assert pairs_within(ends[2], ends[3], ends[0], ends[1], reach).tolist() == [expected]


@pytest.mark.parametrize("n", [1, 4, 5])
def test_weighted_and_bucket_swaps_come_as_often_as_all_outcomes_say(n: int) -> None:
    rng = np.random.default_rng(4)
    bucket = Buckets(2).buckets(n)
    ways: tuple[tuple[Callable[[], NDArray[np.int64]], Choice], ...] = (
        (lambda: weighted_partners(rng.random(n), np.array(WEIGHT)), by_weight(WEIGHT)),
        (lambda: bucket_partners(rng.random(2 * n), bucket), by_bucket(bucket.tolist())),
    )
    for draw, choose in ways:
        found = Counter(tuple(draw().tolist()) for _ in range(3000))
        outcomes = swap_outcomes(n, choose)
        assert set(found) <= set(outcomes)
        for outcome, chance in outcomes.items():
            likely = float(chance)
            assert abs(found[outcome] / 3000 - likely) < 5 * np.sqrt(likely * (1 - likely) / 3000 + 1e-6)


def test_the_compiled_way_gives_the_same() -> None:
    rng = np.random.default_rng(6)
    draws, weight = rng.random(400), rng.random(50)
    plain = weighted_partners(draws, weight)
    np.testing.assert_array_equal(weighted_partners(draws, weight, often=True), plain)
    np.testing.assert_array_equal(plain[plain], np.arange(400))
    scheme = Offsets(weight)
    one, other = (scheme.partners(400, np.random.default_rng(1), often=often) for often in (True, False))
    np.testing.assert_array_equal(one, other)
    one, other = (Buckets(9).partners(400, np.random.default_rng(1), often=often) for often in (True, False))
    np.testing.assert_array_equal(one, other)


def test_the_true_probability_is_the_product_over_columns() -> None:
    rng = np.random.default_rng(7)
    ages, sizes = rng.permutation(11), [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4]
    original = table(age=ages, size=sizes)
    release = release_with(RankSwapping(share=0.3), original)
    age, size = (value_chances(list(values), by_window(3), in_order=True) for values in (ages, sizes))
    found = posterior(release)
    for line, (new_age, new_size) in zip(found, release.released.frame.rows(), strict=True):
        chance = np.array([age[one, new_age] * size[two, new_size] for one, two in zip(ages, sizes, strict=True)])
        np.testing.assert_allclose(line, chance / chance.sum(), atol=1e-12)


@pytest.mark.unwatched
def test_values_move_beyond_the_window_by_distribution_and_by_buckets() -> None:
    values = np.random.default_rng(1).permutation(1000)
    original = table(number=values)
    masks: list[tuple[TableProtection, int]] = [
        (RankSwappingDistribution(p=5, draws=400), 200),
        (RankSwappingBuckets(buckets=20, draws=400), 1000),
    ]
    for mask, reach in masks:
        release = release_with(mask, original)
        before, after = aligned(release)
        moved = (after["number"] - before["number"]).abs().to_numpy()
        assert 50 < moved.max() <= reach
        assert np.median(moved) < 60
        assert after["number"].sort().equals(before["number"].sort())
        assert release.mechanism is not None
        right = posterior(release)[np.arange(1000), truth_of(release)]
        assert (right > 0).all()
        assert 0 < release.mechanism.error() < 0.08  # type: ignore[attr-defined]


def test_a_window_below_one_rank_is_said() -> None:
    release = release_with(RankSwappingDistribution(p=5), table(age=[1, 2, 3]))
    assert "column 'age' is unchanged: 5 % of its values is less than one rank" in release.notes
    np.testing.assert_array_equal(posterior(release).argmax(axis=1), truth_of(release))


def test_percent_and_share_are_the_same() -> None:
    assert RankSwapping(p=10).share == 0.1
    assert RankSwapping(p=29).share == 0.29
    original = table(age=np.random.default_rng(1).permutation(100))
    one, other = (release_with(mask, original) for mask in (RankSwapping(p=10), RankSwapping(share=0.1)))
    assert one.released.frame.equals(other.released.frame)
    with pytest.raises(
        InputError, match=r"share and p set the same window, but differ: 0\.2 and 10 %\. Give one of them"
    ):
        RankSwapping(p=10, share=0.2)


@pytest.mark.parametrize("make", [RankSwapping, RankSwappingDistribution])
@pytest.mark.parametrize("p", [0, -1, 100.5, float("nan"), "much", True])
def test_a_percentage_that_is_none_is_refused(make: Any, p: Any) -> None:
    with pytest.raises(InputError, match=r"p is|p must be"):
        make(p=p)


@pytest.mark.parametrize("make", [RankSwapping, RankSwappingDistribution, RankSwappingBuckets])
@pytest.mark.parametrize("settings", [{"draws": 1}, {"draws": 2.5}, {"seed": -1}, {"seed": None}])
def test_simulations_that_are_none_are_refused(make: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be a whole number"):
        make(**settings)


@pytest.mark.parametrize("buckets", [0, -2, 1.5, True])
def test_a_number_of_buckets_that_is_none_is_refused(buckets: Any) -> None:
    with pytest.raises(InputError, match="buckets must be a whole number of at least 1"):
        RankSwappingBuckets(buckets=buckets)
