"""Distance-based re-identification: the nearest original rows, or a softmax."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from unveil._kernels.cells.nearest_boxes import item_gaps
from unveil._kernels.cells.neighbours import people_around
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.table._candidate_boxes import CandidateSets, beliefs_of_sets
from unveil.attacks.table._scores import ScoredPairs, candidates_of_scores, check_share, drawn_rows, least_kept
from unveil.attacks.table.record_linkage import check_settings, compared, neighbours_of
from unveil.data.table import Table
from unveil.data.table.encode import LAST_MARKER, EncodedTable
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, whole_number
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import Candidates

#: The squared differences in one column of some targets, a line each, from all original rows.
Squares = Callable[[slice], FloatArray]

SOURCE = "Domingo-Ferrer and Torra (2001), distance-based record linkage"
# This many pairs are weighed at a time.
_AT_A_TIME = 2**21


@attack(source=SOURCE, aka=("nearest-record", "distance-based-linkage"))
@dataclass(frozen=True, kw_only=True)
class Nearest:
    """Take the nearest original rows as the candidates.

    All belief is on the set of the ``k`` nearest original rows together with all that are as near as the last of them:
    with one and no ties that is a single row. The sets are those of `RecordLinkage`, which bets on their members
    alike; this one says no more than that it is one of them. Masking may well have moved another row nearer, so
    whether the guess is valid has to be tested.

    Parameters
    ----------
    columns
        The columns to compare; None for all that both tables have and the attacker knows.
    k
        How many of the nearest original rows are held possible; at most as many as there are.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [25, 30, 28]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [29, 24]}), name="released")
    >>> guess = Nearest().run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    >>> [mass.sets for mass in guess.each]
    [(array([1, 2]),), (array([0]),)]
    """

    columns: tuple[str, ...] | None = None
    k: int = 1

    def __post_init__(self) -> None:
        check_settings(self.columns, 1, None)
        whole_number(self.k, "k")

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs:  # noqa: ARG002
        """Return the belief in the nearest original rows.

        ``rng`` is not needed.
        """
        original, masked = compared(knowledge.records, released, self.columns)
        size = len(original.numbers)
        if self.k > size:
            raise InputError(f"k is {self.k}, but there are {size} original rows. Lower it to {size} or less")
        found = neighbours_of(original, masked, self.k)
        count = np.diff(found.start)
        rows = found.row[np.lexsort((found.row, np.repeat(np.arange(count.size), count)))]
        return beliefs_of_sets(size, CandidateSets(found.start, rows, np.arange(count.size)))


@attack(source=SOURCE, aka=("distance-softmax",))
@dataclass(frozen=True, kw_only=True)
class Softmax:
    """Weigh original rows by distance, in proportion to ``exp(-d² / 2s²)``.

    d² is the sum over the columns of the squared difference in standard deviations of the original column; a different
    category counts 1, and so does a value that only one of the two rows has. A constant column never differs. From a
    cell that stands for several values the difference is the gap to the nearer end, none inside. For
    independent normal noise of s standard deviations, and numbers only, this is just what Bayes' rule says; for any
    other masking it is a way to vote, and whether it is valid has to be tested.

    Parameters
    ----------
    columns
        The columns to compare; None for all that both tables have and the attacker knows.
    s
        How far a released value may well be from the original one, in standard deviations; above 0.
    least
        Candidates whose weight is less than this share of the target's largest are left out. None leaves out none
        where there are up to four million pairs, and those below a billionth beyond.
    targets
        How many released rows are attacked, drawn at random; None for all.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [20, 40]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [30, 35]}), name="released")
    >>> guess = Softmax().run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    >>> guess.probability.round(4)
    array([0.5   , 0.5   , 0.2689, 0.7311])
    """

    columns: tuple[str, ...] | None = None
    s: float = 1.0
    least: float | None = None
    targets: int | None = None

    def __post_init__(self) -> None:
        check_settings(self.columns, 1, self.targets)
        check_share("least", self.least)
        if not np.isfinite(self.s) or self.s <= 0:
            raise InputError(f"s is {self.s}; it must be a finite number above 0. Pass such a number")

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:
        """Return candidate probabilities per released row; ``rng`` draws targets."""
        original, masked = compared(knowledge.records, released, self.columns)
        content = np.column_stack([masked.numbers, masked.codes]) if masked.cells is None else masked.cells.of_row.T
        rows = drawn_rows(content.astype(np.int64), self.targets, rng)
        columns = (
            _exact_columns(original, masked, rows) if masked.cells is None else _coarse_columns(original, masked, rows)
        )
        size = len(original.numbers)
        parts = self._scored(columns, rows.size, size)
        everybody = rows.size == len(masked.numbers)
        return candidates_of_scores(
            parts, rows.size, at_least=least_kept(self.least, rows.size * size), targets=None if everybody else rows
        )

    def _scored(self, columns: list[Squares], count: int, size: int) -> Iterator[ScoredPairs]:
        at_a_time = max(1, _AT_A_TIME // size)
        for begin in range(0, count, at_a_time):
            some = slice(begin, min(begin + at_a_time, count))
            apart = sum((squares(some) for squares in columns), np.zeros((some.stop - begin, size)))
            target, candidate = np.divmod(np.arange(apart.size), size)
            yield ScoredPairs(target + begin, candidate, apart.ravel() / (-2 * self.s * self.s))


def _exact_columns(original: EncodedTable, masked: EncodedTable, rows: IntArray) -> list[Squares]:
    """Return each column's squared differences between targets and original rows."""

    def of_numbers(known: IntArray, seen: IntArray) -> Squares:
        one, other = _standardized(known, seen)

        def squares(some: slice) -> FloatArray:
            both = other[some, None] - one
            return np.where(np.isnan(both), seen[some, None] != known, both * both)

        return squares

    def of_codes(known: Int32Array, seen: Int32Array) -> Squares:
        return lambda some: (seen[some, None] != known).astype(np.float64)

    numbers = zip(original.numbers.T, masked.numbers[rows].T, strict=True)
    codes = zip(original.codes.T, masked.codes[rows].T, strict=True)
    return [*(of_numbers(*pair) for pair in numbers), *(of_codes(*pair) for pair in codes)]


def _coarse_columns(original: EncodedTable, masked: EncodedTable, rows: IntArray) -> list[Squares]:
    """Return the same for cells that stand for several values."""
    if masked.cells is None:
        return []
    around = people_around(masked.cells, original.grid(), rows)
    comparison = around.comparison

    def of_column(column: int) -> Squares:
        line, place = comparison.targets.item[column][around.target_of], comparison.rows.item[column][around.row_of]
        mine, line = np.unique(line, return_inverse=True)
        theirs, place = np.unique(place, return_inverse=True)
        gap, never = item_gaps(comparison, column, mine.astype(np.int32), theirs.astype(np.int32))
        far = never.astype(np.float64)
        if column < original.numbers.shape[1]:
            spread = _spread(original.numbers[:, column])
            far = np.where(never, 1.0, (gap / spread) ** 2 if spread else 0.0)
        return lambda some: far[line[some]][:, place]

    return [of_column(column) for column in range(len(comparison.targets.item))]


def _spread(values: IntArray) -> float:
    there = values[values > LAST_MARKER]
    return float(there.astype(np.float64).std()) if there.size else 0.0


def _standardized(known: IntArray, seen: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return values in standard deviations of the original; NaN if missing."""
    values = [np.where(part <= LAST_MARKER, np.nan, part) for part in (known, seen)]
    spread = _spread(known)
    return (values[0] / spread, values[1] / spread) if spread else (values[0] * 0, values[1] * 0)
