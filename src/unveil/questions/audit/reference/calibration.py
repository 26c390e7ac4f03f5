"""Calibrate membership scores by sibling releases that did not see the person."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray

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
