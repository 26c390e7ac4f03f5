"""Matching attack: probabilities of items per pseudonym, as a square matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil._kernels.matching.edges import Edges, transposed
from unveil._kernels.matching.hall import maximum_matching, violating_set
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.matrices.square_matrix import SquareMatrix, refuse_shape, square_matrix
from unveil.errors import InputError
from unveil.guesses._entries import frozen
from unveil.guesses._pairing import Names, distinct_names, matching_truth, of_file

if TYPE_CHECKING:
    import os

    from scipy.sparse import csr_array

    from unveil.guesses.candidates import Candidates
    from unveil.guesses.dataflow import Dataflow

__all__ = ["TOLERANCE", "Matching", "matching_truth"]


#: How far from 1 the sum of a row or column of a doubly stochastic matrix may be.
TOLERANCE = 1e-6
# What is built here with at most this many rows is dense, because that is easier to look at and costs nothing.
_SMALL = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Matching:
    """A square weight matrix: rows are items, columns are pseudonyms.

    The attacker holds a one-to-one matching of items and pseudonyms to be likely in proportion to the product of its
    weights. 0 says that a pseudonym cannot be that item. Multiplying a row or a column by a positive number changes
    nothing, so a 0/1 matrix, a doubly stochastic one and any other of nonnegative numbers are read alike.

    The matrix is checked once: square, finite, nowhere negative, and with at least one matching of positive weight.

    Attributes
    ----------
    matrix
        A dense array, or a csr_array where a sparse matrix of scipy was given; read-only. Dense ones have at most
        10,000 rows.
    items, pseudonyms
        The names of rows and columns, each once, or None where they are known by number alone.

    Examples
    --------
    >>> guess = Matching([[0, 1, 1], [1, 1, 0], [1, 1, 1]], items=["Flu", "Cold", "Asthma"])
    >>> guess.n, guess.is_feasibility, guess.is_doubly_stochastic
    (3, True, False)
    """

    matrix: SquareMatrix
    items: Names | None = None
    pseudonyms: Names | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", square_matrix(self.matrix))
        object.__setattr__(self, "items", distinct_names(self.items, self.n, what="items"))
        object.__setattr__(self, "pseudonyms", distinct_names(self.pseudonyms, self.n, what="pseudonyms"))
        refuse_without_perfect_matching(self.matrix, what="the matrix")

    @classmethod
    def from_matrix(
        cls, matrix: Any, *, items: Sequence[Any] | None = None, pseudonyms: Sequence[Any] | None = None
    ) -> "Matching":
        """Return the attack with this dense, sparse, or tabular matrix.

        >>> Matching.from_matrix([[0.5, 0.5], [0.5, 0.5]], pseudonyms=["u", "v"]).is_doubly_stochastic
        True
        """
        return cls(matrix, items, pseudonyms)  # type: ignore[arg-type]

    @classmethod
    def read(cls, path: "str | os.PathLike[str]") -> "Matching":
        """Return the attack in a file: CSV, NPY, NPZ or Matrix Market.

        See :func:`~unveil.data.matrices.matchings.read_matrix`.

        >>> from unveil.data import samples
        >>> Matching.read(samples.path("matching_matrix.csv")).pseudonyms
        ('u', 'v', 'x', 'y', 'z')
        """
        from unveil.data.matrices.matchings import read_matrix

        file = read_matrix(path)
        with of_file(path):
            return cls(*file)

    @classmethod
    def from_candidates(
        cls, candidates: "Candidates", *, unattempted: Literal["refuse", "uniform"] = "refuse"
    ) -> "Matching":
        """Return the attack with the probabilities of candidates.

        This transposes: a target of Candidates is released, so it is a pseudonym and becomes a column; a candidate is
        original, so it is an item and becomes a row. The choices of Candidates are left aside, only its probabilities
        count, except that a target without candidates or with the choice -1 was not attempted.

        Parameters
        ----------
        candidates
            As many targets as candidates. Without names, candidate k is item k.
        unattempted
            What to do about targets that were not attempted: ``refuse`` raises an error, ``uniform`` says that the
            attacker knows nothing of them, so that each item is as likely as any other (1/n).

        Examples
        --------
        >>> from unveil.guesses.candidates import Candidates
        >>> Matching.from_candidates(Candidates.from_matrix([[0.75, 0.25], [0.5, 0.5]])).matrix
        array([[0.75, 0.5 ],
               [0.25, 0.5 ]])
        """
        from scipy.sparse import csr_array

        candidates = candidates.written_out()
        n, idle = candidates.target_count, ~candidates.attempted
        highest = int(candidates.candidate.max(initial=-1)) + 1
        count = max(n, highest) if candidates.candidates is None else candidates.candidates.size
        refuse_shape((count, n), what="the matrix of candidates and targets", stored=int(idle.sum()) * n)
        if idle.any() and unattempted != "uniform":
            raise InputError(
                f"{int(idle.sum())} of {n} targets were not attempted, so they cannot be matched. Leave "
                "them out with their items, or pass unattempted='uniform' to make all items equally likely"
            )
        kept = ~np.repeat(idle, candidates.considered)
        pseudonym = np.repeat(np.arange(n), candidates.considered)[kept]
        blank = np.flatnonzero(idle)
        row = np.concatenate([candidates.candidate[kept], np.tile(np.arange(n), blank.size)])
        column = np.concatenate([pseudonym, np.repeat(blank, n)])
        value = np.concatenate([candidates.probability[kept], np.full(blank.size * n, 1 / n)])
        matrix = csr_array((value, (row, column)), shape=(n, n))
        return cls(_dense_if_small(matrix), _plain(candidates.candidates), _plain(candidates.targets))

    @classmethod
    def from_ranges(
        cls,
        low: ArrayLike,
        high: ArrayLike,
        frequency: ArrayLike,
        *,
        items: Sequence[Any] | None = None,
        pseudonyms: Sequence[Any] | None = None,
    ) -> "Matching":
        """Return the 0/1 infeasibility attack of frequency ranges.

        An element is 1 where the pseudonym's frequency lies in the item's range.

        Both ends belong to the range. ``low`` and ``high`` are what the attacker knows of each item (minus and plus
        infinity where nothing), ``frequency`` is what was seen of each pseudonym, all in the same unit.

        >>> Matching.from_ranges([0.4, 0.1], [0.9, 0.6], [0.2, 0.4]).matrix
        array([[0., 1.],
               [1., 1.]])
        """
        return cls(ranges_matrix(low, high, frequency), items, pseudonyms)  # type: ignore[arg-type]

    @classmethod
    def from_dataflow(cls, dataflow: "Dataflow") -> "Matching":
        """Return the attack of a known network with unknown draws.

        >>> from unveil.guesses.dataflow import Dataflow, Node
        >>> Matching.from_dataflow(Dataflow([Node(["Flu", "Cold"], ["u", "v"])])).matrix
        array([[0.5, 0.5],
               [0.5, 0.5]])
        """
        return cls(dataflow.matrix, dataflow.items, dataflow.pseudonyms)

    def combined(self, *others: "Matching") -> "Matching":
        """Return the attack on several releases, as the product of weights.

        That is Bayes' rule where each matrix says how likely its release is under each pair, and releases tell by
        themselves: an attacker who learns the same from two of them learns it once, and the product would count it
        twice. Of 0/1 matrices the product leaves the pairs that all allow, which is always right. Names may be in any
        order, but must be the same; without names rows and columns have to be in the same order.

        >>> Matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).combined(Matching([[1, 1, 1], [0, 1, 1], [1, 1, 1]])).matrix
        array([[1., 1., 0.],
               [0., 1., 1.],
               [0., 1., 1.]])
        """
        from unveil.guesses._pairing import combined

        return Matching(*combined([self, *others]))

    @property
    def n(self) -> int:
        """Number of items, equal to the number of pseudonyms."""
        return int(self.matrix.shape[0])

    @cached_property
    def is_feasibility(self) -> bool:
        """Whether every weight is 0 or 1."""
        return bool((self.edges.weight == 1).all())

    @cached_property
    def is_doubly_stochastic(self) -> bool:
        """Whether every row and every column sums to 1, up to 1e-6."""
        with np.errstate(over="ignore"):
            sums = (np.asarray(self.matrix.sum(axis=axis)) for axis in (0, 1))
            return all(bool((np.abs(each - 1) <= TOLERANCE).all()) for each in sums)

    @cached_property
    def edges(self) -> "Edges":
        """The positive weights row by row, as the kernels take them."""
        return edges_of_matrix(self.matrix)

    @cached_property
    def support(self) -> "csr_array":
        """The 0/1 sparse matrix of positive weights (infeasibility attack)."""
        return support_of(self.edges)

    def sinkhorn(self, *, rounds: int = 1000) -> "Matching":
        """Return the equivalent doubly stochastic matrix.

        Rows and columns are multiplied by factors until all sum to 1. A weight that is in no matching of positive
        weight becomes 0: only so is there a limit, and no matching is lost. Very unequal weights need many rounds;
        ``is_doubly_stochastic`` of the result says whether ``rounds`` were enough. Of a 0/1 matrix the result is its
        flat matrix.

        >>> Matching([[1, 1], [0, 3]]).sinkhorn().matrix
        array([[1., 0.],
               [0., 1.]])
        """
        from scipy.sparse import csr_array

        from unveil._kernels.matching.bethe import sinkhorn
        from unveil._kernels.matching.blocks import decompose
        from unveil._kernels.matching.edges import edges_of

        edges = self.edges
        place = np.sort(np.concatenate([block.place for block in decompose(edges)]))
        used = edges_of(edges.row[place], edges.column[place], edges.weight[place], self.n)
        scaled = sinkhorn(used, rounds=rounds).edges
        matrix = csr_array((scaled.weight, scaled.column, scaled.start), shape=(self.n, self.n))
        dense = isinstance(self.matrix, np.ndarray)
        return Matching(matrix.toarray() if dense else matrix, self.items, self.pseudonyms)

    def __repr__(self) -> str:
        return f"Matching({self.n} items and pseudonyms, {self.edges.weight.size} of {self.n**2} pairs possible)"


def ranges_matrix(low: ArrayLike, high: ArrayLike, frequency: ArrayLike, *, square: bool = True) -> SquareMatrix:
    """Return 1 where a frequency lies in a range (see :meth:`Matching.from_ranges`)."""
    least, most = (frozen(ends, np.float64, what=what) for ends, what in ((low, "low"), (high, "high")))
    seen = frozen(frequency, np.float64, what="frequency")
    if least.size != most.size:
        raise InputError(f"there are {least.size} lower and {most.size} upper bounds. Pass one of each per item")
    shape = (least.size, seen.size)
    refuse_shape(shape, what="the matrix of ranges and frequencies", stored=0, square=square)
    _refuse_ranges(least, most, seen)
    return _inside(least, most, seen)


def _refuse_ranges(low: FloatArray, high: FloatArray, frequency: FloatArray) -> None:
    wrong = np.flatnonzero(~(low <= high))
    if wrong.size:
        raise InputError(
            f"Item {wrong[0] + 1} (counted from 1): the lower bound is above the upper bound, or a bound is missing; "
            f"such ranges: {wrong.size}. Swap or fill in the bounds"
        )
    lacking = np.flatnonzero(~np.isfinite(frequency) | (frequency < 0))
    if lacking.size:
        raise InputError(
            f"Pseudonym {lacking[0] + 1} (counted from 1) has no frequency of at least 0; "
            f"such pseudonyms: {lacking.size}. Count how often each occurs, 0 where it never does"
        )


def _inside(low: FloatArray, high: FloatArray, frequency: FloatArray) -> SquareMatrix:
    """Return 1 where a frequency lies in an item's range."""
    from scipy.sparse import csr_array

    shape = (low.size, frequency.size)
    order = np.argsort(frequency, kind="stable")
    first = np.searchsorted(frequency[order], low, side="left")
    sizes = np.searchsorted(frequency[order], high, side="right") - first
    total = int(sizes.sum())
    if total == 0:
        raise InputError(
            "No frequency lies in any range. Give ranges and frequencies in the same unit: "
            "shares from 0 to 1, percent or counts"
        )
    refuse_shape(shape, what="the matrix of ranges and frequencies", stored=total, square=False)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    place = np.arange(total) - np.repeat(start[:-1] - first, sizes)
    return _dense_if_small(csr_array((np.ones(total), order[place], start), shape=shape))


