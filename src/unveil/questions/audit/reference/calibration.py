"""Calibrate membership scores by sibling releases that did not see the person."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks.table.sibling_calibration import FEWEST_OF_Z, calibrate
from unveil.questions.audit.findings import ExposedPerson

if TYPE_CHECKING:
    from unveil.data.table import Table

#: The scores of people, by name: of each table against a release.
Scores = Mapping[str, FloatArray]
ScoreTables = Callable[["Table", Sequence["Table"]], Sequence[Scores]]


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationReleases:
    """Sibling releases, and which of them each person is compared with.

    Attributes
    ----------
    releases
        The siblings.
    compared
        Which siblings each row is compared with, at [row, sibling]: equally many for everybody, and none that saw the
        person. How many are left depends on who saw whom, and a learner would read it. Rows of the control come after
        those of the original.
    """

    releases: "tuple[Table, ...]"
    compared: BoolArray

    @property
    def number(self) -> int:
        """Number of siblings that each person is compared with."""
        return int(self.compared[0].sum()) if len(self.compared) else 0


def calibrated_scores(
    own: Sequence[Scores],
    people: "Sequence[Table]",
    rows: Sequence[IntArray],
    siblings: CalibrationReleases,
    score: ScoreTables,
) -> list[dict[str, FloatArray]]:
    """Return scores minus their means over siblings that did not see the person.

    Parameters
    ----------
    own
        The scores of each table of people against the release.
    people
        Those who are scored.
    rows
        The row of each of them, those of the control after those of the original.
    siblings
        The siblings of each row.
    score
        Scores tables of people against a release.
    """
    sums = [{name: np.zeros(each.size) for name, each in scores.items()} for scores in own]
    for place, release in enumerate(siblings.releases):
        chosen = [np.flatnonzero(siblings.compared[some, place]) for some in rows]
        wanted = [at for at, some in enumerate(chosen) if some.size]
        if not wanted:
            continue
        found = score(release, [people[at].take(chosen[at]) for at in wanted])
        for at, scores in zip(wanted, found, strict=True):
            for name, each in scores.items():
                sums[at][name][chosen[at]] += each
    return [
        {name: each - total[name] / siblings.number for name, each in scores.items()}
        for scores, total in zip(own, sums, strict=True)
    ]


def z_of_people(
    rows: IntArray, own: FloatArray, siblings: FloatArray, seen: BoolArray | None, *, rng: np.random.Generator
) -> tuple[tuple[int, float], ...]:
    """Return the row of each person with the z of a score; none for people seen by all but two siblings.

    Parameters
    ----------
    rows
        The row of each person.
    own, siblings
        The score of each person against the release, and against each sibling.
    seen
        Whether each sibling saw the person; None if none did.
    rng
        Draws equally many siblings for everybody.

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    >>> found = z_of_people(np.array([7, 9]), np.array([3.0, 0.0]), scores, None, rng=np.random.default_rng(0))
    >>> [(row, round(z, 3)) for row, z in found]
    [(7, 1.091), (9, 0.0)]
    """
    unseen = np.full(len(siblings), siblings.shape[1]) if seen is None else (~seen).sum(axis=1)
    kept = np.flatnonzero(unseen >= FEWEST_OF_Z)
    if not kept.size:
        return ()
    found = calibrate(own[kept], siblings[kept], seen=None if seen is None else seen[kept], rng=rng)
    return tuple(zip(rows[kept].tolist(), found.z.tolist(), strict=True))


def with_z(exposed: Sequence[ExposedPerson], people_z: Sequence[tuple[int, float]]) -> tuple[ExposedPerson, ...]:
    """Return exposed people with their z."""
    of_row = dict(people_z)
    return tuple(replace(each, z=of_row.get(each.row, nan)) for each in exposed) if of_row else tuple(exposed)
