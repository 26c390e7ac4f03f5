"""Permutation distributions of links and row-order matches.

Both need no control: where a release does not tell which row is whose, every order of the original rows was as likely
as the true one. Rows are permuted by their positions, so that whoever wants the same draws from shuffled tables sorts
both by what their rows hold first (the order that is itself on trial in :func:`agreeing_cells` aside).
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: So many people, one after the other, change places with one another.
NEARBY = 5
#: So many cells are compared at a time.
_CELLS = 2**18


def agreeing_cells(
    original: NDArray[np.integer],
    released: NDArray[np.integer],
    fits: Mapping[int, BoolArray],
    draws: int,
    rng: np.random.Generator,
    *,
    person: IntArray | None = None,
) -> FloatArray:
    """Return row agreements of two tables, observed and permuted.

    Rows change places with rows nearby alone, so that two tables of different people in a common order (by region, or
    by a number that nobody released) do not stand out. If people have several rows, ``person`` says whose each row is:
    people nearby with equally many rows change places, each with all rows in their order.

    Tables are codes at [row, column] with as many rows each; a missing value has a code of its own. In a column whose
    released cells stand for several values, ``fits`` says at [original row, released code] whether the value is inside.

    >>> agreeing_cells(np.array([[0], [1], [2]]), np.array([[0], [1], [2]]), {}, 2, np.random.default_rng(1))[0]
    np.float64(3.0)
    """
    number = np.empty(draws + 1)
    own = np.arange(len(released))

    def agreeing(orders: IntArray) -> IntArray:
        shown = released[orders]
        same = original == shown
        for column, inside in fits.items():
            same[:, :, column] = inside[own, shown[:, :, column]]
        return np.asarray(np.count_nonzero(same, axis=(1, 2)), np.int64)

    number[0] = agreeing(own[None])[0]
    for draw, orders in _orders_nearby(own if person is None else person, released.size, draws, rng):
        number[draw] = agreeing(orders)
    return number


def true_links(
    rows: IntArray, candidates: IntArray, chances: FloatArray, truth: IntArray, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return correct links, observed and for permuted truths.

    Released row ``rows[e]`` is linked to original row ``candidates[e]`` with the probability ``chances[e]``, and
    ``truth[row]`` is the original row that it belongs to. A draw permutes the truth.

    >>> links = np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([1.0, 1.0, 0.5])
    >>> true_links(*links, np.array([0, 1, 2]), 2, np.random.default_rng(1))[0]
    np.float64(2.5)
    """
    number = np.empty(draws + 1)
    number[0] = chances[truth[rows] == candidates].sum()
    for draw, truths in _orders(truth, rows.size, draws, rng):
        number[draw] = (truths[:, rows] == candidates) @ chances
    return number


def _orders(values: IntArray, cells: int, draws: int, rng: np.random.Generator) -> Iterator[tuple[slice, IntArray]]:
    """Yield permutations in blocks, with their numbers from 1."""
    size = max(1, _CELLS // max(cells, 1))
    for first in range(1, draws + 1, size):
        last = min(first + size, draws + 1)
        yield slice(first, last), rng.permuted(np.tile(values, (last - first, 1)), axis=1)


def _orders_nearby(
    person: IntArray, cells: int, draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, IntArray]]:
    """Yield local permutations of nearby people, with numbers from 1."""
    windows = list(_windows(person))
    step = max(1, _CELLS // max(cells, 1))
    for first in range(1, draws + 1, step):
        last = min(first + step, draws + 1)
        orders = np.empty((last - first, person.size), np.int64)
        for rows in windows:
            some, people, _ = rows.shape
            places = rng.permuted(np.tile(np.arange(people), (last - first, some, 1)), axis=2)
            drawn = rows[np.arange(some)[None, :, None], places]
            orders[:, rows.ravel()] = drawn.reshape(last - first, -1)
        yield slice(first, last), orders


def _windows(person: IntArray) -> Iterator[IntArray]:
    """Yield windows of exchangeable people, [window, person, row]."""
    _, first, count = np.unique(person, return_index=True, return_counts=True)
    blocks = np.split(np.argsort(person, kind="stable"), np.cumsum(count)[:-1])
    for size in np.unique(count).tolist():
        alike = [blocks[at] for at in np.argsort(first, kind="stable").tolist() if count[at] == size]
        parts = np.array_split(np.array(alike), max(1, len(alike) // NEARBY))
        for people in sorted({len(part) for part in parts}):
            yield np.array([part for part in parts if len(part) == people])
