"""Every choice of people is equally likely, and what is counted on it is what the definition counts."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import verdict as oracle
from unveil._kernels.verdict import labels as module
from unveil._kernels.verdict.labels import labels, labels_among, member_sums, singling_out_counts


@pytest.mark.parametrize(("members", "others"), [(2, 3), (4, 2), (3, 3), (1, 5)])
def test_every_choice_is_equally_likely(members: int, others: int) -> None:
    people, draws = members + others, 6000
    seen: Counter[tuple[int, ...]] = Counter(
        tuple(np.flatnonzero(row))
        for block in (make() for make in labels(members, others, draws, np.random.default_rng(3)))
        for row in block
    )
    choices = list(combinations(range(people), members))
    expected = draws / len(choices)
    chi = sum((seen[choice] - expected) ** 2 / expected for choice in choices)
    assert set(seen) <= set(choices)
    assert chi < len(choices) - 1 + 4 * (2 * (len(choices) - 1)) ** 0.5


def test_too_many_drawn_at_first_are_removed_by_lot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members are drawn too few on purpose; too many happen once in 30,000 draws, so it is provoked here."""
    monkeypatch.setattr(module, "_DEVIATIONS", -2)
    drawn = np.concatenate([make() for make in labels(30, 70, 3000, np.random.default_rng(5))])
    assert (drawn.sum(axis=1) == 30).all()
    assert np.abs(drawn.mean(axis=0) - 0.3).max() < 4.5 * (0.21 / 3000) ** 0.5


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 30), st.integers(0, 2**32))
def test_members_are_always_as_many(members: int, others: int, draws: int, seed: int) -> None:
    blocks = [make() for make in labels(members, others, draws, np.random.default_rng(seed))]
    assert sum(map(len, blocks)) == draws
    for block in blocks:
        assert block.shape[1] == members + others
        assert (block.sum(axis=1) == members).all()


def test_labels_of_some_are_as_likely_as_in_draws_of_everybody() -> None:
    """All choices of 3 of 7 people, seen at two of them: both, one, the other or none."""
    drawn = np.concatenate([make() for make in labels_among(2, 3, 4, 40_000, np.random.default_rng(1))])
    every = list(combinations(range(7), 3))
    for pattern in product((False, True), repeat=2):
        exact = np.mean([(0 in each, 1 in each) == pattern for each in every])
        seen = np.mean((drawn == pattern).all(axis=1))
        assert abs(seen - exact) < 5 * (exact * (1 - exact) / 40_000) ** 0.5


def test_blocks_are_500_draws_and_each_is_the_same_without_the_others() -> None:
    whole = [make() for make in labels(20, 10, 1200, np.random.default_rng(1))]
    assert [len(block) for block in whole] == [500, 500, 200]
    assert not np.array_equal(whole[0], whole[1])
    for make, block in zip(labels(20, 10, 1000, np.random.default_rng(1)), whole, strict=False):
        assert np.array_equal(make(), block)


def test_blocks_of_many_people_are_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LABELS", 1000)
    assert [len(make()) for make in labels(100, 200, 7, np.random.default_rng(1))] == [3, 3, 1]


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32))
def test_sums_are_those_over_members(people: int, figures: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn, scores = rng.random((7, people)) < 0.5, rng.random((people, figures)) * (rng.random((people, 1)) < 0.6)
    expected = [[sum(scores[row, f]) for f in range(figures)] for row in drawn]
    assert member_sums(drawn, scores) == pytest.approx(np.array(expected))


def test_sums_in_pieces_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    drawn, scores = rng.random((11, 9)) < 0.5, (rng.random((9, 3)) < 0.5).astype(np.float64)
    whole = member_sums(drawn, scores)
    monkeypatch.setattr(module, "_FLOATS", 20)
    assert np.array_equal(member_sums(drawn, scores), whole)


@given(st.integers(1, 9), st.lists(st.frozensets(st.integers(0, 8)), max_size=6), st.integers(0, 2**32))
def test_guesses_that_fit_one_member_are_counted(people: int, guesses: list[frozenset[int]], seed: int) -> None:
    fits = [frozenset(person for person in guess if person < people) for guess in guesses]
    drawn = np.random.default_rng(seed).random((5, people)) < 0.4
    starts = np.cumsum([0, *map(len, fits)])
    places = np.array([place for guess in fits for place in sorted(guess)], np.int64)
    expected = [oracle.singled_out(fits, frozenset(np.flatnonzero(row).tolist())) for row in drawn]
    assert singling_out_counts(drawn, starts, places).tolist() == expected


def test_many_draws_are_counted_by_the_compiled_loop_alike() -> None:
    rng = np.random.default_rng(4)
    drawn = rng.random((300, 60)) < 0.3
    fits = rng.random((40, 60)) < rng.random((40, 1)) * 0.2
    starts, places = np.concatenate([[0], np.cumsum(fits.sum(axis=1))]), np.nonzero(fits)[1]
    assert drawn.size > 10_000
    assert singling_out_counts(drawn, starts, places).tolist() == ((drawn @ fits.T.astype(int)) == 1).sum(1).tolist()
