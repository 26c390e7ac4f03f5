"""A forest of extremely random trees (Geurts, Ernst and Wehenkel 2006), grown out on features in few bins.

At each division half of the features are tried, each with one cut by lot, and the best of these is taken. Trees see all
rows and are grown until all rows of a leaf have the same class or the same features: such a forest remembers every row
it saw, and what it says of others is a mean over those who are alike in many ways.
"""

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.learners.sides import divide
from unveil._kernels.random import State, below, fresh_state
from unveil._kernels.types import ByteArray, FloatArray, IntArray

TREES = 50
#: The share of features that are tried at each division.
_TRIED = 0.5
#: So many bins a byte can tell.
_BINS = 256


def forest_shares(
    bins: ByteArray, classes: IntArray, people: ByteArray, *, trees: int = TREES, seed: int = 0
) -> FloatArray:
    """Return for each person the share of each class in the leaves that the person comes to, the mean over all trees.

    Parameters
    ----------
    bins
        Rows to learn from at [feature, row], in small whole numbers whose order counts.
    classes
        The class of each row, from 0 on.
    people
        Whose class is guessed, at [feature, person].
    trees
        How many trees there are.
    seed
        Where cuts come from.

    Examples
    --------
    >>> bins = np.arange(8, dtype=np.uint8)[None]
    >>> forest_shares(bins, np.array([0, 0, 0, 0, 1, 1, 1, 1]), bins).argmax(axis=1)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    number = int(classes.max(initial=0)) + 1
    learn = compiled(_forest) if bins.size * trees > PLAIN_UP_TO else _forest
    state = fresh_state(np.random.default_rng(seed))
    tried = max(1, round(_TRIED * len(bins)))
    own, theirs = np.ascontiguousarray(bins, np.uint8), np.ascontiguousarray(people.T, np.uint8)
    return learn(own, classes, theirs, number, trees, tried, state)


@loop("u1[,], i8[], u1[,], i8, i8, i8, u8[]")
def _forest(
    bins: ByteArray, classes: IntArray, people: ByteArray, number: int, trees: int, tried: int, state: State
) -> FloatArray:
    shares, rows = np.zeros((len(people), number)), classes.size
    order, features, goes_first = np.arange(rows), np.arange(len(bins)), np.zeros(_BINS, np.bool_)
    # Nodes: their rows in the order, by which feature and up to which bin they divide (-1: they do not), and the first
    # of the two nodes below.
    begin, end, below_it = np.zeros(2 * rows, np.int64), np.zeros(2 * rows, np.int64), np.zeros(2 * rows, np.int64)
    feature, cut = np.zeros(2 * rows, np.int64), np.zeros(2 * rows, np.int64)
    first, whole = np.zeros(number), np.zeros(number)
    for _ in range(trees):
        begin[0], end[0] = 0, rows
        node, nodes = 0, 1
        while node < nodes:
            some = order[begin[node] : end[node]]
            feature[node], cut[node] = _drawn_division(bins, classes, some, features, tried, state, first, whole)
            if feature[node] >= 0:
                for place in range(_BINS):
                    goes_first[place] = place <= cut[node]
                middle = begin[node] + divide(some, bins[feature[node]], goes_first)
                below_it[node] = nodes
                begin[nodes], end[nodes] = begin[node], middle
                begin[nodes + 1], end[nodes + 1] = middle, end[node]
                nodes += 2
            node += 1
        for person in range(len(people)):
            node = 0
            while feature[node] >= 0:
                node = below_it[node] + (people[person, feature[node]] > cut[node])
            some = order[begin[node] : end[node]]
            for row in some:
                shares[person, classes[row]] += 1 / some.size
    return shares / trees


def _drawn_division(
    bins: ByteArray,
    classes: IntArray,
    some: IntArray,
    features: IntArray,
    tried: int,
    state: State,
    first: FloatArray,
    whole: FloatArray,
) -> tuple[int, int]:
    """Return by which feature and up to which bin rows are divided best, of some that are drawn; -1 if by none."""
    for own in range(whole.size):
        whole[own] = 0.0
    for row in some:
        whole[classes[row]] += 1
    best, by, at = -1.0, -1, 0
    left = 0 if whole[classes[some[0]]] == some.size else features.size
    while left > 0 and tried > 0:
        # Features that were drawn go to the end.
        drawn = below(state, left)
        left -= 1
        features[drawn], features[left] = features[left], features[drawn]
        column = bins[features[left]]
        least = most = column[some[0]]
        for row in some:
            least, most = min(least, column[row]), max(most, column[row])
        if least == most:
            continue
        tried -= 1
        up_to = int(least) + below(state, int(most) - int(least))
        for own in range(first.size):
            first[own] = 0.0
        for row in some:
            first[classes[row]] += column[row] <= up_to
        size, equal, unequal = 0.0, 0.0, 0.0
        for own in range(first.size):
            size += first[own]
            equal += first[own] ** 2
            unequal += (whole[own] - first[own]) ** 2
        purity = equal / size + unequal / (some.size - size)
        if purity > best:
            best, by, at = purity, features[left], up_to
    return by, at
