"""Where the values of nodes lie: for each metric, the case that uses most of its range and the one that uses least."""

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.grades.evenness import constant, over_all_cases
from unveil.grades.nodes import NodeSketches
from unveil.questions.grade_metrics.findings import NodeSpan, Span

_QUARTILES = (0.25, 0.5, 0.75)
#: A whisker is at most so many times as long as the box.
_WHISKER = 1.5


def spans_of(nodes: NodeSketches) -> tuple[Span, ...]:
    """Return the spans of all metrics that vary, the one whose narrowest case uses most of its range first."""
    lowest, highest = nodes.ranges()
    low, high = (each[0] for each in over_all_cases(lowest, highest))
    still = constant(low, high)
    found = []
    for column, name in enumerate(nodes.values.metrics):
        with_values = np.flatnonzero(nodes.count[:, column].sum(axis=1))
        if still[column] or not with_values.size:
            continue
        width = (highest - lowest)[with_values, column]
        ends = {"lowest": float(low[column]), "highest": float(high[column])}
        one, other = (
            _in_case(nodes, int(with_values[place]), column, **ends) for place in (width.argmax(), width.argmin())
        )
        found.append(Span(metric=name, widest=one, narrowest=other, **ends))
    return tuple(sorted(found, key=lambda each: each.narrowest.lowest - each.narrowest.highest))


def _in_case(nodes: NodeSketches, case: int, column: int, *, lowest: float, highest: float) -> NodeSpan:
    width = highest - lowest
    there = nodes.count[case, column] > 0
    count = int(nodes.count[case, column].sum())
    blocks, weights = nodes.pooled(case, column)
    ends = np.array([nodes.lowest[case, column, there].min(), nodes.highest[case, column, there].max()])
    low, high = ((ends - lowest) / width).tolist()
    quartiles = weighted_quantiles(blocks, weights, _QUARTILES)
    # Means of blocks may lie beyond the ends by rounding. The box itself is there too: a whisker begins at it.
    known = np.clip((np.concatenate([blocks, quartiles, ends]) - lowest) / width, low, high)
    first, median, third = known[blocks.size : blocks.size + quartiles.size].tolist()
    length = _WHISKER * (third - first)
    within = known[(known >= first - length) & (known <= third + length)]
    return NodeSpan(
        case=case,
        lowest=low,
        quartiles=(first, median, third),
        whiskers=(float(within.min()), float(within.max())),
        highest=high,
        mean=(float(nodes.total[case, column].sum()) / count - lowest) / width,
        count=count,
    )


def weighted_quantiles(values: FloatArray, weights: FloatArray, shares: tuple[float, ...]) -> FloatArray:
    """Return the values below which these shares of all weight lie, for values in ascending order.

    Each value stands in the middle of its weight, and between two of them lie straight lines.

    >>> weighted_quantiles(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0]), (0.5,))
    array([2.])
    """
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()
    return np.interp(shares, middle, values)
