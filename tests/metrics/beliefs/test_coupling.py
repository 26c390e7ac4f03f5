"""Definition 14 against all belief functions in exact arithmetic, and the parts that decide it."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles import compatibility as oracle
from unveil.metrics.beliefs import _coupling
from unveil.metrics.beliefs._coupling import (
    RULED_OUT,
    RecordGroups,
    decide,
    grouped,
    left_over,
    most_expected,
)
from unveil.metrics.beliefs._keeping import RecordShares, conditions, search

Floats = NDArray[np.float64]
Exact = list[Fraction]
MOST = 1_000


def shares(least: int, count: int) -> st.SearchStrategy[Exact]:
    """Return probabilities that are small whole numbers over their sum: many tie, many are 0."""
    weights = st.lists(st.integers(least, 5), min_size=count, max_size=count).filter(any)
    return weights.map(lambda heights: [Fraction(height, sum(heights)) for height in heights])


@st.composite
def pairs(draw: st.DrawFn, *, largest: int = 4) -> tuple[Exact, Exact]:
    """Return a truth and a guess, which rules out nothing in every other case: else most would be decided by that."""
    count = draw(st.integers(2, largest))
    return draw(shares(0, count)), draw(st.one_of(shares(1, count), shares(0, count)))


def floats(values: Exact) -> Floats:
    return np.array([float(value) for value in values])


@settings(deadline=None, max_examples=22)
@given(pairs())
def test_the_decision_is_that_of_all_belief_functions(pair: tuple[Exact, Exact]) -> None:
    truth, guess = pair
    found = decide(floats(truth), floats(guess), MOST)
    assert found.valid is oracle.is_compatible(guess, truth)
    if found.valid is False:
        score = [Fraction(value) for value in found.score.tolist()]
        expected = sum((q * c for q, c in zip(guess, score, strict=True)), Fraction(0))
        assert expected > oracle.most_expected(score, truth)
        assert max(map(abs, score)) == 1
        assert float(expected) == pytest.approx(found.expected)


@settings(deadline=None, max_examples=22)
@given(pairs())
def test_a_coupling_exists_just_where_a_belief_function_does(pair: tuple[Exact, Exact]) -> None:
    truth, guess = pair
    assert oracle.is_coupled(guess, truth) is oracle.is_compatible(guess, truth)


@settings(deadline=None, max_examples=24)
@given(pairs(largest=7))
def test_row_order_does_not_matter(pair: tuple[Exact, Exact]) -> None:
    truth, guess = floats(pair[0]), floats(pair[1])
    order = np.random.default_rng(len(truth)).permutation(truth.size)
    one, other = decide(truth, guess, MOST), decide(truth[order], guess[order], MOST)
    assert (one.valid, one.method) == (other.valid, other.method)
    assert one.expected - one.possible == pytest.approx(other.expected - other.possible, abs=1e-9)


@settings(deadline=None, max_examples=24)
@given(pairs(largest=6))
def test_groups_of_equals_change_nothing(pair: tuple[Exact, Exact]) -> None:
    truth, guess = floats(pair[0]), floats(pair[1])
    truth = np.where(guess > 0, truth, 0)
    if truth.sum() == 0:
        return
    truth = np.repeat(truth / truth.sum(), 2) / 2
    guess = np.repeat(guess, 2) / 2
    each = RecordGroups(np.ones(truth.size), truth, guess, np.arange(truth.size))
    together = grouped(truth, guess)
    assert together.members.size <= truth.size / 2
    assert _coupling.program(together).distance == pytest.approx(_coupling.program(each).distance, abs=1e-8)


@settings(deadline=None, max_examples=24)
@given(st.data())
def test_the_most_a_valid_guess_can_expect_is_that_over_all_sets(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    truth = data.draw(shares(0, count))
    score = data.draw(st.lists(st.integers(-6, 6).map(Fraction), min_size=count, max_size=count))
    found = most_expected(floats(score), floats(truth), np.ones(count))
    assert found == pytest.approx(float(oracle.most_expected(score, truth)))


@settings(deadline=None, max_examples=24)
@given(pairs())
def test_what_fits_when_each_keeps_what_it_can_is_a_proof(pair: tuple[Exact, Exact]) -> None:
    truth, guess = pair
    if (
        all(q > 0 or p == 0 for p, q in zip(truth, guess, strict=True))
        and left_over(floats(truth), floats(guess)) < 1e-12
    ):
        assert oracle.is_compatible(guess, truth)


@pytest.mark.parametrize(
    ("truth", "guess", "valid", "method"),
    [
        ([0.5, 0.5, 0], [0.5, 0, 0.5], False, RULED_OUT),
        ([0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], True, "uniform guess"),
        ([0.3, 0.7, 0], [0.3, 0.7, 0], True, "equal to the truth"),
        ([1, 0, 0], [0.4, 0.4, 0.2], True, "the truth is one record"),
        ([1, 0, 0], [0.4, 0.41, 0.19], False, "the truth is one record"),
        ([0.5, 0.5, 0], [0.25, 0.25, 0.5], True, "each record keeps its possible mass"),
        ([0.9, 0.1, 0], [0.1, 0.1, 0.8], False, "coupling"),
    ],
)
def test_each_way_to_decide(truth: list[float], guess: list[float], valid: bool, method: str) -> None:
    found = decide(np.array(truth, float), np.array(guess), MOST)
    assert (found.valid, found.method) == (valid, method)


def needs_program(count: int) -> tuple[Floats, Floats]:
    """Return a truth of many distinct values and a compatible guess that only the program proves so."""
    rng = np.random.default_rng(7)
    while True:
        truth, guess = rng.dirichlet(np.ones(count)), rng.dirichlet(np.ones(count))
        found = decide(truth, guess, 10_000)
        if found.valid and found.method == "coupling":
            return truth, guess


def test_beyond_the_cap_it_is_undecided() -> None:
    truth, guess = needs_program(12)
    assert decide(truth, guess, 144).valid is True
    found = decide(truth, guess, 143)
    assert (found.valid, found.score.size) == (None, 0)
    assert found.method == "144 pairs of groups exceed the maximum of 143"


def hard_pairs(count: int, seed: int) -> tuple[Floats, Floats]:
    """Return a truth and a guess around different places: overconfident, misplaced or ragged by turns."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=count)
    truth = np.exp(-(place**2) / rng.choice([0.1, 0.02]))
    guess = np.exp(-((place - rng.choice([0.02, 0.1])) ** 2) / rng.choice([0.2, 0.04])) * rng.gamma(1.0, 1.0, count)
    guess += 1e-12
    return truth / truth.sum(), guess / guess.sum()


