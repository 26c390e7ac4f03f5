"""Joint degree counts on a grid, with their sensitivity to one edge.

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
    """Return degrees from 1 to ``largest``, in geometric steps of ``spacing``.

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
    """Return each degree's lower grid position, and the share above.

    >>> places(np.array([1, 2, 4]), np.array([1, 3, 4, 9]))
    (array([0, 1, 2, 2]), array([0.        , 0.66666667, 0.        , 0.        ]))
    """
    below = np.searchsorted(grid, degree, side="right") - 1
    above = np.minimum(below + 1, grid.size - 1)
    width = 1 / grid[below] - 1 / grid[above]
    # Above the last place there is no width, and no share.
    return below, np.divide(1 / grid[below] - 1 / degree, width, out=np.zeros(below.size), where=width > 0)


def cells_of(one: IntArray, other: IntArray) -> IntArray:
    """Return the cell number of each unordered pair of positions.

    >>> cells_of(np.array([0, 0, 1]), np.array([0, 1, 0]))
    array([0, 1, 1])
    """
    larger = np.maximum(one, other)
    cells: IntArray = larger * (larger + 1) // 2 + np.minimum(one, other)
    return cells


def places_of_cells(size: int) -> tuple[IntArray, IntArray]:
    """Return the smaller and larger position of each grid cell.

    >>> places_of_cells(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    larger = np.repeat(np.arange(size), np.arange(1, size + 1))
    return np.arange(larger.size) - larger * (larger + 1) // 2, larger


def joint_table(grid: IntArray, one: IntArray, other: IntArray) -> FloatArray:
    """Return the number of edges per cell, from both end degrees.

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
    """Return cell weights that bound the effect of one edge by 1.

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
    """Return the finest grid with total weight up to ``noise``.

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


# Noisy counts made possible ones: none negative, a given total, no more nodes than there are, whole numbers.

_HALVINGS = 60
# What is this many times the total above or below all others gets all of it or nothing, however far it is.
_FAR = 1e4


def nearest_counts(noisy: FloatArray, weight: FloatArray, total: float, each: FloatArray, at_most: float) -> FloatArray:
    """Return the nearest feasible nonnegative counts that sum to ``total``.

    Nearest means the least sum of squares of differences, each divided by the ``weight`` of its count. A count of one
    needs ``each``, and all together may need ``at_most``; if no counts do with so little, those that come close are
    returned.

    >>> nearest_counts(np.array([3.0, -1.0, 2.0]), np.ones(3), 4, np.ones(3), 9)
    array([2.5, 0. , 1.5])
    >>> nearest_counts(np.array([3.0, 1.0]), np.ones(2), 4, np.array([2.0, 0.0]), 4).round(6)
    array([2., 2.])
    """
    limit = _FAR * (total + 1)
    bounded, square = np.clip(noisy, -limit, limit), weight * weight
    counts = _with_total(bounded, square, total)
    if counts @ each <= at_most:
        return counts
    dear = square * each
    low, high = 0.0, 1.0 / float(dear.max())
    while True:
        counts = _with_total(bounded - high * dear, square, total)
        if counts @ each <= at_most:
            break
        if high * dear.max() > _FAR * limit:
            return counts
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tried = _with_total(bounded - middle * dear, square, total)
        if tried @ each <= at_most:
            high, counts = middle, tried
        else:
            low = middle
    return counts


def _with_total(noisy: FloatArray, square: FloatArray, total: float) -> FloatArray:
    """Return ``max(noisy - t * square, 0)`` with ``t`` chosen for the total.

    Whatever is negative with one ``t`` is so with the larger one that the others then need: it is left out for good.
    """
    value, weight = noisy, square
    while True:
        level = (value.sum() - total) / weight.sum()
        inside = value > level * weight
        if inside.all() or not inside.any():
            break
        value, weight = value[inside], weight[inside]
    counts: FloatArray = np.maximum(noisy - level * square, 0)
    reached = float(counts.sum())
    if reached > 0:
        counts *= total / reached
    return counts


def whole_counts(counts: FloatArray, ends: IntArray, offset: float) -> IntArray:
    """Return randomly rounded counts, from one number in [0, 1).

    The counts come in parts, the first before ``ends[0]``, the next before ``ends[1]``, and so on to the last; the sum
    of each part must be whole, and is kept.

    >>> whole_counts(np.array([0.5, 0.5, 1.25, 1.75]), np.array([2, 4]), 0.6)
    array([1, 0, 1, 2])
    """
    upto = np.cumsum(counts)
    # The sums are whole but for rounding errors: each part starts and ends exactly at a whole number.
    found = upto[ends - 1]
    upto[ends[0] :] += np.repeat((np.rint(found) - found)[:-1], np.diff(ends))
    upto[ends - 1] = np.rint(found)
    upto = np.minimum.accumulate(upto[::-1])[::-1]
    whole = np.floor(upto + offset).astype(np.int64)
    whole[1:] -= whole[:-1].copy()
    return whole


