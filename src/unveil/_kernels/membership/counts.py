"""Excess frequency of released values and their combinations."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations
from math import comb, prod

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.key_set import key_table, slot_of
from unveil._kernels.neighbours.index import LAST_MARKER, IntegerGrid, content_rank
from unveil._kernels.threads import in_threads
from unveil._kernels.types import CodeArray, FloatArray, IntArray

#: Logarithms are whole multiples of 1 / this: their sum does not hang on the order, so that equal scores are equal.
_UNIT = 2**32
_BINS = 16
#: As many combinations of values may have numbers.
_MOST_KEYS = 2**62
#: In so many steps values are counted at a time.
_STEPS = 2**16
#: So many rows are compared in one column before the next.
_AT_A_TIME = 1024


def column_sets(columns: int, size: int, at_most: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return all sets of N columns, or ``at_most`` random ones.

    Where there are fewer columns than that, all of them are the one set; without columns there is none.

    >>> column_sets(3, 2, 10, np.random.default_rng(1)), column_sets(1, 2, 10, np.random.default_rng(1))
    ([(0, 1), (0, 2), (1, 2)], [(0,)])
    """
    size = min(size, columns)
    if not size:
        return []
    if comb(columns, size) <= at_most:
        return list(combinations(range(columns), size))
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < at_most:
        drawn.add(tuple(sorted(rng.choice(columns, size, replace=False).tolist())))
    return sorted(drawn)


def excess(
    released: Iterable[CodeArray], population: CodeArray, people: CodeArray, sets: Sequence[tuple[int, ...]]
) -> FloatArray:
    """Return the mean log ratio of released to expected frequency.

    Released rows come in blocks. The codes of people are from 1 on; that of a row is 0, which equals nothing, where no
    person has it. Of c of n rows the share is (c + 1/2) / n. Without any set everybody has 0.

    >>> rows, others, people = (np.array([[x] for x in each], np.int32) for each in ([1, 1], [2, 2], [1, 2]))
    >>> excess([rows], others, people, [(0,)]).round(3)  # log(2.5 / 0.5)
    array([ 1.609, -1.609])
    """
    (here, rows), (there, others) = how_often(released, people, sets), how_often([population], people, sets)
    of_released, of_population = _logarithms(rows), _logarithms(others)
    total = np.zeros(len(people), np.int64)
    for one, other in zip(here, there, strict=True):
        total += of_released[one] - of_population[other]
    return total / (_UNIT * max(len(sets), 1))


def how_often(blocks: Iterable[CodeArray], people: CodeArray, sets: Sequence[tuple[int, ...]]) -> tuple[IntArray, int]:
    """Return the number of matching rows per column set and person.

    Codes are those that `excess` takes.

    >>> how_often([np.array([[1, 2], [0, 2]], np.int32)], np.array([[1, 2]], np.int32), [(0,), (0, 1), (1,)])
    (array([[1],
           [1],
           [2]]), 2)
    """
    mine = np.ascontiguousarray(people.T)
    width = [int(line.max(initial=1)) for line in mine]
    counts, rows = np.zeros((len(sets), len(people)), np.int64), 0
    for block in blocks:
        lines = np.ascontiguousarray(block.T)
        in_threads(partial(_count, lines, mine, width, sets, counts), range(len(sets)))
        rows += len(block)
    return counts, rows


def _count(
    lines: CodeArray,
    people: CodeArray,
    width: list[int],
    sets: Sequence[tuple[int, ...]],
    counts: IntArray,
    place: int,
) -> None:
    """Count the matching rows of each person in one column set."""
    columns = list(sets[place])
    own = [width[column] for column in columns]
    if prod(own) > _MOST_KEYS:
        counts[place] += _by_rank(lines[columns], people[columns])
    else:
        counts[place] += _by_keys(lines, people, columns, own)


