"""What the tests of masks share: every one of them, which tables they refuse, and their true probabilities."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tests.protect.tables import applied, truth_of
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.guess.candidates import Candidates
from unveil.guess.posterior import record_level_truth
from unveil.protect import Protects
from unveil.protect.table.additive_noise import AdditiveNoise
from unveil.protect.table.correlated_noise import CorrelatedNoise
from unveil.protect.table.generalization import Generalization
from unveil.protect.table.microaggregation import Microaggregation
from unveil.protect.table.mondrian import Mondrian
from unveil.protect.table.pram import Pram
from unveil.protect.table.rank_swapping import RankSwapping
from unveil.protect.table.rank_swapping_variants import RankSwappingBuckets, RankSwappingDistribution
from unveil.protect.table.suppression import Suppression
from unveil.protect.table.univariate_microaggregation import UnivariateMicroaggregation

MASKS: dict[str, Any] = {
    "additive-noise": AdditiveNoise,
    "correlated-noise": CorrelatedNoise,
    "generalization": Generalization,
    "microaggregation": Microaggregation,
    "mondrian": Mondrian,
    "pram": Pram,
    "rank-swapping": RankSwapping,
    "rank-swapping-buckets": RankSwappingBuckets,
    "rank-swapping-distribution": RankSwappingDistribution,
    "suppression": Suppression,
    "univariate-microaggregation": UnivariateMicroaggregation,
}

#: Masks for numbers only.
NUMERIC = {"additive-noise", "correlated-noise", "microaggregation", "univariate-microaggregation"}
#: Masks that show other values than those the column had.
NEW_VALUES = NUMERIC | {"generalization", "mondrian"}
#: Masks with a least size of a group, 3 unless told.
GROUPING = {"generalization", "microaggregation", "mondrian", "univariate-microaggregation"}


def refuses(name: str, original: Table) -> bool:
    """Return whether a mask, as it is by default, cannot be used on a table."""
    frame = original.frame
    kinds = {column.name: column.kind for column in original.columns if column.role != "identifier"}
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    filled = [frame[column].len() - frame[column].null_count() for column in numbers]
    moving = [column for column in numbers if frame[column].drop_nulls().n_unique() > 1]
    whole = frame[moving].drop_nulls() if moving else frame
    return bool(
        (name in NUMERIC and not numbers)
        or (name in GROUPING and original.rows < 3)
        or (name == "microaggregation" and min(filled, default=0) < original.rows)
        or (name == "univariate-microaggregation" and any(0 < values < 3 for values in filled))
        or (name == "pram" and not {"category", "ordered", "boolean"} & set(kinds.values()))
        or (name == "correlated-noise" and any(whole[column].n_unique() < 2 for column in moving))
    )


def posterior(release: Release, columns: list[str] | None = None) -> NDArray[np.float64]:
    """Return the true probabilities, one line per released row, one column per original row."""
    assert release.mechanism is not None
    original, released = release.original, release.released
    if columns is not None:
        original, released = original.select(columns), released.select(columns)
    return dense(record_level_truth(release.mechanism, original, released), original.rows)


def dense(guess: Candidates, candidates: int) -> NDArray[np.float64]:
    matrix = np.zeros((guess.target_count, candidates))
    matrix[np.repeat(np.arange(guess.target_count), np.diff(guess.start)), guess.candidate] = guess.probability
    return matrix


def aligned(release: Release) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the original and the released rows of the same people, line by line."""
    return release.original.frame[truth_of(release)], release.released.frame


def is_even_over(probability: NDArray[np.float64], members: NDArray[np.bool_]) -> None:
    """Check that each line is even over its members."""
    np.testing.assert_allclose(probability, members / members.sum(axis=1, keepdims=True), atol=1e-12)


def release_with(mask: Protects, original: Table, seed: int = 1) -> Release:
    release = applied(mask, original, seed)
    assert release.kind == "masked"
    assert release.mechanism is not None
    return release
