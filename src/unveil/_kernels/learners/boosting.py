"""Gradient-boosted classification trees on binned features.

Every tree adds to the score of one class what makes the classes of the rows more likely, by the first and the second
derivative of their likelihood. Sums over the rows of each bin tell the best division of a leaf: a cut between bins of a
number, or some bins of a category against all others, in the order of what they ask for, in which the best two parts
lie side by side (Fisher 1958; nearly so, because rare bins are held back).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.learners.sides import divide
from unveil._kernels.types import BoolArray, ByteArray, FloatArray, IntArray, NarrowArray

#: Neither side of a division has fewer rows than this.
_FEWEST_ROWS = 20
#: A bin of a category with fewer rows in a leaf follows all others.
_FEWEST_OF_BIN = 10
#: So much is added to the second derivative of a bin before bins are put in order, or rare ones would come first.
_SMOOTH = 10.0
#: What is added to the second derivative of a leaf.
_RIDGE = 1.0
#: A division is better than another only if it is so much better: rounding must not choose between equal ones.
_CLEARLY = 1 + 1e-9
_HAIR = 1e-9
#: First derivative, second derivative and number of the rows of a bin.
_SUMS = 3


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Growth settings: trees per class, leaves per tree, and learning rate."""

    rounds: int
    leaves: int
    rate: float


