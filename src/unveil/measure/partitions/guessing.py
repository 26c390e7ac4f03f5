"""What random guessing would give: the line an adversary must beat to have learned anything."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.guess import Partition
from unveil.guess.random_partitions import uniform_partition
from unveil.measure.partitions.distances import PartitionDistances, partition_distances
from unveil.measure.partitions.unlinkability import Settings, Unlinkability, unlinkability

# Means over draws settle faster the more items there are, so large data need few draws.
MOST_DRAWS = 20
ITEMS_TO_DRAW = 200_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """Means over adversaries who guess a partition uniformly at random; NaN where no draw has a value."""

    draws: int
    miss: float
    include: float
    normalised_error: float
    risk_slope: float
    breached_share: float
    voi: float
    voi_normalised: float
    rand: float
    adjusted_rand: float
    bcubed_precision: float
    bcubed_recall: float
    mtd: float
    mtd_normalised: float
    linked: FloatArray
    mixed: FloatArray


OVERALL = ("miss", "include", "normalised_error", "risk_slope", "breached_share")
DISTANCES = (
    "voi",
    "voi_normalised",
    "rand",
    "adjusted_rand",
    "bcubed_precision",
    "bcubed_recall",
    "mtd",
    "mtd_normalised",
)


def random_guessing(
    truth: Partition,
    *,
    rng: np.random.Generator,
    draws: int | None = None,
    progress: Callable[[float], None] | None = None,
    **settings: Unpack[Settings],
) -> Reference:
    """Return what uniformly random partitions of the same items would achieve against ``truth``.

    Every set partition of the items is equally likely. ``settings`` are those of :func:`unveil.measure.unlinkability`;
    ``draws`` is 20, fewer beyond 10,000 items.

    >>> truth = Partition.from_labels("aabb")
    >>> 0 <= random_guessing(truth, rng=np.random.default_rng(1)).breached_share <= 1
    True
    """
    draws = draws or min(MOST_DRAWS, max(1, ITEMS_TO_DRAW // truth.n))
    results: list[Unlinkability] = []
    distances: list[PartitionDistances] = []
    for draw in range(draws):
        guess = uniform_partition(truth.n, rng=rng)
        results.append(unlinkability(guess, truth, **settings))
        distances.append(partition_distances(guess, truth))
        if progress:
            progress((draw + 1) / draws)
    figures = {name: _mean([getattr(result.overall, name) for result in results]) for name in OVERALL}
    figures |= {name: _mean([getattr(distance, name) for distance in distances]) for name in DISTANCES}
    return Reference(
        draws=draws,
        linked=_mean_graph([result.overall.linked for result in results]),
        mixed=_mean_graph([result.overall.mixed for result in results]),
        **figures,
    )


def _mean(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def _mean_graph(graphs: list[FloatArray]) -> FloatArray:
    """Return the mean of graphs of different length, each flat after its end."""
    longest = max(graph.size for graph in graphs)
    mean: FloatArray = np.mean([np.pad(graph, (0, longest - graph.size), mode="edge") for graph in graphs], axis=0)
    return mean
