"""What the nearest released person tells: links between the parts of a person, and inferred values."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.attacks.people.closeness import blocks, excess_blocks, joined
from unveil.attacks.people.rows import PersonRows
from unveil.attacks.people.views import PersonView

#: The histories among which the own one is looked for.
HISTORIES = 20


def same_person(one: Sequence[PersonView], other: Sequence[PersonView]) -> FloatArray:
    """Return the chance of each target that two sources point to the same released person.

    A source is the sum of its views and points to the released people with the highest score, to each with the same
    chance where they tie.
    """
    found = np.zeros(one[0].targets)
    for some in blocks(found.size, one[0].released.items):
        chances = (_best_people(_sum(views, some)) for views in (one, other))
        found[some] = np.multiply(*chances).sum(axis=1)
    return found


def early_and_late(rows: PersonRows) -> tuple[PersonRows, PersonRows]:
    """Return the first and the second half of each person's rows; of an odd number the second has one more.

    >>> rows = PersonRows(name="visits", columns=(), exact=np.arange(5), person=np.array([0, 0, 0, 1, 1]), targets=1,
    ...     released=1)
    >>> [half.exact.tolist() for half in early_and_late(rows)]
    [[0, 3], [1, 2, 4]]
    """
    place = np.arange(rows.person.size) - rows.start[rows.person]
    early = place < (rows.sizes // 2)[rows.person]
    return rows.of_rows(np.flatnonzero(early)), rows.of_rows(np.flatnonzero(~early))


def has_halves(rows: PersonRows) -> BoolArray:
    """Return which targets have two rows or more."""
    return rows.sizes[: rows.targets] >= 2


def own_history(parent: Sequence[PersonView], history: Sequence[PersonView], lot: IntArray) -> FloatArray:
    """Return the chance of each target that its own history is found among 20 histories.

    The other 19 are of the next targets in the random order ``lot``, which must not depend on who is a member. A
    history fits a parent row by the best released person for both, compared with the best for each alone: a history
    that is released under another parent row, or a parent row with another history, is no link. Ties count with their
    chance.
    """
    targets, number = lot.size, min(HISTORIES, lot.size)
    found = np.zeros(targets)
    for first, some in _windows(targets, parent[0].released.items):
        parents = _sum(parent, lot[some])
        histories = _sum(history, lot[(first + np.arange(some.size + number - 1)) % targets])
        histories -= histories.max(axis=1, keepdims=True)
        fit = np.empty((some.size, number))
        for next_one in range(number):
            fit[:, next_one] = (parents + histories[next_one : next_one + some.size]).max(axis=1)
        is_best = np.isclose(fit, fit.max(axis=1, keepdims=True), rtol=0, atol=1e-9)
        found[lot[some]] = is_best[:, 0] / is_best.sum(axis=1)
    return found


def _windows(targets: int, released: int) -> Iterator[tuple[int, IntArray]]:
    for some in blocks(targets, released):
        yield int(some[0]), some


def _sum(views: Sequence[PersonView], some: IntArray) -> FloatArray:
    total = views[0].closeness(some)
    for view in views[1:]:
        total += view.closeness(some)
    return total


def _best_people(scores: FloatArray) -> FloatArray:
    """Return the probability of each released person, shared by those with the highest score."""
    is_best = np.isclose(scores, scores.max(axis=1, keepdims=True), rtol=0, atol=1e-9)
    chances: FloatArray = is_best / is_best.sum(axis=1, keepdims=True)
    return chances


class ValueGuesses(NamedTuple):
    """Chances of targets that their value is guessed.

    ``targets`` are those with a value, ``chances`` those of the attack, and ``baseline`` those of the most frequent
    value of the release.
    """

    targets: IntArray
    chances: FloatArray
    baseline: FloatArray


def guess_values(views: Sequence[PersonView], rows: PersonRows, column: str) -> ValueGuesses:
    """Return the chance that each target's most frequent value is guessed from everything else.

    The guess is the most frequent value of the nearest released person by all views without the column; where people or
    values tie, each has the same chance. It is right if no value of the target is more frequent.
    """
    place = next(place for place, each in enumerate(rows.columns) if each.name == column)
    modes = _modes(rows, rows.all_codes[place])
    has: BoolArray = np.any(modes, axis=1)
    targets = np.flatnonzero(has[: rows.targets])
    released = np.flatnonzero(has[rows.targets :])
    if not targets.size or not released.size:
        return ValueGuesses(targets, np.zeros(targets.size), np.zeros(targets.size))
    held = modes[rows.targets + released] / modes[rows.targets + released].sum(axis=1, keepdims=True)
    chances = np.zeros(rows.targets)
    others = [less for view in views if not (less := view.without(column) if _is_of(view, rows) else view).is_empty]
    for some, excess in excess_blocks(others):
        scores = joined(list(excess.values()))[:, released]
        best = np.isclose(scores, scores.max(axis=1, keepdims=True), rtol=0, atol=1e-9)
        likely = (best / best.sum(axis=1, keepdims=True)) @ held
        chances[some] = (likely * modes[some]).sum(axis=1)
    common = held.sum(axis=0)
    baseline = modes[targets][:, np.isclose(common, common.max())].mean(axis=1)
    return ValueGuesses(targets, np.minimum(chances[targets], 1.0), baseline)


def _is_of(view: PersonView, rows: PersonRows) -> bool:
    return view.name.rpartition(", ")[0] == rows.name


def _modes(rows: PersonRows, codes: Int32Array) -> BoolArray:
    """Return whether each value is a most frequent one of each person."""
    seen = codes >= 0
    counts = np.zeros((rows.people, int(codes.max(initial=0)) + 1), np.int32)
    np.add.at(counts, (rows.person[seen], codes[seen]), 1)
    most = counts.max(axis=1, keepdims=True)
    found: BoolArray = (counts == most) & (most > 0)
    return found
