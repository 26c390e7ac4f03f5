"""What suites must tell: which metrics tick what, and a search that tries no other suites."""

from dataclasses import replace

import numpy as np
import pytest

from tests.grades.planted import planted
from unveil.errors import InputError
from unveil.grades.grades import HERE, PAPER, grade
from unveil.grades.needs import LEAST_WEIGHT, NEEDS, TICKS, checked_needs, lacking, ticking
from unveil.grades.search import best_suites
from unveil.grades.suites import SUITES
from unveil.metrics import METRICS

RNG = np.random.default_rng
PER_NODE = 18


def ticked(need: str) -> set[str]:
    return {name for name, metric in METRICS.items() if metric.source.endswith("Table 2") and TICKS[need](metric)}


def test_metrics_of_the_paper_tick_what_their_definition_says() -> None:
    assert ticked("chance") == {
        "adversary_success_rate",
        "adversary_overall_success",
        "amount_of_leaked_information",
        "incorrectly_classified",
        "hiding_property",
        "user_specified_innocence",
    }
    assert ticked("resources") == {"entropy", "inherent_privacy", "conditional_privacy"}
    assert len(ticked("level")) == PER_NODE


def test_suites_tick_what_one_of_their_metrics_ticks_if_it_has_weight() -> None:
    names = ["entropy", "adversary_success_rate", "incorrectness"]
    weights = np.array([[0.5, 0.5, 0.0], [0.96, 0.04, 0.0], [0.95, 0.05, 0.0], [0.0, 0.0, 1.0], [0.0, 0.9, 0.1]])
    assert ticking(weights, names, ["chance", "resources"]).tolist() == [True, False, True, False, False]
    assert ticking(weights, names, ["aspects"]).tolist() == [True, False, True, False, True]
    assert ticking(weights, names, ["level"]).tolist() == [True, True, True, True, True]
    assert ticking(weights, names, []).all()
    assert lacking(["adversary_success_rate"], NEEDS) == ("level", "resources", "aspects")
    with pytest.raises(InputError, match="Did you mean 'resources'"):
        checked_needs(["resource"])
    with pytest.raises(InputError, match="chance, level, resources, aspects, but 'x' is none of these"):
        checked_needs(["x"])


def test_the_search_tries_no_suite_that_does_not_tell_what_is_needed() -> None:
    values = planted(replications=2)
    metrics = ("adversary_overall_success", "incorrectness", "entropy", "pearson_correlation")
    free = best_suites(values, metrics, rng=RNG(1))
    found = best_suites(values, metrics, needs=("chance", "resources"), rng=RNG(1))
    # Entropy goes the wrong way here, so that who is free leaves it out.
    assert free.optimized is not None
    assert "entropy" not in free.optimized.suite.weights
    assert found.needs == ("chance", "resources")
    assert len(found.equal) == 4 < len(free.equal) == 11
    assert found.optimized is not None
    chosen = [each.suite for each in (*found.equal, found.optimized)]
    chosen += [
        suite
        for way in found.validations
        for fold in way.chosen
        for name, suite in fold.items()
        if "single" not in name
    ]
    for suite in chosen:
        assert suite.weights["entropy"] >= LEAST_WEIGHT - 1e-9
        assert suite.weights["adversary_overall_success"] >= LEAST_WEIGHT - 1e-9
    assert found.singles == free.singles
    with pytest.raises(InputError, match="suites must tell resources, but no suite of incorrectness, pearson"):
        best_suites(values, ("incorrectness", "pearson_correlation"), needs=("resources",), rng=RNG(1))


def test_the_best_metrics_here_include_one_for_each_need_and_what_cannot_be_told_is_said() -> None:
    values = planted()
    grades = grade(values, needs=("resources",), rng=RNG(1))
    assert set(grades.searches) == {HERE}
    assert "entropy" in grades.searches[HERE].metrics
    assert len(grades.searches[HERE].metrics) <= 7
    assert grades.left_out == (f"No suite of {PAPER} was sought: none of them tells resources.",)
    assert not lacking(SUITES["S5"].metrics, ("chance", "level", "aspects"))
    both = grade(values, needs=("chance", "aspects"), rng=RNG(1))
    assert PAPER in both.searches
    without = grade(replace(values).only(metrics=SUITES["S5"].metrics), needs=("resources",), rng=RNG(1))
    assert not without.searches
