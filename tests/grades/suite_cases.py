"""Small replicated values, given and drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.metrics import METRICS

#: Two that should rise with the adversary's strength and two that should fall.
NAMES = ("pearson_correlation", "normalized_variance", "adversary_overall_success", "incorrectness")


def cases_of(number: int) -> tuple[GradedCase, ...]:
    """Return cases of which two in a row are one attack, on each of three data sets in turn."""
    return tuple(
        GradedCase(f"data{k // 2 % 3}", "none", f"attack{k // 6}", ("seeds", "overlap")[k % 2]) for k in range(number)
    )


def replicated(
    values: ArrayLike, metrics: Sequence[str] = NAMES, cases: Sequence[GradedCase] | None = None, **changes: Any
) -> ReplicatedMetrics:
    """Return values by case, metric, level and replication, with the direction each metric has."""
    numbers = np.array(values, float)
    names = tuple(metrics[: numbers.shape[1]])
    told: dict[str, Any] = {
        "cases": tuple(cases or cases_of(len(numbers))),
        "metrics": names,
        "levels": (tuple(range(numbers.shape[2])),) * len(numbers),
        "values": numbers,
        "rising": np.array([METRICS[name].more_means == "less private" for name in names]),
    }
    return ReplicatedMetrics(**(told | changes))


@st.composite
def drawn(draw: st.DrawFn, *, positive: bool = False) -> ReplicatedMetrics:
    """Draw few values, of few sizes so that there are ties, and with zeros, negative and undefined ones among them."""
    shape = tuple(draw(st.integers(1, most)) for most in (4, 4, 4, 3))
    plain = st.integers(1 if positive else -3, 12).map(lambda number: number / 4)
    number = plain if positive else st.one_of(plain, plain, st.just(np.nan))
    size = int(np.prod(shape))
    return replicated(np.reshape(draw(st.lists(number, min_size=size, max_size=size)), shape))
