"""Joint degrees on a grid: how many edges join which degrees, and by how much one edge more or less changes that.

Degrees are cut at the largest one of the grid. A degree ``x`` between two degrees of the grid counts for both, in
shares that add up to 1 and whose mean of ``1 / degree`` is ``1 / x``: so the table keeps the number of edges and the
number of nodes that have one. An edge is split over the cells of its ends. A grid of all degrees gives the usual table.

Why the noise suffices. Let an edge between ``u`` and ``v`` come in; taking one out is the same, backwards.

* The degree of ``u`` goes from ``x`` to ``x + 1``. If ``x`` is at least the largest of the grid, no share changes. Else
  each of the ``x`` edges that ``u`` has moves the share ``r(x + 1) - r(x)`` from place ``k`` of the grid to place
  ``k + 1``, whatever is at its other end; no edge is at both ``u`` and ``v``, so that nothing moves twice.
* The weight ``w`` of a cell depends on the larger of its two places alone and never falls with it. In the cells that
  these edges leave the larger place is at least ``k``, in those that they enter at least ``k + 1``. Divided by the
  weights, the table thus changes by at most ``move(x) = x * (r(x + 1) - r(x)) * (1 / w[k] + 1 / w[k + 1])``.
* The new edge itself adds at most ``new(y)``, the mean of ``1 / w`` over the places of the larger new degree ``y``.

So no edge changes the table, divided by the weights, by more than the largest ``move(a) + move(b) + new(b + 1)`` over
degrees ``a <= b``, whatever the graph. That number is computed and the weights are multiplied by it: then it is 1, and
Laplace noise of scale ``w / epsilon`` in each cell spends epsilon once for all cells together. Clusters of cells with
larger degrees need larger noise, but not a budget of their own, although one edge changes several of them.
"""

import numpy as np

from unveil._kernels.types import FloatArray, IntArray


def degree_grid(largest: int, spacing: float) -> IntArray:
    """Return degrees from 1 to ``largest``; each is ``spacing`` times itself above the one before, and 1 at least.

    >>> degree_grid(12, 0.5)
    array([ 1,  2,  3,  4,  6,  9, 12])
    >>> degree_grid(3, 0)
    array([1, 2, 3])
    """
    degrees = [1]
    while degrees[-1] < largest:
        degrees.append(min(degrees[-1] + max(1, int(spacing * degrees[-1])), largest))
    # A last gap that is much narrower than the one before would need more noise than all others.
    if len(degrees) > 2 and 2 * (degrees[-1] - degrees[-2]) < degrees[-2] - degrees[-3]:
        del degrees[-2]
    return np.array(degrees)


def places(grid: IntArray, degree: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the place in the grid below each degree, and the share of the place after it; degrees are at least 1.

    >>> places(np.array([1, 2, 4]), np.array([1, 3, 4, 9]))
    (array([0, 1, 2, 2]), array([0.        , 0.66666667, 0.        , 0.        ]))
    """
    below = np.searchsorted(grid, degree, side="right") - 1
    above = np.minimum(below + 1, grid.size - 1)
    width = 1 / grid[below] - 1 / grid[above]
    # Above the last place there is no width, and no share.
    return below, np.divide(1 / grid[below] - 1 / degree, width, out=np.zeros(below.size), where=width > 0)


def cells_of(one: IntArray, other: IntArray) -> IntArray:
    """Return the number of the cell of each pair of places, in either order; by the larger place, then the smaller.

    >>> cells_of(np.array([0, 0, 1]), np.array([0, 1, 0]))
    array([0, 1, 1])
    """
    larger = np.maximum(one, other)
    cells: IntArray = larger * (larger + 1) // 2 + np.minimum(one, other)
    return cells


def places_of_cells(size: int) -> tuple[IntArray, IntArray]:
    """Return the smaller and the larger place of each cell of a grid of that size.

    >>> places_of_cells(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    larger = np.repeat(np.arange(size), np.arange(1, size + 1))
    return np.arange(larger.size) - larger * (larger + 1) // 2, larger


def joint_table(grid: IntArray, one: IntArray, other: IntArray) -> FloatArray:
    """Return for each cell how many edges are in it, given the degrees of both ends of every edge.

    >>> path = np.array([1, 2]), np.array([2, 1])
    >>> joint_table(np.array([1, 2]), *path)
    array([0., 2., 0.])
    """
    size = grid.size
    table = np.zeros(size * (size + 1) // 2)
    (first, first_share), (second, second_share) = places(grid, one), places(grid, other)
    for up in (0, 1):
        for right in (0, 1):
            share = np.abs(1 - up - first_share) * np.abs(1 - right - second_share)
            # The last place has none after it, and its share there is 0.
            cell = cells_of(np.minimum(first + up, size - 1), np.minimum(second + right, size - 1))
            table += np.bincount(cell, share, table.size)
    return table


def cell_weights(grid: IntArray) -> FloatArray:
    """Return the weight of the cells of each larger place, so that one edge changes the weighted table by at most 1.

    In a grid of all degrees the cells whose larger degree is x get a little more than 4 x, and those of the largest
    degree D get 4 D - 3, which all would get if they shared one scale. In a grid whose gaps widen with the degrees they
    stop growing, because a node with many edges then moves but a small share of each.

    >>> cell_weights(np.array([1]))
    array([1.])
    >>> cell_weights(np.array([1, 2, 3, 4])).round(2)
    array([ 4.33,  8.67, 13.  , 13.  ])
    """
    degree = np.arange(1, grid[-1])
    below, share = places(grid, degree)
    # 1 / (x + 1) = x * (1 / x - 1 / (x + 1)): the share of a node's edges that moves, times their number.
    moved = 1 / ((degree + 1) * (1 / grid[:-1] - 1 / grid[1:])[below])
    most = np.zeros(grid.size)
    np.maximum.at(most, below, moved)
    # Each of the two ends may spend half: a quarter where its edges leave, and a quarter where they enter.
    weight = np.maximum.accumulate(4 * most) if degree.size else np.ones(1)
    move = np.zeros(grid[-1] + 1)
    move[1:-1] = moved * (1 / weight[below] + 1 / weight[below + 1])
    below, share = places(grid, np.minimum(np.arange(grid[-1] + 1) + 1, grid[-1]))
    new = (1 - share) / weight[below] + share / weight[np.minimum(below + 1, grid.size - 1)]
    change: float = (np.maximum.accumulate(move) + move + new).max()
    return weight * change


def finest_grid(largest: int, noise: float, *, most_places: int) -> tuple[IntArray, FloatArray]:
    """Return the finest grid, and its weights, whose cells have weights that add up to at most ``noise``.

    If even doubling degrees is too fine for that, degrees that double are returned.

    >>> finest_grid(5, 1000, most_places=4000)[0], finest_grid(100, 1000, most_places=4000)[0]
    (array([1, 2, 3, 4, 5]), array([  1,   2,   3,   4,   6,   9,  13,  19,  29,  44,  67, 100]))
    """
    spacing = 1 / largest
    while True:
        # A grid has at least as many places as it has with gaps of 1, so hopeless ones need not be made.
        if min(largest, 1 / spacing) <= most_places or spacing >= 1:
            grid = degree_grid(largest, spacing)
            weight = cell_weights(grid)
            if spacing >= 1 or (grid.size <= most_places and weight @ np.arange(1, grid.size + 1) <= noise):
                return grid, weight
        spacing = min(1.0, spacing * 2**0.25)
