"""Diversity of a sensitive column within equivalence classes.

k-anonymity hides which row is whose; if all rows of a class hold the same diagnosis, that does not matter. These
metrics look at the sensitive values inside each equivalence class and return the worst class. A missing sensitive value
is a value of its own throughout.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics._listing import metric
from unveil.metrics.releases._classes import (
    RowClasses,
    column_codes,
    group,
    quasi_identifiers,
    released_table,
    values_and_gaps,
)

#: The c of (c, l)-diversity by default: the commonest value is less than twice as frequent as the rarer ones together.
C = 2.0
FACTS: dict[str, Any] = {"category": "disclosure", "per": "release"}
MACHANAVAJJHALA = "Machanavajjhala et al. (2007), l-diversity"
LI = "Li, Li and Venkatasubramanian (2007), t-closeness"
_ORDERED = ("number", "ordered", "date")
_LARGEST = 2**62


@dataclass(frozen=True, kw_only=True)
class Diversity:
    """Worst equivalence class of a sensitive column, by four measures."""

    COUNTS = "statistic"

    column: str = figure("Name of the sensitive attribute.")
    values: int = figure("Number of distinct values in the release; missing counts as one.")
    distinct: int = figure(
        "Smallest number of distinct sensitive values in any class, at least 1 (distinct l-diversity)."
    )
    entropy: float = figure(
        "Smallest effective number of sensitive values in any class, at least 1 (entropy l-diversity)."
    )
    recursive: int = figure("Largest l for which the release is recursively (c, l)-diverse.")
    c: float = figure("The c of recursive diversity.")
    closeness: float = figure(
        "Largest distance between the sensitive values of a class and those of all rows, from 0 (the same) "
        "to 1 (t-closeness)."
    )
    classes_of_one_value: float = figure(
        "Share of rows in classes with only one sensitive value (attribute disclosure)."
    )
    remark: str = figure("Note on the values, as for a column with a single value; else empty.", default="")


class _Values(NamedTuple):
    """Counts of sensitive values per class, sorted by class and value.

    Codes count from 0, missing first.
    """

    classes: RowClasses
    of_class: IntArray
    value: IntArray
    times: IntArray
    start: IntArray
    #: How many of the first codes are reasons why there is no value.
    missing: int


@metric(more_means="more private", bounds=(1, inf), source=MACHANAVAJJHALA, **FACTS)
def distinct_l_diversity(release: Release | Table, *, sensitive: str, columns: Sequence[str] | None = None) -> int:
    """Return the smallest number of different sensitive values in an equivalence class.

    Formula: ``min over classes of #{different values of sensitive}``, the classes being those of ``columns`` (by
    default all known ones but this). 1 means that some class holds a single value, so that who belongs to it is found
    out without being singled out; 2 and more that an attacker cannot be sure, though one value may be far likelier
    than the others. A missing value counts as a value. It is never undefined.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 40, 40], "ill": ["flu", "flu", "flu", "gout"]}))
    >>> distinct_l_diversity(people, sensitive="ill")
    1
    """
    return _distinct(_values(release, sensitive, columns))


@metric(more_means="more private", bounds=(1, inf), source=MACHANAVAJJHALA, **FACTS)
def entropy_l_diversity(release: Release | Table, *, sensitive: str, columns: Sequence[str] | None = None) -> float:
    """Return the smallest effective number of sensitive values in an equivalence class.

    Formula: ``min over classes of exp(-sum(p log p))``, p being the shares of the values in the class; natural
    logarithm and exponential, which is the same as 2 to the entropy in bits. The source asks for entropy >= log(l),
    so this is the largest l that holds. 1 means that some class holds a single value; l means as uncertain as l equally
    frequent values. A missing value counts as a value. It is never undefined.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30] * 4, "ill": ["flu", "flu", "gout", "cold"]}))
    >>> round(entropy_l_diversity(people, sensitive="ill"), 4)
    2.8284
    """
    return _entropy(_values(release, sensitive, columns))


@metric(more_means="more private", bounds=(1, inf), source=MACHANAVAJJHALA, **FACTS)
def recursive_l_diversity(
    release: Release | Table, *, sensitive: str, columns: Sequence[str] | None = None, c: float = C
) -> int:
    """Return the largest l for which every equivalence class is (c, l)-diverse.

    Formula: with counts ``r1 >= r2 >= …`` of the values in a class, the largest l with
    ``r1 < c (rl + r(l+1) + … + rm)``, and 1 if there is none (always satisfied, says the source); then the least of
    the classes. 1 means that in some class one value outweighs all others ``c`` times; a larger l means that this stays
    so after an attacker has ruled out l - 2 of the other values. ``c`` is 2 by default. A missing value counts as a
    value. It is never undefined.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30] * 4, "ill": ["flu", "flu", "gout", "cold"]}))
    >>> recursive_l_diversity(people, sensitive="ill"), recursive_l_diversity(people, sensitive="ill", c=3)
    (2, 3)
    """
    return _recursive(_values(release, sensitive, columns), c)


@metric(more_means="less private", bounds=(0, 1), source=LI, **FACTS)
def t_closeness(release: Release | Table, *, sensitive: str, columns: Sequence[str] | None = None) -> float:
    """Return the largest distance of a class from all rows (t-closeness).

    Formula: for numbers, ordered values and dates ``sum(|P(i) - Q(i)|) / (m - 1)`` over the m different values in their
    order, P and Q being cumulated shares in the class and in the table (earth mover's distance, values one rank apart
    being ``1 / (m - 1)`` apart); for other kinds ``sum(|p - q|) / 2`` (all values equally far apart). Where numbers are
    missing, the difference of the shares of missing values is added, and the distance of the others counts for the rows
    that have one. 0 means that every class looks like the whole table, so finding a class says nothing new; 1 that some
    class is as far from the whole as can be. It is never undefined; a column with one value gives 0.

    >>> import polars as pl
    >>> classes, thousands = ["a"] * 3 + ["b"] * 3 + ["c"] * 3, [3, 4, 5, 6, 8, 11, 7, 9, 10]
    >>> people = Table.from_frame(pl.DataFrame({"class": classes, "salary": thousands}))
    >>> t_closeness(people, sensitive="salary", columns=["class"])
    0.375
    """
    return _closeness(_values(release, sensitive, columns), _is_ordered(release, sensitive))


def diversity(
    release: Release | Table,
    *,
    sensitive: str,
    columns: Sequence[str] | None = None,
    c: float = C,
    classes: RowClasses | None = None,
) -> Diversity:
    """Return all diversity measures of one sensitive column.

    ``classes`` are those of these columns, where they are known already.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 40], "ill": ["flu"] * 3}))
    >>> found = diversity(people, sensitive="ill")
    >>> found.distinct, found.closeness, found.remark
    (1, 0.0, 'every row has the same value, so the release discloses it whatever the classes are')
    """
    values = _values(release, sensitive, columns, classes)
    kinds = int(np.unique(values.value).size)
    alone = np.diff(values.start) == 1
    return Diversity(
        column=sensitive,
        values=kinds,
        distinct=_distinct(values),
        entropy=_entropy(values),
        recursive=_recursive(values, c),
        c=c,
        closeness=_closeness(values, _is_ordered(release, sensitive)),
        classes_of_one_value=int(values.classes.size[alone].sum()) / int(values.classes.size.sum()),
        remark=_ONE_VALUE if kinds == 1 else "",
    )


_ONE_VALUE = "every row has the same value, so the release discloses it whatever the classes are"


def _is_ordered(release: Release | Table, sensitive: str) -> bool:
    return released_table(release).column(sensitive).kind in _ORDERED


def _values(
    release: Release | Table, sensitive: str, columns: Sequence[str] | None, classes: RowClasses | None = None
) -> _Values:
    table = released_table(release)
    names = quasi_identifiers(table, columns, apart={sensitive: "the sensitive column"})
    classes = group(column_codes(table, names)) if classes is None else classes
    code, gap = values_and_gaps(table, sensitive)
    missing = int(gap.max())
    code = np.where(gap > 0, gap, missing + code) - 1
    width = int(code.max()) + 1
    pair, count = np.unique(classes.of_row * width + code, return_counts=True)
    of_class = pair // width
    start = np.searchsorted(of_class, np.arange(classes.size.size + 1))
    return _Values(classes, of_class, pair % width, count.astype(np.int64), start, missing)


def _distinct(values: _Values) -> int:
    return int(np.diff(values.start).min())


def _entropy(values: _Values) -> float:
    share = values.times / values.classes.size[values.of_class]
    entropy = np.add.reduceat(-share * np.log(share), values.start[:-1])
    return float(np.exp(entropy.min()))


def _recursive(values: _Values, c: float) -> int:
    if not 0 < c < inf:
        raise InputError(f"c is {c:g}; it must be above 0. Write c=2")
    order = np.lexsort((-values.times, values.of_class))
    count, first = values.times[order], values.start[:-1]
    before = np.cumsum(count) - count
    rest = values.classes.size[values.of_class] - (before - before[first][values.of_class])
    holds = count[first][values.of_class] < c * rest
    return max(1, int(np.add.reduceat(holds.astype(np.int64), first).min()))


def _closeness(values: _Values, ordered: bool) -> float:
    if not ordered:
        return float(_equal_distance(values).max())
    rows = values.classes.size
    everybody = int(rows.sum())
    filled = rows.copy()
    unlike = np.zeros(rows.size)
    for code in range(values.missing):
        absent = values.value == code
        missing = np.bincount(values.of_class[absent], values.times[absent], rows.size).astype(np.int64)
        filled -= missing
        unlike += np.abs(missing / rows - int(missing.sum()) / everybody)
    here, all_missing = (rows - filled) / rows, int((rows - filled).sum()) / everybody
    # Half the sum of all differences of shares, of which those with a value are one.
    unlike = (unlike + np.abs(here - all_missing)) / 2
    apart = _ordered_distance(values, filled)
    return float((unlike + np.minimum(1 - here, 1 - all_missing) * apart).max())


def _equal_distance(values: _Values) -> FloatArray:
    """Return the total variation distance of each class."""
    rows = values.classes.size
    everybody = int(rows.sum())
    total = np.bincount(values.value, values.times).astype(np.int64)
    surplus = np.maximum(values.times * everybody - total[values.value] * rows[values.of_class], 0)
    return np.asarray(np.add.reduceat(surplus, values.start[:-1]) / (rows * everybody), dtype=np.float64)


def _ordered_distance(values: _Values, filled: IntArray) -> FloatArray:
    """Return the earth mover's distance of each class, along ranks.

    Between two values that a class has, its cumulated count stays the same while that of the table grows. So where the
    two cross is found by bisection and both sides come from running sums: no class is compared with every value.
    """
    present = values.value >= values.missing
    of_class, rank = values.of_class[present], values.value[present] - values.missing
    count = values.times[present]
    ranks = int(rank.max(initial=0)) + 1
    if ranks == 1:
        return np.zeros(filled.size)
    table = np.cumsum(np.bincount(rank, count, ranks)).astype(np.int64)
    everybody = int(table[-1])
    exact = everybody * int(filled.max()) * ranks < _LARGEST
    running = np.concatenate([[0], np.cumsum(table.astype(np.int64 if exact else np.float64))])
    # One stretch of ranks behind each value, and one in front of each class's first.
    some = np.flatnonzero(filled)
    first = np.searchsorted(of_class, some)
    owner = np.concatenate([some, of_class])
    low = np.concatenate([np.zeros(some.size, np.int64), rank])
    behind = np.append(rank[1:], ranks)
    last = np.append(first[1:], of_class.size) - 1
    behind[last] = ranks
    high = np.concatenate([rank[first], behind])
    so_far = np.cumsum(count)
    so_far -= (so_far - count)[first][np.searchsorted(some, of_class)]
    here = np.concatenate([np.zeros(some.size, np.int64), so_far])
    size = filled[owner]
    cross = np.clip(np.searchsorted(table, -(-here * everybody // size)), low, high)
    level = here * everybody if exact else here.astype(np.float64) * everybody
    below = (cross - low) * level - size * (running[cross] - running[low])
    above = size * (running[high] - running[cross]) - (high - cross) * level
    work = np.bincount(owner, below + above, filled.size)
    return np.asarray(work / np.maximum(filled, 1) / everybody / (ranks - 1), dtype=np.float64)
