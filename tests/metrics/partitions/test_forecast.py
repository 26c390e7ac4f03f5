"""The forecast against every future there is, and the paper's order as the one future without chance."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracles import unlinkability as paper
from tests.oracles.forecast import Future, futures
from unveil._kernels.partitions import forecast as kernel
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics import forecast, over_views, unlinkability

ALPHA, BETA = Fraction(1, 3), Fraction(9, 10)
DRAWS = 800
# Five items of a in three clusters, with two others here and there; and four in three clusters that all tie.
SCATTERED, TIED = ("aaaaabbcd", "xxyyzxyyz"), ("aaaabbcdd", "wxyzxyzwx")
RATES = {("x", "y"): Fraction(1, 10), ("y", "z"): Fraction(3, 10), ("x", "z"): Fraction(1, 20)}


def slope_of(future: Future) -> float:
    return paper.risk_slope(future[1], ALPHA, BETA)


def evidence_of(future: Future) -> float:
    reached = future[1][-1][0] >= BETA
    return float(paper.beta_point(future[1], BETA)[0]) if reached else math.inf


@pytest.mark.unwatched
@pytest.mark.parametrize("split", [0, "1/2", 2])
@pytest.mark.parametrize(
    ("labels", "linkage"),
    [*((SCATTERED, linkage) for linkage in ("pairs", "any", "cheapest", RATES)), (TIED, "pairs"), (TIED, "cheapest")],
)
def test_means_and_quantiles_are_those_of_all_futures(labels: tuple[str, str], linkage: Any, split: Any) -> None:
    truth, guess = (Partition.from_labels(each) for each in labels)
    settings: dict[str, Any] = {"alpha": ALPHA, "beta": BETA, "linkage": linkage, "split": float(Fraction(split))}
    found = forecast(guess, truth, rng=np.random.default_rng(4), draws=DRAWS, **settings)
    graphs = []
    for place, subject in enumerate(truth.clusters):
        every = futures(*labels, subject, alpha=ALPHA, linkage=linkage, split=Fraction(split))
        assert sum(p for p, _ in every) == 1
        graphs.append(sum(float(p) * float(paper.at(points, 2)[0]) for p, points in every))
        if all(paper.is_breached(points, BETA) for _, points in every):
            assert found.breached[place] == 1
            assert math.isnan(found.risk_slope[place])
            continue
        slopes = [(slope_of(each), float(each[0])) for each in every]
        mean = sum(s * p for s, p in slopes)
        assert found.risk_slope[place] == pytest.approx(mean, abs=5 * found.error[place] + 1e-9)
        spread = sum((s - mean) ** 2 * p for s, p in slopes)
        assert found.error[place] == pytest.approx((spread / DRAWS) ** 0.5, rel=0.15, abs=1e-9)
        between = [
            p for s, p in slopes if found.risk_slope_low[place] - 1e-9 <= s <= found.risk_slope_high[place] + 1e-9
        ]
        assert sum(between) >= 0.87
        evidence = sum(float(p) * evidence_of((p, points)) for p, points in every)
        assert found.evidence[place] == pytest.approx(evidence, rel=0.05)
        soon = sum(float(p) for p, points in every if len(points) > 1 and points[1][0] >= BETA)
        assert found.next_breach[place] == pytest.approx(soon, abs=0.05)
    after = min(2, found.linked.size - 1)
    assert found.linked[after] == pytest.approx(np.mean(graphs), abs=0.03)


LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("vwxyz")), min_size=2, max_size=12)


def any_ties(labels: list[tuple[str, str]], weights: list[float] | None) -> bool:
    """Return whether clusters tie for a subject, so that futures in the paper's order differ in who comes along."""
    truth, guess = ([row[k] for row in labels] for k in range(2))
    known = {item: Fraction(weight) for item, weight in enumerate(weights or [1.0] * len(labels))}
    weigh = paper.Weights(len(labels), known, {}, paper.total(known.values()))
    groups = [
        paper.tied_groups(cluster, paper.related(cluster, paper.clusters_of(guess), guess), Fraction(2, 3), weigh)
        for cluster in paper.clusters_of(truth).values()
    ]
    return any(len(tied) > 1 for each in groups for tied in each)


