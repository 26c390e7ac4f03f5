"""Ten membership scores; higher means more likely a member.

All see the release, a part of the population that is never attacked, and the person; none sees who is in the data.
People, columns and rows in another order have the same scores, and people who are equal have equal ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from unveil._kernels import logistic
from unveil._kernels.learners.boosting import Growth, boosted_scores
from unveil._kernels.membership.agreement import UNIT, rarity
from unveil._kernels.membership.nearness import log_ratio
from unveil._kernels.neighbours.density import rows_within
from unveil._kernels.neighbours.sketch import row_blocks
from unveil._kernels.threads import in_threads
from unveil._kernels.types import BoolArray, ByteArray, FloatArray, IntArray
from unveil.attacks.table._membership_space import MembershipSpace, compared_people, scales
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.data.table import Table

Group = Literal["nearness", "exact values", "combinations", "similar values"]

#: Of the population people are looked at up to the how many-th nearest.
CROWD = 5
#: All pairs of this many columns are looked at; of more columns, this many pairs are drawn at random. Likewise larger
#: sets.
_ALL_PAIRS_OF, _DRAWN_PAIRS, _DRAWN_SETS = 30, 400, 100
#: The least place of a score among those of non-members, as a share.
_LEAST = 1e-4
#: Beyond these quantiles a score counts for more, so that one very high score may decide.
_TAILS = (1.5, 2.5)
#: As scikit-learn's C = 0.1.
_RIDGE = 10.0
#: Trees that are added to the regression.
_TREES = Growth(rounds=250, leaves=12, rate=0.04)
#: Trees see the place of a score among this many bins.
_BINS = 256


def score_people(
    *,
    released: "Table",
    population: "Table",
    people: Sequence["Table"],
    columns: tuple[str, ...],
    rng: np.random.Generator,
    names: Sequence[str] | None = None,
    scale: "Table | Sequence[Table] | None" = None,
    neighbours: int = CROWD,
) -> list[dict[str, FloatArray]]:
    """Return the scores of each table by name, one per row.

    Parameters
    ----------
    released, population, people
        The released rows; people outside the data who are never attacked and show how people lie anyhow; and those who
        are scored, such as members and non-members to learn from and to measure, all in one call.
    columns
        The columns in which everyone is compared; their order plays no part.
    rng
        Draws sets of columns where there are too many. A score does not depend on which others are asked for.
    names
        Names of `SCORES`, by default all.
    scale
        Rows that only make the ranges of columns.
    neighbours
        For "density": up to the how many-th nearest one people of the population are looked at.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> ages = [30, 40], [31, 32], [40, 31]
    >>> rows, others, persons = (Table.from_frame(pl.DataFrame({"age": each})) for each in ages)
    >>> (found,) = score_people(released=rows, population=others, people=[persons], columns=("age",),
    ...     names=("nearest", "values"), rng=np.random.default_rng(1))
    >>> found["nearest"], found["values"].round(3)
    (array([ 0. , -0.1]), array([ 1.099, -1.099]))
    """
    unknown = next((name for name in names or () if name not in SCORES), None)
    if unknown is not None:
        raise InputError(f"Unknown score {unknown!r}. Use one of: {', '.join(SCORES)}")
    compared = compared_people(released, population, people, columns, scale, rng, neighbours)
    ends = np.cumsum([table.rows for table in people])[:-1]
    wanted = list(names or SCORES)
    scored = in_threads(lambda name: np.split(SCORES[name].function(compared), ends), wanted)
    every = dict(zip(wanted, scored, strict=True))
    return [{name: parts[place] for name, parts in every.items()} for place in range(len(people))]


def unusual(
    *,
    population: "Table",
    people: Sequence["Table"],
    columns: tuple[str, ...],
    scale: "Table | Sequence[Table] | None" = None,
) -> list[FloatArray]:
    """Return each person's distance to the fifth nearest reference person.

    1 is a difference in one column, or of its whole range. The release plays no part. With fewer than five people it
    is the distance to the farthest.
    """
    from unveil.data.table import agree
    from unveil.data.table.encode import encode

    tables = agree(*(table.select(sorted(columns)) for table in (population, *people, *scales(scale))))
    others, *everybody = encode(tables, sorted(columns), span_of=range(len(tables)))
    k = min(CROWD, population.rows)
    return [rows_within(others, each.grid(), k)[0] / others.mismatch_cost for each in everybody[: len(people)]]


class RevealingRow(NamedTuple):
    """The released row that shares most rare values with a person.

    ``unheard`` are columns whose value is released somewhere though no person of the population has it. ``weights``
    are the match weights of ``columns`` in bits: 1 bit for a value that half of the population has.
    """

    row: int
    columns: tuple[str, ...]
    unheard: tuple[str, ...]
    weights: tuple[float, ...] = ()


def given_away_by(
    *,
    released: "Table",
    population: "Table",
    people: "Table",
    rows: IntArray,
    columns: tuple[str, ...],
    scale: "Table | Sequence[Table] | None" = None,
) -> list[RevealingRow]:
    """Return the released row most revealing about each person, with columns.

    It is the row with the highest agreement, among such rows the nearest, and then the lowest by what it holds. Columns
    are those in which it shows the very value of the person; there may be none.
    """
    if not len(rows):
        return []
    # Nothing is drawn at random here.
    rng = np.random.default_rng(0)
    compared = compared_people(released, population, [people.take(rows)], columns, scale, rng, CROWD)
    codes = compared.exact
    names, mine, crowd = [each.name for each in codes.columns], codes.of_people, codes.of_population
    weights = rarity(mine, crowd)
    found: list[list[_BestRow]] = [[] for _ in rows]
    is_released = np.zeros(mine.shape, bool)
    for some, shown in zip(row_blocks(released.rows), codes.blocks(), strict=True):
        for place, own in enumerate(found):
            same = shown == mine[place]
            is_released[place] |= same.any(axis=0)
            own.append(_best_row(compared, place, same, weights[place], some.start))
    given = []
    for place, own in enumerate(found):
        best = _lowest(compared, [each for each in own if each[:2] == min(one[:2] for one in own)])
        told = sorted(np.flatnonzero(best.shared).tolist(), key=lambda at: (-int(weights[place, at]), names[at]))
        unheard = is_released[place] & ~(crowd == mine[place]).any(axis=0)
        given.append(
            RevealingRow(
                best.row,
                columns=tuple(names[at] for at in told),
                unheard=tuple(names[at] for at in np.flatnonzero(unheard)),
                weights=tuple((weights[place, told] / (UNIT * np.log(2))).tolist()),
            )
        )
    return given


class _BestRow(NamedTuple):
    """The best row of a block, with its distances."""

    lacking: int
    distance: int
    row: int
    shared: BoolArray


def _best_row(compared: MembershipSpace, person: int, same: BoolArray, weight: IntArray, first: int) -> _BestRow:
    """Return a block's best row, starting at ``first``.

    ``same`` says in which columns rows equal the person.
    """
    agreement = np.zeros(len(same), np.int64)
    for column, of_column in zip(same.T, weight, strict=True):
        agreement[column] += of_column
    best = first + np.flatnonzero(agreement == agreement.max())
    far = compared.distances(best, person)
    best = best[far == far.min()]
    row = int(best[np.argmin(compared.content_rank(best))])
    return _BestRow(-int(agreement.max()), int(far.min()), row, same[row - first])


def _lowest(compared: MembershipSpace, tied: Sequence[_BestRow]) -> _BestRow:
    """Return the lowest of several rows by content."""
    return tied[int(np.argmin(compared.content_rank(np.array([each.row for each in tied]))))]


class LearnedWeights(NamedTuple):
    """The learned attacker: sorted non-member scores and coefficients, intercept first."""

    outsiders: FloatArray
    coefficients: FloatArray

    def score(self, scores: FloatArray) -> FloatArray:
        """Return the combined score of each row; equal rows have equal scores."""
        return logistic.score(features(scores, self.outsiders), self.coefficients)

    @property
    def weights(self) -> FloatArray:
        """Coefficients of each score: of its rank and tail excesses."""
        return self.coefficients[1:].reshape(1 + len(_TAILS), -1).T


def combine(members: FloatArray, outsiders: FloatArray) -> LearnedWeights:
    """Learn the weights of scores from known members and non-members.

    Both have a row of scores per person. Rows in another order give the same digits.

    >>> combine(np.array([[1.0], [2.0]]), np.array([[0.0], [1.0]])).score(np.array([[0.0], [2.0]])).round(3)
    array([-0.029,  0.066])
    """
    ascending = np.sort(outsiders, axis=0)
    every, labels = _in_order(members, outsiders)
    return LearnedWeights(ascending, logistic.fit(features(every, ascending), labels, ridge=_RIDGE))


def _in_order(members: FloatArray, outsiders: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return all rows in an order given by content, and whether they are members'."""
    labels = np.repeat([True, False], [len(members), len(outsiders)])
    every = np.concatenate([members, outsiders])
    # Sums of floats depend on their order, and rows must not.
    order = np.lexsort((*every.T, labels))
    return every[order], labels[order]


