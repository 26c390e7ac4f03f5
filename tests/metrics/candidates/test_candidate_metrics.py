"""Every candidate metric, with every setting, against its definition; and the compiled loops against the plain ones."""

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.candidate_strategies import Case, cases
from tests.oracles import candidates as oracle
from tests.oracles.candidates import Target
from unveil._kernels import _compile
from unveil._kernels import candidates as kernels
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics import METRICS, all_metrics, expected_calibration_error, quantiles_on_entropy, renyi_entropy

#: The metrics of the paper; what else is listed has its own test.
NAMES = [name for name, metric in METRICS.items() if metric.source == "Zhao & Wagner, Table 2"]

#: Every setting that is not the default one.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "conditional_entropy": [{"form": "prior"}],
    "conditional_privacy": [{"form": "prior"}],
    "conditional_privacy_loss": [{"form": "prior"}],
    "loss_of_anonymity": [{"form": "prior"}],
    "mutual_information": [{"form": "prior"}],
    "quantiles_on_entropy": [
        {"at_least": 0.0},
        {"at_least": 0.25},
        {"at_least": 1.0},
        {"at_least": 0.2, "renormalize": True},
    ],
    "anonymity_set_size": [{"credible": 0.5}, {"credible": 1.0}],
    "amount_of_leaked_information": [{"at_least": 0.0}, {"at_least": 0.25}, {"at_least": 1.0}],
    "hiding_property": [{"threshold": 0.25}, {"threshold": 1.0}, {"unattempted_hidden": False}],
    "user_specified_innocence": [{"threshold": 0.0}, {"threshold": 0.25}, {"unattempted_innocent": False}],
}


def expected(name: str, case: Case, choice: dict[str, Any]) -> NDArray[np.float64]:
    if METRICS[name].per == "release":
        return np.array([oracle.PER_RELEASE[name](case.targets, **choice)], np.float64)
    return np.array(oracle.values(name, case.targets, **choice))


def measured(name: str, case: Case, choice: dict[str, Any]) -> NDArray[np.float64]:
    truth = (case.truth,) if METRICS[name].needs_truth else ()
    return np.atleast_1d(METRICS[name].function(case.guess, *truth, **choice))


def test_every_metric_has_an_oracle() -> None:
    assert set(NAMES) == set(oracle.PER_TARGET) | set(oracle.PER_RELEASE)


def test_every_setting_is_tried() -> None:
    keywords = {
        name: {
            p.name for p in inspect.signature(METRICS[name].function).parameters.values() if p.kind == p.KEYWORD_ONLY
        }
        for name in NAMES
    }
    tried = {name: set().union(*SETTINGS.get(name, [{}])) for name in NAMES}
    assert tried == keywords


@settings(max_examples=24)
@given(case=cases())
def test_every_metric_follows_its_definition(case: Case) -> None:
    for name in NAMES:
        wanted = expected(name, case, {})
        np.testing.assert_allclose(measured(name, case, {}), wanted, rtol=1e-9, atol=1e-9, err_msg=name)


@given(case=cases())
def test_every_setting_follows_its_definition(case: Case) -> None:
    for name, choice in [(name, choice) for name, choices in SETTINGS.items() for choice in choices]:
        wanted = expected(name, case, choice)
        what = f"{name} with {choice}"
        np.testing.assert_allclose(measured(name, case, choice), wanted, rtol=1e-9, atol=1e-9, err_msg=what)


