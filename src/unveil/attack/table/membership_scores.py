"""Ten scores of how much a person looks like a member of the data, the larger the more; each may be used alone.

All see the release, a part of the population that is never attacked, and the person; none sees who is in the data.
People, columns and rows in another order have the same scores, and people who are equal have equal ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from unveil._kernels.cells import near
from unveil._kernels.cells.neighbours import boxes_around, people_around
from unveil._kernels.membership.agreement import UNIT, highest_agreement, rarity
from unveil._kernels.membership.combine import Combined, combine
from unveil._kernels.membership.counts import binned, column_sets, excess
from unveil._kernels.membership.nearness import Nearness, log_crowd, log_ratio, nearness
from unveil._kernels.neighbours.density import rows_within, within
from unveil._kernels.neighbours.index import Grid, content_rank, prepare
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

if TYPE_CHECKING:
    from unveil._kernels.neighbours.search import Neighbourhood
    from unveil.data.table import Table
    from unveil.data.table.encode import Encoded

Group = Literal["nearness", "exact values", "combinations", "similar values"]

#: Of released rows so many are looked at around a person, and of the population up to the how many-th nearest.
NEAR, CROWD = 20, 5
#: How many pairs of columns are looked at, and how many sets of four and five; beyond that they are drawn by lot.
_MOST_PAIRS, _MOST_SETS = 435, 100
_DRAWN_PAIRS = 400
#: How many distances are held at once, and how many of the population make a crowd; of more, some are drawn by lot.
_AT_ONCE, _MOST_CROWD = 2**21, 5_000


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
    """Return the scores of each table of people by name, one number per row.

    Parameters
    ----------
    released, population, people
        The released rows; people outside the data who are never attacked and show how people lie anyhow; and those who
        are scored, such as members and outsiders to learn from and to measure, all in one call.
    columns
        The columns in which everybody is compared; their order plays no part.
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
    compared = _compared(released, population, people, columns, scale, rng, neighbours)
    ends = np.cumsum([table.rows for table in people])[:-1]
    every = {name: np.split(SCORES[name].function(compared), ends) for name in names or SCORES}
    return [{name: parts[place] for name, parts in every.items()} for place in range(len(people))]


def unusual(
    *,
    population: "Table",
    people: Sequence["Table"],
    columns: tuple[str, ...],
    scale: "Table | Sequence[Table] | None" = None,
) -> list[FloatArray]:
    """Return how unlike others each person is: the distance to the fifth nearest person of the population.

    1 is a difference in one column, or of its whole range. The release plays no part. With fewer than five people it
    is the distance to the farthest.
    """
    from unveil.data.table import agree
    from unveil.data.table.encode import encode

    tables = agree(*(table.select(sorted(columns)) for table in (population, *people, *_scales(scale))))
    others, *everybody = encode(tables, sorted(columns), span_of=range(len(tables)))
    k = min(CROWD, population.rows)
    return [rows_within(others.grid(), each.grid(), k)[0] / others.mismatch_cost for each in everybody[: len(people)]]


class GivenAway(NamedTuple):
    """The released row that shares most of a person's rare values, and the columns of these, the rarest first."""

    row: int
    columns: tuple[str, ...]


