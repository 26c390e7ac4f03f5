"""What must hold between the metrics, at their extremes, and between the listing and the table of the source."""

from collections.abc import Callable
from math import isinf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.candidate_strategies import INSIDE, OUTSIDE, Case, cases
from unveil.guesses import Candidates
from unveil.metrics import METRICS, Metric

SLACK = 1e-9
LISTED = {name: metric for name, metric in METRICS.items() if metric.on == "Candidates"}

#: Table 2 of Zhao & Wagner as printed: category, metric, H/L, per-graph, ground truth, chunk.
TABLE_2 = """
Uncertainty           Anonymity set size           H  –  –  X
Uncertainty           Collision entropy            H  –  –  X
Uncertainty           Conditional entropy          H  –  X  –
Uncertainty           Conditional privacy          H  –  X  –
Uncertainty           Entropy                      H  –  –  X
Uncertainty           Inherent privacy             H  –  –  X
Uncertainty           Max-entropy                  H  –  –  X
Uncertainty           Min-entropy                  H  –  –  X
Uncertainty           Normalized entropy           H  –  –  –
Uncertainty           Quantiles on entropy         H  –  –  X
Information gain      Amount leaked information    L  X  X  –
Information gain      Conditional privacy loss     L  X  X  X
Information gain      Information surprisal        L  –  X  –
Information gain      Loss of anonymity            L  X  X  X
Information gain      Mutual information           L  –  X  X
Information gain      Pearson correlation          L  –  X  –
Information gain      Relative entropy             H  –  X  –
Error                 Absolute error               H  –  X  –
Error                 Incorrectness                H  –  X  –
Error                 Mean squared error           H  –  X  –
Error                 % incorrectly classified     H  X  X  –
Similarity            Normalized variance          H  –  X  –
Success               Adversary’s success rate     L  X  X  –
Success               Adversary’s overall success  L  X  X  –
Success               Hiding property              H  X  –  –
Success               User-specified innocence     H  X  –  –
"""
PRINTED = [(line[:22].strip(), line[22:51].strip(), *line[51:].split()) for line in TABLE_2.strip().splitlines()]

#: Where the formula contradicts the table, and the metric follows the formula.
NEEDS_TRUTH_ALTHOUGH_NOT_PRINTED = {"user_specified_innocence"}
MEANS_THE_OPPOSITE_OF_WHAT_IS_PRINTED = {"information_surprisal"}


def function_name(printed: str) -> str:
    words = printed.lower().replace("% ", "").replace("’s", "").replace("-", " ").split()
    name = "_".join(words)
    return {"amount_leaked_information": "amount_of_leaked_information"}.get(name, name)


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: function_name(row[1]))
def test_the_facts_are_those_of_table_2(row: tuple[str, ...]) -> None:
    category, printed, direction, per_graph, truth, chunk = row
    name = function_name(printed)
    metric = LISTED[name]
    assert metric.category.startswith(category.lower())
    assert metric.printed_direction == {"H": "more private", "L": "less private"}[direction]
    assert (metric.more_means != metric.printed_direction) == (name in MEANS_THE_OPPOSITE_OF_WHAT_IS_PRINTED)
    assert (metric.per == "release") == (per_graph == "X")
    assert metric.needs_truth == (truth == "X" or name in NEEDS_TRUTH_ALTHOUGH_NOT_PRINTED)
    assert metric.affected_by_chunking == (chunk == "X")
    assert metric.source == "Zhao & Wagner, Table 2"


def test_table_2_lists_the_metrics_that_there_are() -> None:
    assert {function_name(row[1]) for row in PRINTED} == {
        name for name, metric in LISTED.items() if metric.source == "Zhao & Wagner, Table 2"
    }


def value(name: str, guess: Candidates, truth: Any) -> NDArray[np.float64]:
    metric = LISTED[name]
    return np.atleast_1d(metric.function(guess, truth) if metric.needs_truth else metric.function(guess))


def metrics_of(case: Case) -> Callable[[str], NDArray[np.float64]]:
    """Return the metrics of a case by name, over the targets that have all of them."""
    defined = case.guess.attempted & (case.truth >= 0)

    def look_up(name: str) -> NDArray[np.float64]:
        values = value(name, case.guess, case.truth)
        return values if LISTED[name].per == "release" else values[defined]

    return look_up


