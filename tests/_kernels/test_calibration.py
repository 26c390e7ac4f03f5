"""Learned chances against their definitions, scikit-learn, and what they must do with scores of known quality."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels.calibration import (
    BINS,
    calibration_error,
    chance,
    error_by_chance,
    fit,
    isotonic,
    reliability,
)
from unveil._kernels.types import FloatArray


def best_never_falling(means: list[float], weights: list[float]) -> list[float]:
    """The nearest never falling values, by trying every way to cut the row into blocks of one value each."""
    size, best, found = len(means), np.inf, means
    for number in range(size):
        for cuts in combinations(range(1, size), number):
            ends = [0, *cuts, size]
            blocks = [slice(ends[i], ends[i + 1]) for i in range(len(ends) - 1)]
            levels = [float(np.average(means[one], weights=weights[one])) for one in blocks]
            values = [level for level, one in zip(levels, blocks, strict=True) for _ in range(one.stop - one.start)]
            cost = float(np.dot(weights, (np.array(values) - means) ** 2))
            if cost < best - 1e-12 and all(a <= b + 1e-12 for a, b in pairwise(levels)):
                best, found = cost, values
    return found


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=12))
def test_isotonic_is_the_best_of_all_never_falling_rows(pairs: list[tuple[int, int]]) -> None:
    levels, values = isotonic(np.array([float(x) for x, _ in pairs]), np.array([y / 4 for _, y in pairs]))
    by_level = {level: [y / 4 for x, y in pairs if x == level] for level in sorted({x for x, _ in pairs})}
    assert levels.tolist() == list(by_level)
    means = [float(np.mean(each)) for each in by_level.values()]
    wanted = best_never_falling(means, [float(len(each)) for each in by_level.values()])
    np.testing.assert_allclose(values, wanted, atol=1e-9)


def learned_from(number: int) -> tuple[FloatArray, np.ndarray, FloatArray]:
    rng = np.random.default_rng(number)
    features = np.column_stack([rng.normal(size=(number, 2)), np.full(number, 3.0)])
    labels = rng.random(number) < 1 / (1 + np.exp(-2 * features[:, 0] + features[:, 1] ** 2))
    return features, labels, np.column_stack([rng.normal(size=(50, 2)), np.full(50, 3.0)])


@pytest.mark.parametrize("number", [199, 200, 2000])
def test_chances_are_those_of_scikit_learn(number: int) -> None:
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    features, labels, others = learned_from(number)
    scaler = StandardScaler().fit(features)
    line = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(scaler.transform(features), labels)
    wanted = line.predict_proba(scaler.transform(others))[:, 1]
    if number >= 200:
        curve = IsotonicRegression(out_of_bounds="clip")
        curve.fit(line.predict_proba(scaler.transform(features))[:, 1], labels)
        wanted = curve.predict(wanted) if number >= 2000 else (wanted + curve.predict(wanted)) / 2
    margin = 0.5 / number
    np.testing.assert_allclose(chance(fit(features, labels), others), np.clip(wanted, margin, 1 - margin), atol=2e-4)


@pytest.mark.parametrize(("number", "right"), [(0, 0), (9, 4), (50, 0), (50, 50)])
def test_few_labels_or_all_alike_give_one_chance(number: int, right: int) -> None:
    learned = fit(np.arange(number * 2.0).reshape(number, 2), np.arange(number) < right)
    assert chance(learned, np.array([[0.0, 1.0], [5.0, 9.0]])).tolist() == [(right + 0.5) / (number + 1)] * 2


def by_hand(stated: list[float], right: list[float], bins: int) -> float:
    """The definition: sort, share successes among equals, cut as evenly as can be, and compare the means."""
    order = sorted(range(len(stated)), key=lambda at: stated[at])
    shared = [float(np.mean([right[k] for k in range(len(stated)) if stated[k] == stated[at]])) for at in order]
    parts = np.array_split(np.arange(len(order)), min(bins, len(order)))
    gaps = [abs(sum(stated[order[k]] for k in part) - sum(shared[k] for k in part)) for part in parts]
    return float(sum(gaps) / len(stated))


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 2)), min_size=1, max_size=60), st.integers(1, 20))
def test_the_error_follows_its_definition_in_any_order(rows: list[tuple[int, int]], bins: int) -> None:
    stated, right = np.array([x / 8 for x, _ in rows]), np.array([y / 2 for _, y in rows])
    found = calibration_error(stated, right, bins)
    assert found == pytest.approx(by_hand(stated.tolist(), right.tolist(), bins), abs=1e-12)
    turned = np.random.default_rng(len(rows)).permutation(len(rows))
    assert calibration_error(stated[turned], right[turned], bins) == pytest.approx(found, abs=1e-12)
    assert reliability(stated, right, bins).size.sum() == len(rows)


def test_without_rows_there_is_no_error() -> None:
    assert np.isnan(calibration_error(np.empty(0), np.empty(0)))


def test_true_chances_stay_and_sharpened_ones_are_repaired() -> None:
    rng = np.random.default_rng(5)
    errors: dict[str, list[float]] = {"by chance": [], "true": [], "sharpened": [], "repaired": []}
    for _ in range(10):
        true = rng.random((2, 4000))
        right = (rng.random((2, 4000)) < true).astype(np.float64)
        errors["by chance"].append(calibration_error(true[1], right[1], BINS))
        errors["sharpened"].append(calibration_error(true[1] ** 3, right[1], BINS))
        for name, scores in (("true", true), ("repaired", true**3)):
            # As an attack gives them: the logarithm of the score, and the score itself.
            learned, asked = (np.column_stack([np.log(each), each]) for each in scores)
            errors[name].append(calibration_error(chance(fit(learned, right[0] > 0), asked), right[1], BINS))
    mean = {name: float(np.mean(each)) for name, each in errors.items()}
    assert mean["true"] < 1.5 * mean["by chance"]
    assert mean["repaired"] < mean["sharpened"] / 2


def test_the_error_by_chance_is_that_of_coins() -> None:
    # Six coins in two groups of three: the share of heads is off by 1/2 once in four, else by 1/6.
    stated, rng = np.array([0.5] * 3 + [0.6] * 3), np.random.default_rng(1)
    shares = [(k / 3, weight / 8) for k, weight in enumerate((1, 3, 3, 1))]
    fair = sum(abs(share - 0.5) * weight for share, weight in shares)
    heads = [(k / 3, math.comb(3, k) * 0.6**k * 0.4 ** (3 - k)) for k in range(4)]
    biased = sum(abs(share - 0.6) * weight for share, weight in heads)
    found = error_by_chance(stated, rng=rng, bins=2, draws=4000)
    assert found == pytest.approx((fair + biased) / 2, abs=0.01)
    assert math.isnan(error_by_chance(np.empty(0), rng=rng))
