"""Values of nodes, pooled over the replications of a scenario, and kept as a sketch of each metric."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.sketches import BLOCKS, Sketch, means_of_runs, sketch_of
from unveil._kernels.types import FloatArray
from unveil.study._parts import leaves_trials

if TYPE_CHECKING:
    import polars as pl

    from unveil.study.plan import Study
    from unveil.study.scenario import Scenario

#: The folder of a study that holds them.
NODES = "nodes"
#: What is kept of each metric beside the scenario; see :class:`unveil._kernels.sketches.Sketch`.
COLUMNS = ("metric", *(each.name for each in fields(Sketch)))

# A scenario of many replications must not need more memory than one of few: from here on values are kept by the means
# of short runs, of which there are so many that the blocks hardly differ.
_MOST = 1 << 18
_RUNS = 1 << 14


def keeps_nodes(study: "Study") -> bool:
    """Return whether a study keeps values of nodes: unless it says no, or its attacks count hits on people."""
    return study.node_values and not leaves_trials(study.attacks[0])


@dataclass
class NodeValues:
    """The values of one metric that came so far: exact while there are few, extremes and sums exact always."""

    values: list[FloatArray] = field(default_factory=list)
    weights: list[FloatArray] = field(default_factory=list)
    parts: list[Sketch] = field(default_factory=list)
    held: int = 0

    def add(self, values: FloatArray) -> None:
        """Take the values of one more replication; those that are undefined are left out."""
        known = values[np.isfinite(values)]
        if known.size == 0:
            return
        self.parts.append(sketch_of(known, blocks=1))
        self.values.append(known)
        self.weights.append(np.ones(known.size))
        self.held += known.size
        if self.held > _MOST:
            value, weight = means_of_runs(*self._ordered(), _RUNS)
            self.values, self.weights, self.held = [value], [weight], value.size

    def sketch(self) -> Sketch:
        """Return the sketch of all of them."""
        if not self.parts:
            return sketch_of([])
        return Sketch(
            sum(each.count for each in self.parts),
            min(each.lowest for each in self.parts),
            max(each.highest for each in self.parts),
            float(sum(each.sum for each in self.parts)),
            float(sum(each.squares for each in self.parts)),
            means_of_runs(*self._ordered(), BLOCKS)[0].astype(np.float32),
        )

    def _ordered(self) -> tuple[FloatArray, FloatArray]:
        value, weight = np.concatenate(self.values), np.concatenate(self.weights)
        order = np.argsort(value, kind="stable")
        return value[order], weight[order]


def frame_of_nodes(scenario: "Scenario", sketches: Mapping[str, Sketch]) -> "pl.DataFrame":
    """Return a row for each metric that has a value, with the columns of the scenario before those of the sketch."""
    import polars as pl

    some = {name: each for name, each in sketches.items() if each.count}
    told = {"data": scenario.data.name, "protect": scenario.protect, "attack": scenario.attack, "axis": scenario.axis}
    every = [pl.Series(name, [value] * len(some), pl.String) for name, value in told.items()]
    every.append(pl.Series("level", [scenario.level] * len(some), pl.Float64))
    every.append(pl.Series("metric", list(some), pl.String))
    every.append(pl.Series("count", [each.count for each in some.values()], pl.UInt64))
    every += [
        pl.Series(name, [getattr(each, name) for each in some.values()], pl.Float64)
        for name in ("lowest", "highest", "sum", "squares")
    ]
    blocks = [each.blocks.tolist() for each in some.values()]
    every.append(pl.Series("blocks", blocks, pl.List(pl.Float32)))
    return pl.DataFrame(every)
