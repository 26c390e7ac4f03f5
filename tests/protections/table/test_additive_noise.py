"""Additive noise: how large it is, and how likely it makes each original row."""

from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protections.masks import aligned, posterior, release_with
from tests.protections.tables import people, table
from unveil.errors import InputError
from unveil.protections.table.additive_noise import AdditiveNoise


def test_the_noise_is_as_large_as_told_and_independent() -> None:
    rng = np.random.default_rng(1)
    one = rng.normal(50, 10, 4000)
    original = table(one=one, two=3 * one)
    before, after = aligned(release_with(AdditiveNoise(scale=0.3), original))
    noise = after.to_numpy() - before.to_numpy()
    # 4000 draws: a standard deviation is known to 1.1 %, a correlation to 0.016.
    np.testing.assert_allclose(noise.std(axis=0) / original.frame.to_numpy().std(axis=0), 0.3, rtol=0.06)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.08
    assert abs(noise[:, 0].mean()) < 5 * 3 / np.sqrt(4000)


@settings(max_examples=22)
@given(st.integers(2, 7), st.integers(1, 3), st.floats(0.05, 3), st.integers(0, 2**32))
def test_the_true_probability_is_the_product_of_densities(n: int, m: int, scale: float, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(n, m)).round(2)
    original = table(**{f"c{place}": values[:, place] for place in range(m)})
    release = release_with(AdditiveNoise(scale=scale), original, seed)
    y = release.released.frame.to_numpy()
    found = posterior(release)
    for j in range(n):
        likelihood = []
        for i in range(n):
            density = 1.0
            for c in range(m):
                spread = scale * values[:, c].std()
                if spread > 0:
                    density *= exp(-(((y[j, c] - values[i, c]) / spread) ** 2) / 2)
            likelihood.append(density)
        np.testing.assert_allclose(found[j], np.array(likelihood) / sum(likelihood), atol=1e-9)


def test_noise_far_below_the_gaps_tells_everybody() -> None:
    found = posterior(release := release_with(AdditiveNoise(scale=1e-6), table(age=[1.0, 2, 5])))
    np.testing.assert_array_equal(found.argmax(axis=1), release.truth)
    np.testing.assert_allclose(found.max(axis=1), 1)


def test_a_missing_value_stays_with_its_person_and_tells_them_from_others() -> None:
    release = release_with(AdditiveNoise(scale=9), original := people().select(["age", "income"]))
    before, after = aligned(release)
    gone = before["income"].is_null().to_numpy()
    np.testing.assert_array_equal(after["income"].is_null().to_numpy(), gone)
    found = posterior(release)
    missing = original.frame["income"].is_null().to_numpy()
    assert (found[np.ix_(gone, ~missing)] == 0).all()
    assert (found[np.ix_(gone, missing)] > 0).all()


def test_a_column_with_one_value_stays_and_this_is_said() -> None:
    release = release_with(AdditiveNoise(), table(age=[3, 3, 3], size=[1, 2, 3]))
    assert release.released.frame["age"].to_list() == [3, 3, 3]
    assert any("column 'age' has only one value and was not changed" in note for note in release.notes)
    assert (posterior(release) > 0).all()


def test_masked_values_beyond_all_floats_are_refused() -> None:
    with pytest.raises(InputError, match="column 'size' has numbers so large that their masked values overflow"):
        release_with(AdditiveNoise(scale=1e9), table(size=[1e308, -1e308, 3.0]))


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), True, "much"])
def test_a_scale_that_is_none_is_refused(scale: Any) -> None:
    with pytest.raises(InputError, match="it must be a number above 0"):
        AdditiveNoise(scale=scale)
