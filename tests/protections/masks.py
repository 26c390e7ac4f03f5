"""What the tests of masks share: every one of them, and their true probabilities."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tests.protections.tables import applied, truth_of
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.guesses.candidates import Candidates
from unveil.guesses.posterior import record_level_truth
from unveil.protections import PROTECTIONS, Protection, TableProtection

#: Every mask: it changes cells of columns that can be named, and knows the true probability of each row.
MASKS = [one for one in PROTECTIONS.values() if one.kind == "masked" and "columns=none" in one.settings]


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


def release_with(mask: TableProtection, original: Table, seed: int = 1) -> Release:
    release = applied(mask, original, seed)
    assert release.kind == "masked"
    assert release.mechanism is not None
    return release


def quick(mask: Protection, **settings: object) -> TableProtection:
    """Return the mask, with few simulations of its true probability where it makes any."""
    few = {"draws": 40} if "draws=none" in mask.settings else {}
    made: TableProtection = mask.make(**{**few, **settings})
    return made
