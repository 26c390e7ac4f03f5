"""Whole histories that a release holds unchanged."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._kernels.verdict.tree import log_probabilities, tree_of_columns
from unveil.attacks.people.rows import PersonRows

#: A history is rare if at most this many released ones are expected to equal it by coincidence. A tree of columns
#: misses rules of three and more columns: this many times more coincidences are allowed for.
RARE, FACTOR = 0.05, 10
#: The rows of a history by which its probability is bounded, as shares of all.
_PLACES = (0.0, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class CopiedHistories:
    """Which targets have a history that is released.

    Attributes
    ----------
    copied
        Whether all rows of the target, and no others, are those of a released person. False without rows.
    rare
        Whether it is copied, no other target has it, and coincidence hardly explains it.
    expected
        How many released histories are expected to equal that of the target by coincidence.
    """

    copied: BoolArray
    rare: BoolArray
    expected: FloatArray


def copied_histories(rows: PersonRows) -> CopiedHistories:
    """Return the targets whose whole history is released.

    Two histories are equal if their rows are, times included, in any order of the file. A history is at most as
    probable as the number of its rows together with three of these: the first, the middle, and the last by content.
    That probability is by a tree of their columns, which knows how rows of a person depend on one another: a tree of
    the targets or of the released people, whichever gives more. Expected are ten times as many coincidences as the
    number of released people, times this probability.
    """
    history = _numbered(rows)
    size = rows.sizes
    released = np.zeros(history.max(initial=-1) + 1, np.bool_)
    released[history[rows.targets :]] = True
    own = history[: rows.targets]
    copied = released[own] & (size[: rows.targets] > 0)
    alone = np.bincount(own, minlength=released.size)[own] == 1
    expected = FACTOR * rows.released * np.exp(_log_chance(rows))
    return CopiedHistories(copied, copied & alone & (expected <= RARE), expected)


def _numbered(rows: PersonRows) -> IntArray:
    """Return a number for each person that people with the same rows share."""
    order = np.lexsort((rows.exact, rows.person))
    exact, size, start = rows.exact[order], rows.sizes, rows.start
    found = np.zeros(rows.people, np.int64)
    first = 0
    for number in np.unique(size):
        people = np.flatnonzero(size == number)
        held = exact[start[people, None] + np.arange(number)]
        place = np.unique(held, axis=0, return_inverse=True)[1].ravel() if number else np.zeros(people.size, np.int64)
        found[people] = first + place
        first += int(place.max()) + 1
    return found


def _log_chance(rows: PersonRows) -> FloatArray:
    """Return the logarithm of the probability of some rows of each target, by trees of their columns."""
    codes = np.column_stack([each + 1 for each in rows.all_codes])
    order = np.lexsort((rows.exact, rows.person))
    size, first = rows.sizes, rows.start[:-1]
    records = [size[:, None] + 1]
    for share in _PLACES:
        place = np.minimum(first + (share * (size - 1)).astype(np.int64), rows.person.size - 1)
        records.append(np.where(size[:, None] > 0, codes[order[place]], 0))
    numbers = [place for place, column in enumerate(rows.columns) if column.numbers is not None]
    cut = {0, *(1 + at * codes.shape[1] + place for at in range(len(_PLACES)) for place in numbers)}
    table = np.hstack(records).astype(np.int32)
    targets, released = table[: rows.targets], table[rows.targets :]
    found = [log_probabilities(each, tree_of_columns(each, cut=cut), targets) for each in (targets, released)]
    return np.asarray(np.max(found, axis=0), np.float64)
