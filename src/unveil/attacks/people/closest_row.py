"""The closest child row: one row of a person against any released row."""

from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.neighbours.nearest import IntegerGrid, nearest_distances
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks.people.rows import TargetRows, child_columns, child_sides
from unveil.data.table.encode import encode

if TYPE_CHECKING:
    from unveil.data.table.child_tables import ChildRelease

#: This share of one column's range is added to both distances, so that copies of common rows are none of rare ones.
_SOFTENING = 0.0001


def closest_rows(child: "ChildRelease", targets: TargetRows, first_half: BoolArray) -> FloatArray:
    """Return how close any row of each target is to a released row.

    The score of a row is minus its distance to the closest released row over that to the closest row of other targets,
    those of the other half; the score of a person is that of the best row. A person without rows has the lowest score
    of all. ``first_half`` divides the targets by chance: who is a member must not decide it.
    """
    sides = child_sides(child, targets)
    columns = child_columns(child)
    rows = [table.take(places) for table, places, _ in sides]
    person = np.concatenate([owner for *_, owner in sides])
    if not person.size or not columns:
        return np.zeros(targets.size)
    released, *people = encode([child.release.released, *rows], columns, span_of=range(1 + len(rows)))
    pool = people[0].grid()
    if len(people) > 1:
        outside = people[1].grid()
        pool = pool._replace(
            numbers=np.concatenate([pool.numbers, outside.numbers]), codes=np.concatenate([pool.codes, outside.codes])
        )
    near = nearest_distances(released, pool, 1)[:, 0].astype(np.float64)
    other = np.empty(person.size)
    half = first_half[person]
    for side in (half, ~half):
        mine, theirs = np.flatnonzero(side), np.flatnonzero(~side)
        if mine.size and theirs.size:
            other[mine] = nearest_distances(_some(pool, theirs), _some(pool, mine), 1)[:, 0]
        else:
            other[mine] = near[mine]
    soft = _SOFTENING * released.mismatch_cost
    return _best_of(-(near + soft) / (other + soft), person, targets.size)


def _some(rows: IntegerGrid, places: IntArray) -> IntegerGrid:
    return rows._replace(numbers=rows.numbers[places], codes=rows.codes[places])


def _best_of(scores: FloatArray, person: IntArray, people: int) -> FloatArray:
    """Return the best score of each person's rows; the lowest of all without rows."""
    best = np.full(people, -np.inf)
    np.maximum.at(best, person, scores)
    has = np.isfinite(best)
    return np.where(has, best, best[has].min())
