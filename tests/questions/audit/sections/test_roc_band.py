import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from unveil.questions.audit.sections.membership import chance_band


@given(st.integers(20, 400), st.integers(20, 400), st.data())
def test_the_band_is_that_of_random_labels(members: int, others: int, data: st.DataObject) -> None:
    flagged = data.draw(st.integers(1, others - 1))
    exact = betabinom(members, flagged, others + 1 - flagged)
    low, high = chance_band(np.array([flagged / (others + 1)]), members, others)
    # It is that of a smooth distribution, so it may be off by a few members near 0 and 1.
    slack = 4 / members
    assert exact.ppf(0.025) / members - slack <= low[0] <= exact.ppf(0.025) / members + slack
    assert exact.ppf(0.975) / members - slack <= high[0] <= exact.ppf(0.975) / members + slack


def test_random_labels_stay_in_the_band() -> None:
    rng = np.random.default_rng(5)
    members, others = 150, 90
    at = (np.arange(others) + 1) / (others + 1)
    low, high = chance_band(at, members, others)
    inside = []
    for _ in range(400):
        scores = rng.random(members + others)
        thresholds = np.sort(scores[members:])[::-1]
        share = (scores[:members, None] > thresholds).mean(axis=0)
        inside.append((share >= low - 1 / members) & (share <= high + 1 / members))
    assert np.mean(inside) == pytest.approx(0.96, abs=0.02)
