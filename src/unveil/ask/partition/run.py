"""The partition question measured: a guess and a truth in, findings out."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from unveil.ask.partition.findings import PartitionFindings
from unveil.guess import Partition, View
from unveil.measure import fairness, partition_distances, policy_grid, random_guessing, unlinkability
from unveil.measure.partitions.unlinkability import Settings
from unveil.show.progress import Progress


def run(
    guess: Partition | View,
    truth: Partition,
    *,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
    **settings: Unpack[Settings],
) -> PartitionFindings:
    """Return how well each subject of ``truth`` is hidden in ``guess``; see :func:`unveil.partition`."""
    progress("hiding", 0.2)
    result = unlinkability(guess, truth, **settings)
    progress("distances", 0.4)
    distances = partition_distances(guess, truth)
    reference = random_guessing(
        truth, rng=rng, progress=lambda share: progress("guessing", 0.5 + share / 2), **settings
    )
    return PartitionFindings(
        result=result,
        distances=distances,
        fairness=fairness(result),
        grid=policy_grid(
            guess,
            truth,
            contamination_desirable=settings.get("contamination_desirable", False),
            weights=settings.get("weights"),
            norm=settings.get("norm", "weight"),
        ),
        reference=reference,
        weighted=settings.get("weights") is not None,
        notes=tuple(notes),
    )
