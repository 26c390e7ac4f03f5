"""People, released rows and a part of the population on one scale, and what several membership scores need of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.cells import near
from unveil._kernels.cells.neighbours import boxes_around, people_around
from unveil._kernels.membership.agreement import UNIT, highest_agreement, rarity
from unveil._kernels.membership.counts import bin_edges, binned, column_sets, excess
from unveil._kernels.membership.nearness import Nearness, crowd_distances, log_crowd, nearness
from unveil._kernels.neighbours.density import rows_within, within
from unveil._kernels.neighbours.index import EVERY, Grid, prepare
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.numbered import numbered
from unveil._kernels.types import BoolArray, CodeArray, FloatArray, IntArray

if TYPE_CHECKING:
    from unveil._kernels.neighbours.index import SortedRows
    from unveil._kernels.neighbours.search import Neighbourhood
    from unveil.data.table import Table
    from unveil.data.table.encode import Encoded

#: So many released rows are looked at around a person.
NEAR = 20
#: How many distances are held at once, and how many of the population make a crowd; of more, some are drawn by lot.
_AT_ONCE, _MOST_CROWD = 2**18, 5_000


@dataclass(frozen=True, eq=False)
class Compared:
    """Everybody on one scale, and what several scores need, each computed when it is first asked for."""

    released: "Encoded"
    population: "Encoded"
    targets: Grid
    shown: Mapping[str, BoolArray]  # which released rows show one value, for columns in which not all do
    seed: int
    neighbours: int

    @property
    def released_rows(self) -> int:
        return self.released.size

    @cached_property
    def exact(self) -> tuple[CodeArray, tuple[str, ...]]:
        """Released rows, population and people with a number for each value, and the columns that show any.

        It is 0 for what no person has, and where a released row does not show one value.
        """
        return self._coded(frozenset())

    @cached_property
    def in_bins(self) -> tuple[CodeArray, tuple[str, ...]]:
        """The same with numbers in bins."""
        return self._coded(frozenset(self.released.names_numbers))

    def _coded(self, in_bins: frozenset[str]) -> tuple[CodeArray, tuple[str, ...]]:
        names = [
            name
            for name in sorted((*self.released.names_numbers, *self.released.names_codes))
            if self.shown.get(name, np.True_).any()
        ]
        everybody = sum(part.size for part in self._parts)
        narrow = np.int16 if self.targets.size < 2**15 else np.int32
        codes: CodeArray = np.empty((len(names), everybody), narrow)
        for line, name in zip(codes, names, strict=True):
            rows, population, people = (self._values(part, name) for part in self._parts)
            shown = self.shown.get(name)
            if name in in_bins:
                edges = bin_edges(np.concatenate([rows if shown is None else rows[shown], population]))
                rows, population, people = (binned(each, edges) for each in (rows, population, people))
            wanted = np.unique(people)
            np.concatenate([numbered(each, wanted) for each in (rows, population, people)], out=line)
            if shown is not None:
                line[: self.released_rows][~shown] = 0
        return codes.T, tuple(names)

    @property
    def _parts(self) -> "tuple[Encoded | Grid, ...]":
        return self.released, self.population, self.targets

    def _values(self, part: "Encoded | Grid", name: str) -> IntArray:
        """Return a column of one of the parts."""
        every = (*self.released.names_numbers, *self.released.names_codes)
        if not isinstance(part, Grid):
            return part.column(every.index(name), EVERY).astype(np.int64, copy=False)
        if name in self.released.names_numbers:
            return part.numbers[:, self.released.names_numbers.index(name)]
        return part.codes[:, self.released.names_codes.index(name)].astype(np.int64)

    @cached_property
    def around(self) -> "Neighbourhood":
        """The people among the released rows."""
        if self.released.cells is not None:
            return boxes_around(self.released.cells, self.targets)[0]
        return prepare(self.released.grid(self._in_order.order), self.targets)

    @cached_property
    def _in_order(self) -> "SortedRows":
        """The released rows in an order of their own, so that no sum hangs on that of the file."""
        return self.released.in_order()

    @cached_property
    def _population_grid(self) -> Grid:
        return self.population.grid(self.population.by_content())

    @cached_property
    def nearest(self) -> IntArray:
        """How far the nearest released row of each person is."""
        if self.released.cells is not None:
            return within(self.around, 1)[0]
        return rows_within(self.released, self.targets, 1)[0]

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
            # Compared by columns, over and over.
            crowd = crowd._replace(numbers=np.asfortranarray(crowd.numbers), codes=np.asfortranarray(crowd.codes))
            start = self._in_order.start
            kind = np.repeat(np.arange(start.size), np.diff(start, append=self.released_rows))
            example = self._in_order.order[start]

            def outsider(rows: IntArray) -> IntArray:
                return rows_within(self._population_grid, self.released.grid(example[rows]), 1)[0]

            def thick(rows: IntArray) -> FloatArray:
                return log_crowd(crowd_distances(crowd, self.released.grid(example[rows])), None, width)

        at_once = max(1, _AT_ONCE // len(crowd.numbers))
        return nearness(self.around, kind, k, outsider, _in_blocks(thick, at_once), width)

    def _width(self) -> float:
        """Return a quarter of the median distance of people from the nearest one of the population.

        Where most have a twin it is the median of all others, and where all have it a quarter of a mismatch.
        """
        apart = rows_within(self._population_grid, self.targets, 1)[0]
        if np.median(apart) == 0:
            apart = apart[apart > 0]
        return float(np.median(apart) if apart.size else self.population.mismatch_cost) / 4

    def counted(self, codes: CodeArray, size: int, most: int) -> FloatArray:
        """Return how much more frequent people's values are released than in the population, over sets of columns."""
        columns = codes.shape[1]
        # Seeds of their own: no score depends on which others are asked for.
        sets = column_sets(columns, size, most, np.random.default_rng([self.seed, size]))
        return excess(codes, self.released_rows, self.population.size, sets)

    def agreement(self, codes: CodeArray) -> FloatArray:
        """Return how much more the best released row shares of people's rare values than the best of the population."""
        rows = self.released_rows
        shown, population, people = np.split(codes, [rows, rows + self.population.size])
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


def compared_people(
    released: "Table",
    population: "Table",
    people: Sequence["Table"],
    columns: tuple[str, ...],
    scale: "Table | Sequence[Table] | None",
    rng: np.random.Generator,
    neighbours: int,
) -> Compared:
    """Return everybody on one scale: the range over all tables, so that no one's place in them plays a part."""
    from unveil.data.table import agree
    from unveil.data.table.encode import encode

    names = sorted(columns)
    given = (population, released, *people, *scales(scale))
    tables = agree(*(table.select(names) for table in given))
    others, rows, *everybody = encode(tables, names, span_of=range(len(tables)))[: 2 + len(people)]
    numbers = np.concatenate([each.numbers for each in everybody])
    targets = others.grid()._replace(numbers=numbers, codes=np.concatenate([each.codes for each in everybody]))
    k, seed = min(neighbours, population.rows), int(rng.integers(2**62))
    return Compared(rows, others, targets, _shown(tables[1]), seed, k)


def scales(scale: "Table | Sequence[Table] | None") -> Sequence["Table"]:
    """Return the tables that only make ranges."""
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
