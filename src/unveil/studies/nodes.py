"""Metric values of nodes, pooled over replications as sketches."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.sketches import BLOCKS, ValueSketch, means_of_runs, sketch_of
from unveil._kernels.types import FloatArray
from unveil.studies._parts import leaves_trials

if TYPE_CHECKING:
    from unveil.studies.plan import Study

# A scenario of many replications must not need more memory than one of few: from here on values are kept by the means
# of short runs, of which there are so many that the blocks hardly differ.
_MOST = 1 << 18
_RUNS = 1 << 14


def keeps_nodes(study: "Study") -> bool:
    """Return whether a study stores values of nodes."""
    return study.node_values and not leaves_trials(study.attacks[0])


@dataclass
class NodeValues:
    """Values of one metric: exact if few, else sketched.

    ``runs`` are the means of those that came before ``values``, and how many each stands for.
    """

    values: list[FloatArray] = field(default_factory=list)
    runs: tuple[FloatArray, FloatArray] = field(default_factory=lambda: (np.empty(0), np.empty(0)))
    parts: list[ValueSketch] = field(default_factory=list)

    def add(self, values: FloatArray) -> None:
        """Add the defined values of one replication."""
        known = values[np.isfinite(values)]
        if known.size == 0:
            return
        self.parts.append(sketch_of(known, blocks=1))
        self.values.append(known)
        if sum(each.size for each in self.values) > _MOST:
            self.runs, self.values = means_of_runs(*self._ordered(), _RUNS), []

    def sketch(self) -> ValueSketch:
        """Return the sketch of all of them."""
        if not self.parts:
            return sketch_of([])
        return ValueSketch(
            sum(each.count for each in self.parts),
            min(each.lowest for each in self.parts),
            max(each.highest for each in self.parts),
            float(sum(each.sum for each in self.parts)),
            float(sum(each.squares for each in self.parts)),
            means_of_runs(*self._ordered(), BLOCKS)[0].astype(np.float32),
        )

    def _ordered(self) -> tuple[FloatArray, FloatArray]:
        value = np.concatenate([self.runs[0], *self.values])
        weight = np.concatenate([self.runs[1], np.ones(value.size - self.runs[0].size)])
        order = np.argsort(value, kind="stable")
        return value[order], weight[order]
