"""What each partition of a view says alone, against measuring each partition alone."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.guesses import Partition, View
from unveil.metrics import over_views, partition_distances, unlinkability
from unveil.metrics.partitions import _contingency
from unveil.metrics.partitions.views import quantile

LABELS = st.lists(st.tuples(st.sampled_from("abc"), *[st.sampled_from("wxyz")] * 3), min_size=2, max_size=12)
SHARES = ("1/20", "1/4", "7/10")


def least_reaching(values: Sequence[float], level: Fraction) -> float:
    """Return the least value whose partitions, with all of lesser value, reach the level; NaN counts above all."""
    heaps = [(math.inf if math.isnan(v) else v, Fraction(p)) for v, p in zip(values, SHARES, strict=True)]
    reached = [v for v, _ in heaps if sum((p for w, p in heaps if w <= v), Fraction(0)) >= level]
    return math.nan if math.isinf(min(reached)) else min(reached)


@given(LABELS, st.booleans(), st.sampled_from(["weight", "literal"]))
def test_ranges_and_intervals_are_those_of_the_partitions_one_by_one(
    labels: list[tuple[str, ...]], desirable: bool, norm: str
) -> None:
    truth, *guesses = (Partition.from_labels(list(column)) for column in zip(*labels, strict=True))
    settings = {
        "alpha": "1/3",
        "beta": "3/5",
        "contamination_desirable": desirable,
        "norm": norm,
        "weights": [(k % 4) / 4 for k in range(len(labels))],
    }
    found = over_views(View(guesses, SHARES), truth, **settings)  # type: ignore[arg-type]
    alone = [unlinkability(guess, truth, **settings) for guess in guesses]  # type: ignore[arg-type]
    distances = [partition_distances(guess, truth) for guess in guesses]
    assert found.partitions == 3
    for each in found.ranges:
        source = [result.overall for result in alone] if hasattr(alone[0].overall, each.quantity) else distances
        values = [float(getattr(one, each.quantity)) for one in source]
        wanted = [least_reaching(values, Fraction(*q)) for q in ((1, 20), (1, 2), (19, 20))]
        np.testing.assert_allclose([each.low, each.median, each.high], wanted, atol=1e-12, err_msg=each.quantity)
        known = [(v, float(Fraction(p))) for v, p in zip(values, SHARES, strict=True) if not math.isnan(v)]
        mean = sum(v * p for v, p in known) / sum(p for _, p in known) if known else math.nan
        assert each.mean == pytest.approx(mean, abs=1e-12, nan_ok=True)
        assert each.undefined == pytest.approx(1 - sum(p for _, p in known), abs=1e-12)
    for subject in range(truth.cluster_count):
        slopes = [float(result.risk_slope[subject]) for result in alone]
        ends = [found.risk_slope_low[subject], found.risk_slope_high[subject]]
        np.testing.assert_allclose(
            ends, [least_reaching(slopes, Fraction(*q)) for q in ((1, 20), (19, 20))], atol=1e-12
        )
        now = [float(result.linked0[subject]) for result in alone]
        ends = [found.linked0_low[subject], found.linked0_high[subject]]
        np.testing.assert_allclose(ends, [least_reaching(now, Fraction(*q)) for q in ((1, 20), (19, 20))], atol=1e-12)
        chance = sum(float(Fraction(p)) * bool(r.breached[subject]) for r, p in zip(alone, SHARES, strict=True))
        assert found.breached_probability[subject] == pytest.approx(chance, abs=1e-12)


def test_a_view_that_fills_several_tables_gives_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    truth = Partition.from_labels(rng.integers(0, 9, 40))
    view = View([Partition.from_labels(rng.integers(0, 7, 40)) for _ in range(7)], ["1/7"] * 7)
    weights = {(int(rng.integers(9)), int(item)): 0.5 for item in range(0, 40, 3)}
    results = []
    for most in (1 << 22, 85):
        monkeypatch.setattr(_contingency, "ITEMS_AT_ONCE", most)
        results.append(
            (unlinkability(view, truth, weights=weights), over_views(view, truth), partition_distances(view, truth))
        )
    (one, over_one, far_one), (other, over_other, far_other) = results
    for name in ("miss", "include", "linked", "mixed", "risk_slope", "others", "others_evenness", "related"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12, err_msg=name)
    assert over_one.ranges == over_other.ranges
    assert far_one == far_other


def test_a_quantile_takes_the_first_value_that_reaches_the_level() -> None:
    values = np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 5.0]])
    shares = np.array([0.1, 0.5, 0.4])
    assert quantile(values, shares, Fraction(1, 2)).tolist() == [1.0, 1.0]
    assert quantile(values, shares, Fraction(9, 10)).tolist() == [2.0, 5.0]
