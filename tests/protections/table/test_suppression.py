"""Suppression: what is dropped, and what is then left to know."""

from typing import Any

import numpy as np
import pytest

from tests.protections.masks import aligned, posterior, release_with
from tests.protections.tables import people, table
from unveil.errors import InputError
from unveil.protections.table.suppression import Suppression


def test_values_are_dropped_as_often_as_told_and_the_others_stay() -> None:
    before, after = aligned(release_with(Suppression(share=0.3), people(3000)))
    for name in after.columns:
        dropped = after[name].is_null() & before[name].is_not_null()
        there = int(before[name].is_not_null().to_numpy().sum())
        assert abs(int(dropped.to_numpy().sum()) / there - 0.3) < 5 * np.sqrt(0.21 / there)
        stayed = after[name].is_not_null()
        assert after[name].filter(stayed).equals(before[name].filter(stayed))


def test_the_true_probability_by_lot() -> None:
    # Of the last person the age has been missing before, so that a missing one is likelier to be theirs.
    original = table(age=[1, 2, 3, None])
    release = release_with(Suppression(share=0.25), original, 8)
    found = posterior(release)
    shown = release.released.frame["age"].to_list()
    assert None in shown
    for line, age in zip(found, shown, strict=True):
        expected = np.array([0.25, 0.25, 0.25, 1.0]) / 1.75 if age is None else np.eye(4)[age - 1]
        np.testing.assert_allclose(line, expected)


def test_a_dropped_value_leaves_the_other_columns_to_speak() -> None:
    original = table(age=[1, 2, 3, 4], town=list("aabb"))
    release = release_with(Suppression(columns=("age",), share=1.0), original)
    same = (release.released.frame["town"].to_numpy()[:, None] == original.frame["town"].to_numpy()) / 2
    np.testing.assert_allclose(posterior(release), same)


def test_rare_values_are_dropped_and_no_others() -> None:
    original = table(town=list("aaabbc"), size=[1, 1, 1, 2, 2, None])
    release = release_with(Suppression(k=3), original)
    before, after = aligned(release)
    assert after["town"].equals(before["town"].replace({"b": None, "c": None}))
    assert after["size"].equals(before["size"].replace({2: None}))
    rare = np.array([0, 0, 0, 1, 1, 1]) / 3
    for line, town in zip(posterior(release), after["town"], strict=True):
        np.testing.assert_allclose(line, rare if town is None else rare[::-1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"share": 0}, "it must be above 0 and at most 1"),
        ({"share": 1.1}, "it must be above 0 and at most 1"),
        ({"share": "much"}, "share must be a number"),
        ({"k": 1}, "k must be a whole number of at least 2"),
        ({"k": 3, "share": 0.3}, "share and k cannot be combined: give share for random values, or k for"),
    ],
)
def test_settings_that_are_none_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Suppression(**settings)