@given(LABELS, st.sampled_from(["items", "others", "even"]), st.booleans(), st.sampled_from([None, "weights"]))
def test_the_papers_order_is_the_forecast_without_chance(
    labels: list[tuple[str, str]], mixing: Any, desirable: bool, weighted: str | None
) -> None:
    truth, guess = (Partition.from_labels(list(column)) for column in zip(*labels, strict=True))
    settings: dict[str, Any] = {
        "alpha": "2/3",
        "beta": "7/10",
        "mixing": mixing,
        "contamination_desirable": desirable,
        "weights": [(k % 4) / 4 for k in range(len(labels))] if weighted else None,
    }
    assume(mixing == "items" or not any_ties(labels, settings["weights"]))
    found = forecast(guess, truth, rng=np.random.default_rng(1), linkage="cheapest", split=0, draws=3, **settings)
    result = unlinkability(guess, truth, **settings)
    for name in ("risk_slope", "risk_slope_low", "risk_slope_median", "risk_slope_high"):
        np.testing.assert_allclose(getattr(found, name), result.risk_slope, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(found.evidence, result.merges, atol=1e-9)
    assert found.overall.mean == pytest.approx(result.overall.risk_slope, abs=1e-9, nan_ok=True)
    assert found.overall_evidence.high == pytest.approx(result.overall.merges, abs=1e-9)
    np.testing.assert_allclose(found.linked, result.overall.linked[: found.linked.size], atol=1e-9)
    assert found.breached_after[0] == pytest.approx(result.overall.breached_share)


def test_of_a_view_every_future_starts_from_one_partition() -> None:
    truth = Partition.from_labels("aaaabb")
    view = View([Partition.from_labels("wxyzxy"), Partition.from_labels("xxxxyy")], ["3/4", "1/4"])
    found = forecast(view, truth, rng=np.random.default_rng(2), linkage="cheapest", split=0, draws=4_000, alpha=1)
    over = over_views(view, truth, alpha=1)
    assert found.breached == pytest.approx(over.breached_probability, abs=0.03)
    assert found.overall.mean == pytest.approx(over.range_of("risk_slope").mean, abs=1e-9)
    assert found.overall.undefined == pytest.approx(over.range_of("risk_slope").undefined, abs=0.03)
    # The upper end lies among the futures that start breached.
    assert math.isnan(found.risk_slope_high[0])


def test_splitting_lets_go_of_others_and_takes_time() -> None:
    truth = Partition.from_labels("aaaa" + "bbbb" + "cc")
    guess = Partition.from_labels("xxyy" + "xxyy" + "xy")
    without, with_splits = (
        forecast(guess, truth, rng=np.random.default_rng(3), split=split, alpha=0, subjects=[0]) for split in (0, 5)
    )
    assert with_splits.evidence[0] > without.evidence[0] + 0.5
    assert with_splits.mixed.max() < without.mixed.max()
    assert with_splits.risk_slope[0] < without.risk_slope[0]


def test_clusters_that_nothing_links_are_never_merged() -> None:
    truth, guess = Partition.from_labels("aaab"), Partition.from_labels("xxyy")
    found = forecast(guess, truth, rng=np.random.default_rng(1), linkage={}, split=0, subjects=[0])
    assert math.isinf(found.evidence[0])
    assert found.risk_slope[0] == 0
    assert math.isinf(found.overall_evidence.mean)
    assert found.breached_after[-1] == 0


def test_compiled_and_plain_futures_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    truth = Partition.from_labels(rng.integers(0, 20, 120))
    guess = Partition.from_labels(rng.integers(0, 15, 120))
    found = []
    for most in (10**9, 0):
        monkeypatch.setattr(kernel, "PLAIN_STEPS", most)
        found.append(forecast(guess, truth, rng=np.random.default_rng(7), draws=6, split=0.5, mixing="even"))
    for name in ("risk_slope", "evidence", "linked", "mixed", "breached_after"):
        np.testing.assert_allclose(getattr(found[0], name), getattr(found[1], name), atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"draws": 0}, "draws is 0; a forecast needs at least one"),
        ({"split": -1}, "from 0 up"),
        ({"split": math.nan}, "from 0 up"),
        ({"linkage": "nearest"}, "'pairs', 'any', 'cheapest'"),
        ({"linkage": {("x", "nobody"): 1.0}}, "1 of 1"),
        ({"linkage": {("x", "y"): -1.0}}, "1 of 1"),
        ({"linkage": {("x", "y"): math.inf}}, "1 of 1"),
        ({"subjects": [2]}, "from 0 to 1"),
        ({"subjects": []}, "from 0 to 1"),
        ({"weights": {("a", 0): 0.5}}, "split=0"),
    ],
)
def test_what_makes_no_forecast_is_refused(settings: dict[str, Any], words: str) -> None:
    truth, guess = Partition.from_labels("aaab"), Partition.from_labels("xxyy")
    with pytest.raises(InputError, match=words):
        forecast(guess, truth, rng=np.random.default_rng(1), **settings)


def test_rates_belong_to_one_partition() -> None:
    truth, guess = Partition.from_labels("aaab"), Partition.from_labels("xxyy")
    with pytest.raises(InputError, match="view of several"):
        forecast(View([guess, truth], ["1/2", "1/2"]), truth, rng=np.random.default_rng(1), linkage={("x", "y"): 1.0})
