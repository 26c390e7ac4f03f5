"""Candidate pairs of large periods, against all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.link.histories import panel, visits
from unveil.attacks.link import _blocks, _training, two_periods
from unveil.attacks.link._assignment import pair_probabilities, soft_assignment
from unveil.attacks.link._blocks import CandidatePairs, assigned_pairs, candidate_pairs, scored_pairs
from unveil.attacks.link._profiles import profiles_of
from unveil.attacks.link._training import PeriodPair, train
from unveil.attacks.link.clusters import ChainedProfiles
from unveil.attacks.link.two_periods import ProfileMatching
from unveil.data.histories import History
from unveil.errors import InputError
from unveil.guesses.partition import Partition
from unveil.metrics import linked_records


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare candidate pairs alone, from 20 items a side on."""
    for module in (_training, two_periods):
        monkeypatch.setattr(module, "DENSE_ITEMS", 20)
    monkeypatch.setattr(_blocks, "RARE", 15)


def sides(history: History) -> tuple[object, object]:
    profiles = profiles_of(history.released)
    return tuple(profiles.take(history.released.items_of(period)) for period in (0, 1))  # type: ignore[return-value]


@settings(max_examples=10)
@given(st.integers(0, 100), st.integers(1, 30))
def test_candidates_are_the_pairs_that_share_a_rare_value(seed: int, rare: int) -> None:
    history = visits(people=25, seed=seed)
    one, other = sides(history)
    before, _blocks.RARE = _blocks.RARE, rare
    try:
        pairs = candidate_pairs(one, other)  # type: ignore[arg-type]
    finally:
        _blocks.RARE = before
    expected = set()
    for left, right in zip(one.values, other.values, strict=True):  # type: ignore[attr-defined]
        for value in range(left.frequency.size):
            having = [
                {item for item in range(25) if value in each.value[each.start[item] : each.start[item + 1]]}
                for each in (left, right)
            ]
            if max(len(each) for each in having) <= rare:
                expected |= {(a, b) for a in having[0] for b in having[1]}
    assert set(zip(pairs.row.tolist(), pairs.column.tolist(), strict=True)) == expected
    assert pairs.column.size == len(expected)


def test_scores_of_candidates_are_those_of_all_pairs() -> None:
    history = visits(people=30)
    one, other = sides(history)
    model = train(
        profiles_of(history.released),
        [PeriodPair(history.released.items_of(0), history.released.items_of(1))],
        rng=np.random.default_rng(0),
    ).model
    pairs, scores = scored_pairs(model, one, other)  # type: ignore[arg-type]
    assert scores.size > 100
    assert scores == pytest.approx(model.scores(one, other)[pairs.row, pairs.column], abs=1e-9)  # type: ignore[arg-type]


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 1000))
def test_listed_pairs_have_the_probabilities_of_a_matrix(rows: int, columns: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(scale=3, size=(rows, columns))
    start = np.arange(rows + 1) * columns
    listed = pair_probabilities(start, np.tile(np.arange(columns, dtype=np.int32), rows), scores.ravel(), columns)
    assert listed.probability.reshape(rows, columns) == pytest.approx(soft_assignment(scores).probability, abs=1e-6)


@pytest.mark.parametrize("large", [1, 1500])
def test_the_assignment_of_blocks_is_one_to_one(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    monkeypatch.setattr(_blocks, "_LARGE_BLOCK", large)
    rng = np.random.default_rng(0)
    chance = np.where(rng.random((30, 40)) < 0.1, rng.random((30, 40)), 0)
    row, column = np.nonzero(chance)
    pairs = CandidatePairs(np.searchsorted(row, np.arange(31)), column.astype(np.int32))
    left, right = assigned_pairs(pairs, chance[row, column], 40, rng=rng)
    assert (chance[left, right] > 0).all()
    assert np.unique(left).size == left.size == np.unique(right).size
    # No listed pair is left whose two items are both free.
    free = ~np.isin(row, left) & ~np.isin(column, right)
    assert not free.any()


@pytest.mark.usefixtures("blocked")
def test_large_periods_are_linked_by_candidates() -> None:
    history = visits(people=60).of_periods(0, 1)
    match = ProfileMatching().match(history.released, rng=np.random.default_rng(0))
    truth = history.partners()
    assert match.is_blocked
    assert (match.partner == truth).mean() > 0.6
    guess = match.candidates()
    assert np.all(guess.chosen == match.partner)
    assert np.isnan(match.true_rank(truth)).all()
    with pytest.raises(InputError, match="Use the candidates"):
        match.matching()


@pytest.mark.usefixtures("blocked")
def test_chains_of_large_periods_hold_a_persons_records() -> None:
    history = visits(people=60)
    guess = ChainedProfiles().run(released=history.released, rng=np.random.default_rng(0))
    found = linked_records(guess, Partition.from_labels(history.item_person), weights=history.sizes)
    assert found.records_linked > 2 * found.linked_alone


@pytest.mark.usefixtures("blocked")
def test_numbers_alone_are_compared_with_the_nearest() -> None:
    history = panel(people=200, keep=0.999)
    released = history.released.only(["x", "y", "z"])
    match = ProfileMatching().match(released, rng=np.random.default_rng(0))
    assert match.is_blocked
    assert (match.partner == history.partners()).mean() > 0.3


@pytest.mark.usefixtures("blocked")
def test_nothing_in_common_leaves_nobody_linked() -> None:
    history = panel(people=200)
    match = ProfileMatching().match(history.released.only(["group"]), rng=np.random.default_rng(0))
    assert (match.partner == -1).all()
    assert not match.candidates().attempted.any()