def given_away_by(
    *,
    released: "Table",
    population: "Table",
    people: "Table",
    rows: IntArray,
    columns: tuple[str, ...],
    scale: "Table | Sequence[Table] | None" = None,
) -> list[GivenAway]:
    """Return for some of the people, by their rows, which released row gives them away, and through which columns.

    It is the row with the highest agreement, among such rows the nearest, and then the lowest by what it holds. Columns
    are those in which it shows the very value of the person; there may be none.
    """
    one_by_one = people.take(rows)
    compared = _compared(released, population, [one_by_one], columns, scale, np.random.default_rng(0), CROWD)
    codes, names = compared.exact
    count, others = compared.released_rows, compared.population.numbers.shape[0]
    shown, crowd, mine = np.split(codes, [count, count + others])
    content = np.argsort(compared.released.by_content())
    weights = rarity(mine, crowd)
    found = []
    for place, weight in enumerate(weights):
        shared = shown == mine[place]
        agreement = shared @ weight
        best = np.flatnonzero(agreement == agreement.max())
        far = compared.distances(best, place)
        row = int(best[np.lexsort((content[best], far))[0]])
        told = sorted(np.flatnonzero(shared[row]).tolist(), key=lambda column: (-int(weight[column]), names[column]))
        found.append(GivenAway(row, tuple(names[column] for column in told)))
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Combination:
    """An adversary who learned from other people how much each score counts.

    Each score becomes its place among those of the outsiders learned from, as a normal quantile; what lies beyond 1.5
    and 2.5 counts once more, so that one very high score may decide; the weights are those of a logistic regression
    with a ridge. It must not meet the people it learned from again.
    """

    names: tuple[str, ...]
    learned_from: tuple[int, int]
    combined: Combined

    @classmethod
    def learned(cls, members: Mapping[str, FloatArray], outsiders: Mapping[str, FloatArray]) -> "Combination":
        """Return what is learned from people of whom it is known whether they are in the data, by their scores."""
        names = tuple(members)
        inside, outside = (np.column_stack([scores[name] for name in names]) for scores in (members, outsiders))
        return cls(names=names, learned_from=(len(inside), len(outside)), combined=combine(inside, outside))

    def __call__(self, scores: Mapping[str, FloatArray]) -> FloatArray:
        """Return the combined score of each person; equal people have equal ones."""
        return self.combined.score(np.column_stack([scores[name] for name in self.names]))

    @property
    def weights(self) -> dict[str, tuple[float, ...]]:
        """The weights of each score: of its place, and of what lies beyond the first and the second tail."""
        return {name: tuple(row) for name, row in zip(self.names, self.combined.weights.tolist(), strict=True)}


