"""What strangers would give is bounded by the control, however small, and guesses about the same people count less."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.oracles import verdict as oracle
from unveil._kernels.types import IntArray
from unveil.errors import InputError
from unveil.metrics.trials.risk import clopper_pearson
from unveil.metrics.verdict.pool import Pool
from unveil.metrics.verdict.singling_out import (
    SinglingOutRate,
    _alone_among,
    _bounds,
    _errors,
    most_by_guessing,
    singling_out,
)

people_of_guesses = st.lists(st.frozensets(st.integers(0, 29), max_size=4), min_size=1, max_size=12)


def measured(fits: list[frozenset[int]], members: int, people: int, order: IntArray | None = None) -> SinglingOutRate:
    """Measure guesses that fit these people, of whom the first ones are members."""
    order = np.arange(people) if order is None else order
    pool = Pool(is_member=order < members, contents=order)
    place = np.argsort(order)
    rows = np.array([place[person] for guess in fits for person in sorted(guess)], np.int64)
    return singling_out(pool, np.cumsum([0, *map(len, fits)]), rows, rng=np.random.default_rng(1))


@given(people_of_guesses, st.integers(1, 29))
def test_it_is_what_loops_give(fits: list[frozenset[int]], members: int) -> None:
    found = measured(fits, members, 30)
    inside = frozenset(range(members))
    share = oracle.singled_out(fits, inside) / len(fits)
    worth = oracle.independent_guesses(fits, [len(guess & inside) == 1 for guess in fits])
    expected = clopper_pearson(share * worth, worth)
    attack = found.attack
    assert (attack.value, attack.low, attack.high) == pytest.approx((share, expected.low, expected.high))
    assert attack.tries == len(fits)
    counts, others = [len(guess - inside) for guess in fits], 30 - members
    if others >= members:
        alone = [oracle.alone_among(count, others, members) for count in counts]
        share, worth = sum(alone) / len(fits), oracle.independent_guesses(fits, alone)
        expected = clopper_pearson(share * worth, worth)
        highest = (min(each, found.most) for each in (share, expected.low, expected.high))
        assert (found.strangers.value, found.strangers.low, found.strangers.high) == pytest.approx(tuple(highest))
        assert found.strangers.worth == pytest.approx(worth)
    else:
        likely = oracle.likely_strangers(counts, members, others)
        between = min(max(likely, found.strangers.low), found.strangers.high)
        assert found.strangers.value == pytest.approx(between, abs=1e-9)
        assert not found.strangers.worth
    assert 0 <= found.strangers.low <= found.strangers.high <= found.most + 1e-12
    assert found.shown == (2 * (30 - members) >= members)


def test_shuffled_rows_measure_the_same() -> None:
    rng = np.random.default_rng(2)
    fits = [frozenset(rng.choice(80, rng.integers(1, 9), replace=False).tolist()) for _ in range(40)]
    plain = measured(fits, 50, 80)
    assert measured(fits, 50, 80, rng.permutation(80)) == plain


@given(st.integers(0, 2**32))
def test_no_mixture_that_agrees_with_the_counts_lies_outside_the_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    alone, chance = rng.random(12), rng.dirichlet(np.ones(3), 12).T
    mixtures = rng.dirichlet(np.full(12, 0.3), 300)
    binned, error = chance @ mixtures[0], np.full(3, 0.05)
    low, high = _bounds(alone, chance, binned, error, 1.0)
    agree = (np.abs(mixtures @ chance.T - binned) <= error).all(axis=1)
    assert agree[0]
    means = mixtures[agree] @ alone
    assert low - 1e-9 <= means.min() <= means.max() <= high + 1e-9


def test_counts_that_nothing_explains_bound_nothing() -> None:
    """Half of the guesses in a bin that every share makes impossible."""
    chance = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert _bounds(np.array([0.1, 0.2]), chance, np.array([0.5, 0.5]), np.array([0.1, 0.1]), 0.37) == (0.0, 0.37)


def guesses(members: int, others: int, rng: np.random.Generator) -> tuple[SinglingOutRate, float]:
    """Guess three columns of released people, and say what 8,000 strangers tell of these guesses."""
    people = members + others
    table = np.minimum(rng.geometric(0.25, (people + 8_000, 6)), 12)
    released = np.minimum(rng.geometric(0.25, (members, 6)), 12)
    fits, truth = [], []
    for row in released[rng.integers(0, members, 200)]:
        columns = rng.choice(6, 3, replace=False)
        hit = (table[:, columns] == row[columns]).all(axis=1)
        share = hit[people:].mean()
        truth.append(members * share * (1 - share) ** (members - 1))
        fits.append(np.flatnonzero(hit[:people]))
    pool = Pool(is_member=np.arange(people) < members, contents=np.arange(people))
    starts, rows = np.cumsum([0, *map(len, fits)]), np.concatenate(fits)
    return singling_out(pool, starts, rows, rng=rng), float(np.mean(truth))


@pytest.mark.unwatched
@pytest.mark.parametrize(("others", "widest"), [(60, 0.4), (400, 0.25), (800, 0.25)])
def test_bounds_hold_the_truth_about_strangers(others: int, widest: float) -> None:
    rng, misses = np.random.default_rng(7), 0
    for _ in range(5):
        found, truth = guesses(400, others, rng)
        misses += not found.strangers.low <= truth <= found.strangers.high
        assert found.strangers.high - found.strangers.low < widest
        assert found.excess.low < 0 < found.excess.high
    # Bounds of a small control group hold always, a 95 % interval of a large one may miss once.
    assert misses <= (others >= 400)


def test_guesses_about_one_stranger_vary_together() -> None:
    """All fit the same one of 20: a control drawn anew has that person k times with a binomial chance."""
    fits = csr_array(np.eye(20, dtype=np.int32)[[3] * 50])
    times = np.array([math.comb(20, k) * 0.05**k * 0.95 ** (20 - k) for k in range(3)])
    error = _errors(fits, np.array([0.0, 1, 0, 0, 0, 0]), np.random.default_rng(1))
    assert error[:3] ** 2 == pytest.approx(times * (1 - times) + 1 / (4 * 50**2), abs=0.04)
    assert error[5] == pytest.approx(1 / 100)


def test_everybody_singled_out_is_seen_with_any_control_and_with_none() -> None:
    fits = [frozenset({person}) for person in range(60)]
    for others in (0, 20, 200):
        found = measured(fits, 100, 100 + others)
        assert found.beyond_any_guess
        assert found.attack.value == 1
        assert found.excess.defined == (others > 0)
        if others:
            assert found.excess.value == 1
            assert found.excess.low > 0.85
    nobody = measured(fits, 100, 100)
    assert math.isnan(nobody.strangers.value)
    assert (nobody.strangers.low, nobody.strangers.high) == (0, most_by_guessing(100))


def test_no_share_is_better_than_one_in_n() -> None:
    for people in (1, 2, 30, 1000):
        shares = np.linspace(0, 1, 2001)
        assert (people * shares * (1 - shares) ** (people - 1)).max() <= most_by_guessing(people) + 1e-12
    assert most_by_guessing(10**6) == pytest.approx(1 / math.e, abs=1e-6)


def test_there_must_be_guesses_and_members() -> None:
    pool = Pool(is_member=np.zeros(3, np.bool_), contents=np.arange(3))
    with pytest.raises(InputError, match="there are no predicates"):
        singling_out(pool, np.array([0]), np.array([], np.int64), rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="has no member"):
        singling_out(pool, np.array([0, 1]), np.array([0]), rng=np.random.default_rng(1))


@given(st.integers(1, 60), st.integers(0, 10_000), st.data())
def test_the_chance_to_be_alone_among_drawn_people_is_hypergeometric(
    people: int, seed: int, data: st.DataObject
) -> None:
    from scipy.stats import hypergeom

    members = data.draw(st.integers(1, people))
    rng = np.random.default_rng(seed)
    fits = csr_array((rng.random((20, people)) < rng.random((20, 1))).astype(np.int32))
    counts = fits.toarray().sum(axis=1)
    assert _alone_among(fits, members) == pytest.approx(hypergeom.pmf(1, people, counts, members), abs=1e-12)
