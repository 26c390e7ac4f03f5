"""Gradient boosting of classes: trees that are grown leaf by leaf on features in few bins.

Every tree adds to the score of one class what makes the classes of the rows more likely, by the first and the second
derivative of their likelihood. Sums over the rows of each bin tell the best division of a leaf: a cut between bins of a
number, or some bins of a category against all others, in the order of what they ask for, in which the best two parts
lie side by side (Fisher 1958).
"""

from dataclasses import dataclass

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import BoolArray, ByteArray, FloatArray, IntArray

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
#: First derivative, second derivative and number of the rows of a bin.
_SUMS = 3


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How many trees each class has, how many leaves a tree, and what share of its answer is added."""

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
    number = int(classes.max(initial=0)) + 1
    size = np.maximum(bins.max(axis=1, initial=0), people.max(axis=1, initial=0)).astype(np.int64) + 1
    work = bins.size * growth.rounds * number
    learn = compiled(_boosted) if work > PLAIN_UP_TO else _boosted
    return learn(
        np.ascontiguousarray(bins, np.uint8),
        is_category,
        classes,
        np.ascontiguousarray(people.T, np.uint8),
        number,
        np.concatenate([[0], np.cumsum(size)]),
        growth.rounds,
        growth.leaves,
        growth.rate,
    )


@loop("u1[,], b1[], i8[], u1[,], i8, i8[], i8, i8, f8")
def _boosted(
    bins: ByteArray,
    is_category: BoolArray,
    classes: IntArray,
    people: ByteArray,
    number: int,
    offset: IntArray,
    rounds: int,
    leaves: int,
    rate: float,
) -> FloatArray:
    rows = classes.size
    # Of two classes one score tells both.
    trees = 1 if number == 2 else number
    scores, theirs = np.zeros((number, rows)), np.zeros((len(people), number))
    for own in range(number):
        share = np.log(max(np.sum(classes == own), 0.5) / rows)
        scores[own], theirs[:, own] = share, share
    chance, slope, curve = np.zeros((number, rows)), np.zeros(rows), np.zeros(rows)
    # The bins of all features lie one after the other, those of a feature from its offset on.
    sums, size = np.zeros((leaves, offset[-1], _SUMS)), np.diff(offset).max()
    order, begin, end = np.zeros(rows, np.int64), np.zeros(leaves, np.int64), np.zeros(leaves, np.int64)
    of_leaf, value = np.zeros(leaves, np.int64), np.zeros(leaves)
    # The nodes of one tree: by which feature they divide, which of its bins go to the first side, and where that leads.
    feature, goes_first = np.zeros(2 * leaves, np.int64), np.zeros((2 * leaves, size), np.bool_)
    below, worth = np.zeros((2 * leaves, 2), np.int64), np.zeros(2 * leaves)
    for _ in range(rounds):
        _softmax(scores, chance)
        for own in range(trees):
            at = number - 1 if trees == 1 else own
            for row in range(rows):
                slope[row] = chance[at, row] - (classes[row] == at)
                curve[row] = chance[at, row] * (1 - chance[at, row])
                order[row] = row
            begin[0], end[0], of_leaf[0] = 0, rows, 0
            _add_sums(bins, offset, order, slope, curve, sums[0])
            worth[0] = _best_division(sums[0], offset, is_category, feature[:1], goes_first[0])
            grown, nodes = 1, 1
            while grown < leaves:
                leaf = 0
                for each in range(grown):
                    if worth[of_leaf[each]] > worth[of_leaf[leaf]] * _CLEARLY:
                        leaf = each
                node = of_leaf[leaf]
                if worth[node] <= 0:
                    break
                some = order[begin[leaf] : end[leaf]]
                middle = begin[leaf] + _divide(some, bins[feature[node]], goes_first[node])
                begin[grown], end[grown], end[leaf] = middle, end[leaf], middle
                below[node, 0], below[node, 1] = nodes, nodes + 1
                of_leaf[leaf], of_leaf[grown] = nodes, nodes + 1
                # Only the smaller side is summed up; the other one has the rest.
                smaller, larger = leaf, grown
                if 2 * middle > begin[leaf] + end[grown]:
                    smaller, larger = grown, leaf
                if smaller == leaf:
                    sums[grown] = sums[leaf]
                _add_sums(bins, offset, order[begin[smaller] : end[smaller]], slope, curve, sums[smaller])
                sums[larger] -= sums[smaller]
                for each in (leaf, grown):
                    node = of_leaf[each]
                    worth[node] = _best_division(
                        sums[each], offset, is_category, feature[node : node + 1], goes_first[node]
                    )
                grown, nodes = grown + 1, nodes + 2
            for leaf in range(grown):
                some = order[begin[leaf] : end[leaf]]
                down, bent = 0.0, _RIDGE
                for row in some:
                    down += slope[row]
                    bent += curve[row]
                value[leaf] = -rate * down / bent
                for row in some:
                    scores[at, row] += value[leaf]
                # A leaf is told by a worth below 0 and the number of its value.
                feature[of_leaf[leaf]], worth[of_leaf[leaf]] = leaf, -1.0
            for person in range(len(people)):
                node = 0
                while worth[node] > 0:
                    node = below[node, 0 if goes_first[node, people[person, feature[node]]] else 1]
                theirs[person, at] += value[feature[node]]
    return theirs


def _softmax(scores: FloatArray, chance: FloatArray) -> None:
    """Write how likely each class of each row is."""
    for row in range(scores.shape[1]):
        top = scores[:, row].max()
        total = 0.0
        for own in range(len(scores)):
            chance[own, row] = np.exp(scores[own, row] - top)
            total += chance[own, row]
        for own in range(len(scores)):
            chance[own, row] /= total


def _add_sums(
    bins: ByteArray, offset: IntArray, some: IntArray, slope: FloatArray, curve: FloatArray, sums: FloatArray
) -> None:
    """Write the derivatives and the number of some rows in each bin of each feature."""
    sums[:] = 0.0
    own_slope, own_curve = slope[some], curve[some]
    for feature in range(len(bins)):
        column, own = bins[feature], sums[offset[feature] : offset[feature + 1]]
        for at in range(some.size):
            place = column[some[at]]
            own[place, 0] += own_slope[at]
            own[place, 1] += own_curve[at]
            own[place, 2] += 1


def _divide(some: IntArray, column: ByteArray, goes_first: BoolArray) -> int:
    """Put rows of the first side before the others, in their order, and return how many there are."""
    others, first, second = np.empty(some.size, np.int64), 0, 0
    for row in some:
        if goes_first[column[row]]:
            some[first] = row
            first += 1
        else:
            others[second] = row
            second += 1
    some[first:] = others[:second]
    return first


def _best_division(
    sums: FloatArray, offset: IntArray, is_category: BoolArray, feature: IntArray, goes_first: BoolArray
) -> float:
    """Write which feature divides the rows best, and its bins on the first side; return how much better it is."""
    all_rows = sums[: offset[1]]
    down, bent, rows = all_rows[:, 0].sum(), all_rows[:, 1].sum(), all_rows[:, 2].sum()
    whole = down * down / (bent + _RIDGE)
    best, order, ratio = 0.0, np.empty(goes_first.size, np.int64), np.empty(goes_first.size)
    for each in range(is_category.size):
        own, used = sums[offset[each] : offset[each + 1]], 0
        for place in range(len(own)):
            if own[place, 2] < (_FEWEST_OF_BIN if is_category[each] else 1):
                continue
            at = used
            if is_category[each]:
                asks = own[place, 0] / (own[place, 1] + _SMOOTH)
                while at > 0 and ratio[at - 1] > asks:
                    order[at], ratio[at] = order[at - 1], ratio[at - 1]
                    at -= 1
                ratio[at] = asks
            order[at] = place
            used += 1
        first_down, first_bent, first_rows = 0.0, 0.0, 0.0
        for at in range(used):
            place = order[at]
            first_down += own[place, 0]
            first_bent += own[place, 1]
            first_rows += own[place, 2]
            if first_rows < _FEWEST_ROWS:
                continue
            if rows - first_rows < _FEWEST_ROWS:
                break
            rest = down - first_down
            better = first_down**2 / (first_bent + _RIDGE) + rest**2 / (bent - first_bent + _RIDGE) - whole
            if better > best * _CLEARLY + 1e-9:
                best, feature[0] = better, each
                # Bins that no row of the leaf has go where their number leads, and rare categories with all others.
                goes_first[:] = False
                if is_category[each]:
                    for earlier in range(at + 1):
                        goes_first[order[earlier]] = True
                else:
                    goes_first[: place + 1] = True
    return best
