"""PRAM: the transition probabilities are those that are drawn from, and invariant ones keep the margins."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protections.masks import aligned, posterior, release_with
from tests.protections.tables import people, table
from unveil.errors import InputError
from unveil.protections.table.pram import Pram, PramMechanism

counts = st.lists(st.integers(1, 50), min_size=2, max_size=6).map(np.array)


@given(counts, st.floats(0, 0.99), st.booleans())
def test_the_matrix_is_as_defined_and_invariant_ones_keep_the_margins(
    counts: Any, keep: float, invariant: bool
) -> None:
    share = counts / counts.sum()
    size = counts.size
    other = np.tile(share, (size, 1)) if invariant else (1 - np.eye(size)) / (size - 1)
    matrix = PramMechanism(counts, keep, invariant).matrix
    np.testing.assert_allclose(matrix, keep * np.eye(size) + (1 - keep) * other, atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    if invariant:
        np.testing.assert_allclose(share @ matrix, share, atol=1e-12)


@pytest.mark.parametrize("invariant", [True, False])
def test_values_are_drawn_with_these_probabilities(invariant: bool) -> None:
    original = table(town=["a"] * 6000 + ["b"] * 3000 + ["c"] * 1000)
    before, after = aligned(release_with(Pram(keep=0.6, invariant=invariant), original))
    matrix = PramMechanism(np.array([6000, 3000, 1000]), 0.6, invariant).matrix
    for row, old in enumerate("abc"):
        drawn = after["town"].filter(before["town"] == old)
        for column, new in enumerate("abc"):
            chance = matrix[row, column]
            assert abs((drawn == new).mean() - chance) < 5 * np.sqrt(chance * (1 - chance) / drawn.len())


@pytest.mark.parametrize("invariant", [True, False])
def test_the_true_probability_is_the_product_of_those_of_the_columns(invariant: bool) -> None:
    towns, pets = list("aabbbc"), list("xxyyyy")
    release = release_with(Pram(keep=0.3, invariant=invariant), table(town=towns, pet=pets))
    town = PramMechanism(np.array([2, 3, 1]), 0.3, invariant).matrix
    pet = PramMechanism(np.array([2, 4]), 0.3, invariant).matrix
    found = posterior(release)
    for j, (new_town, new_pet) in enumerate(release.released.frame.rows()):
        chance = [
            town["abc".index(one), "abc".index(new_town)] * pet["xy".index(two), "xy".index(new_pet)]
            for one, two in zip(towns, pets, strict=True)
        ]
        np.testing.assert_allclose(found[j], np.array(chance) / sum(chance), atol=1e-12)


@pytest.mark.unwatched
@settings(max_examples=10)
@given(st.booleans())
def test_what_is_behind_a_released_row_is_as_likely_as_said(invariant: bool) -> None:
    original = table(town=list("aaabbc") * 500, pet=list("xyxxyx") * 500)
    release = release_with(Pram(keep=0.5, invariant=invariant), original)
    before, after = aligned(release)
    found = posterior(release)
    is_a = (original.frame["town"] == "a").to_numpy()
    for new in "abc":
        rows = (after["town"] == new).to_numpy()
        said = found[rows][:, is_a].sum(axis=1).mean()
        assert abs((before["town"].to_numpy()[rows] == "a").mean() - said) < 5 * 0.5 / np.sqrt(rows.sum())


def test_a_missing_value_and_a_single_one_stay() -> None:
    before, after = aligned(release_with(Pram(keep=0), people()))
    for name in ("town", "smoker"):
        assert after[name].is_null().equals(before[name].is_null())
        assert not after[name].equals(before[name])
    assert after["age"].equals(before["age"])
    release = release_with(Pram(keep=0), table(town=["a"] * 5, pet=list("xyxyx")))
    assert any("'town' has only one value" in note for note in release.notes)
    assert set(release.released.frame["town"].to_list()) == {"a"}


def test_a_number_that_is_named_is_taken_as_a_category() -> None:
    before, after = aligned(release_with(Pram(columns=("age",), keep=0, invariant=False), people()))
    assert (after["age"] != before["age"]).all()
    assert set(after["age"]) <= set(before["age"])


@pytest.mark.parametrize("keep", [-0.1, 1, 1.5, float("nan"), "much", True])
def test_a_probability_that_is_none_is_refused(keep: Any) -> None:
    with pytest.raises(InputError, match=r"keep is|keep must be"):
        Pram(keep=keep)