def _dense_if_small(matrix: "csr_array") -> SquareMatrix:
    small = max(matrix.shape) <= _SMALL
    return matrix.toarray() if small else matrix


def _plain(names: NDArray[Any] | None) -> Names | None:
    return None if names is None else tuple(str(name) for name in names.tolist())


# Whether a perfect matching exists, and which rows show that none does.

_BLOCK = 1 << 22
_FEW = 40
_SHOWN_ROWS = 10
# Looking from the columns too needs a sorted copy of all pairs, which takes long where there are more.
_MOST_TRANSPOSED = 5_000_000


def edges_of_matrix(matrix: SquareMatrix) -> Edges:
    """Return the positive elements of a checked matrix, for the kernels.

    >>> edges_of_matrix(np.array([[0.0, 2.0], [1.0, 0.5]])).column
    array([1, 0, 1], dtype=int32)
    """
    if not isinstance(matrix, np.ndarray):
        return Edges(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
    start = np.concatenate([[0], np.cumsum(np.count_nonzero(matrix, axis=1))]).astype(np.int64)
    column = np.empty(int(start[-1]), np.int32)
    step = max(1, _BLOCK // len(matrix))
    for first in range(0, len(matrix), step):
        last = min(first + step, len(matrix))
        column[start[first] : start[last]] = np.nonzero(matrix[first:last])[1]
    return Edges(start, column, matrix[matrix > 0])


def refuse_without_perfect_matching(matrix: SquareMatrix, *, what: str) -> None:
    """Raise the error for a matrix without a perfect matching."""
    dense = isinstance(matrix, np.ndarray)
    if dense and (len(matrix) <= 1 or matrix.min() > 0) and matrix.max() > 0:
        return
    if dense and len(matrix) > 1000 and (maximum_matching(_thinned(matrix)) >= 0).all():
        return
    edges = edges_of_matrix(matrix)
    matched = maximum_matching(edges)
    if (matched < 0).any():
        raise _unmatched(edges, matched, what)


def _thinned(matrix: FloatArray) -> Edges:
    """Return a few positive elements per row, spread over it."""
    n = len(matrix)
    kept, sizes = [], []
    for row in range(n):
        have = np.flatnonzero(matrix[row])
        if have.size > _FEW:
            # Each row begins elsewhere, else all rows would have the same few columns.
            have = have[((np.arange(_FEW) + row * 0.6180339887498949 % 1) * (have.size / _FEW)).astype(np.int64)]
        kept.append(have.astype(np.int32))
        sizes.append(have.size)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    column = np.concatenate(kept)
    return Edges(start, column, np.ones(column.size))


def _unmatched(edges: Edges, matched: Int32Array, what: str) -> InputError:
    rows, columns = violating_set(edges, _few_left(edges, matched))
    message = (
        f"{what} has no perfect matching, one pseudonym for each item: {_numbered(rows, 'row')} "
        f"{'have' if rows.size > 1 else 'has'} positive weights in {_only(columns.size, 'column')}"
    )
    if edges.column.size <= _MOST_TRANSPOSED:
        across = transposed(edges)
        few_columns, few_rows = violating_set(across, _few_left(across, maximum_matching(across)))
        if few_columns.size < rows.size:  # the same lack, seen from the side on which it is easier to see
            message += (
                f", because {_numbered(few_columns, 'column')} {'have' if few_columns.size > 1 else 'has'} positive "
                f"weights in {_only(few_rows.size, 'row')}"
            )
    return InputError(f"{message}. Allow more pairs, or leave out items and pseudonyms without a counterpart")


def _few_left(edges: Edges, matched: Int32Array) -> Int32Array:
    """Return the maximum matching with few rows left over.

    The other rows left over take columns left over; no search ever gets there, or the matching were not maximum.
    """
    left = np.flatnonzero(matched < 0)
    left = left[np.argsort(np.diff(edges.start)[left], kind="stable")]
    most = max(1, 200_000 // edges.n)
    free = np.setdiff1d(np.arange(edges.n), matched)
    filled = matched.copy()
    filled[left[most:]] = free[: max(0, left.size - most)]
    return filled


def _numbered(places: IntArray, word: str) -> str:
    some = ", ".join(str(place + 1) for place in places[:_SHOWN_ROWS]) + (", …" if places.size > _SHOWN_ROWS else "")
    if places.size == 1:
        return f"{word} {some} (counted from 1)"
    return f"{places.size} {word}s ({some}, counted from 1)"


def _only(count: int, word: str) -> str:
    return f"no {word}" if count == 0 else f"only {count} {word}{'s' * (count > 1)}"


def support_of(edges: Edges) -> "csr_array":
    """Return 1 where there is an edge, as a read-only sparse matrix."""
    from scipy.sparse import csr_array

    ones = np.ones(edges.column.size)
    support = csr_array((ones, edges.column.copy(), edges.start.astype(np.int32)), shape=(edges.n, edges.n))
    for array in (support.data, support.indices, support.indptr):
        array.flags.writeable = False
    return support
