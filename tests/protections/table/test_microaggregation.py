"""Microaggregation: groups as MDAV makes them, means that are kept, and everybody in a group alike."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.masking import mdav
from tests.protections.masks import aligned, is_even_over, posterior, release_with
from tests.protections.tables import people, table, truth_of
from unveil._kernels.table.microaggregation import mdav_groups
from unveil.errors import InputError
from unveil.protections.table.microaggregation import Microaggregation


@settings(max_examples=22)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(2, 6), st.integers(0, 2**32))
def test_the_groups_are_those_of_the_definition(n: int, m: int, k: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(n, m))
    group = mdav_groups(values, k)
    assert {frozenset(np.flatnonzero(group == number).tolist()) for number in set(group.tolist())} == mdav(values, k)


@settings(max_examples=22)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=40), st.integers(2, 3))
def test_groups_are_neither_too_small_nor_too_large(rows: list[tuple[int, int]], k: int) -> None:
    size = np.bincount(mdav_groups(np.array(rows, float), k))
    assert size.min() >= k
    assert size.max() < 2 * k


@settings(max_examples=22)
@given(st.integers(3, 40), st.sampled_from([None, 1, 2]), st.integers(0, 2**32))
def test_means_are_kept_and_rows_are_alike_by_blocks(n: int, size: int | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original = table(one=rng.integers(0, 9, n), two=rng.normal(size=n) * 1e6, three=rng.normal(size=n))
    release = release_with(Microaggregation(k=3, block_size=size), original, seed)
    after = release.released.frame
    np.testing.assert_allclose(after.mean().row(0), original.frame.mean().row(0), rtol=1e-9, atol=1e-12)
    names = list(after.columns)
    step = size or 3
    for begin in range(0, 3, step):
        counts = after.group_by(names[begin : begin + step]).len()["len"]
        assert int(counts.min()) >= 3  # type: ignore[arg-type]


def test_the_true_probability_is_even_over_the_group() -> None:
    rng = np.random.default_rng(2)
    original = table(one=rng.normal(size=50), two=rng.normal(size=50))
    release = release_with(Microaggregation(k=4), original)
    values = release.released.frame.to_numpy()
    # Who shows the same is of one group; the truth says which original rows these are.
    same = (values[:, None, :] == values[None, :, :]).all(axis=2)
    members = np.zeros((50, 50), bool)
    members[:, truth_of(release)] = same
    is_even_over(posterior(release), members)
    assert set(members.sum(axis=1)) <= {4, 5, 6, 7}


def test_blocks_intersect() -> None:
    rng = np.random.default_rng(2)
    original = table(one=rng.normal(size=50), two=rng.normal(size=50))
    release = release_with(Microaggregation(k=8, block_size=1), original)
    parts = [posterior(release, [name]) > 0 for name in ("one", "two")]
    is_even_over(posterior(release), parts[0] & parts[1])
    assert (parts[0] & parts[1]).sum(axis=1).min() < 8


def test_equal_rows_that_had_to_part_share() -> None:
    # Two of the seven equal rows go with the last one, which is farthest from the mean.
    original = table(age=[1.0] * 7 + [2.0])
    release = release_with(Microaggregation(k=3), original)
    found = posterior(release)
    shown = release.released.frame["age"].to_numpy()
    assert sorted(shown.tolist()) == [1.0] * 5 + [4 / 3] * 3
    mixed = shown > 1
    np.testing.assert_allclose(found[mixed][:, 7], 1 / 3)
    np.testing.assert_allclose(found[mixed][:, :7], 2 / 7 / 3)
    np.testing.assert_allclose(found[~mixed][:, :7], 1 / 7)


def test_lots_decide_which_of_equal_rows_has_to_part() -> None:
    # Three rows are equal, and one of them joins the fourth: the order of rows must not tell which.
    original = table(x=[0.0, 0.0, 0.0, 9.0])
    joined = np.zeros(3)
    for seed in range(120):
        release = Microaggregation(k=2, shuffle=False).apply(original, rng=np.random.default_rng(seed))
        joined += release.released.frame["x"].to_numpy()[:3] == 4.5
    assert joined.sum() == 120
    assert joined.min() >= 20


def test_groups_that_look_the_same_are_one() -> None:
    # The groups are the first two and the last two rows; in the first column both have the mean 0.
    high = [9.0, 9, -9, -9]
    release = release_with(Microaggregation(k=2), table(one=[-1.0, 1.0, -0.5, 0.5], two=high, three=high, four=high))
    np.testing.assert_allclose(posterior(release, ["one"]), 0.25)
    assert set(np.unique(posterior(release))) == {0.0, 0.5}


def test_a_gap_is_refused_and_named() -> None:
    with pytest.raises(InputError, match=r"column 'income' of the original lacks .* univariate-microaggregation"):
        release_with(Microaggregation(), people())


def test_a_constant_column_takes_no_part() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=20)
    alone = release_with(Microaggregation(), table(one=values)).released.frame["one"].sort()
    before, after = aligned(release_with(Microaggregation(), table(one=values, two=[7] * 20)))
    assert after["one"].sort().equals(alone)
    assert set(after["two"].to_list()) == {7.0} == set(before["two"].to_list())


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_block_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(InputError, match="block_size must be"):
        Microaggregation(block_size=size)
