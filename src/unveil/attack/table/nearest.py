"""Which original row does a released row come from? One of the nearest, or each the more likely the nearer it is."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.attack._listing import attack
from unveil.attack.table._candidate_boxes import Sets, beliefs_of_sets
from unveil.attack.table._scores import Scored, candidates_of_scores, check_share, drawn_rows, least_kept
from unveil.attack.table.record_linkage import check_settings, compared, neighbours_of
from unveil.data.table import Table
from unveil.data.table.encode import LAST_MARKER
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, whole_number
from unveil.guess.beliefs import Beliefs
from unveil.guess.candidates import Candidates

SOURCE = "Domingo-Ferrer and Torra (2001), distance-based record linkage"
# So many pairs are weighed at a time.
_AT_A_TIME = 2**21


@attack(source=SOURCE, aka=("nearest-record", "distance-based-linkage"))
@dataclass(frozen=True, kw_only=True)
class Nearest:
    """An adversary who is sure that a released row comes from one of the original rows nearest to it.

    All belief is on the set of the ``k`` nearest original rows together with all that are as near as the last of them:
    with one and no ties that is a single row. The sets are those of `RecordLinkage`, which bets on their members
    alike; this one says no more than that it is one of them. Masking may well have moved another row nearer, so
    whether the guess is valid has to be tested.

    Parameters
    ----------
    columns
        The columns to compare; None for all that both tables have and the adversary knows.
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
        """Return the belief in the nearest original rows of each released row; ``rng`` is not needed."""
        original, masked = compared(knowledge.records, released, self.columns)
        size = len(original.numbers)
        if self.k > size:
            raise InputError(
                f"k must be at most the number of original rows, but is {self.k}, and there are {size}. "
                f"Lower it to {size} or less"
            )
        found = neighbours_of(original, masked, self.k)
        count = np.diff(found.start)
        rows = found.row[np.lexsort((found.row, np.repeat(np.arange(count.size), count)))]
        return beliefs_of_sets(size, Sets(found.start, rows, np.arange(count.size)))


@attack(source=SOURCE, aka=("distance-softmax",))
@dataclass(frozen=True, kw_only=True)
class Softmax:
    """An adversary who trusts each original row the more the nearer it is: in proportion to ``exp(-d² / 2s²)``.

    d² is the sum over the columns of the squared difference in standard deviations of the original column; a different
    category counts 1, and so does a value that only one of the two rows has. A constant column never differs. For
    independent normal noise of s standard deviations, and numbers only, this is just what Bayes' rule says; for any
    other masking it is a way to vote, and whether it is valid has to be tested.

    Parameters
    ----------
    columns
        The columns to compare; None for all that both tables have and the adversary knows.
    s
        How far a released value may well be from the original one, in standard deviations; above 0.
    least
        Candidates whose weight is less than this share of the target's largest are left out. None leaves out none
        where there are up to four million pairs, and those below a billionth beyond.
    targets
        How many released rows are attacked, drawn by lot; None for all.

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
            raise InputError(f"s must be a finite number above 0, but is {self.s}. Correct it")

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:
        """Return how far each original row is trusted, for each released row; ``rng`` draws the targets."""
        original, masked = compared(knowledge.records, released, self.columns)
        rows = drawn_rows(np.column_stack([masked.numbers, masked.codes]), self.targets, rng)
        numbers = [
            (*_standardised(known, seen[rows]), known, seen[rows])
            for known, seen in zip(original.numbers.T, masked.numbers.T, strict=True)
        ]
        codes = [(known, seen[rows]) for known, seen in zip(original.codes.T, masked.codes.T, strict=True)]
        size = len(original.numbers)
        parts = self._scored(numbers, codes, rows.size, size)
        everybody = rows.size == len(masked.numbers)
        return candidates_of_scores(
            parts, rows.size, least=least_kept(self.least, rows.size * size), targets=None if everybody else rows
        )

    def _scored(
        self,
        numbers: list[tuple[FloatArray, FloatArray, IntArray, IntArray]],
        codes: list[tuple[Int32Array, Int32Array]],
        count: int,
        size: int,
    ) -> Iterator[Scored]:
        at_a_time = max(1, _AT_A_TIME // size)
        for begin in range(0, count, at_a_time):
            end = min(begin + at_a_time, count)
            apart = np.zeros((end - begin, size))
            for known, seen, marker, other in numbers:
                both = seen[begin:end, None] - known
                apart += np.where(np.isnan(both), other[begin:end, None] != marker, both * both)
            for code, own in codes:
                apart += own[begin:end, None] != code
            target, candidate = np.divmod(np.arange(apart.size), size)
            yield Scored(target + begin, candidate, apart.ravel() / (-2 * self.s * self.s))


def _standardised(known: IntArray, seen: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return original and released values in standard deviations of the original ones; NaN where missing."""
    values = [np.where(part <= LAST_MARKER, np.nan, part) for part in (known, seen)]
    there = values[0][~np.isnan(values[0])]
    spread = float(there.std()) if there.size else 0.0
    return (values[0] / spread, values[1] / spread) if spread else (values[0] * 0, values[1] * 0)
