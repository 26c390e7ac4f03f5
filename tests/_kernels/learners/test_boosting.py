"""Boosting against its definition, compiled and plain, and beside scikit-learn's."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import boosting as oracle
from unveil._kernels.learners import boosting
from unveil._kernels.learners.boosting import Growth, boosted_scores


def rows_and_people(seed: int, rows: int, classes: int, bins: int) -> Any:
    """Two numbers and two categories that tell a class, more or less, and people who have bins that no row has."""
    rng = np.random.default_rng(seed)
    made = rng.integers(0, bins, (4, rows)).astype(np.uint8)
    own = (made[0] > bins // 2) + made[2].astype(int) * 7 % classes + rng.integers(0, 2, rows)
    people = rng.integers(0, bins + 2, (4, 15)).astype(np.uint8)
    return made, np.array([False, False, True, True]), np.unique(own % classes, return_inverse=True)[1], people


@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(30, 150),
    classes=st.integers(2, 4),
    bins=st.integers(1, 9),
    growth=st.builds(Growth, rounds=st.integers(1, 3), leaves=st.integers(1, 6), rate=st.just(0.3)),
)
@settings(deadline=None, max_examples=60)
def test_scores_are_those_of_every_division_tried(
    seed: int, rows: int, classes: int, bins: int, growth: Growth
) -> None:
    made, is_category, own, people = rows_and_people(seed, rows, classes, bins)
    expected = oracle.boosted_scores(made, is_category, own, people, growth)
    np.testing.assert_allclose(boosted_scores(made, is_category, own, people, growth), expected, atol=1e-9)


def test_compiled_and_plain_loops_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    made, is_category, own, people = rows_and_people(3, 120, 3, 8)
    scores = []
    for up_to in (0, 10**9):
        monkeypatch.setattr(boosting, "PLAIN_UP_TO", up_to)
        scores.append(boosted_scores(made, is_category, own, people, Growth(rounds=2, leaves=5, rate=0.2)))
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12)  # exponentials may differ in the last digit


@pytest.mark.parametrize("classes", [2, 7])
def test_it_learns_as_well_as_that_of_scikit_learn(classes: int) -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(classes)
    made = rng.integers(0, 30, (6, 4000)).astype(np.uint8)
    # A category that goes by no order, a number, and both together.
    told = rng.permutation(30)[made[4]] + made[0] + 10 * (made[1] > 15) * (made[5] % 2)
    own = np.searchsorted(np.quantile(told, np.linspace(0, 1, classes + 1)[1:-1]), told + rng.normal(0, 3, 4000))
    is_category = np.arange(6) >= 4
    growth = Growth(rounds=40, leaves=15, rate=0.1)
    train, test = slice(0, 2500), slice(2500, 4000)
    ours = boosted_scores(made[:, train], is_category, own[train], made[:, test], growth).argmax(axis=1)
    peer = HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=15, l2_regularization=1.0, early_stopping=False, categorical_features=is_category
    )
    theirs = peer.fit(made[:, train].T, own[train]).predict(made[:, test].T)
    assert np.mean(ours == own[test]) > np.mean(theirs == own[test]) - 0.02
    assert np.mean(ours == own[test]) > 1.5 / classes
