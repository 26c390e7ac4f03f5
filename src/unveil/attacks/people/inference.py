"""Inference of a child column: the most frequent value of a person, from the nearest released people."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.attacks.people.closeness import excess_blocks, joined
from unveil.attacks.people.rows import PersonRows
from unveil.attacks.people.views import PersonView


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
    return view.name.startswith(f"{rows.name}: ")


def _modes(rows: PersonRows, codes: Int32Array) -> BoolArray:
    """Return whether each value is a most frequent one of each person."""
    seen = codes >= 0
    counts = np.zeros((rows.people, int(codes.max(initial=0)) + 1), np.int32)
    np.add.at(counts, (rows.person[seen], codes[seen]), 1)
    most = counts.max(axis=1, keepdims=True)
    found: BoolArray = (counts == most) & (most > 0)
    return found