@pytest.mark.parametrize("seed", range(8))
def test_what_records_keep_decides_like_a_coupling_of_all_pairs(seed: int) -> None:
    truth, guess = hard_pairs(34, seed)
    found, alone = decide(truth, guess, 0), _coupling.program(grouped(truth, guess))
    assert found.valid is (alone.distance <= 1e-7)
    if found.valid is False:
        assert found.expected > oracle_expected(found.score, truth) + 1e-9
        assert found.expected == pytest.approx(float(np.sum(found.score * guess)))


def oracle_expected(score: Floats, truth: Floats) -> float:
    """Return what no compatible guess exceeds, by trying every number of highest scores beside each record."""
    total = 0.0
    for z, p in enumerate(truth):
        others = np.sort(np.delete(score, z))[::-1]
        means = (score[z] + np.concatenate([[0.0], np.cumsum(others)])) / np.arange(1, score.size + 1)
        total += p * means.max()
    return total


def test_hundreds_of_records_of_all_different_chances_are_decided_without_a_coupling() -> None:
    methods = [decide(*hard_pairs(600, seed), 0) for seed in range(12)]
    assert all(found.valid is not None for found in methods)
    assert {"mass kept by each record"} <= {found.method for found in methods}


@settings(deadline=None, max_examples=40)
@given(pairs())
def test_a_share_that_records_keep_exists_just_where_a_coupling_does(pair: tuple[Exact, Exact]) -> None:
    truth, guess = pair
    p, q = floats(truth), floats(guess)
    assume((p[q == 0] == 0).all())
    found = search(RecordShares(np.ones(p.size), p, q), 1e9)  # so finely that every record is a group
    assert found is not None
    assert found.fits is oracle.is_coupled(guess, truth)


def test_conditions_are_those_of_every_set_of_records() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        p, q = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
        kept = rng.random(5) * np.minimum(p, q)
        found = conditions(RecordShares(np.ones(5), p, q), kept)
        for t in range(1, 6):
            sets = [sum(q[list(each)] - kept[list(each)]) for each in combinations(range(5), t)]
            assert found.lacking[t - 1] == pytest.approx(max(sets) - np.minimum(p - kept, t * kept).sum())


def test_a_program_that_fails_leaves_it_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = _coupling.Program(float("nan"), np.zeros(12))
    monkeypatch.setattr(_coupling, "program", lambda _: nothing)
    assert decide(*needs_program_fixed(), 10_000).valid is None


def needs_program_fixed() -> tuple[Floats, Floats]:
    """Return what neither a fast path nor keeping what one can decides."""
    return np.array([0.9, 0.05, 0.05] + [0] * 9), np.array([0.05, 0.5, 0.05] + [0.4 / 9] * 9)


def test_many_records_of_few_levels_are_few_groups() -> None:
    rng = np.random.default_rng(1)
    guess = rng.integers(1, 11, 50_000).astype(float)
    guess /= guess.sum()
    truth = np.zeros(guess.size)
    truth[np.argsort(guess, kind="stable")[:5]] = 0.2  # certain to be among the least likely: too few of them
    assert grouped(truth, guess).members.size == 11
    found = decide(truth, guess, MOST)
    assert (found.valid, found.method) == (False, "coupling")


def test_what_rounding_alone_tells_apart_is_one_group() -> None:
    assert grouped(np.array([0.3, 0.1 + 0.2, 0.4]), np.array([0.25, 0.25, 0.5])).members.tolist() == [2, 1]
