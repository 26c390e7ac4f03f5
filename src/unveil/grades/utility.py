"""Utility loss of releases by protection strength, graded like metrics.

A measure of loss deserves trust if it shows more loss whenever a protection of the same kind changes more. The axis is
a setting of the protection, from weak to strong, in the place of what an attacker knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.data.graph import Graph
from unveil.errors import InputError, whole_number
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.protections.specification import graph_protection_from

#: What stands in the place of an attack: nobody attacks.
NOBODY = "no attack"


@dataclass(frozen=True)
class Strength:
    """A protection of graphs with one setting that makes it stronger.

    Attributes
    ----------
    protection, setting
        How the protection is written without the setting, and the setting.
    values
        The setting from weak to strong: k and shares rise, a budget epsilon falls.
    """

    protection: str
    setting: str
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        steps = np.diff(self.values)
        if len(self.values) < 2 or not ((steps > 0).all() or (steps < 0).all()):
            raise InputError(
                f"the values of {self.setting} must rise or fall from weak to strong, two of them at least, but are "
                f"{', '.join(f'{value:g}' for value in self.values)}. Sort them"
            )

    @property
    def falls(self) -> bool:
        """True if smaller values protect more, as with ε."""
        return self.values[0] > self.values[-1]

    @property
    def levels(self) -> tuple[float, ...]:
        """Strengths in increasing order: the values or their inverses."""
        return tuple(1 / value for value in self.values) if self.falls else self.values

    def written(self, value: float) -> str:
        """Return how the protection is written with a value.

        >>> Strength("switch", "share", (0.05, 0.1)).written(0.05)
        'switch:share=0.05'
        """
        return f"{self.protection}{',' if ':' in self.protection else ':'}{self.setting}={value:g}"


def utility_values(
    graphs: Mapping[str, Graph], strengths: Sequence[Strength], *, replications: int, rng: np.random.Generator
) -> ReplicatedMetrics:
    """Return utility losses of graph releases by strength and replication.

    A case is a graph and a protection, all measures should rise, and each release is made anew from random numbers of
    its own. A loss that is undefined is NaN.

    Examples
    --------
    Switching more of the edges of a graph loses more of them, surely.

    >>> from unveil.data.samples import graph
    >>> from unveil.grades.monotonicity import monotonicity
    >>> found = utility_values({"sample": graph()}, [Strength("switch", "share", (0.02, 0.1, 0.4))],
    ...                        replications=3, rng=np.random.default_rng(1))
    >>> round(float(monotonicity(found).score[0, found.metrics.index("edge_difference")]), 3)
    0.833
    """
    from unveil.metrics import METRICS
    from unveil.metrics.graphs.utility import graph_utility

    whole_number(replications, "replications", at_least=2)
    names = tuple(name for name, each in METRICS.items() if each.on == "GraphRelease" and each.category == "utility")
    cases = [(data, strength) for data in graphs for strength in strengths]
    values: FloatArray = np.full(
        (len(cases), len(names), max(len(each.values) for each in strengths), replications), np.nan
    )
    for row, (data, strength) in enumerate(cases):
        for level, value in enumerate(strength.values):
            protection = graph_protection_from(strength.written(value))
            for turn, own in enumerate(rng.spawn(replications)):
                lost = graph_utility(protection.apply(graphs[data], rng=own))
                values[row, :, level, turn] = [each.value for each in lost]
    return ReplicatedMetrics(
        cases=tuple(
            GradedCase(data, each.protection, NOBODY, f"1/{each.setting}" if each.falls else each.setting)
            for data, each in cases
        ),
        metrics=names,
        levels=tuple(strength.levels for _, strength in cases),
        values=values,
        rising=np.ones(len(names), np.bool_),
    )
