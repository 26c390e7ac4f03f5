"""Record probabilities by a Chow–Liu tree of columns (1968)."""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.key_set import key_table, slot_of
from unveil._kernels.table.pairs import code_counts, looked_up, narrow_codes, pair_counts, pair_keys
from unveil._kernels.threads import in_threads
from unveil._kernels.types import CodeArray, FloatArray, Int32Array, IntArray

#: In how many parts a number column is cut where the tree is chosen: raw values would leave a few rows for each pair.
PARTS = 6
#: Numbers that differ by less than this share are equal but for rounding.
SAME = 1e-9
#: So many rows are worked on at a time.
_AT_ONCE = 1 << 16
#: From values, and those of the column above them, the logarithms of their chances.
_Chances = Callable[[Int32Array, Int32Array], FloatArray]


def equal_parts(codes: Int32Array, parts: int = PARTS) -> CodeArray:
    """Return each value's part among N equal parts, from 1; 0 missing.

    ``codes`` are in the order of the values. Equal values are in one part: that of the middle one of them.

    >>> equal_parts(np.array([3, 1, 2, 4, 0, 4, 4, 4], np.int32), 2).tolist()
    [1, 1, 1, 2, 0, 2, 2, 2]
    """
    count = code_counts(codes, 1)
    count[0] = 0
    below = np.cumsum(count) - count
    part = 1 + parts * (2 * below + count) // max(1, 2 * int(count.sum()))
    part[0] = 0
    return looked_up(narrow_codes(part), codes)


def tree_of_columns(table: CodeArray, *, cut: Collection[int] = ()) -> IntArray:
    """Return each column's parent in the tree, -1 for the root.

    It is the tree with the most mutual information in all, of which (r - 1)(c - 1) / 2n is taken off for each pair of
    columns with r and c levels: so much n rows show where there is none. Of equal pairs the earlier column counts.
    Columns at the places of ``cut`` are compared by `equal_parts` of their codes.

    >>> tree_of_columns(np.array([[1, 1, 1], [1, 2, 1], [2, 1, 2], [2, 2, 2], [2, 2, 2]], np.int32))
    array([-1,  0,  0])
    """
    rows, columns = table.shape

    def levels(place: int) -> tuple[CodeArray, IntArray]:
        return _without_gaps(equal_parts(table[:, place]) if place in cut else table[:, place])

    coded = in_threads(levels, range(columns))
    parent = np.where(np.arange(columns) == 0, -1, 0)
    weight = np.full(columns, -np.inf)
    outside = np.arange(columns) > 0
    last = 0

    def more(column: int) -> float:
        # Always in the order of the columns, so that the last digit of a weight depends on nothing else.
        one, other = (coded[each] for each in sorted((last, column)))
        freedom = (one[1].size - 1) * (other[1].size - 1)
        return float(_mutual_information(*one, *other) - freedom / (2 * rows))

    while outside.any():
        others = np.flatnonzero(outside).tolist()
        for column, found in zip(others, in_threads(more, others), strict=True):
            if found > weight[column]:
                weight[column], parent[column] = found, last
        last = int(np.argmax(np.where(outside, weight, -np.inf)))
        outside[last] = False
    return parent


def _without_gaps(codes: CodeArray) -> tuple[CodeArray, IntArray]:
    """Return codes without unused ones, and their counts."""
    count = code_counts(codes)
    return looked_up(narrow_codes(np.cumsum(count > 0) - 1), codes), count[count > 0]


