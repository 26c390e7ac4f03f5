"""Univariate microaggregation: no other groups lose less, and each column is masked on its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.masking import least_squares, squares_within
from tests.protections.masks import aligned, is_even_over, posterior, release_with
from tests.protections.tables import people, table
from unveil._kernels.table.microaggregation import best_groups
from unveil.errors import InputError
from unveil.protections.table.univariate_microaggregation import UnivariateMicroaggregation


@settings(max_examples=22)
@given(st.lists(st.integers(-9, 9), min_size=2, max_size=8), st.integers(2, 3))
def test_no_other_groups_lose_less(numbers: list[int], k: int) -> None:
    if len(numbers) < k:
        return
    values = np.array(numbers, float)
    group = best_groups(values, k)
    found = [np.flatnonzero(group == number).tolist() for number in set(group.tolist())]
    assert min(map(len, found)) >= k
    assert squares_within(values, found) == pytest.approx(least_squares(values, k), abs=1e-9)


@settings(max_examples=22)
@given(st.integers(3, 60), st.integers(2, 3), st.integers(0, 2**32))
def test_every_value_is_shared_and_means_are_kept(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original = table(one=rng.integers(0, 9, n), two=rng.normal(size=n) * 1e6)
    after = release_with(UnivariateMicroaggregation(k=k), original, seed).released.frame
    np.testing.assert_allclose(after.mean().row(0), original.frame.mean().row(0), rtol=1e-9)
    for name in ("one", "two"):
        assert int(after[name].value_counts()["count"].min()) >= k  # type: ignore[arg-type]


def test_the_true_probability_is_even_where_the_groups_of_all_columns_meet() -> None:
    rng = np.random.default_rng(2)
    original = table(one=rng.normal(size=40), two=rng.normal(size=40))
    release = release_with(UnivariateMicroaggregation(k=6), original)
    members = np.ones((40, 40), bool)
    before, after = aligned(release)
    for name in ("one", "two"):
        groups: dict[float, set[float]] = {}
        for old, new in zip(before[name], after[name], strict=True):
            groups.setdefault(new, set()).add(old)
        members &= np.array([[value in groups[new] for value in original.frame[name]] for new in after[name]])
    is_even_over(posterior(release), members)


def test_missing_values_stay_missing() -> None:
    release = release_with(UnivariateMicroaggregation(), people())
    before, after = aligned(release)
    assert after["income"].is_null().equals(before["income"].is_null())
    assert before["income"].null_count() > 3


def test_few_missing_values_are_said() -> None:
    release = release_with(UnivariateMicroaggregation(), table(age=[1, 2, 3, 4, None, None]))
    assert any("'age' has fewer than 3 missing values" in note for note in release.notes)


def test_a_column_with_fewer_values_than_a_group_is_refused() -> None:
    with pytest.raises(InputError, match="k is 3, but column 'age' has 2 values"):
        release_with(UnivariateMicroaggregation(), table(age=[1, 2, None, None], size=[1, 2, 3, 4]))
