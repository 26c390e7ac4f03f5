"""Gradient-boosted classification trees on binned features.

Every tree adds to the score of one class what makes the classes of the rows more likely, by the first and the second
derivative of their likelihood. Sums over the rows of each bin tell the best division of a leaf: a cut between bins of a
number, or some bins of a category against all others, in the order of what they ask for, in which the best two parts
lie side by side (Fisher 1958; nearly so, because rare bins are held back).
"""

from dataclasses import dataclass

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
    # A class that no row has is not likelier than half a row.
    prior = np.log(np.maximum(np.bincount(classes), 0.5) / classes.size)
    scores = np.tile(prior[:, None], classes.size)
    theirs = np.tile(prior, (people.shape[1], 1))
    nodes, widest = 2 * growth.leaves, int(size.max(initial=0))
    learn(
        np.ascontiguousarray(bins, np.uint8),
        np.ascontiguousarray((bins + offset[:-1, None]).T, np.uint32),
        is_category,
        classes,
        np.ascontiguousarray(people.T, np.uint8),
        offset,
        growth.rounds,
        growth.rate,
        scores,
        np.zeros((len(prior) + 2, classes.size)),
        np.zeros((2, nodes)),
        np.zeros((3, nodes), np.int64),
        np.zeros((nodes, widest), np.bool_),
        np.zeros(widest, np.int64),
        np.zeros(widest),
        np.zeros((3, growth.leaves), np.int64),
        np.zeros(classes.size, np.int64),
        # The bins of all features lie one after the other. A last one for the side that is summed up.
        np.zeros((growth.leaves + 1, int(offset[-1]), _SUMS)),
        theirs,
    )
    return theirs


# A tree has for each node its gain (0 for a leaf) and what a leaf adds to a score (`_BETTER`, `_VALUE`), its feature
# and the nodes of both sides (`_FEATURE`, `_FIRST`, `_SECOND`), and the bins that go to the first side. The leaves of a
# growing tree have their nodes and ranges of rows in the order (`_NODE`, `_BEGIN`, `_END`), and sums of bins. All is
# made by the caller, and lies in few arrays, because each makes the compiler slower.
_BETTER, _VALUE = 0, 1
_FEATURE, _FIRST, _SECOND = 0, 1, 2
_NODE, _BEGIN, _END = 0, 1, 2