def boosted_scores(
    bins: ByteArray, is_category: BoolArray, classes: IntArray, people: ByteArray, growth: Growth
) -> FloatArray:
    """Return the score of each class for each person, the higher the likelier.

    Parameters
    ----------
    bins
        Rows to learn from at [feature, row], in small whole numbers; order is what counts unless it is a category.
    is_category
        Which features are categories.
    classes
        The class of each row, from 0 on.
    people
        Whose class is guessed, at [feature, person].
    growth
        How it is learned.

    Examples
    --------
    >>> bins = (np.arange(80, dtype=np.uint8) % 8)[None]
    >>> growth = Growth(rounds=5, leaves=4, rate=0.3)
    >>> scores = boosted_scores(bins, np.array([False]), (bins[0] >= 4).astype(np.int64), bins[:, :8], growth)
    >>> scores.argmax(axis=1)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    size = np.maximum(bins.max(axis=1, initial=0), people.max(axis=1, initial=0)).astype(np.int64) + 1
    offset = np.concatenate([[0], np.cumsum(size)])
    work = bins.size * growth.rounds * growth.leaves
    learn = compiled(_boosted) if work > PLAIN_UP_TO else _boosted
    return learn(
        np.ascontiguousarray(bins, np.uint8),
        np.ascontiguousarray((bins + offset[:-1, None]).T, np.uint32),
        is_category,
        classes,
        np.ascontiguousarray(people.T, np.uint8),
        offset,
        # A class that no row has is not likelier than half a row.
        np.log(np.maximum(np.bincount(classes), 0.5) / classes.size),
        growth.rounds,
        growth.leaves,
        growth.rate,
    )


class _Tree(NamedTuple):
    """Nodes of a tree with split gains, 0 for leaves.

    The division is a feature and its bins that go to the first side; the nodes of both sides are below. A leaf has what
    it adds to a score.
    """

    better: FloatArray
    feature: IntArray
    goes_first: BoolArray
    below: IntArray
    value: FloatArray


class _Leaves(NamedTuple):
    """Leaves of a growing tree: nodes, row ranges, and bin sums."""

    node: IntArray
    order: IntArray
    begin: IntArray
    end: IntArray
    sums: FloatArray


@loop("u1[,], u4[,], b1[], i8[], u1[,], i8[], f8[], i8, i8, f8")
def _boosted(
    bins: ByteArray,
    lines: NarrowArray,
    is_category: BoolArray,
    classes: IntArray,
    people: ByteArray,
    offset: IntArray,
    prior: FloatArray,
    rounds: int,
    at_most: int,
    rate: float,
) -> FloatArray:
    rows, number, nodes, size = classes.size, prior.size, 2 * at_most, 0
    for each in range(len(bins)):
        size = max(size, offset[each + 1] - offset[each])
    scores, theirs = np.zeros((number, rows)), np.zeros((len(people), number))
    for own in range(number):
        for row in range(rows):
            scores[own, row] = prior[own]
        for person in range(len(people)):
            theirs[person, own] = prior[own]
    chance, slope, curve = np.zeros((number, rows)), np.zeros(rows), np.zeros(rows)
    tree = _Tree(
        np.zeros(nodes),
        np.zeros(nodes, np.int64),
        np.zeros((nodes, size), np.bool_),
        np.zeros((nodes, 2), np.int64),
        np.zeros(nodes),
    )
    leaves = _Leaves(
        np.zeros(at_most, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(at_most, np.int64),
        np.zeros(at_most, np.int64),
        # The bins of all features lie one after the other. A last one for the side that is summed up.
        np.zeros((at_most + 1, offset[-1], _SUMS)),
    )
    for _ in range(rounds):
        _tell_chances(scores, chance)
        # Of two classes one score tells both.
        for own in range(1 if number == 2 else 0, number):
            for row in range(rows):
                slope[row] = chance[own, row] - (classes[row] == own)
                curve[row] = chance[own, row] * (1 - chance[own, row])
            grown = _grow(bins, lines, offset, is_category, slope, curve, tree, leaves)
            for leaf in range(grown):
                some = leaves.order[leaves.begin[leaf] : leaves.end[leaf]]
                _settle(some, slope, curve, rate, scores[own], tree, leaves.node[leaf])
            for person in range(len(people)):
                node = 0
                while tree.better[node] > 0:
                    goes_first = tree.goes_first[node, people[person, tree.feature[node]]]
                    node = tree.below[node, 0 if goes_first else 1]
                theirs[person, own] += tree.value[node]
    return theirs


def _tell_chances(scores: FloatArray, chance: FloatArray) -> None:
    """Write how likely each class of each row is."""
    for row in range(scores.shape[1]):
        top, total = scores[0, row], 0.0
        for own in range(len(scores)):
            top = max(top, scores[own, row])
        for own in range(len(scores)):
            chance[own, row] = np.exp(scores[own, row] - top)
            total += chance[own, row]
        for own in range(len(scores)):
            chance[own, row] /= total


def _grow(
    bins: ByteArray,
    lines: NarrowArray,
    offset: IntArray,
    is_category: BoolArray,
    slope: FloatArray,
    curve: FloatArray,
    tree: _Tree,
    leaves: _Leaves,
) -> int:
    """Split the leaf with the largest gain repeatedly; return the leaf count."""
    most, spare = leaves.node.size, leaves.sums[leaves.node.size]
    for row in range(slope.size):
        leaves.order[row] = row
    leaves.node[0], leaves.begin[0], leaves.end[0] = 0, 0, slope.size
    _add_up(lines, leaves.order, slope, curve, leaves.sums[0])
    _find_division(leaves.sums[0], offset, is_category, tree, 0)
    grown = 1
    while grown < most:
        leaf = 0
        for each in range(grown):
            if tree.better[leaves.node[each]] > tree.better[leaves.node[leaf]] * _CLEARLY:
                leaf = each
        node, below = leaves.node[leaf], 2 * grown - 1
        if tree.better[node] <= 0:
            break
        begin, end = leaves.begin[leaf], leaves.end[leaf]
        middle = begin + divide(leaves.order[begin:end], bins[tree.feature[node]], tree.goes_first[node])
        leaves.end[leaf], leaves.begin[grown], leaves.end[grown] = middle, middle, end
        leaves.node[leaf], leaves.node[grown] = below, below + 1
        tree.below[node, 0], tree.below[node, 1] = below, below + 1
        # Only the smaller side is summed up; the other one has the rest.
        smaller, larger = (leaf, grown) if 2 * middle <= begin + end else (grown, leaf)
        _add_up(lines, leaves.order[leaves.begin[smaller] : leaves.end[smaller]], slope, curve, spare)
        _take_away(spare, leaves.sums[leaf], leaves.sums[larger], leaves.sums[smaller])
        _find_division(leaves.sums[leaf], offset, is_category, tree, below)
        _find_division(leaves.sums[grown], offset, is_category, tree, below + 1)
        grown += 1
    return grown


def _add_up(lines: NarrowArray, some: IntArray, slope: FloatArray, curve: FloatArray, sums: FloatArray) -> None:
    """Sum derivatives and rows per bin of each feature.

    Row by row, because feature by feature one row after the other would wait for the sum of the bin that both have.
    """
    for place in range(len(sums)):
        for each in range(_SUMS):
            sums[place, each] = 0.0
    for row in some:
        own_slope, own_curve = slope[row], curve[row]
        for place in lines[row]:
            sums[place, 0] += own_slope
            sums[place, 1] += own_curve
            sums[place, 2] += 1


def _take_away(part: FloatArray, whole: FloatArray, rest: FloatArray, again: FloatArray) -> None:
    """Write a part and its remainder; either may be in place."""
    for place in range(len(part)):
        for each in range(_SUMS):
            left = whole[place, each] - part[place, each]
            again[place, each] = part[place, each]
            rest[place, each] = left


def _find_division(sums: FloatArray, offset: IntArray, is_category: BoolArray, tree: _Tree, node: int) -> None:
    """Write the best split of the rows: feature, bins, and gain."""
    down, bent, rows = 0.0, 0.0, 0.0
    for place in range(offset[1]):
        down += sums[place, 0]
        bent += sums[place, 1]
        rows += sums[place, 2]
    whole, best, chosen, cut = down * down / (bent + _RIDGE), 0.0, 0, 0
    goes_first = tree.goes_first[node]
    order, ratio = np.empty(goes_first.size, np.int64), np.empty(goes_first.size)
    for each in range(is_category.size):
        own = sums[offset[each] : offset[each + 1]]
        used = _in_order(own, is_category[each], order, ratio)
        first_down, first_bent, first_rows = 0.0, 0.0, 0.0
        for at in range(used):
            first_down += own[order[at], 0]
            first_bent += own[order[at], 1]
            first_rows += own[order[at], 2]
            if first_rows < _FEWEST_ROWS:
                continue
            if rows - first_rows < _FEWEST_ROWS:
                break
            rest = down - first_down
            better = first_down**2 / (first_bent + _RIDGE) + rest**2 / (bent - first_bent + _RIDGE) - whole
            if better > best * _CLEARLY + _HAIR:
                best, chosen, cut = better, each, at
    tree.better[node], tree.feature[node] = best, chosen
    if best > 0:
        _in_order(sums[offset[chosen] : offset[chosen + 1]], is_category[chosen], order, ratio)
        for place in range(goes_first.size):
            # Bins that no row of the leaf has go where their number leads, and rare categories with all others.
            goes_first[place] = not is_category[chosen] and place <= order[cut]
        for at in range(cut + 1):
            goes_first[order[at]] = True


def _in_order(own: FloatArray, is_category: bool, order: IntArray, ratio: FloatArray) -> int:
    """Write the splittable bins of a feature in order; return their number."""
    used = 0
    for place in range(len(own)):
        if own[place, 2] < (_FEWEST_OF_BIN if is_category else 1):
            continue
        at = used
        if is_category:
            asks = own[place, 0] / (own[place, 1] + _SMOOTH)
            while at > 0 and ratio[at - 1] > asks + _HAIR:
                order[at], ratio[at] = order[at - 1], ratio[at - 1]
                at -= 1
            ratio[at] = asks
        order[at] = place
        used += 1
    return used


def _settle(
    some: IntArray, slope: FloatArray, curve: FloatArray, rate: float, scores: FloatArray, tree: _Tree, node: int
) -> None:
    """Write a leaf's score, and add it to its rows."""
    down, bent = 0.0, _RIDGE
    for row in some:
        down += slope[row]
        bent += curve[row]
    tree.better[node], tree.value[node] = 0.0, -rate * down / bent
    for row in some:
        scores[row] += tree.value[node]
