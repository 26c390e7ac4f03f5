"""How much more often values, and combinations of them, are released than they occur among people anyhow."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from unveil._kernels.neighbours.index import LAST_MARKER, Grid, content_rank
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: Logarithms are whole multiples of 1 / this: their sum does not hang on the order, so that equal scores are equal.
_UNIT = 2**32
_BINS = 16


def column_sets(columns: int, size: int, most: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return all sets of so many columns, or so many of them drawn by lot where there are more than ``most``.

    Where there are fewer columns than that, all of them are the one set; without columns there is none.

    >>> column_sets(3, 2, 10, np.random.default_rng(1)), column_sets(1, 2, 10, np.random.default_rng(1))
    ([(0, 1), (0, 2), (1, 2)], [(0,)])
    """
    size = min(size, columns)
    if not size:
        return []
    if comb(columns, size) <= most:
        return list(combinations(range(columns), size))
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(rng.choice(columns, size, replace=False).tolist())))
    return sorted(drawn)


def excess(codes: Int32Array, released: int, population: int, sets: Sequence[tuple[int, ...]]) -> FloatArray:
    """Return the mean over sets of columns of the logarithm of how much more frequent a person's values are released.

    Rows of ``codes`` are so many released ones, so many of the population, then those of the people; 0 equals nothing.
    Of c of n rows the share is (c + 1/2) / n. Without any set everybody has 0.

    >>> excess(np.array([[1], [1], [2], [2], [1], [2]], np.int32), 2, 2, [(0,)]).round(3)  # log(2.5 / 0.5)
    array([ 1.609, -1.609])
    """
    people = released + population
    total = np.zeros(len(codes) - people, np.int64)
    none = np.empty((len(codes), 0), np.int64)
    of_released, of_population = _logarithms(released), _logarithms(population)
    for columns in sets:
        rank = content_rank(Grid(none, codes[:, columns], none[0], 1))
        kinds, theirs = int(rank.max(initial=-1)) + 1, rank[people:]
        total += of_released[np.bincount(rank[:released], minlength=kinds)[theirs]]
        total -= of_population[np.bincount(rank[released:people], minlength=kinds)[theirs]]
    return total / (_UNIT * max(len(sets), 1))


def _logarithms(rows: int) -> IntArray:
    shares: FloatArray = (np.arange(rows + 1) + 0.5) / rows
    return np.asarray(np.rint(_UNIT * np.log(shares)), np.int64)


def binned(numbers: IntArray, reference: IntArray) -> IntArray:
    """Return the number of each value's bin among at most 16 that hold about as many of the reference; markers stay.

    >>> binned(np.array([-5, 3, 40, 99]), np.arange(64))
    array([ 0,  0, 10, 15])
    """
    ascending = np.sort(reference[reference > LAST_MARKER])
    edges = np.unique(ascending[np.arange(1, _BINS) * ascending.size // _BINS]) if ascending.size else ascending
    return np.where(numbers <= LAST_MARKER, numbers, np.searchsorted(edges, numbers, side="right"))