@loop(
    "u1[,], u4[,], b1[], i8[], u1[,], i8[], i8, f8, "
    "f8[,], f8[,], f8[,], i8[,], b1[,], i8[], f8[], i8[,], i8[], f8[,,], f8[,]"
)
def _boosted(
    bins: ByteArray,
    lines: NarrowArray,
    is_category: BoolArray,
    classes: IntArray,
    people: ByteArray,
    offset: IntArray,
    rounds: int,
    rate: float,
    scores: FloatArray,
    chance: FloatArray,
    tree: FloatArray,
    nodes: IntArray,
    goes_first: BoolArray,
    places: IntArray,
    ratio: FloatArray,
    leaves: IntArray,
    order: IntArray,
    sums: FloatArray,
    theirs: FloatArray,
) -> None:
    rows, number = classes.size, len(scores)
    slope, curve = chance[number], chance[number + 1]
    for _ in range(rounds):
        _tell_chances(scores, chance)
        # Of two classes one score tells both.
        for own in range(1 if number == 2 else 0, number):
            for row in range(rows):
                slope[row] = chance[own, row] - (classes[row] == own)
                curve[row] = chance[own, row] * (1 - chance[own, row])
            grown = _grow(
                bins,
                lines,
                offset,
                is_category,
                slope,
                curve,
                tree,
                nodes,
                goes_first,
                places,
                ratio,
                leaves,
                order,
                sums,
            )
            for leaf in range(grown):
                some = order[leaves[_BEGIN, leaf] : leaves[_END, leaf]]
                _settle(some, slope, curve, rate, scores[own], tree, leaves[_NODE, leaf])
            for person in range(len(people)):
                node = 0
                while tree[_BETTER, node] > 0:
                    is_first = goes_first[node, people[person, nodes[_FEATURE, node]]]
                    node = nodes[_FIRST if is_first else _SECOND, node]
                theirs[person, own] += tree[_VALUE, node]


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
    tree: FloatArray,
    nodes: IntArray,
    goes_first: BoolArray,
    places: IntArray,
    ratio: FloatArray,
    leaves: IntArray,
    order: IntArray,
    sums: FloatArray,
) -> int:
    """Split the leaf with the largest gain repeatedly; return the leaf count."""
    most = leaves.shape[1]
    for row in range(slope.size):
        order[row] = row
    leaves[_NODE, 0], leaves[_BEGIN, 0], leaves[_END, 0] = 0, 0, slope.size
    _add_up(lines, order, slope, curve, sums[0])
    _find_division(sums[0], offset, is_category, tree, nodes, goes_first, places, ratio, 0)
    grown = 1
    while grown < most:
        leaf = 0
        for each in range(grown):
            if tree[_BETTER, leaves[_NODE, each]] > tree[_BETTER, leaves[_NODE, leaf]] * _CLEARLY:
                leaf = each
        node, below = leaves[_NODE, leaf], 2 * grown - 1
        if tree[_BETTER, node] <= 0:
            break
        begin, end = leaves[_BEGIN, leaf], leaves[_END, leaf]
        middle = begin + divide(order[begin:end], bins[nodes[_FEATURE, node]], goes_first[node])
        leaves[_END, leaf], leaves[_BEGIN, grown], leaves[_END, grown] = middle, middle, end
        leaves[_NODE, leaf], leaves[_NODE, grown] = below, below + 1
        nodes[_FIRST, node], nodes[_SECOND, node] = below, below + 1
        # Only the smaller side is summed up; the other one has the rest.
        smaller, larger = (leaf, grown) if 2 * middle <= begin + end else (grown, leaf)
        _add_up(lines, order[leaves[_BEGIN, smaller] : leaves[_END, smaller]], slope, curve, sums[most])
        _take_away(sums[most], sums[leaf], sums[larger], sums[smaller])
        _find_division(sums[leaf], offset, is_category, tree, nodes, goes_first, places, ratio, below)
        _find_division(sums[grown], offset, is_category, tree, nodes, goes_first, places, ratio, below + 1)
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


def _find_division(
    sums: FloatArray,
    offset: IntArray,
    is_category: BoolArray,
    tree: FloatArray,
    nodes: IntArray,
    goes_first: BoolArray,
    places: IntArray,
    ratio: FloatArray,
    node: int,
) -> None:
    """Write the best split of the rows: feature, bins, and gain."""
    down, bent, rows = 0.0, 0.0, 0.0
    for place in range(offset[1]):
        down += sums[place, 0]
        bent += sums[place, 1]
        rows += sums[place, 2]
    whole, best, chosen, cut = down * down / (bent + _RIDGE), 0.0, 0, 0
    for each in range(is_category.size):
        own = sums[offset[each] : offset[each + 1]]
        used = _in_order(own, is_category[each], places, ratio)
        first_down, first_bent, first_rows = 0.0, 0.0, 0.0
        for at in range(used):
            first_down += own[places[at], 0]
            first_bent += own[places[at], 1]
            first_rows += own[places[at], 2]
            if first_rows < _FEWEST_ROWS:
                continue
            if rows - first_rows < _FEWEST_ROWS:
                break
            rest = down - first_down
            better = first_down**2 / (first_bent + _RIDGE) + rest**2 / (bent - first_bent + _RIDGE) - whole
            if better > best * _CLEARLY + _HAIR:
                best, chosen, cut = better, each, at
    tree[_BETTER, node], nodes[_FEATURE, node] = best, chosen
    if best > 0:
        _in_order(sums[offset[chosen] : offset[chosen + 1]], is_category[chosen], places, ratio)
        for place in range(ratio.size):
            # Bins that no row of the leaf has go where their number leads, and rare categories with all others.
            goes_first[node, place] = not is_category[chosen] and place <= places[cut]
        for at in range(cut + 1):
            goes_first[node, places[at]] = True


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
    some: IntArray, slope: FloatArray, curve: FloatArray, rate: float, scores: FloatArray, tree: FloatArray, node: int
) -> None:
    """Write a leaf's score, and add it to its rows."""
    down, bent = 0.0, _RIDGE
    for row in some:
        down += slope[row]
        bent += curve[row]
    value = -rate * down / bent
    tree[_BETTER, node], tree[_VALUE, node] = 0.0, value
    for row in some:
        scores[row] += value