@given(case=cases(), order=st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 100.0, math.inf]))
def test_renyi_entropy_of_any_order(case: Case, order: float) -> None:
    wanted = [oracle.renyi(target, order) if target.attempted else math.nan for target in case.targets]
    np.testing.assert_allclose(renyi_entropy(case.guess, order=order), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", [600.0, 1000.0, 1e6])
def test_renyi_entropy_of_a_high_order_does_not_vanish(order: float) -> None:
    guess = Candidates.from_matrix([[0.25] * 4, [0.5, 0.25, 0.25, 0.0]])
    np.testing.assert_allclose(renyi_entropy(guess, order=order), [2.0, order / (order - 1)], rtol=1e-9)


@pytest.mark.parametrize("order", [1 - 1e-6, 1 - 1e-9, 1 - 1e-14, 1 + 1e-14, 1 + 1e-9, 1 + 1e-6])
def test_renyi_entropy_has_no_jump_at_order_1(order: float) -> None:
    guess = Candidates.from_matrix([[0.3, 0.7, 0.0], [0.1, 0.2, 0.7]])
    np.testing.assert_allclose(renyi_entropy(guess, order=order), renyi_entropy(guess, order=1), rtol=1e-5)


@given(case=cases(), order=st.integers(0, 40), more=st.integers(0, 40))
def test_renyi_entropy_falls_as_the_order_rises(case: Case, order: int, more: int) -> None:
    low, high = renyi_entropy(case.guess, order=order / 4), renyi_entropy(case.guess, order=(order + more) / 4)
    tried = case.guess.attempted
    assert (high[tried] <= low[tried] + 1e-12).all()


def test_surprise_at_what_was_held_impossible_is_capped() -> None:
    probability = {0: Fraction(1, 10**15), 1: 1 - Fraction(1, 10**15)}
    case = Case(tuple(Target(probability=probability, chosen=None, truth=truth) for truth in (0, 8)))
    for name, cap in {"information_surprisal": -math.log2(1e-12), "relative_entropy": -math.log(1e-12)}.items():
        assert measured(name, case, {}) == pytest.approx([cap, cap], rel=1e-12)
        assert METRICS[name].bounds[1] == pytest.approx(cap, rel=1e-12)


@pytest.mark.parametrize("difference", [1e-2, 1e-4, 1e-6])
def test_correlation_sees_small_differences(difference: float) -> None:
    guess = Candidates.from_matrix([[0.5 + difference, 0.5 - difference]] * 2)
    np.testing.assert_allclose(METRICS["pearson_correlation"].function(guess, [0, 1]), [1, -1], atol=1e-3)


@pytest.mark.parametrize("name", ["conditional_entropy", "conditional_privacy", "mutual_information"])
def test_an_unknown_form_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="Unknown form 'joint'"):
        METRICS[name].function(Candidates.from_matrix([[1.0]]), [0], form="joint")


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan, math.inf])
def test_a_threshold_that_is_no_probability_is_refused(threshold: float) -> None:
    guess = Candidates.from_matrix([[1.0]])
    with pytest.raises(InputError, match="threshold must lie between 0 and 1"):
        METRICS["hiding_property"].function(guess, threshold=threshold)
    with pytest.raises(InputError, match="threshold must lie between 0 and 1"):
        METRICS["user_specified_innocence"].function(guess, [0], threshold=threshold)
    with pytest.raises(InputError, match="least must lie between 0 and 1"):
        quantiles_on_entropy(guess, at_least=threshold)


@pytest.mark.parametrize("order", [-1.0, math.nan])
def test_an_order_below_0_is_refused(order: float) -> None:
    with pytest.raises(InputError, match="the order of the Rényi entropy is"):
        renyi_entropy(Candidates.from_matrix([[1.0]]), order=order)


# ---- large enough for the compiled loops ----------------------------------------------------------------------------

TARGETS, ENTRIES, CHECKED = 30_000, 20, 1000


@pytest.fixture(scope="module")
def large() -> tuple[Candidates, NDArray[np.int64], Case]:
    """Return many targets with ties, zeros and truths of every kind, and the last of them as exact data."""
    rng = np.random.default_rng(3)
    heights = rng.integers(0, 5, (TARGETS, ENTRIES)) * rng.choice([1, 1000], (TARGETS, ENTRIES))
    heights[:, 0] += 1
    truth = rng.integers(-1, 2 * ENTRIES, TARGETS)
    # Every second candidate has an entry, so that every second truth was not considered.
    numbers = np.tile(2 * np.arange(ENTRIES, dtype=np.int32), TARGETS)
    start = np.arange(TARGETS + 1) * ENTRIES
    guess = Candidates(start, numbers, (heights / heights.sum(axis=1, keepdims=True)).ravel())
    last = zip(heights[-CHECKED:].tolist(), truth[-CHECKED:].tolist(), strict=True)
    rows = [({2 * k: Fraction(height, sum(row)) for k, height in enumerate(row)}, true) for row, true in last]
    return guess, truth, Case(tuple(Target(probability=row, chosen=None, truth=true) for row, true in rows))


