"""The grid behind the sliders says what the measure itself says for each policy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.guesses import Partition, View
from unveil.metrics import policy_grid, unlinkability
from unveil.metrics.partitions.policy_grid import ALPHAS

LABELS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("wxyz"), st.sampled_from("wx")), min_size=2, max_size=12
)


@given(LABELS, st.integers(0, 22), st.integers(0, 100), st.booleans(), st.sampled_from(["weight", "literal"]))
def test_every_cell_is_what_unlinkability_gives(
    labels: list[tuple[str, str, str]], a: int, b: int, desirable: bool, norm: str
) -> None:
    truth, first, second = (Partition.from_labels(list(column)) for column in zip(*labels, strict=True))
    view = View([first, second], ["1/4", "3/4"])
    weights = [(k % 4) / 4 for k in range(len(labels))]
    grid = policy_grid(view, truth, contamination_desirable=desirable, weights=weights, norm=norm)  # type: ignore[arg-type]
    result = unlinkability(
        view,
        truth,
        alpha=ALPHAS[a],
        beta=f"{b}/100",
        contamination_desirable=desirable,
        weights=weights,
        norm=norm,  # type: ignore[arg-type]
    )
    assert (grid.alphas[a], grid.betas[b]) == (float(ALPHAS[a]), b / 100)
    np.testing.assert_allclose(grid.linked[a], result.overall.linked, rtol=0, atol=1e-12)
    np.testing.assert_allclose(grid.mixed[a], result.overall.mixed, rtol=0, atol=1e-12)
    assert grid.breached_subjects[a, b] == result.overall.breached_subjects
    assert grid.risk_slope[a, b] == pytest.approx(result.overall.risk_slope, abs=1e-9, nan_ok=True)
