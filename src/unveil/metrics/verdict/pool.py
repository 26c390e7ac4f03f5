"""Pooled people of the original and of the control group."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._kernels.verdict.labels import labels, labels_among, labels_of_units
from unveil.errors import InputError

#: Above this many people expensive attacks are run on half as many members, and as many others.
ATTACKED_UP_TO = 5_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Pooled members and controls, for permutations of their labels.

    Attributes
    ----------
    is_member
        For each row of the pool whether it is one of the original.
    contents
        For each row a whole number that stands for what it holds: equal rows have equal numbers, and the numbers follow
        from the rows and not from where they stand (:func:`unveil._kernels.neighbours.nearest.content_rank`).
    person
        For each row a whole number that stands for the person it belongs to; left out, each row is a person.
    household
        For each row a whole number that stands for the household of its person; left out, people are drawn one by one.
        With it, labels are drawn for households: all people of one are in the data, or none is.
    places
        For each row the place of its person, from 0 on, by what their rows hold. Shuffled rows keep their places.
        People who hold the same may swap theirs, which changes nothing, because their scores are equal too.
    labels
        For each place whether that person is a member.
    members, others
        The number of people in the data, and of those who are not.

    Examples
    --------
    >>> pool = Pool(is_member=[True, True, False], contents=[7, 5, 6], person=[1, 1, 2])
    >>> pool.places.tolist(), pool.labels.tolist(), pool.members, pool.others
    ([0, 0, 1], [True, False], 1, 1)
    """

    is_member: BoolArray
    contents: IntArray
    person: IntArray | None = None
    household: IntArray | None = None
    places: IntArray = field(init=False)
    labels: BoolArray = field(init=False)
    members: int = field(init=False)
    others: int = field(init=False)

    def __post_init__(self) -> None:
        is_member, contents = np.array(self.is_member, np.bool_), np.array(self.contents, np.int64)
        person = np.arange(is_member.size) if self.person is None else np.array(self.person, np.int64)
        if is_member.ndim != 1 or contents.shape != is_member.shape or person.shape != is_member.shape:
            raise InputError(
                f"is_member, contents and person have the shapes {is_member.shape}, {contents.shape} and "
                f"{person.shape}. Pass flat arrays with one value per row of the pool"
            )
        household = None if self.household is None else np.array(self.household, np.int64)
        places = _places(contents, None if self.person is None and household is None else person, household)
        inside = np.zeros(int(places.max(initial=-1)) + 1, np.bool_)
        inside[places[is_member]] = True
        if inside[places[~is_member]].any():
            both = np.unique(places[~is_member & inside[places]]).size
            raise InputError(
                f"{both:,} people are both in the original and in the control. Remove them from the control"
            )
        members = int(np.count_nonzero(inside))
        found = {"is_member": is_member, "contents": contents, "places": places, "labels": inside}
        for name, array in found.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "others", inside.size - members)

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.labels.size

    def draw_labels(
        self, draws: int, rng: np.random.Generator, some: IntArray | None = None
    ) -> list[Callable[[], BoolArray]]:
        """Return blocks of permuted member labels, [draw, place].

        Households of one size are exchangeable if tables were drawn household by household. Those of other sizes are
        not: a large one is more likely in the larger table. So as many of each size are members in each draw.
        """
        if self.household is not None:
            home = np.empty(self.people, np.int64)
            home[self.places] = self.household
            return labels_of_units(home, self.labels, draws, rng, some)
        # Made only when called; both take a seed, as ever since seeds were fixed.
        everybody = labels(self.members, self.others, draws, rng)
        return everybody if some is None else labels_among(some.size, self.members, self.others, draws, rng)

    def scores(self, per_row: ArrayLike) -> FloatArray:
        """Return the mean score over each person's rows.

        >>> Pool(is_member=[True, True, False], contents=[7, 5, 6], person=[1, 1, 2]).scores([1, 0, 1]).tolist()
        [0.5, 1.0]
        """
        score = np.asarray(per_row, np.float64)
        if score.shape != self.places.shape or not np.isfinite(score).all():
            raise InputError(
                f"{np.count_nonzero(np.isfinite(score)):,} of {score.size:,} scores are finite, for "
                f"{self.places.size:,} rows of the pool. Pass one score per row, 0 for people who are not attacked"
            )
        rows = np.bincount(self.places, minlength=self.people)
        return np.bincount(self.places, weights=score, minlength=self.people) / rows

    def hits(self, per_row: FloatArray | BoolArray) -> tuple[int, int] | None:
        """Return members' and controls' successes for 0/1 scores, else None.

        >>> pool = Pool(is_member=[True, True, False], contents=[7, 5, 6])
        >>> pool.hits(np.array([True, True, True])), pool.hits(np.array([0.0, 1.0, 0.5]))
        ((2, 1), None)
        """
        if per_row.dtype == np.bool_ and per_row.size == self.people == self.places.size:
            inside = int(np.count_nonzero(per_row[self.is_member]))
            return inside, int(np.count_nonzero(per_row)) - inside
        scores = self.scores(per_row)
        if not np.isin(scores, (0.0, 1.0)).all():
            return None
        members = int(scores[self.labels].sum())
        return members, int(scores.sum()) - members

    def fitted(self, starts: ArrayLike, rows: ArrayLike) -> tuple[IntArray, IntArray]:
        """Return fitting people, from the rows that predicates fit.

        Guess g fits the rows ``rows[starts[g]:starts[g + 1]]``; a person with several of them is fitted once.

        >>> pool = Pool(is_member=[True, True, False], contents=[7, 5, 6], person=[1, 1, 2])
        >>> [array.tolist() for array in pool.fitted([0, 2, 3], [0, 1, 2])]
        [[0, 1, 2], [0, 1]]
        """
        begin, fits = np.asarray(starts, np.int64), np.asarray(rows, np.int64)
        guess = np.repeat(np.arange(begin.size - 1), np.diff(begin))
        pairs = np.unique(guess * self.people + self.places[fits])
        return np.searchsorted(pairs, np.arange(begin.size) * self.people), pairs % max(self.people, 1)


def _places(contents: IntArray, person: IntArray | None, household: IntArray | None = None) -> IntArray:
    """Return the place of each row's person."""
    if person is None:
        order = np.argsort(contents, kind="stable")
        places = np.empty(contents.size, np.int64)
        places[order] = np.arange(contents.size)
        return places
    order = np.lexsort((contents, person))
    names, starts = np.unique(person[order], return_index=True)
    # A person is known by what all of their rows hold, in ascending order.
    held = [tuple(rows.tolist()) for rows in np.split(contents[order], starts[1:])]
    if household is None:
        ascending = sorted(range(names.size), key=held.__getitem__)
    else:
        homes = household[order][starts].tolist()
        living: dict[int, list[tuple[int, ...]]] = {}
        for home, rows in zip(homes, held, strict=True):
            living.setdefault(home, []).append(rows)
        # People who hold the same and live with others who hold something else must not swap places.
        known_by = {home: sorted(people) for home, people in living.items()}
        ascending = sorted(range(names.size), key=lambda at: (known_by[homes[at]], homes[at], held[at]))
    place = np.empty(names.size, np.int64)
    place[ascending] = np.arange(names.size)
    return place[np.searchsorted(names, person)]
