"""How much more often values, and combinations of them, are released than they occur among people anyhow."""

from collections.abc import Sequence
from itertools import combinations
from math import comb, prod

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.key_set import key_table, slot_of
from unveil._kernels.neighbours.index import LAST_MARKER, Grid, content_rank
from unveil._kernels.threads import in_threads
from unveil._kernels.types import CodeArray, FloatArray, IntArray

#: Logarithms are whole multiples of 1 / this: their sum does not hang on the order, so that equal scores are equal.
_UNIT = 2**32
_BINS = 16
#: As many combinations of values may have numbers.
_MOST_KEYS = 2**62
#: So many rows are compared in one column before the next.
_AT_A_TIME = 1024


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


def excess(codes: CodeArray, released: int, population: int, sets: Sequence[tuple[int, ...]]) -> FloatArray:
    """Return the mean over sets of columns of the logarithm of how much more frequent a person's values are released.

    Rows of ``codes`` are so many released ones, so many of the population, then those of the people, whose codes are
    from 1 on; 0 equals nothing. Of c of n rows the share is (c + 1/2) / n. Without any set everybody has 0.

    >>> excess(np.array([[1], [1], [2], [2], [1], [2]], np.int32), 2, 2, [(0,)]).round(3)  # log(2.5 / 0.5)
    array([ 1.609, -1.609])
    """
    people = released + population
    of_released, of_population = _logarithms(released), _logarithms(population)
    lines = np.ascontiguousarray(codes.T)
    width = [int(line.max(initial=1)) for line in lines]

    def added(columns: tuple[int, ...]) -> IntArray:
        if prod(width[column] for column in columns) > _MOST_KEYS:
            here, there = _by_rank(codes[:, columns], released, people)
        else:
            here, there = _by_keys(lines, columns, width, released, people)
        return of_released[here] - of_population[there]

    total = np.zeros(len(codes) - people, np.int64)
    for each in in_threads(added, sets):
        total += each
    return total / (_UNIT * max(len(sets), 1))


def _by_keys(
    lines: CodeArray, columns: Sequence[int], width: Sequence[int], released: int, people: int
) -> tuple[IntArray, IntArray]:
    """Return how many released rows, and how many of the population, are as each person in some columns."""
    stride = np.cumprod([1, *(width[column] for column in columns[:-1])])
    keys = stride @ (lines[list(columns), people:].astype(np.int64) - 1)
    table, slot = key_table(keys.size), np.empty(keys.size, np.int64)
    here, there = np.zeros(table.size, np.int64), np.zeros(table.size, np.int64)
    _fill(table, keys, slot)
    for first, last, tally in ((0, released, here), (released, people, there)):
        _tally(lines, first, last, np.array(columns), stride, table, tally)
    return here[slot], there[slot]


def _by_rank(codes: CodeArray, released: int, people: int) -> tuple[IntArray, IntArray]:
    """Return the same where a key does not fit a number."""
    none = np.empty((len(codes), 0), np.int64)
    rank = content_rank(Grid(none, codes.astype(np.int32), none[0], 1))
    kinds = int(rank.max(initial=-1)) + 1
    counts = (np.bincount(part, minlength=kinds) for part in (rank[:released], rank[released:people]))
    here, there = (count[rank[people:]] for count in counts)
    return here, there


@kernel("i8[], i8[], i8[]")
def _fill(table: IntArray, keys: IntArray, slot: IntArray) -> None:
    """Put keys into an empty table, and write down where each stands."""
    for place in range(keys.size):
        slot[place] = slot_of(table, keys[place])
        table[slot[place]] = keys[place]


@kernel("i2[,], i8, i8, i8[], i8[], i8[], i8[]", "i4[,], i8, i8, i8[], i8[], i8[], i8[]")
def _tally(
    lines: CodeArray, first: int, last: int, columns: IntArray, stride: IntArray, table: IntArray, tally: IntArray
) -> None:
    """Count for each key of the table the rows from ``first`` up to ``last`` that have it."""
    # Keys are made column by column, many at a time.
    keys, is_nobody = np.empty(_AT_A_TIME, np.int64), np.empty(_AT_A_TIME, np.bool_)
    for start in range(first, last, _AT_A_TIME):
        size = min(_AT_A_TIME, last - start)
        keys[:] = 0
        is_nobody[:] = False
        for place in range(columns.size):
            line, step = lines[columns[place]], stride[place]
            for at in range(size):
                code = line[start + at]
                keys[at] += (code - 1) * step
                is_nobody[at] |= code == 0
        for at in range(size):
            if not is_nobody[at]:
                slot = slot_of(table, keys[at])
                if table[slot] == keys[at]:
                    tally[slot] += 1


def _logarithms(rows: int) -> IntArray:
    shares: FloatArray = (np.arange(rows + 1) + 0.5) / rows
    return np.asarray(np.rint(_UNIT * np.log(shares)), np.int64)


def bin_edges(reference: IntArray) -> IntArray:
    """Return the edges of at most 16 bins that hold about as many of the reference each; markers are left out.

    >>> bin_edges(np.arange(32))
    array([ 2,  4,  6,  8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30])
    """
    known = reference[reference > LAST_MARKER]
    if not known.size:
        return known
    places = np.arange(1, _BINS) * known.size // _BINS
    return np.unique(np.partition(known, np.unique(places))[places])


def binned(numbers: IntArray, edges: IntArray) -> IntArray:
    """Return the number of each value's bin between these edges; markers stay.

    >>> binned(np.array([-5, 3, 40, 99]), bin_edges(np.arange(64)))
    array([ 0,  0, 10, 15])
    """
    return np.where(numbers <= LAST_MARKER, numbers, np.searchsorted(edges, numbers, side="right"))
