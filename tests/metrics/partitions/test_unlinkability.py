"""Every figure of ``unlinkability`` against the definition, for all combinations of options."""

from fractions import Fraction
from itertools import product
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.unlinkability_check import Form, assert_agrees, expected, measured
from tests.strategies import Case, cases
from unveil.guesses import Partition
from unveil.metrics.partitions.policy_grid import risk_slope_on
from unveil.metrics.partitions.unlinkability import unlinkability

FORMS = [
    Form(),
    Form(numbers="text", parameters="mapping"),
    Form(numbers="float", parameters="array", full_weights=True),
    Form(named_items=True, shuffle_seed=1),
    Form(numbers="text", named_items=True, parameters="mapping", full_weights=True, shuffle_seed=2),
]

COLUMNS = [
    "subject",
    "size",
    "related",
    "miss",
    "include",
    "error",
    "normalized_error",
    "linked0",
    "mixed0",
    "breached",
    "merges",
    "risk_slope",
]


def case_of(truth: str, guess: str, *, alpha: Fraction = Fraction(1, 2), beta: Fraction = Fraction(4, 5)) -> Case:
    subjects = len(set(truth))
    return Case(
        truth=list(truth),
        guesses=[(list(guess), Fraction(1))],
        alpha=[alpha] * subjects,
        beta=[beta] * subjects,
        contamination=[False] * subjects,
        item_weights={},
        own_weights={},
        norm="weight",
        at_breach="nan",
    )


@settings(deadline=None, max_examples=24)
@given(cases(), st.sampled_from(FORMS))
def test_every_figure_is_that_of_the_definition(case: Case, form: Form) -> None:
    assert_agrees(case, form)


@settings(deadline=None, max_examples=24)
@given(cases(most_items=7), st.sampled_from([Fraction(0), Fraction(-1, 10**6), Fraction(1, 10**6)]))
def test_a_threshold_at_a_point_of_the_graph_is_decided_exactly(case: Case, away: Fraction) -> None:
    result = expected(case)
    case = case.but(
        beta=[min(max(subject.linked0 + away, Fraction(0)), Fraction(1)) for subject in result.subjects],
        overall_beta=min(max(result.overall.points[0][0] + away, Fraction(0)), Fraction(1)),
    )
    assert_agrees(case)


@settings(deadline=None, max_examples=24)
@given(cases(most_items=7), st.data())
def test_a_threshold_on_a_later_point_of_a_graph_is_found_there(case: Case, data: st.DataObject) -> None:
    result = expected(case)
    beta = [data.draw(st.sampled_from(subject.points))[0] for subject in result.subjects]
    assert_agrees(case.but(beta=beta, overall_beta=data.draw(st.sampled_from(result.overall.points))[0]))


def set_partitions(n: int) -> list[str]:
    """Return every partition of n items once, as letters that first appear in order."""
    found = [""]
    for _ in range(n):
        found = [word + chr(97 + k) for word in found for k in range(len(set(word)) + 1)]
    return found


@pytest.mark.unwatched
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("alpha", ["0", "1/3", "1/2", "2/3", "1"])
def test_all_pairs_of_small_partitions(n: int, alpha: str) -> None:
    for truth, guess in product(set_partitions(n), repeat=2):
        assert_agrees(case_of(truth, guess, alpha=Fraction(alpha)))


@pytest.mark.parametrize("norm", ["weight", "literal"])
@pytest.mark.parametrize("at_breach", ["nan", "limit"])
@pytest.mark.parametrize("contaminate", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighting", ["none", "items", "own"])
def test_each_combination_of_options(
    norm: Literal["weight", "literal"],
    at_breach: Literal["nan", "limit"],
    contaminate: bool,
    form: Form,
    weighting: str,
) -> None:
    tenths = [Fraction(k, 10) for k in (3, 0, 10, 7, 5)]
    case = case_of("aaaaabbbbccd", "xxyyzxxzzyzx").but(
        guesses=[(list("xxyyzxxzzyzx"), Fraction(1, 3)), (list("xyxyxywwwxyx"), Fraction(2, 3))],
        alpha=[Fraction(1, 3), Fraction(0), Fraction(1), Fraction(3, 4)],
        beta=[Fraction(3, 5), Fraction(1), Fraction(1, 2), Fraction(9, 10)],
        contamination=[contaminate, not contaminate, contaminate, False],
        item_weights={item: tenths[item % 5] for item in (0, 1, 2, 4, 6, 9)} if weighting == "items" else {},
        own_weights={(s, item): tenths[(item + 1) % 5] for s in "abc" for item in (1, 4, 6, 8, 11)}
        if weighting == "own"
        else {},
        norm=norm,
        at_breach=at_breach,
    )
    assert_agrees(case, form)


def test_only_the_one_subject_is_touched_by_its_own_weights() -> None:
    plain = case_of("aaabbb", "xxyyyx")
    own, base = measured(plain.but(own_weights={("a", 5): Fraction(1, 4)})), measured(plain)
    assert (base.include[0], own.include[0]) == (1, 0.25)
    assert (own.miss[1], own.include[1], own.risk_slope[1]) == (base.miss[1], base.include[1], base.risk_slope[1])


def test_the_frame_has_a_row_per_subject_and_exactly_these_columns() -> None:
    result = measured(case_of("aaaabbbcc", "xxyyxyzzz"))
    frame = result.to_frame()
    assert frame.columns == COLUMNS
    assert frame["subject"].to_list() == ["a", "b", "c"]
    for name in COLUMNS[1:]:
        np.testing.assert_array_equal(frame[name].to_numpy(), getattr(result, name))
    mixing = result.to_frame(mixing=True)
    assert mixing.columns == [*COLUMNS, "others", "others_evenness"]
    np.testing.assert_array_equal(mixing["others"].to_numpy(), result.others)
    np.testing.assert_array_equal(mixing["others_evenness"].to_numpy(), result.others_evenness)


def test_graphs_are_those_of_one_subject() -> None:
    case = case_of("aaaaabbbcc", "xyzwvxyxxz")
    result, want = measured(case), expected(case)
    for k, subject in enumerate(want.subjects):
        linked, mixed = result.graphs(k)
        assert linked == pytest.approx([float(y) for y, _ in subject.points], abs=1e-12)
        assert mixed == pytest.approx([float(y) for _, y in subject.points], abs=1e-12)


@settings(deadline=None, max_examples=22)
@given(cases())
def test_risk_slope_on_a_graph_is_the_risk_slope_of_the_result(case: Case) -> None:
    result = measured(case.but(at_breach="nan"))
    for k in range(len(case.subjects)):
        slopes = risk_slope_on(*result.graphs(k), alpha=float(case.alpha[k]), beta=np.array([float(case.beta[k])]))
        assert slopes.shape == (1,)
        assert slopes[0] == pytest.approx(result.risk_slope[k], abs=1e-9, nan_ok=True)


def test_risk_slope_on_takes_many_thresholds_and_is_undefined_where_breached() -> None:
    # Reading 12's subject, whose risk slope does not fall as the threshold rises.
    truth = Partition.from_labels("a" * 10 + "b" * 8)
    guess = Partition.from_labels("xy" + "z" * 16)
    linked, mixed = unlinkability(guess, truth).graphs(0)
    slopes = risk_slope_on(linked, mixed, alpha=0.5, beta=np.array([0.05, 0.1, 0.2, 0.5, 0.9]))
    assert np.isnan(slopes[:2]).all()
    assert slopes[2:] == pytest.approx([0.063, 0.196, 0.281], abs=5e-4)