@dataclass(frozen=True, eq=False)
class _Compared:
    """Everybody on one scale, and what several scores need, each computed when it is first asked for."""

    released: "Encoded"
    population: "Encoded"
    targets: Grid
    shown: Mapping[str, BoolArray]  # which released rows show one value, for columns in which not all do
    seed: int
    neighbours: int

    @property
    def released_rows(self) -> int:
        return len(self.released.numbers)

    @cached_property
    def exact(self) -> tuple[Int32Array, tuple[str, ...]]:
        """Released rows, population and people with a number for each value, and the columns that show any."""
        return self._coded(lambda _, values, __: values)

    @cached_property
    def in_bins(self) -> tuple[Int32Array, tuple[str, ...]]:
        """The same with numbers in bins."""
        numbers = self.released.names_numbers
        return self._coded(lambda name, values, seen: binned(values, seen) if name in numbers else values)

    def _coded(self, coarser: Callable[[str, IntArray, IntArray], IntArray]) -> tuple[Int32Array, tuple[str, ...]]:
        names_numbers, names_codes = self.released.names_numbers, self.released.names_codes
        rows, count, columns = self.released_rows, len(self.population.numbers), {}
        for name in sorted((*names_numbers, *names_codes)):
            parts = self.released, self.population, self.targets
            if name in names_numbers:
                values = np.concatenate([part.numbers[:, names_numbers.index(name)] for part in parts])
            else:
                values = np.concatenate([part.codes[:, names_codes.index(name)] for part in parts]).astype(np.int64)
            shown = self.shown.get(name, np.ones(rows, bool))
            if not shown.any():
                continue
            seen = np.concatenate([values[:rows][shown], values[rows : rows + count]])
            columns[name] = np.unique(coarser(name, values, seen), return_inverse=True)[1].astype(np.int32) + 1
            columns[name][:rows][~shown] = 0
        everybody = rows + count + len(self.targets.numbers)
        codes = np.array(list(columns.values()), np.int32).reshape(len(columns), everybody)
        return codes.T, tuple(columns)

    @cached_property
    def around(self) -> "Neighbourhood":
        """The people among the released rows."""
        if self.released.cells is not None:
            return boxes_around(self.released.cells, self.targets)[0]
        return prepare(self._released_grid, self.targets)

    @cached_property
    def _released_grid(self) -> Grid:
        # In an order of their own, so that no sum hangs on that of the file.
        return self.released.grid(self.released.by_content())

    @cached_property
    def _population_grid(self) -> Grid:
        return self.population.grid(self.population.by_content())

    @cached_property
    def nearest(self) -> IntArray:
        """How far the nearest released row of each person is."""
        if self.released.cells is not None:
            return within(self.around, 1)[0]
        return rows_within(self._released_grid, self.targets, 1)[0]

    @cached_property
    def nearness(self) -> Nearness:
        """What the nearest released rows tell, one by one and together."""
        width = self._width()
        k = min(NEAR, self.released_rows)
        crowd = _thinned(self._population_grid, self.seed)
        if self.released.cells is not None:
            kind = self.around.row_of.astype(np.int64)
            boxes, fewer = (people_around(self.released.cells, each) for each in (self._population_grid, crowd))

            def outsider(rows: IntArray) -> IntArray:
                return _limits(boxes, rows)

            def thick(rows: IntArray) -> FloatArray:
                return log_crowd(near.all_distances(fewer.comparison, rows), fewer.copies, width)
        else:
            kind = content_rank(self._released_grid)
            example = np.unique(kind, return_index=True)[1]

            def outsider(rows: IntArray) -> IntArray:
                return rows_within(self._population_grid, _take(self._released_grid, example[rows]), 1)[0]

            def thick(rows: IntArray) -> FloatArray:
                distance = all_distances(crowd, _take(self._released_grid, example[rows]))
                return log_crowd(distance, np.ones(len(crowd.numbers), np.int64), width)

        at_once = max(1, _AT_ONCE // len(crowd.numbers))
        return nearness(self.around, kind, k, outsider, _in_blocks(thick, at_once), width)

    def _width(self) -> float:
        """Return a quarter of the median distance of people from the nearest one of the population.

        Where most have a twin it is the median of all others, and where all have it a quarter of a mismatch.
        """
        apart = rows_within(self._population_grid, self.targets, 1)[0]
        if 2 * np.count_nonzero(apart) <= apart.size:
            apart = apart[apart > 0]
        return float(np.median(apart) if apart.size else self.population.mismatch_cost) / 4

    def counted(self, codes: Int32Array, size: int, most: int) -> FloatArray:
        """Return how much more frequent people's values are released than in the population, over sets of columns."""
        columns = codes.shape[1]
        # Seeds of their own: no score depends on which others are asked for.
        sets = column_sets(columns, size, most, np.random.default_rng([self.seed, size]))
        return excess(codes, self.released_rows, len(self.population.numbers), sets)

    def agreement(self, codes: Int32Array) -> FloatArray:
        """Return how much more the best released row shares of people's rare values than the best of the population."""
        rows = self.released_rows
        shown, population, people = np.split(codes, [rows, rows + len(self.population.numbers)])
        weights = rarity(people, population)
        best, anyhow = (highest_agreement(each, people, weights) for each in (shown, population))
        return (best - anyhow) / UNIT

    def distances(self, rows: IntArray, person: int) -> IntArray:
        """Return how far a person is from some released rows."""
        alone = _take(self.targets, np.array([person]))
        if self.released.cells is None:
            return all_distances(self.released.grid(rows), alone).ravel()
        around, boxes = boxes_around(self.released.cells, alone)
        return near.all_distances(around.comparison, np.zeros(1, np.int64)).ravel()[boxes.of_row[rows]]


def _compared(
    released: "Table",
    population: "Table",
    people: Sequence["Table"],
    columns: tuple[str, ...],
    scale: "Table | Sequence[Table] | None",
    rng: np.random.Generator,
    neighbours: int,
) -> _Compared:
    """Return everybody on one scale: the range over all tables, so that no one's place in them plays a part."""
    from unveil.data.table import agree
    from unveil.data.table.encode import encode

    names = sorted(columns)
    given = (population, released, *people, *_scales(scale))
    tables = agree(*(table.select(names) for table in given))
    others, rows, *everybody = encode(tables, names, span_of=range(len(tables)))[: 2 + len(people)]
    targets = (
        everybody[0]
        .grid()
        ._replace(
            numbers=np.concatenate([each.numbers for each in everybody]),
            codes=np.concatenate([each.codes for each in everybody]),
        )
    )
    return _Compared(
        rows, others, targets, _shown(tables[1]), int(rng.integers(2**62)), min(neighbours, population.rows)
    )


def _scales(scale: "Table | Sequence[Table] | None") -> Sequence["Table"]:
    if scale is None:
        return ()
    return scale if isinstance(scale, Sequence) else (scale,)


def _shown(released: "Table") -> dict[str, BoolArray]:
    """Return which rows show one value, for each column where that is not all of them."""
    from unveil.data.table.cells import NOBODY

    cells = {name: (released.cells or {})[name] for name in released.coarse() and released.column_names}
    return {name: (each.single & (each.state != NOBODY))[each.of_row] for name, each in cells.items()}


def _thinned(population: Grid, seed: int) -> Grid:
    size = len(population.numbers)
    if size <= _MOST_CROWD:
        return population
    return _take(population, np.sort(np.random.default_rng(seed).choice(size, _MOST_CROWD, replace=False)))


def _limits(around: "Neighbourhood", some: IntArray) -> IntArray:
    """Return how far the nearest row of some distinct targets is, ascending."""
    found = around.nearest(some, 1)
    if found is not None:
        return found.limit
    middle = some.size // 2
    return np.concatenate([_limits(around, some[:middle]), _limits(around, some[middle:])])


def _in_blocks(function: Callable[[IntArray], FloatArray], at_once: int) -> Callable[[IntArray], FloatArray]:
    return lambda rows: np.concatenate([function(rows[at : at + at_once]) for at in range(0, rows.size, at_once)])


def _take(grid: Grid, rows: IntArray) -> Grid:
    return grid._replace(numbers=grid.numbers[rows], codes=grid.codes[rows])


class Score(NamedTuple):
    """One of the scores: what kind of likeness it sees, in a word for reports and in a sentence, and how."""

    group: Group
    sees: str
    function: Callable[[_Compared], FloatArray]


def _nearest(compared: _Compared) -> FloatArray:
    columns = len(compared.released.names_numbers) + len(compared.released.names_codes)
    return -compared.nearest / (compared.released.mismatch_cost * columns)


def _density(compared: _Compared) -> FloatArray:
    apart = rows_within(compared.population.grid(), compared.targets, compared.neighbours)[0]
    return log_ratio(apart, compared.nearest)


#: The ten, by name.
SCORES: Mapping[str, Score] = {
    "nearest": Score("nearness", "the nearest released row is near", _nearest),
    "density": Score("nearness", "a released row is nearer than people of that kind are to one another", _density),
    "relative": Score(
        "nearness", "a released row is nearer to the person than to anybody outside", lambda c: c.nearness.relative
    ),
    "influence": Score(
        "nearness", "the near released rows are likelier with the person than without", lambda c: c.nearness.influence
    ),
    "values": Score(
        "exact values",
        "the person's values are released more often than they occur",
        lambda c: c.counted(c.exact[0], 1, 10**9),
    ),
    "pairs": Score(
        "combinations",
        "pairs of the person's values are released more often than they occur",
        lambda c: c.counted(c.exact[0], 2, _MOST_PAIRS if c.exact[0].shape[1] <= 30 else _DRAWN_PAIRS),
    ),
    "quadruples": Score(
        "combinations",
        "sets of four of the person's values are released more often than they occur",
        lambda c: c.counted(c.exact[0], 4, _MOST_SETS),
    ),
    "agreement": Score(
        "exact values",
        "one released row shares more of the person's rare values than anybody outside",
        lambda c: c.agreement(c.exact[0]),
    ),
    "likeness": Score(
        "similar values",
        "one released row shares more of the person's rare values, numbers being rounded, than anybody outside",
        lambda c: c.agreement(c.in_bins[0]),
    ),
    "cells": Score(
        "similar values",
        "sets of five of the person's values, numbers being rounded, are released more often than they occur",
        lambda c: c.counted(c.in_bins[0], 5, _MOST_SETS),
    ),
}