def test_compiled_loops_do_what_the_plain_ones_do(large: tuple[Candidates, NDArray[np.int64], Case]) -> None:
    guess, truth, _ = large
    candidate, p, most = guess.candidate, guess.probability, guess.summary.largest
    assert min(guess.start.size, p.size) > _compile.PLAIN_UP_TO
    more, each = truth + 1, np.full(TARGETS, 0.01)
    # The plain loops are slow: they get the last rows, as the compiled ones have them.
    last = guess.start[-CHECKED - 1 :]
    calls: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
        (kernels.summarize, (guess.start, p), (last, p)),
        (kernels.entropy_above, (guess.start, p, 0.001), (last, p, 0.001)),
        (kernels.power_sums, (guess.start, p, most, 2.5), (last, p, most[-CHECKED:], 2.5)),
        (kernels.power_excess, (guess.start, p, 1.01), (last, p, 1.01)),
        (kernels.find_entries, (guess.start, candidate, truth), (last, candidate, truth[-CHECKED:])),
        (kernels.count_equal, (guess.start, p, most), (last, p, most[-CHECKED:])),
        (kernels.credible_sizes, (guess.start, p, more, each, 0.9), (last, p, more[-CHECKED:], each[-CHECKED:], 0.9)),
    ]
    for loop, arguments, fewer in calls:
        fast, plain = np.atleast_2d(loop(*arguments)), np.atleast_2d(inspect.unwrap(loop)(*fewer))
        np.testing.assert_allclose(fast[:, -CHECKED:], plain, rtol=1e-12, atol=1e-15, err_msg=loop.__name__)


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4])
def test_the_compiled_check_finds_what_the_plain_one_finds(
    large: tuple[Candidates, NDArray[np.int64], Case], kind: int
) -> None:
    guess, _, _ = large
    last = guess.start[-CHECKED - 1 :]
    candidate, p = guess.candidate.copy(), guess.probability.copy()
    entry = p.size - ENTRIES - 2  # in the last row but one
    p[entry] = {1: np.nan, 2: -0.5, 4: p[entry] + 0.5}.get(kind, p[entry])
    candidate[entry] += 2 * (kind == 3)
    row, found = kernels.first_fault(guess.start, candidate, p, 1e-6)
    assert (row, found) == ((TARGETS - 2, kind) if kind else (-1, 0))
    plain_row, plain_found = inspect.unwrap(kernels.first_fault)(last, candidate, p, 1e-6)
    assert (plain_row, plain_found) == ((CHECKED - 2, kind) if kind else (-1, 0))


@pytest.mark.unwatched
def test_metrics_of_many_targets_follow_their_definitions(
    large: tuple[Candidates, NDArray[np.int64], Case],
) -> None:
    guess, truth, exact = large
    for one in all_metrics(guess, truth):
        if one.metric.per == "target" and one.metric.name in NAMES:
            wanted = oracle.values(one.metric.name, exact.targets)
            np.testing.assert_allclose(one.values[-CHECKED:], wanted, rtol=1e-9, atol=1e-9, err_msg=one.metric.name)


@pytest.mark.parametrize("digits", [6, 9])
@pytest.mark.parametrize("number", [7, 9, 11, 13, 30, 48])
def test_candidates_that_look_alike_have_no_correlation_whatever_rounding_leaves(number: int, digits: int) -> None:
    # Written with a few digits, equal probabilities leave a spread of 1e-33, which must not be divided by.
    guess = Candidates.from_matrix([[round(1 / number, digits)] * number])
    assert METRICS["pearson_correlation"].function(guess, [0]).tolist() == [0.0]


@given(case=cases(), bins=st.integers(1, 5))
def test_the_calibration_error_compares_what_was_stated_of_choices_with_what_came_true(case: Case, bins: int) -> None:
    tried = [target for target in case.targets if target.attempted]
    rows = []
    for target in tried:
        likely = max(target.vector)
        tied = [candidate for candidate, p in target.probability.items() if p == likely]
        choices = tied if target.chosen is None else [target.chosen]
        stated = target.probability[choices[0]]
        rows.append((stated, Fraction(sum(each == target.truth for each in choices), len(choices))))
    found = expected_calibration_error(case.guess, case.truth, bins=bins)
    if not rows:
        assert math.isnan(found)
        return
    order = sorted(rows)
    shared = [
        sum((right for other, right in rows if other == stated), Fraction(0)) / sum(o == stated for o, _ in rows)
        for stated, _ in order
    ]
    parts = np.array_split(np.arange(len(rows)), min(bins, len(rows)))
    gaps = [abs(sum((order[k][0] - shared[k] for k in part), Fraction(0))) for part in parts]
    assert found == pytest.approx(float(sum(gaps, Fraction(0)) / len(rows)), abs=1e-9)


def test_a_calibration_error_needs_groups() -> None:
    with pytest.raises(InputError, match="bins must be a whole number of at least 1"):
        expected_calibration_error(Candidates.from_matrix([[1.0]]), [0], bins=0)