# Edges from counts of joint degrees: every end gets a degree, and ends of like degree are put together into nodes.

# Of the number of nodes: far above rounding errors of sums, far below the 1 / degree that one end counts for.
_ROUNDING = 1e-9


def degrees_around(grid: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the degrees and shares that each position spreads over.

    The shares fall towards the neighboring places and keep the mean of ``1 / degree``, hence the number of nodes. The
    first and last place, and those next to another on one side at least, keep their ends.

    >>> place, degree, share = degrees_around(np.array([1, 3, 6, 10]))
    >>> degree[place == 1], share[place == 1].round(3)
    (array([2, 3, 4, 5]), array([0.219, 0.408, 0.267, 0.107]))
    """
    degree = np.arange(1, grid[-1] + 1)
    below, share = places(grid, degree)
    between = share > 0
    # Each degree between two places belongs to the upper one's left side and to the lower one's right side.
    left = below[between] + 1, degree[between], share[between]
    right = below[between], degree[between], 1 - share[between]
    mass, inverse = np.ones((2, grid.size)), np.zeros((2, grid.size))
    for side, (place, number, part) in enumerate((left, right)):
        mass[side] = np.bincount(place, part, grid.size)
        inverse[side] = np.bincount(place, part / number, grid.size)
    spread = (mass[0] > 0) & (mass[1] > 0)
    away = np.abs(np.divide(inverse, mass, out=np.zeros(mass.shape), where=mass > 0) - 1 / grid)
    kept = np.where(spread, 1 / (1 + mass.sum(axis=0)), 1.0)
    # Both sides pull the mean of 1 / degree away from the middle, so the one that pulls harder gets less.
    factor = np.divide((1 - kept) * away[::-1], away.sum(axis=0) * mass, out=np.zeros(mass.shape), where=mass > 0)
    parts = [(place, number, part * factor[side][place]) for side, (place, number, part) in enumerate((left, right))]
    parts.append((np.arange(grid.size), grid, kept))
    place, number, part = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((number, place))
    order = order[part[order] > 0]
    return place[order], number[order], part[order]


def nodes_of_ends(degree: IntArray, nodes: int) -> IntArray:
    """Return the node of each end, by target degrees, falling.

    A node gets ends until their parts add up to one. If that makes too many nodes, each gets more ends.

    >>> nodes_of_ends(np.array([3, 3, 3, 2, 1, 1]), 9)
    array([0, 0, 0, 1, 1, 2])
    >>> nodes_of_ends(np.array([1, 1, 1, 1]), 2)
    array([0, 0, 1, 1])
    """
    if degree.size == 0:
        return degree
    first = np.flatnonzero(np.diff(degree, prepend=-1))
    count = np.diff(first, append=degree.size)
    # Summed by degree and not by end, so that rounding errors stay far below a part.
    before = np.cumsum(count / degree[first]) - count / degree[first]
    run = np.repeat(np.arange(first.size), count)
    part = before[run] + (np.arange(degree.size) - first[run]) / degree
    needed = before[-1] + count[-1] / degree[-1]
    fit = min(1.0, nodes / needed)
    node: IntArray = np.minimum((part * fit + _ROUNDING).astype(np.int64), nodes - 1)
    return node


def drawn_edges(
    grid: IntArray, counts: IntArray, nodes: int, lots: FloatArray, offset: float
) -> tuple[IntArray, IntArray]:
    """Return random edges with these joint degrees, possibly loops and repeats.

    Nodes are numbered from 0 by falling degree. ``lots`` are two rows of random numbers, one per end of an edge each,
    and ``offset`` is one more.

    >>> lots = np.random.default_rng(1).random((2, 4))
    >>> drawn_edges(np.array([1, 2]), np.array([0, 2, 0]), 3, lots, 0.5)  # a path
    (array([1, 2]), array([0, 0]))
    """
    smaller, larger = places_of_cells(grid.size)
    place = np.concatenate([np.repeat(smaller, counts), np.repeat(larger, counts)])
    if place.size == 0:
        return place, place
    around, degree, share = degrees_around(grid)
    ends = np.bincount(place, minlength=grid.size)
    last = np.append(np.flatnonzero(np.diff(around)), around.size - 1) + 1
    each = whole_counts(ends[around] * share, last, offset)
    by_place = np.lexsort((lots[0], place))
    wanted = np.empty(place.size, np.int64)
    wanted[by_place] = np.repeat(degree, each)
    by_degree = np.lexsort((lots[1], -wanted))
    node = np.empty(place.size, np.int64)
    node[by_degree] = nodes_of_ends(wanted[by_degree], nodes)
    half = place.size // 2
    return node[:half], node[half:]
