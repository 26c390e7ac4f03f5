"""A forest that is grown out: what it must say of rows that it saw, compiled and plain, and beside scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil._kernels.learners import forest
from unveil._kernels.learners.forest import forest_shares


@given(seed=st.integers(0, 2**32), rows=st.integers(1, 60), features=st.integers(1, 4), bins=st.integers(1, 6))
@settings(deadline=None, max_examples=60)
def test_rows_that_were_seen_have_the_classes_of_those_who_equal_them(
    seed: int, rows: int, features: int, bins: int
) -> None:
    """Leaves are pure or hold equal rows: where equal rows have all the same class, every tree says it."""
    rng = np.random.default_rng(seed)
    made, own = rng.integers(0, bins, (features, rows)).astype(np.uint8), rng.integers(0, 3, rows)
    shares = forest_shares(made, own, made, trees=5)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    for row in range(rows):
        equal = (made == made[:, [row]]).all(axis=0)
        among = np.bincount(own[equal], minlength=shares.shape[1]) / equal.sum()
        np.testing.assert_allclose(shares[row], among)


def test_cuts_are_by_lot_and_others_are_told_by_those_on_their_side() -> None:
    """One number, rows at 0 and 10: whoever has b comes to the first side where the cut, 0 to 9, is at least b."""
    made = np.array([[0, 10]], np.uint8)
    people = np.arange(12, dtype=np.uint8)[None]
    shares = forest_shares(made, np.array([0, 1]), people, trees=4000)
    np.testing.assert_allclose(shares[:, 0], np.clip(1 - np.arange(12) / 10, 0, 1), atol=0.04)


def test_the_seed_tells_the_trees_and_compiled_loops_grow_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    made, people = (rng.integers(0, 9, (5, size)).astype(np.uint8) for size in (40, 30))
    own = rng.integers(0, 4, 40)
    shares = []
    for up_to, seed in ((0, 0), (10**9, 0), (0, 1)):
        monkeypatch.setattr(forest, "PLAIN_UP_TO", up_to)
        shares.append(forest_shares(made, own, people, trees=8, seed=seed))
    np.testing.assert_array_equal(shares[0], shares[1])
    assert (shares[0] != shares[2]).any()


def test_it_learns_as_well_as_that_of_scikit_learn() -> None:
    from sklearn.ensemble import ExtraTreesClassifier

    rng = np.random.default_rng(5)
    made = rng.integers(0, 30, (8, 3500)).astype(np.uint8)
    own = np.searchsorted([20, 35, 50], made[0] + made[1] + 10 * (made[2] > 15) + rng.normal(0, 3, 3500))
    train, test = slice(0, 2000), slice(2000, 3500)
    ours = forest_shares(made[:, train], own[train], made[:, test]).argmax(axis=1)
    peer = ExtraTreesClassifier(n_estimators=50, max_features=0.5, random_state=0)
    theirs = peer.fit(made[:, train].T, own[train]).predict(made[:, test].T)
    assert np.mean(ours == own[test]) > np.mean(theirs == own[test]) - 0.02
