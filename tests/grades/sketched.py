"""Values of nodes that were never computed, and what a study would have kept of them."""

from collections.abc import Mapping
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from unveil._kernels.sketches import sketch_of
from unveil._kernels.types import FloatArray
from unveil.grades.nodes import NodeSketches
from unveil.grades.replicated_metrics import ReplicatedMetrics

#: The values of nodes, by number of the case, metric and number of the level.
Nodes = Mapping[tuple[int, str, int], FloatArray]


def kept(values: ReplicatedMetrics, nodes: Nodes, prefix: str = "") -> Any:
    """Return what stands for a study that kept these values."""
    rows: list[dict[str, Any]] = []
    for (case, metric, level), numbers in nodes.items():
        sketch = sketch_of(numbers)
        if sketch.count:
            told = {**asdict(values.cases[case]), "level": values.levels[case][level], "metric": prefix + metric}
            rows.append({**told, **vars(sketch), "blocks": sketch.blocks.tolist()})
    schema: dict[str, Any] = {
        **dict.fromkeys(("data", "protect", "attack", "axis"), pl.String),
        "level": pl.Float64,
        "metric": pl.String,
        "count": pl.UInt64,
        **dict.fromkeys(("lowest", "highest", "sum", "squares"), pl.Float64),
        "blocks": pl.List(pl.Float32),
    }
    return SimpleNamespace(nodes=pl.DataFrame(rows, schema=schema))


def around_means(values: ReplicatedMetrics, metrics: tuple[str, ...], *, nodes: int = 150, seed: int = 5) -> Nodes:
    """Return values of nodes around the means of each level, some of them undefined."""
    rng = np.random.default_rng(seed)
    found = {}
    for case in range(len(values.cases)):
        for metric in metrics:
            for level in range(len(values.levels[case])):
                mean = values.means[case, values.metrics.index(metric), level]
                numbers = mean + rng.normal(0.0, 0.05, nodes)
                numbers[rng.random(nodes) < 0.1] = np.nan
                found[case, metric, level] = numbers
    return found


def node_values(values: ReplicatedMetrics, nodes: Nodes) -> NodeSketches:
    """Return the sketches of these values of nodes."""
    made = NodeSketches.of(values, kept(values, nodes))
    assert made is not None
    return made
