"""Probability that lies on candidates without an entry is measured as if each of them had one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.candidate_strategies import ALL, Case, cases
from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.guesses.matching import Matching
from unveil.metrics import METRICS, anonymity_set_size, confusion, renyi_entropy
from unveil.metrics.candidates.candidate_metrics import candidate_metrics


def candidates(start: Any, candidate: Any, probability: Any, chosen: Any = None, **more: Any) -> Candidates:
    return Candidates(start, candidate, probability, chosen, **more)


def spread(case: Case, shares: list[float], *, fewer: int = 0) -> Candidates:
    """The guess of a case, a share of each target's probability moved to the candidates without an entry."""
    guess = replace(case.guess, chosen=None)
    moved = np.where(guess.considered > 0, np.resize(shares, guess.target_count), 1.0)
    kept = guess.probability * np.repeat(1 - moved, guess.considered)
    return Candidates(guess.start, guess.candidate, kept, elsewhere=moved, pool=np.arange(ALL - fewer, dtype=np.int32))


def by_hand(guess: Candidates) -> FloatArray:
    """One row per target and one column per candidate, filled by the definition."""
    assert guess.elsewhere is not None
    assert guess.pool is not None
    matrix = np.zeros((guess.target_count, ALL))
    for row in range(guess.target_count):
        entries = range(guess.start[row], guess.start[row + 1])
        listed = {int(guess.candidate[k]): guess.probability[k] for k in entries}
        others = [int(each) for each in guess.pool if each not in listed]
        for candidate in guess.pool:
            matrix[row, candidate] = listed.get(int(candidate), guess.elsewhere[row] / len(others))
    return matrix


SHARES = st.lists(st.sampled_from([0.0, 0.125, 0.5, 0.9]), min_size=1, max_size=8)


@given(case=cases(), shares=SHARES, fewer=st.integers(0, 1))
def test_every_metric_is_that_of_the_row_written_out(case: Case, shares: list[float], fewer: int) -> None:
    guess = spread(case, shares, fewer=fewer)
    full = guess.written_out()
    hand, moved = by_hand(guess), guess.others > 0
    rows = np.zeros_like(hand)
    rows[np.repeat(np.arange(full.target_count), full.considered), full.candidate] = full.probability
    np.testing.assert_allclose(rows[moved], hand[moved], atol=1e-15)
    # With a choice wherever there is an entry to choose.
    chosen = [int(guess.candidate[guess.start[row]]) if guess.considered[row] else -1 for row in range(len(moved))]
    number = np.array(chosen, np.int32)
    pairs = [(guess, full)]
    if min(chosen) >= 0:
        pairs.append((replace(guess, chosen=number), replace(full, chosen=number)))
    for sparse, plain in pairs:
        for metric in candidate_metrics().values():
            truth = (case.truth,) if metric.needs_truth else ()
            credible = {"credible": 0.95} if metric.name == "anonymity_set_size" else {}
            found, wanted = (metric.function(each, *truth, **credible) for each in (sparse, plain))
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12, err_msg=metric.name)
        np.testing.assert_array_equal(confusion(sparse), confusion(plain))
        for order in (0.5, 1.05, 3.0):
            found, wanted = (renyi_entropy(each, order=order) for each in (sparse, plain))
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
        for form in ("label", "prior"):
            found, wanted = (METRICS["mutual_information"].function(g, case.truth, form=form) for g in (sparse, plain))
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
        found, wanted = (METRICS["quantiles_on_entropy"].function(g, at_least=0.11) for g in (sparse, plain))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@given(case=cases(least=1), shares=SHARES, credible=st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_a_credible_set_is_the_smallest_that_holds_so_much(case: Case, shares: list[float], credible: float) -> None:
    guess = spread(case, shares)
    held = [np.cumsum(sorted(row[row > 0], reverse=True)) for row in by_hand(guess)]
    wanted = [max(1, int((row < credible - 1e-12).sum()) + (credible > 0)) for row in held]
    assert anonymity_set_size(guess, credible=credible).tolist() == wanted


def test_who_gave_up_is_not_right_but_has_doubt() -> None:
    guess = candidates([0, 1, 1], [1], [0.5], [1, -1], elsewhere=[0.5, 1.0], pool=[0, 1, 2, 3])
    assert guess.attempted.tolist() == [True, False]
    assert guess.believed.tolist() == [True, True]
    assert METRICS["entropy"].function(guess).tolist() == pytest.approx([1 + 0.5 * np.log2(3), 2.0])
    assert METRICS["incorrectness"].function(guess, [2, 9]).tolist() == pytest.approx([1 - 1 / 6, 1.0])
    assert METRICS["adversary_success_rate"].function(guess, [1, 0]) == 1.0
    assert METRICS["adversary_overall_success"].function(guess, [1, 0]) == 0.5
    assert guess.only([1]).each_other.tolist() == [0.25]


def test_a_matching_counts_what_lies_elsewhere() -> None:
    guess = candidates([0, 1, 2], [1, 0], [0.5, 1.0], elsewhere=[0.5, 0.0], pool=[0, 1])
    assert Matching.from_candidates(guess).matrix.tolist() == [[0.5, 1.0], [0.5, 0.0]]


@pytest.mark.parametrize(
    ("elsewhere", "pool", "message"),
    [
        ([0.5], None, "Only one of elsewhere and pool was given"),
        ([0.5, 0.5], [0, 1], "for each of the 1 targets"),
        ([1.5], [0, 1], "for each of the 1 targets"),
        ([0.5], [1, 2], "The candidates of the pool are not distinct and ascending"),
        ([0.5], [1, 0], "The candidates of the pool are not distinct and ascending"),
        ([0.5], [0], "Some targets have a probability elsewhere, but no listed candidate, or no"),
        ([1.0], [0, 1], "Some targets have a probability elsewhere, but no listed candidate, or no"),
        ([0.25], [0, 1], "sum to 1"),
    ],
)
def test_what_cannot_be_elsewhere_is_refused(elsewhere: list[float], pool: list[int] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        candidates([0, 1], [0], [0.5], elsewhere=elsewhere, pool=pool)
