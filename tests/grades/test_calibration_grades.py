"""Raw scores beside calibrated probabilities: planted truths of every kind, over the same cases."""

from dataclasses import replace

import numpy as np
import pytest

from tests.grades.planted import planted
from unveil.grades.calibration_grades import CalibrationGrades
from unveil.grades.grades import grade
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.scores import Scores

RNG = np.random.default_rng


def with_column(
    values: ReplicatedMetrics, metric: str, numbers: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
) -> ReplicatedMetrics:
    changed = np.array(values.values)
    changed[:, values.metrics.index(metric)] = numbers
    return replace(values, values=changed)


def column(values: ReplicatedMetrics, metric: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    return np.asarray(values.values[:, values.metrics.index(metric)])


def test_what_is_planted_is_found() -> None:
    raw = planted()
    # Entropy, which rises where it should fall, falls; incorrectness is turned; a constant stays one.
    mended = with_column(raw, "entropy", 1.6 - column(raw, "entropy"))
    spoiled = with_column(mended, "incorrectness", 1.6 - column(raw, "incorrectness"))
    noise = with_column(spoiled, "min_entropy", 0.25 + RNG(1).normal(0, 1e-3, column(raw, "min_entropy").shape))
    both = CalibrationGrades.of(Scores.of(raw), Scores.of(noise))
    effects = {each.metric: each.effect for each in both.metrics}
    assert effects["entropy"] == "better"
    assert effects["incorrectness"] == "worse"
    assert effects["min_entropy"] == "no difference"
    assert effects["adversary_overall_success"] == "the same"
    entropy = both.metric("entropy")
    assert entropy is not None
    assert entropy.mended
    assert (entropy.raw.against, entropy.calibrated.against) == (1.0, 0.0)
    assert entropy.gain.mean == pytest.approx(entropy.calibrated.monotonicity.mean - entropy.raw.monotonicity.mean)
    assert both.changed[0] is entropy
    assert not both.metric("incorrectness").mended  # type: ignore[union-attr]


def test_only_cases_with_both_are_compared() -> None:
    values = planted()
    rows = np.arange(4, 12)
    some = with_column(values, "entropy", 1.6 - column(values, "entropy")).only(cases=rows)
    grades = grade(values, calibrated=some, rng=RNG(1))
    both = grades.calibrated
    assert both is not None
    assert both.raw.scores.values.cases == both.calibrated.scores.values.cases == some.cases
    # Ranges are those of these cases, on both sides.
    own = Scores.of(values.only(cases=rows))
    assert both.raw.scores.shared_range == pytest.approx(own.shared_range, nan_ok=True)
    assert grades.scores.values.cases == values.cases


def test_one_combination_tells_nothing() -> None:
    values = planted().only(cases=np.arange(2))
    turned = with_column(values, "entropy", 1.6 - column(values, "entropy"))
    both = CalibrationGrades.of(Scores.of(values), Scores.of(turned))
    assert both.metric("entropy").effect == "cannot be determined"  # type: ignore[union-attr]
    assert both.metric("max_entropy").effect == "cannot be determined"  # type: ignore[union-attr]
