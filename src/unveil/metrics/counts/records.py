"""Precision of an attacker who lists existing records by confidence."""

import math

from unveil._kernels.types import IntArray
from unveil.guesses.cell_intervals import RankedRecords
from unveil.metrics._listing import metric


@metric(
    category="counts", per="release", more_means="less private", bounds=(0.0, 1.0), source="Dick et al. (2023)",
    chance_of_success=True,
)  # fmt: skip
def record_precision(guess: RankedRecords, truth: IntArray, *, first: int | None = None) -> float:
    """Return the precision of the first records, 0 to 1.

    Formula: ``records among the first n that exist / n``, where n is as many as exist by default. 0 means that no
    person has any of them; 1 means that each is a person's. Ranking by margins alone gets a share right too, which
    belongs next to it. NaN where there are fewer than n records, or n is 0.

    Parameters
    ----------
    guess
        The records, the surest first.
    truth
        How many people are in each cell.
    first
        How many of the first records are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> guess = RankedRecords(cells=[2, 0, 1], confidence=[1.0, 0.5, 0.1], is_certain=[True, False, False])
    >>> record_precision(guess, np.array([0, 4, 1])), record_precision(guess, np.array([0, 4, 1]), first=1)
    (0.5, 1.0)
    """
    there = truth[guess.cells] > 0
    number = int(there.sum()) if first is None else first
    return float(there[:number].mean()) if 0 < number <= there.size else math.nan