class LearnedTrees(NamedTuple):
    """Boosted trees: edges of the bins of each score, and the bins and membership of those learned from."""

    edges: tuple[FloatArray, ...]
    bins: ByteArray
    is_member: BoolArray

    def score(self, scores: FloatArray) -> FloatArray:
        """Return the log odds of each row; equal rows have equal ones."""
        numbers = np.zeros(len(self.edges), bool)
        theirs = _bins(self.edges, scores)
        odds = boosted_scores(self.bins, numbers, self.is_member.astype(np.int64), theirs, _TREES)
        # Only the score of the first of two classes is learned.
        return odds[:, 1] - odds[:, 0]


def grow_trees(members: FloatArray, outsiders: FloatArray) -> LearnedTrees:
    """Return boosted trees that learn from known members and non-members.

    Rows in another order give the same digits. A bin ends at a score of somebody.

    >>> ones, twos = np.ones((40, 1)), np.full((40, 1), 2.0)
    >>> grow_trees(twos, ones).score(np.array([[1.0], [2.0]])).round(1)
    array([-5.4,  5.4])
    """
    every, labels = _in_order(members, outsiders)
    shares = np.linspace(0, 1, _BINS + 1)[1:-1]
    edges = tuple(np.unique(np.quantile(column, shares, method="inverted_cdf")) for column in every.T)
    return LearnedTrees(edges, _bins(edges, every), labels)


