"""How close the nearest released person, or the closest released row, is to each target."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.neighbours.nearest import IntegerGrid, nearest_distances
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks.people.rows import TargetRows, child_columns, child_sides
from unveil.attacks.people.views import PersonView
from unveil.data.table.encode import encode

if TYPE_CHECKING:
    from unveil.data.table.child_tables import ChildRelease

#: Scores of so many pairs are held at once.
BLOCK = 25_000_000
#: The view of all views together.
JOINED = "all views"


def blocks(targets: int, others: int) -> Iterator[IntArray]:
    """Yield the targets in parts whose pairs with ``others`` fit into memory."""
    step = max(1, BLOCK // max(1, others))
    for first in range(0, targets, step):
        yield np.arange(first, min(first + step, targets))


def nearest_target(view: PersonView) -> FloatArray:
    """Return the score of each target with the nearest other target; 0 for a single one."""
    found = np.zeros(view.targets)
    if view.targets > 1:
        for some in blocks(view.targets, view.targets):
            scores = view.model.scores(view.profiles.take(some), view.attacked)
            scores[np.arange(some.size), some] = -np.inf
            found[some] = scores.max(axis=1)
    return found


def nearest_people(views: Sequence[PersonView]) -> dict[str, FloatArray]:
    """Return how close the nearest released person is to each target, by view and by all views together.

    It is the score of the nearest released person minus that of the nearest other target: a person who is like many
    others, or whose history is long, is close to somebody anyhow. For all views together it is the largest sum over
    views for one released person, and a view in which this person is no nearer than others adds nothing. Who is a
    member plays no part, so scores may be compared under any labels.
    """
    targets = views[0].targets
    found = {view.name: np.zeros(targets) for view in views}
    if len(views) > 1:
        found[JOINED] = np.zeros(targets)
    for some, excess in excess_blocks(views):
        for name, scores in excess.items():
            found[name][some] = scores.max(axis=1)
        if JOINED in found:
            found[JOINED][some] = joined(list(excess.values())).max(axis=1)
    return found


def excess_blocks(views: Sequence[PersonView]) -> Iterator[tuple[IntArray, dict[str, FloatArray]]]:
    """Yield parts of the targets with their scores by view, minus that of the nearest other target."""
    others = {view.name: nearest_target(view) for view in views}
    for some in blocks(views[0].targets, views[0].released.items):
        yield some, {view.name: view.closeness(some) - others[view.name][some, None] for view in views}


def joined(excess: Sequence[FloatArray]) -> FloatArray:
    """Return the sum over views of ``log(1 + exp(excess))``.

    >>> joined([np.array([9.0, -9.0]), np.array([-9.0, -9.0])]).round(2)
    array([9., 0.])
    """
    total = np.zeros_like(excess[0])
    for each in excess:
        total += np.logaddexp(0.0, each)
    return total


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
