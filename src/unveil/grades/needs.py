"""Criteria that a suite must meet.

Zhao and Wagner (2.4, 7.2) name four of them and ask of suites that they tick them: the attacker's chance of success,
the level of privacy and where it may be broken, the resources that the attacker still needs, and several aspects of
privacy. The first three are facts of each metric; a suite has several aspects if its metrics have several categories.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray
from unveil.errors import InputError, did_you_mean, shortened
from unveil.metrics import METRICS, Metric

#: Criteria of one metric, by how they are asked for.
TICKS: Mapping[str, Callable[[Metric], bool]] = MappingProxyType(
    {
        "chance": lambda metric: metric.chance_of_success,
        "level": lambda metric: metric.level_and_potential,
        "resources": lambda metric: metric.resources,
    }
)
#: The criterion of several metrics together.
ASPECTS = "aspects"
NEEDS: tuple[str, ...] = (*TICKS, ASPECTS)
#: A metric with less weight than this ticks nothing for its suite.
LEAST_WEIGHT = 0.05


def checked_needs(needs: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct criteria, or reject unknown ones.

    >>> checked_needs(["resources", "chance", "resources"])
    ('resources', 'chance')
    """
    for need in needs:
        if need not in NEEDS:
            raise InputError(
                f"a suite can need {', '.join(NEEDS)}, but {shortened(need)} is none of these."
                f"{did_you_mean(need, NEEDS) or ' Choose among them'}"
            )
    return tuple(dict.fromkeys(needs))


def ticking(weights: FloatArray, metrics: Sequence[str], needs: Sequence[str]) -> BoolArray:
    """Return which suites meet all criteria, from weights [suite, metric].

    >>> ticking(np.array([[0.5, 0.5], [0.0, 1.0]]), ["entropy", "adversary_success_rate"], ["chance", "resources"])
    array([ True, False])
    """
    there = weights >= LEAST_WEIGHT - 1e-9
    fine = np.ones(len(weights), np.bool_)
    for need in needs:
        if need == ASPECTS:
            kinds = np.array([METRICS[name].aspect for name in metrics])
            fine &= sum((there[:, kinds == kind].any(axis=1).astype(int) for kind in set(kinds.tolist())), 0 * fine) > 1
        else:
            fine &= there[:, [TICKS[need](METRICS[name]) for name in metrics]].any(axis=1)
    return fine


def lacking(metrics: Sequence[str], needs: Sequence[str]) -> tuple[str, ...]:
    """Return what no suite of these metrics can tell.

    >>> lacking(["incorrectness", "adversary_success_rate"], ["chance", "resources"])
    ('resources',)
    """
    return tuple(need for need in needs if not ticking(np.ones((1, len(metrics))), metrics, [need])[0])