def _bins(edges: Sequence[FloatArray], scores: FloatArray) -> ByteArray:
    """Return the bin of each score at [score, person]."""
    return np.array([np.searchsorted(edge, column) for edge, column in zip(edges, scores.T, strict=True)], np.uint8)


def features(scores: FloatArray, ascending: FloatArray) -> FloatArray:
    """Return normal quantiles of scores among non-members, and tail excesses."""
    from scipy.special import ndtri

    place = np.empty(scores.shape)
    for column, (mine, theirs) in enumerate(zip(scores.T, ascending.T, strict=True)):
        below, upto = (np.searchsorted(theirs, mine, side=side) for side in ("left", "right"))
        place[:, column] = ((below + upto) / 2 + 0.5) / (theirs.size + 1)
    quantile = ndtri(np.clip(place, _LEAST, 1 - _LEAST))
    return np.concatenate([quantile, *(np.maximum(quantile - tail, 0.0) for tail in _TAILS)], axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedCombination:
    """An attacker who learns from other people how to weight each score.

    Each score becomes its place among those of the non-members learned from, as a normal quantile; what lies beyond 1.5
    and 2.5 counts again, so that one very high score may decide; the weights are those of a logistic regression with a
    ridge. The log odds of boosted trees may be added, which helps where there are many people to learn from. It must
    not meet the people it learned from again.
    """

    names: tuple[str, ...]
    learned_from: tuple[int, int]
    combined: LearnedWeights
    trees: LearnedTrees | None = None

    @classmethod
    def learned(
        cls, members: Mapping[str, FloatArray], outsiders: Mapping[str, FloatArray], *, trees: bool = False
    ) -> "LearnedCombination":
        """Return weights, and trees if wanted, learned from people with known membership."""
        names = tuple(members)
        inside, outside = (np.column_stack([scores[name] for name in names]) for scores in (members, outsiders))
        return cls(
            names=names,
            learned_from=(len(inside), len(outside)),
            combined=combine(inside, outside),
            trees=grow_trees(inside, outside) if trees else None,
        )

    def __call__(self, scores: Mapping[str, FloatArray]) -> FloatArray:
        """Return the combined score of each person; equal people have equal ones."""
        every = np.column_stack([scores[name] for name in self.names])
        weighted = self.combined.score(every)
        return weighted if self.trees is None else weighted + self.trees.score(every)

    @property
    def weights(self) -> dict[str, tuple[float, ...]]:
        """Weights of each score: of its rank and both tail excesses."""
        return {name: tuple(row) for name, row in zip(self.names, self.combined.weights.tolist(), strict=True)}


class Score(NamedTuple):
    """One membership score: its type, description, and function."""

    group: Group
    sees: str
    function: Callable[[MembershipSpace], FloatArray]


def _nearest(compared: MembershipSpace) -> FloatArray:
    columns = len(compared.released.names_numbers) + len(compared.released.names_codes)
    return -compared.nearest / (compared.released.mismatch_cost * columns)


def _density(compared: MembershipSpace) -> FloatArray:
    apart = rows_within(compared.population, compared.targets, compared.neighbours)[0]
    return log_ratio(apart, compared.nearest)


def _pairs(compared: MembershipSpace) -> FloatArray:
    columns = len(compared.exact.columns)
    return compared.counted(compared.exact, 2, columns**2 if columns <= _ALL_PAIRS_OF else _DRAWN_PAIRS)


#: The ten, by name.
SCORES: Mapping[str, Score] = {
    "nearest": Score("nearness", "the nearest released row is near", _nearest),
    "density": Score("nearness", "a released row is nearer than people of that kind are to one another", _density),
    "relative": Score(
        "nearness", "a released row is nearer to the person than to any control person", lambda c: c.nearness.relative
    ),
    "influence": Score(
        "nearness", "the near released rows are likelier with the person than without", lambda c: c.nearness.influence
    ),
    "values": Score(
        "exact values",
        "the person's values are released more often than they occur",
        lambda c: c.counted(c.exact, 1, len(c.exact.columns)),
    ),
    "pairs": Score("combinations", "pairs of the person's values are released more often than they occur", _pairs),
    "quadruples": Score(
        "combinations",
        "sets of four of the person's values are released more often than they occur",
        lambda c: c.counted(c.exact, 4, _DRAWN_SETS),
    ),
    "agreement": Score(
        "exact values",
        "one released row shares more of the person's rare values than any control person does",
        lambda c: c.agreement(c.exact),
    ),
    "likeness": Score(
        "similar values",
        "one released row shares more of the person's rare values, numbers in bins, than any control person does",
        lambda c: c.agreement(c.in_bins),
    ),
    "cells": Score(
        "similar values",
        "sets of five of the person's values, numbers in bins, are released more often than they occur",
        lambda c: c.counted(c.in_bins, 5, _DRAWN_SETS),
    ),
}