@given(cases())
def test_entropies_are_in_order(case: Case) -> None:
    m = metrics_of(case)
    assert (m("min_entropy") <= m("collision_entropy") + SLACK).all()
    assert (m("collision_entropy") <= m("entropy") + SLACK).all()
    assert (m("entropy") <= m("max_entropy") + SLACK).all()
    assert (m("quantiles_on_entropy") <= m("entropy") + SLACK).all()


@given(cases())
def test_a_number_of_alike_candidates_is_2_to_the_entropy(case: Case) -> None:
    m = metrics_of(case)
    np.testing.assert_allclose(m("inherent_privacy"), 2 ** m("entropy"))
    np.testing.assert_allclose(m("conditional_privacy"), 2 ** m("conditional_entropy"))
    np.testing.assert_allclose(m("anonymity_set_size"), 2 ** m("max_entropy"))
    np.testing.assert_allclose(m("entropy"), m("normalized_entropy") * m("max_entropy"), atol=SLACK)


@given(cases())
def test_surprise_and_divergence_are_one_quantity_in_two_units(case: Case) -> None:
    m = metrics_of(case)
    np.testing.assert_allclose(m("relative_entropy"), m("information_surprisal") * np.log(2))
    surprisal, divergence = LISTED["information_surprisal"], LISTED["relative_entropy"]
    assert (surprisal.printed_direction, divergence.printed_direction) == ("less private", "more private")
    assert (surprisal.more_means, divergence.more_means) == ("more private", "more private")


@given(cases())
def test_errors_follow_from_the_probability_of_the_truth(case: Case) -> None:
    m = metrics_of(case)
    likely = np.array([float(t.of_truth) for t in case.targets if t.attempted and t.somebody])
    np.testing.assert_allclose(m("incorrectness"), 1 - likely, atol=SLACK)
    np.testing.assert_allclose(m("information_surprisal"), -np.log2(np.maximum(likely, 1e-12)), atol=SLACK)


@given(cases(choices=False))
def test_absolute_error_is_small_beside_incorrectness_and_none_for_a_right_guess(case: Case) -> None:
    m = metrics_of(case)
    best = np.array([t.of_truth == max(t.vector) for t in case.targets if t.attempted and t.somebody], bool)
    assert (m("absolute_error") <= m("incorrectness") + SLACK).all()
    np.testing.assert_array_equal(m("absolute_error") == 0, best)


@given(cases(kinds=(INSIDE, OUTSIDE)))
def test_success_in_three_denominators(case: Case) -> None:
    m = metrics_of(case)
    n, attempts = len(case.targets), int(case.guess.attempted.sum())
    rate, overall = m("adversary_success_rate"), m("adversary_overall_success")
    assert (overall <= rate + SLACK).all()
    np.testing.assert_allclose(overall * n, m("amount_of_leaked_information"), atol=SLACK)
    np.testing.assert_allclose(rate * attempts, m("amount_of_leaked_information"), atol=SLACK)
    np.testing.assert_allclose(m("incorrectly_classified"), attempts / n - overall, atol=SLACK)


@given(cases())
def test_the_same_with_targets_that_stand_for_nobody(case: Case) -> None:
    """An attempt on them fails, and they are none of the people whose matches are counted."""
    m = metrics_of(case)
    people = int((case.truth >= 0).sum())
    attempts, on_people = int(case.guess.attempted.sum()), int((case.guess.attempted & (case.truth >= 0)).sum())
    right = m("amount_of_leaked_information")
    np.testing.assert_allclose(m("adversary_success_rate") * attempts, right, atol=SLACK)
    if people:
        np.testing.assert_allclose(m("adversary_overall_success") * people, right, atol=SLACK)
        np.testing.assert_allclose(m("incorrectly_classified") * people, on_people - right, atol=SLACK)


@given(cases())
def test_hidden_targets_are_innocent(case: Case) -> None:
    """Where no candidate is likely, the true one is not either."""
    nobody = int((case.truth < 0).sum())
    m = metrics_of(case)
    assert m("user_specified_innocence") + nobody >= m("hiding_property")


