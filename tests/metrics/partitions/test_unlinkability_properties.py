"""What must hold whatever the data: names, order and repetition change nothing, and every figure keeps to its range."""

from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles.unlinkability_check import measured
from tests.strategies import Case, cases
from unveil.guesses import Partition, View
from unveil.metrics.partitions.unlinkability import unlinkability


def assert_same(one: Any, other: Any) -> None:
    """Compare two results field by field, whatever fields they have."""
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "overall":
            assert_same(a, b)
        elif isinstance(a, str) or field.name in ("subjects", "kind", "breached"):
            assert np.array_equal(a, b), field.name
        else:
            # Sums in another order may differ in the last digits, and a steep graph makes a little more of them.
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=field.name)


@settings(deadline=None, max_examples=22)
@given(cases(), st.permutations(range(5)))
def test_what_the_adversary_calls_its_clusters_does_not_matter(case: Case, new: list[int]) -> None:
    renamed = [([f"new {new[int(name[1:])]}" for name in labels], p) for labels, p in case.guesses]
    assert_same(measured(case.but(guesses=renamed)), measured(case))


@settings(deadline=None, max_examples=22)
@given(cases(), st.data())
def test_the_order_of_items_does_not_matter(case: Case, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(case.n)))
    place = {item: position for position, item in enumerate(order)}
    shuffled = case.but(
        truth=[case.truth[k] for k in order],
        guesses=[([labels[k] for k in order], p) for labels, p in case.guesses],
        item_weights={place[item]: weight for item, weight in case.item_weights.items()},
        own_weights={(subject, place[item]): weight for (subject, item), weight in case.own_weights.items()},
    )
    assert_same(measured(shuffled), measured(case))


@settings(deadline=None, max_examples=22)
@given(cases(), st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10))
def test_a_partition_named_twice_in_a_view_counts_with_both_probabilities(case: Case, part: Fraction) -> None:
    (labels, probability), *rest = case.guesses
    doubled = [(labels, part * probability), *rest, (labels, (1 - part) * probability)]
    assert_same(measured(case.but(guesses=doubled)), measured(case))


@settings(deadline=None, max_examples=24)
@given(cases())
def test_a_view_of_one_partition_is_that_partition(case: Case) -> None:
    truth, guess = Partition.from_labels(case.truth), Partition.from_labels(case.guesses[0][0])
    assert_same(unlinkability(View([guess], [1]), truth), unlinkability(guess, truth))


@settings(deadline=None, max_examples=22)
@given(cases())
def test_a_perfect_guess_makes_no_error_and_breaches_everybody(case: Case) -> None:
    result = measured(case.but(guesses=[(case.truth, Fraction(1))]))
    assert not result.miss.any()
    assert not result.include.any()
    assert (result.linked0 == 1).all()
    assert (result.mixed0 == result.contamination_desirable).all()
    assert result.breached.all()
    assert not result.merges.any()
    assert not result.others.any()
    assert np.isnan(result.others_evenness).all()
    assert (result.overall.kind, result.overall.breached, result.overall.breached_share) == ("neutral", True, 1)


@settings(deadline=None, max_examples=24)
@given(cases())
def test_every_figure_keeps_to_its_range(case: Case) -> None:
    result = measured(case)
    for shares in (result.linked, result.mixed, result.overall.linked, result.overall.mixed):
        assert ((shares >= 0) & (shares <= 1 + 1e-12)).all()
    for k in range(result.subjects.size):
        linked, mixed = result.graphs(k)
        assert linked[-1] == pytest.approx(1, abs=1e-12)
        assert (np.diff(linked) >= -1e-12).all()
        assert (np.diff(mixed) * (1 - 2 * result.contamination_desirable[k]) >= -1e-12).all()
    # The paper: 0 ≤ e* ≤ 1 and 0 ≤ Δ ≤ 1.
    for figure in (result.normalized_error, result.risk_slope, result.others_evenness):
        known = figure[~np.isnan(figure)]
        assert ((known >= 0) & (known <= 1 + 1e-12)).all()
    assert np.array_equal(np.isnan(result.risk_slope), result.breached & (case.at_breach == "nan"))
    assert np.array_equal(result.merges == 0, result.breached)


@settings(deadline=None, max_examples=22)
@given(cases())
def test_nothing_the_caller_passed_is_changed(case: Case) -> None:
    truth, guess = Partition.from_labels(case.truth), Partition.from_labels(case.guesses[0][0])
    alpha, weights = np.array([0.25] * truth.cluster_count), np.linspace(0, 1, truth.n)
    passed: list[NDArray[Any]] = [truth.codes, guess.codes, alpha, weights]
    before = [array.copy() for array in passed]
    first = unlinkability(guess, truth, alpha=alpha, weights=weights)
    for was, now in zip(before, passed, strict=True):
        assert np.array_equal(was, now)
    assert_same(unlinkability(guess, truth, alpha=alpha, weights=weights), first)


@settings(deadline=None, max_examples=22)
@given(cases(), st.integers(1, 9))
def test_shares_of_weight_do_not_depend_on_the_unit_of_weight(case: Case, tenths: int) -> None:
    # Reading 8: with norm="weight" the graphs are free of scale.
    case = case.but(norm="weight", own_weights={}, item_weights={k: Fraction(k % 11, 10) for k in range(case.n)})
    scaled = case.but(item_weights={k: weight * tenths / 10 for k, weight in case.item_weights.items()})
    one, other = measured(case), measured(scaled)
    np.testing.assert_allclose(other.linked, one.linked, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.mixed, one.mixed, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.miss, one.miss * tenths / 10, rtol=0, atol=1e-12)