def _mutual_information(a: CodeArray, a_count: IntArray, b: CodeArray, b_count: IntArray) -> float:
    a_size, b_size = a_count.size, b_count.size
    if a_size * b_size <= 4 * a.size + 1024:
        count = pair_counts(a, b, a_size, b_size)
        cell = np.flatnonzero(count)
        count = count[cell]
    else:
        cell, count = np.unique(pair_keys(a, b, b_size), return_counts=True)
    independent = a_count[cell // b_size] * b_count[cell % b_size] / a.size
    return float((count * np.log(count / independent)).sum()) / a.size


def log_probabilities(
    table: Int32Array, parent: IntArray, wanted: Int32Array, some: IntArray | None = None
) -> FloatArray:
    """Return the log-probability of each row by the tree.

    With n(v) rows of the n that have the value v, and m(v) = max(n(v), 1) / n::

        q(x) = m(x_root) * product over the other columns j of (n(x_j, x_parent) + m(x_j)) / (n(x_parent) + 1)

    A row of the table itself stays among the counts, which makes its probability too large and never too small. It is
    a logarithm because the product over hundreds of columns would be 0. ``some`` are the rows that are wanted, where
    that is not all.

    >>> table = np.array([[1, 1], [1, 1], [2, 1], [2, 2]], np.int32)
    >>> np.exp(log_probabilities(table, np.array([-1, 0]), table[[0, 3]])).round(4)  # 1/2 2.75/3, 1/2 1.25/3
    array([0.4583, 0.2083])
    """
    found = np.zeros(len(wanted) if some is None else some.size)
    width = [1 + int(max(each.max(initial=0) for each in pair)) for pair in zip(table.T, wanted.T, strict=True)]
    counts = in_threads(lambda place: code_counts(table[:, place], width[place]), range(len(width)))
    for column, above in enumerate(parent.tolist()):
        _add_logarithms(found, table, wanted, some, (column, above), counts)
    return found


def _add_logarithms(
    logarithms: FloatArray,
    table: Int32Array,
    wanted: Int32Array,
    some: IntArray | None,
    place: tuple[int, int],
    counts: Sequence[IntArray],
) -> None:
    """Add a column's log-probabilities given its parent."""
    column, above = place
    alone = np.maximum(counts[column], 1) / len(table)
    if above < 0:
        logs = np.log(alone)
        chance: _Chances = lambda value, _: logs[value]  # noqa: E731
    else:
        chance = _chances(table[:, above], table[:, column], alone, counts[above] + 1, logarithms.size)

    def add(start: int) -> None:
        here = slice(start, start + _AT_ONCE)
        rows = here if some is None else some[here]
        logarithms[here] += chance(wanted[rows, column], wanted[rows, max(above, 0)])

    in_threads(add, range(0, logarithms.size, _AT_ONCE))


def _chances(higher: Int32Array, value: Int32Array, alone: FloatArray, below: IntArray, asked: int) -> _Chances:
    """Return the log-probability lookup for values given parents."""
    size, width = below.size, alone.size
    if size * width <= 4 * (value.size + asked) + 1024:
        count = pair_counts(higher, value, size, width)
        if count.size <= asked:
            # Each pair that there can be once, which are fewer than rows.
            logs = np.log((alone + count.reshape(size, width)) / below[:, None]).ravel()
            return lambda theirs, over: logs[pair_keys(over, theirs, width)]
        how_often: Callable[[IntArray], IntArray] = lambda keys: count[keys]  # noqa: E731
    else:
        how_often = _key_counter(higher, value, width)

    def chance(theirs: Int32Array, over: Int32Array) -> FloatArray:
        found = alone[theirs]
        found += how_often(pair_keys(over, theirs, width))
        found /= below[over]
        return np.log(found, out=found)

    return chance


def _key_counter(higher: Int32Array, value: Int32Array, width: int) -> Callable[[IntArray], IntArray]:
    """Return the counter of pairs with each key."""
    rows = value.size
    if rows <= PLAIN_UP_TO:
        ascending = np.sort(pair_keys(higher, value, width))
        return lambda asked: np.searchsorted(ascending, asked, side="right") - np.searchsorted(ascending, asked)
    table = key_table(rows)
    tally = np.zeros(table.size, np.int32)
    for start in range(0, rows, _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        compiled(_count_keys)(pair_keys(higher[here], value[here], width), table, tally)

    def counted(asked: IntArray) -> IntArray:
        compiled(_put_counts)(asked, table, tally)
        return asked

    return counted


@loop("i8[], i8[], i4[]")
def _count_keys(keys: IntArray, table: IntArray, tally: Int32Array) -> None:
    """Count keys, which are put into the table where they are not in it."""
    for place in range(keys.size):
        slot = slot_of(table, keys[place])
        table[slot] = keys[place]
        tally[slot] += 1


@loop("i8[], i8[], i4[]")
def _put_counts(asked: IntArray, table: IntArray, tally: Int32Array) -> None:
    """Put into the place of each key how often it was counted."""
    for place in range(asked.size):
        asked[place] = tally[slot_of(table, asked[place])]


def coincidences(expected: FloatArray) -> FloatArray:
    """Return the expected coincidences with records at most as likely.

    ``expected`` is the number for each row alone. So the least likely of many rows is not judged as if it were the only
    one that had been looked at.

    >>> coincidences(np.array([0.5, 0.25, 2.0, 0.5]))
    array([1.25, 0.25, 3.25, 1.25])
    """
    order = np.argsort(expected)
    ascending = expected[order]
    total = np.concatenate([[0.0], np.cumsum(ascending)])
    found = np.empty(expected.size)
    for start in range(0, expected.size, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        # Equal probabilities may differ in the last digit: they are products of many factors.
        found[order[some]] = total[np.searchsorted(ascending, ascending[some] * (1 + SAME), side="right")]
    return found