@given(cases())
def test_what_is_learned_and_what_is_left_add_up(case: Case) -> None:
    """In the label form to the binary entropy of 1 in c, in the prior form to log2(c)."""
    people = [t for t in case.targets if t.attempted and t.somebody]
    m = metrics_of(case)
    c = np.array([len(t.probability) for t in people])
    inside = np.array([t.truth in t.probability for t in people], bool)
    coin = np.array([0.0 if k == 1 else -np.log2(1 / k) / k - (1 - 1 / k) * np.log2(1 - 1 / k) for k in c])
    np.testing.assert_allclose(
        m("mutual_information") + m("conditional_entropy"), np.where(inside, coin, 0.0), atol=SLACK
    )
    learned = LISTED["mutual_information"].function(case.guess, case.truth, form="prior")
    left = LISTED["conditional_entropy"].function(case.guess, case.truth, form="prior")
    np.testing.assert_allclose((learned + left)[case.guess.attempted & (case.truth >= 0)], np.log2(c), atol=SLACK)


@given(cases())
def test_over_the_release_the_most_and_the_mean_that_was_learned(case: Case) -> None:
    m = metrics_of(case)
    learned = m("mutual_information")
    if learned.size:
        assert m("loss_of_anonymity") == pytest.approx(learned.max())
        assert m("conditional_privacy_loss") == pytest.approx(1 - 2 ** -learned.mean())


@given(cases())
def test_values_keep_to_the_bounds_of_the_listing(case: Case) -> None:
    for metric in LISTED.values():
        values = value(metric.name, case.guess, case.truth)
        low, high = metric.bounds
        assert not np.isinf(values).any(), metric.name
        assert ((values >= low) & (values <= high) | np.isnan(values)).all(), metric.name


BOUNDS_REACHED = {
    "alike": (Candidates.from_matrix([[0.5, 0.5]]), [0]),
    "right": (Candidates.from_matrix([[1.0, 0.0]]), [0]),
    "wrong": (Candidates.from_matrix([[1.0, 0.0]]), [1]),
    "given up": (Candidates.from_matrix([[0.5, 0.5]], chosen=[-1]), [0]),
}


@pytest.mark.parametrize("metric", LISTED.values(), ids=lambda metric: metric.name)
def test_bounds_are_reached(metric: Metric) -> None:
    """Every finite bound is a value of some guess, or the limit that a docstring calls never reached."""
    found = np.concatenate([value(metric.name, *case) for case in BOUNDS_REACHED.values()])
    low, high = metric.bounds
    assert np.nanmin(found) == pytest.approx(low, abs=SLACK)
    if not isinf(high) and f"{high:g} is never reached" not in metric.meaning:
        assert np.nanmax(found) == pytest.approx(high)


@given(st.integers(2, 40), st.data())
def test_where_all_candidates_look_alike(c: int, data: st.DataObject) -> None:
    guess, truth = Candidates.from_scores([[7.0] * c]), [data.draw(st.integers(0, c - 1))]
    for name in ("collision_entropy", "entropy", "max_entropy", "min_entropy"):
        assert value(name, guess, truth) == pytest.approx(np.log2(c)), name
    expected = {"normalized_entropy": 1, "pearson_correlation": 0, "normalized_variance": 1, "mutual_information": 0}
    for name, number in expected.items():
        assert value(name, guess, truth) == pytest.approx(number, abs=SLACK), name


def one_hot(c: int, sure: int) -> Candidates:
    return Candidates.from_matrix([[float(k == sure) for k in range(c)]])


@given(st.integers(1, 40), st.data())
def test_sure_and_right(c: int, data: st.DataObject) -> None:
    sure = data.draw(st.integers(0, c - 1))
    expected = dict.fromkeys(["absolute_error", "incorrectness", "mean_squared_error", "normalized_variance"], 0)
    for name, number in {**expected, "pearson_correlation": 1, "entropy": 0, "normalized_entropy": 0}.items():
        assert value(name, one_hot(c, sure), [sure]) == pytest.approx(number, abs=SLACK), name


@given(st.integers(2, 40), st.data())
def test_sure_and_wrong(c: int, data: st.DataObject) -> None:
    sure, true = data.draw(st.lists(st.integers(0, c - 1), min_size=2, max_size=2, unique=True))
    expected = {
        "incorrectness": 1,
        "absolute_error": 1,
        "pearson_correlation": -1 / (c - 1),
        "normalized_variance": 2 * c / (c - 1),
        "mean_squared_error": 2 / c,
    }
    for name, number in expected.items():
        assert value(name, one_hot(c, sure), [true]) == pytest.approx(number), name
