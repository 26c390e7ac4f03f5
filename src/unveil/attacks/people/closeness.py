"""How close the nearest released person is to each target, by view."""

from collections.abc import Iterator, Sequence

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.people.views import PersonView

#: Scores of so many pairs are held at once.
BLOCK = 10_000_000
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
