"""Correlated noise: it goes together as the columns do, and its density is that of the difference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protections.masks import aligned, posterior, release_with
from tests.protections.tables import table, truth_of
from unveil.errors import InputError
from unveil.protections.table.correlated_noise import CorrelatedNoise


def sample(rows: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng([seed, 77])  # not those of the mask
    return rng.multivariate_normal([5, 50], [[4, 6], [6, 25]], rows)


def test_covariances_are_kept_as_told() -> None:
    values = sample(5000)
    original = table(one=values[:, 0], two=values[:, 1])
    old = np.cov(values.T)
    before, after = aligned(release_with(CorrelatedNoise(scale=0.5), original))
    np.testing.assert_allclose(np.cov((after.to_numpy() - before.to_numpy()).T), 0.25 * old, rtol=0.12)
    np.testing.assert_allclose(np.cov(after.to_numpy().T), 1.25 * old, rtol=0.12)
    rescaled = release_with(CorrelatedNoise(scale=0.5, rescale=True), original).released.frame.to_numpy()
    np.testing.assert_allclose(np.cov(rescaled.T), old, rtol=0.12)
    np.testing.assert_allclose(rescaled.mean(axis=0), values.mean(axis=0), rtol=0.03)


@settings(max_examples=20)
@given(st.integers(4, 8), st.booleans(), st.integers(0, 2**32))
def test_the_true_probability_is_that_of_the_normal_density(n: int, rescale: bool, seed: int) -> None:
    values = sample(n, seed)
    original = table(one=values[:, 0], two=values[:, 1])
    release = release_with(CorrelatedNoise(scale=0.7, rescale=rescale), original, seed)
    y = release.released.frame.to_numpy()
    mean = values.mean(axis=0)
    if rescale:
        y = mean + (y - mean) * np.sqrt(1 + 0.49)
    inverse = np.linalg.inv(0.49 * np.cov(values.T, bias=True))
    apart = y[:, None, :] - values[None, :, :]
    density = np.exp(-np.einsum("jic,cd,jid->ji", apart, inverse, apart) / 2)
    np.testing.assert_allclose(posterior(release), density / density.sum(axis=1, keepdims=True), atol=1e-7)


def test_seeing_one_column_only_is_the_noise_of_that_column() -> None:
    values = sample(6)
    release = release_with(CorrelatedNoise(scale=0.7), table(one=values[:, 0], two=values[:, 1]))
    y = release.released.frame["two"].to_numpy()
    density = np.exp(-(((y[:, None] - values[:, 1]) / (0.7 * values[:, 1].std())) ** 2) / 2)
    np.testing.assert_allclose(posterior(release, ["two"]), density / density.sum(axis=1, keepdims=True), atol=1e-9)


def test_columns_that_depend_on_one_another_still_do() -> None:
    rng = np.random.default_rng(3)
    one, two = rng.normal(size=(2, 40))
    release = release_with(CorrelatedNoise(scale=2.0), table(one=one, two=two, sum=one + two, fixed=[1] * 40))
    frame = release.released.frame
    np.testing.assert_allclose(frame["one"] + frame["two"], frame["sum"], atol=1e-6)
    found = posterior(release)
    assert (found > 0).sum() > 40
    # What the third column adds is nothing.
    np.testing.assert_allclose(found, posterior(release, ["one", "two"]), atol=1e-6)


def test_missing_values_stay_and_the_others_speak() -> None:
    values = sample(60)
    one = [None if row % 5 == 0 else value for row, value in enumerate(values[:, 0])]
    release = release_with(CorrelatedNoise(scale=1.0), table(one=one, two=values[:, 1]))
    before, after = aligned(release)
    assert after["one"].is_null().equals(before["one"].is_null())
    found = posterior(release)
    gone = after["one"].is_null().to_numpy()
    assert (found[np.ix_(gone, np.arange(60) % 5 > 0)] == 0).all()
    assert (found[np.arange(60), truth_of(release)] > 0).all()


def test_rows_without_a_whole_one_are_refused() -> None:
    with pytest.raises(InputError, match=r"needs rows .* take additive-noise"):
        release_with(CorrelatedNoise(), table(one=[1, 2, None, None], two=[None, None, 3, 4]))