def _by_keys(lines: CodeArray, people: CodeArray, columns: list[int], width: list[int]) -> IntArray:
    """Return the number of rows equal to each person, by keys."""
    stride = np.cumprod([1, *width[:-1]])
    keys = stride @ (people[columns].astype(np.int64) - 1)
    table, slot = key_table(keys.size), np.empty(keys.size, np.int64)
    tally = np.zeros(table.size, np.int64)
    _fill(table, keys, slot)
    _tally(lines, np.array(columns), stride, table, tally)
    return tally[slot]


def _by_rank(lines: CodeArray, people: CodeArray) -> IntArray:
    """Return the same where a key does not fit a number, in all columns."""
    every = np.concatenate([lines, people], axis=1).T
    none = np.empty((len(every), 0), np.int64)
    rank = content_rank(IntegerGrid(none, every.astype(np.int32), none[0], 1))
    return np.bincount(rank[: lines.shape[1]], minlength=len(every))[rank[lines.shape[1] :]]


@kernel("i8[], i8[], i8[]")
def _fill(table: IntArray, keys: IntArray, slot: IntArray) -> None:
    """Put keys into an empty table, and write down where each stands."""
    for place in range(keys.size):
        slot[place] = slot_of(table, keys[place])
        table[slot[place]] = keys[place]


@kernel("i2[,], i8[], i8[], i8[], i8[]", "i4[,], i8[], i8[], i8[], i8[]")
def _tally(lines: CodeArray, columns: IntArray, stride: IntArray, table: IntArray, tally: IntArray) -> None:
    """Count for each key of the table the rows that have it."""
    # Keys are made column by column, many at a time.
    keys, is_nobody = np.empty(_AT_A_TIME, np.int64), np.empty(_AT_A_TIME, np.bool_)
    rows = lines.shape[1]
    for start in range(0, rows, _AT_A_TIME):
        size = min(_AT_A_TIME, rows - start)
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


def bin_edges(blocks: Callable[[], Iterable[IntArray]]) -> IntArray:
    """Return the edges of at most 16 equal-frequency bins, without markers.

    The reference comes in blocks, and is asked for several times.

    >>> bin_edges(lambda: [np.arange(20), np.arange(20, 32)])
    array([ 2,  4,  6,  8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30])
    """
    size, low, high = 0, 0, 0
    for block in blocks():
        known = block[block > LAST_MARKER]
        if known.size:
            least, greatest = int(known.min()), int(known.max())
            low, high = (min(low, least), max(high, greatest)) if size else (least, greatest)
            size += known.size
    if not size:
        return np.empty(0, np.int64)
    return np.unique(_values_at(blocks, low, high - low + 1, np.arange(1, _BINS) * size // _BINS))


def _values_at(blocks: Callable[[], Iterable[IntArray]], low: int, width: int, places: IntArray) -> IntArray:
    """Return the distinct values at positions, from ``low`` on.

    Values are counted in steps, and the steps with a place that is asked for in smaller ones, until a step is a value.
    """
    # A place is counted within the stretch of values it lies in.
    first, stretch = np.array([low]), np.zeros(places.size, np.int64)
    while width > 1:
        steps = min(width, _STEPS // first.size)
        step = -(-width // steps)
        tally = np.zeros(first.size * steps, np.int64)
        for block in blocks():
            at = np.searchsorted(first, block, side="right") - 1
            off = block - first[at]
            is_inside = (at >= 0) & (off < width)
            tally += np.bincount(at[is_inside] * steps + off[is_inside] // step, minlength=tally.size)
        ends = np.cumsum(tally)
        places = places + (ends - tally)[stretch * steps]
        found = np.searchsorted(ends, places, side="right")
        places = places - (ends - tally)[found]
        chosen, stretch = np.unique(found, return_inverse=True)
        first, width = first[chosen // steps] + chosen % steps * step, step
    return first[stretch]


def binned(numbers: IntArray, edges: IntArray) -> IntArray:
    """Return the number of each value's bin between these edges; markers stay.

    >>> binned(np.array([-5, 3, 40, 99]), np.arange(4, 64, 4))
    array([ 0,  0, 10, 15])
    """
    return np.where(numbers <= LAST_MARKER, numbers, np.searchsorted(edges, numbers, side="right"))
