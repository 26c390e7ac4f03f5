"""The likeliest curve of twins, beside the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import twins as oracle
from unveil.metrics.verdict.copies import twin_curve

records = st.lists(st.tuples(st.integers(-12, 1), st.booleans(), st.booleans()), min_size=2, max_size=12)


@given(records)
def test_no_curve_is_likelier(drawn: list[tuple[int, bool, bool]]) -> None:
    # Whole logarithms, so that nothing is rounded.
    expected = np.exp(np.array([log for log, *_ in drawn], np.float64))
    has_twin, impossible = (np.array([each[at] for each in drawn]) for at in (1, 2))
    found = twin_curve(expected, has_twin, impossible)
    both = sum(twin and rare for _, twin, rare in drawn)
    assert found.anyhow == both / max(1, sum(rare for *_, rare in drawn))
    if not has_twin.any():
        assert found.number(expected).tolist() == [0.0] * len(drawn)
    elif has_twin.all():
        assert found.number(expected).min() > 30
    else:
        mine = oracle.log_likelihood(expected.tolist(), has_twin.tolist(), found.log_factor, found.exponent)
        assert mine >= oracle.best(expected.tolist(), has_twin.tolist()) - 1e-6
        curve = np.exp(found.log_factor) * expected**found.exponent
        assert found.number(expected) == pytest.approx(curve + found.anyhow)
