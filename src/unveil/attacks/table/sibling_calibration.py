"""Calibrate membership scores by sibling releases: the same generator, other people.

Near a release is near its siblings too, unless the person was used: the difference to the siblings is what the release
says about the person. It is offline LiRA with releases in place of models; nothing is trained.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.cells.neighbours import boxes_around
from unveil._kernels.neighbours.density import rows_within, within
from unveil._kernels.threads import in_threads
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.data.table import Table

#: Distances to the nearest row of these ranks are scores.
RANKS = (1, 3, 10)
#: Added to a distance before its logarithm: a thousandth of a column.
_FLOOR = 1e-3
#: The nearness of a release that has a row equal to the person.
COPY = -float(np.log(_FLOOR))
#: Added to the standard deviation of the siblings.
_LEAST_SPREAD = 0.1
#: With fewer siblings there is no standard deviation to divide by.
FEWEST_OF_Z = 3


class CalibratedScores(NamedTuple):
    """Scores of each person against the siblings; larger is more like a member.

    Attributes
    ----------
    difference
        The own score minus the mean over the siblings.
    z
        The difference divided by the standard deviation over the siblings plus 0.1; NaN with fewer than 3 siblings.
    p
        (1 + siblings with at least the own score) / (1 + siblings). It is valid for each person alone: people share the
        siblings, so that several p may neither be multiplied nor corrected as if they were independent.
    """

    difference: FloatArray
    z: FloatArray
    p: FloatArray


def nearness_to_releases(
    releases: Sequence["Table"],
    people: "Table",
    columns: Sequence[str],
    *,
    ranks: Sequence[int] = RANKS,
    masked: bool = False,
) -> FloatArray:
    """Return minus the log distance of each person to the k-th nearest row of each release.

    The result has the shape (people, releases, ranks). A distance of 1 is a difference in one column, or of its whole
    range in any of the tables; a thousandth is added. A release with fewer rows than a rank gives its farthest row.

    Parameters
    ----------
    releases
        The release and its siblings, read alike.
    people
        Those who are scored.
    columns
        The columns in which everybody is compared; their order plays no part.
    ranks
        The ranks of the nearest rows.
    masked
        Whether released cells may stand for several values. Then each release is read next to the people alone, and
        the range of a column is that of the people.

    Examples
    --------
    >>> from unveil.data.table import Table
    >>> one, other, people = (Table.from_frame({"age": each}) for each in ([20, 70], [45, 60], [20, 50]))
    >>> nearness_to_releases([one, other], people, ["age"], ranks=[1])[:, :, 0].round(1)
    array([[6.9, 0.7],
           [0.9, 2.3]])
    """
    from unveil.data.table import agree
    from unveil.data.table.encode import encode

    names = sorted(columns)
    whole = [table.select(names) for table in (people, *releases)]
    if not masked:
        tables = agree(*whole)
        together = encode(tables, names, span_of=range(len(tables)))

    def near(place: int) -> FloatArray:
        if masked:
            # One release may not be read beside the others: its cells would stand for other sets.
            wanted, released = encode(agree(whole[0], whole[place + 1], masked=True), names, span_of=[0])
        else:
            wanted, released = together[0], together[place + 1]
        targets = wanted.grid()
        around = None if released.cells is None else boxes_around(released.cells, targets)[0]
        least = [min(rank, released.size) for rank in ranks]
        limits = [(rows_within(released, targets, k) if around is None else within(around, k))[0] for k in least]
        return -np.log(np.column_stack(limits) / wanted.mismatch_cost + _FLOOR)

    return np.stack(in_threads(near, range(len(releases))), axis=1)


def calibrate(
    own: FloatArray,
    siblings: FloatArray,
    *,
    seen: BoolArray | None = None,
    number: int | None = None,
    rng: np.random.Generator,
) -> CalibratedScores:
    """Return scores of people calibrated by the siblings that did not see them.

    Every person is compared with equally many siblings, drawn at random: how many are left depends on who saw whom,
    and a learner would read it.

    Parameters
    ----------
    own
        The score of each person against the release.
    siblings
        The score of each person against each sibling, one row per person.
    seen
        Whether each sibling was made from data with this person; nobody was seen unless given.
    number
        How many siblings each person is compared with; as many as the person with the fewest has unless given.
    rng
        Draws the siblings of each person.

    Examples
    --------
    >>> found = calibrate(np.array([3.0]), np.array([[1.0, 2.0, 3.0]]), rng=np.random.default_rng(0))
    >>> found.difference, found.z.round(3), found.p
    (array([1.]), array([1.091]), array([0.5]))
    """
    chosen = np.take_along_axis(siblings, drawn_siblings(siblings.shape, seen, number, rng), axis=1)
    difference = own - chosen.mean(axis=1)
    spread = chosen.std(axis=1) + _LEAST_SPREAD if chosen.shape[1] >= FEWEST_OF_Z else np.full(own.size, np.nan)
    at_least = (chosen >= own[:, None]).sum(axis=1)
    return CalibratedScores(difference, difference / spread, (1 + at_least) / (1 + chosen.shape[1]))


def drawn_siblings(
    shape: tuple[int, ...], seen: BoolArray | None, number: int | None, rng: np.random.Generator
) -> IntArray:
    """Return siblings drawn for each person among those that did not see the person, as many for each.

    >>> seen = np.array([[True, False, False], [False, False, False]])
    >>> drawn_siblings((2, 3), seen, None, np.random.default_rng(0)).shape
    (2, 2)
    """
    people, releases = shape
    unseen = np.full(people, releases) if seen is None else (~seen).sum(axis=1)
    least = int(unseen.min(initial=releases))
    wanted = least if number is None else number
    if not 1 <= wanted <= least:
        raise InputError(
            f"each person needs {max(wanted, 1)} siblings that did not see the person, but one person has {least}. "
            "Pass more siblings, or leave out people that most siblings saw"
        )
    order = rng.random((people, releases))
    if seen is not None:
        order[seen] = 2
    return np.sort(np.argsort(order, axis=1)[:, :wanted], axis=1)
