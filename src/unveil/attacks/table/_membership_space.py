"""People, released rows, and a reference set on one scale.

Several membership scores share it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.cells import nearest_boxes
from unveil._kernels.cells.neighbours import boxes_around, people_around
from unveil._kernels.membership.agreement import UNIT, highest_agreement, rarity
from unveil._kernels.membership.counts import bin_edges, binned, column_sets, excess
from unveil._kernels.membership.nearness import RelativeNearness, crowd_distances, log_crowd, nearness
from unveil._kernels.neighbours.density import rows_within, within
from unveil._kernels.neighbours.index import EVERY, IntegerGrid, content_rank, from_zero, sorted_rows
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.neighbours.near_pairs import NearKinds, near_kinds
from unveil._kernels.neighbours.search import nearest_in_parts
from unveil._kernels.neighbours.sketch import row_blocks
from unveil._kernels.types import BoolArray, CodeArray, FloatArray, IntArray
from unveil._kernels.value_numbers import numbered

if TYPE_CHECKING:
    from unveil._kernels.neighbours.search import Neighbourhood
    from unveil.data.table import Table
    from unveil.data.table.encode import EncodedTable

#: This many released rows are looked at around a person.
NEAR = 20
#: How many distances are held at once, and how many of the population make a crowd; of more, some are drawn at random.
_AT_ONCE, _MOST_CROWD = 2**18, 5_000


@dataclass(frozen=True, eq=False)
class MembershipSpace:
    """Members, non-members and released rows on one scale, with cached results."""

    released: "EncodedTable"
    population: "EncodedTable"
    targets: IntegerGrid
    shown: Mapping[str, BoolArray]  # which released rows show one value, for columns in which not all do
    seed: int
    neighbours: int

    @property
    def released_rows(self) -> int:
        return self.released.size

    @cached_property
    def exact(self) -> "CodedColumns":
        """Released rows, population and people with a number for each value."""
        return self._coded(frozenset())

    @cached_property
    def in_bins(self) -> "CodedColumns":
        """The same with numbers in bins."""
        return self._coded(frozenset(self.released.names_numbers))

    def _coded(self, in_bins: frozenset[str]) -> "CodedColumns":
        every = (*self.released.names_numbers, *self.released.names_codes)
        columns = [
            self._column(name, every.index(name), name in in_bins)
            for name in sorted(every)
            if self.shown.get(name, np.True_).any()
        ]
        return CodedColumns(
            released=self.released, population=self.population, targets=self.targets, columns=tuple(columns)
        )

    def _column(self, name: str, place: int, in_bins: bool) -> "CodedColumn":
        shown, edges = self.shown.get(name), None

        def reference() -> Iterator[IntArray]:
            for rows in row_blocks(self.released_rows):
                values = wide(self.released, place, rows)
                yield values if shown is None else values[shown[rows]]
            yield wide(self.population, place, EVERY)

        if in_bins:
            edges = bin_edges(reference)
        own = wide(self.targets, place, EVERY)
        return CodedColumn(name, place, np.unique(own if edges is None else binned(own, edges)), edges, shown)

    @cached_property
    def around(self) -> "Neighbourhood | None":
        """People within released boxes; None if cells are single values."""
        return None if self.released.cells is None else boxes_around(self.released.cells, self.targets)[0]

    @cached_property
    def _population_grid(self) -> IntegerGrid:
        return self.population.grid(self.population.by_content())

    @cached_property
    def nearest(self) -> IntArray:
        """How far the nearest released row of each person is."""
        if self.around is not None:
            return within(self.around, 1)[0]
        return rows_within(self.released, self.targets, 1)[0]

    @cached_property
    def nearness(self) -> RelativeNearness:
        """Distances of the nearest released rows, single and joint."""
        width = self._width()
        k = min(NEAR, self.released_rows)
        crowd = _thinned(self._population_grid, self.seed)
        at_once = max(1, _AT_ONCE // len(crowd.numbers))
        if self.released.cells is not None and self.around is not None:
            boxes, fewer = (people_around(self.released.cells, each) for each in (self._population_grid, crowd))

            def outsider(rows: IntArray) -> IntArray:
                return _limits(boxes, rows)

            def thick(rows: IntArray) -> FloatArray:
                return log_crowd(nearest_boxes.all_distances(fewer.comparison, rows), fewer.copies, width)

            parts = _boxes_in_parts(self.around, k)
            found = nearness(self.around.targets, parts, outsider, _in_blocks(thick, at_once), width)
            return RelativeNearness(*(each[self.around.target_of] for each in found))
        # Compared by columns, over and over.
        crowd = crowd._replace(numbers=np.asfortranarray(crowd.numbers), codes=np.asfortranarray(crowd.codes))

        def outsider_of_row(rows: IntArray) -> IntArray:
            return rows_within(self._population_grid, self.released.block(rows), 1)[0]

        def thick_around_row(rows: IntArray) -> FloatArray:
            return log_crowd(crowd_distances(crowd, self.released.block(rows)), None, width)

        parts = near_kinds(self.released, self.targets, k)
        return nearness(self.targets.size, parts, outsider_of_row, _in_blocks(thick_around_row, at_once), width)

    def _width(self) -> float:
        """Return a quarter of the median distance to the reference set.

        Where most have a twin it is the median of all others, and where all have it a quarter of a mismatch.
        """
        apart = rows_within(self._population_grid, self.targets, 1)[0]
        if np.median(apart) == 0:
            apart = apart[apart > 0]
        return float(np.median(apart) if apart.size else self.population.mismatch_cost) / 4

    def counted(self, codes: "CodedColumns", size: int, at_most: int) -> FloatArray:
        """Return the frequency excess of people's values over the reference set."""
        # Seeds of their own: no score depends on which others are asked for.
        sets = column_sets(len(codes.columns), size, at_most, np.random.default_rng([self.seed, size]))
        return excess(codes.blocks(), codes.of_population, codes.of_people, sets)

    def agreement(self, codes: "CodedColumns") -> FloatArray:
        """Return the excess agreement on rare values over the reference set."""
        people, population = codes.of_people, codes.of_population
        weights = rarity(people, population)
        best = np.zeros(len(people), np.int64)
        for rows in codes.blocks():
            best = highest_agreement(rows, people, weights, best)
        return (best - highest_agreement(population, people, weights)) / UNIT

    def content_rank(self, rows: IntArray) -> IntArray:
        """Return the content rank of some released rows."""
        if self.released.cells is None:
            return content_rank(self.released.block(rows))
        return sorted_rows(map(from_zero, self.released.cells.of_row[:, rows]), rows.size).numbered(np.int64)

    def distances(self, rows: IntArray, person: int) -> IntArray:
        """Return how far a person is from some released rows."""
        alone = _take(self.targets, np.array([person]))
        if self.released.cells is None:
            return all_distances(self.released.grid(rows), alone).ravel()
        around, boxes = boxes_around(self.released.cells, alone)
        return nearest_boxes.all_distances(around.comparison, np.zeros(1, np.int64)).ravel()[boxes.of_row[rows]]


class CodedColumn(NamedTuple):
    """A column with its values, ascending, and bin edges, if any.

    ``shown`` says which released rows show one value, where not all do.
    """

    name: str
    place: int
    wanted: IntArray
    edges: IntArray | None
    shown: BoolArray | None

    def numbers(self, part: "EncodedTable | IntegerGrid", rows: slice) -> CodeArray:
        """Return the number of each value, from 1; 0 if unknown."""
        values = wide(part, self.place, rows)
        return numbered(values if self.edges is None else binned(values, self.edges), self.wanted)


@dataclass(frozen=True, eq=False, kw_only=True)
class CodedColumns:
    """Released rows and reference set, coded in the non-empty columns.

    It is 0 for what no person has, and where a released row does not show one value. Rows come as lines.
    """

    released: "EncodedTable"
    population: "EncodedTable"
    targets: IntegerGrid
    columns: tuple[CodedColumn, ...]

    @cached_property
    def of_population(self) -> CodeArray:
        return self._numbers(self.population, EVERY, self.population.size)

    @cached_property
    def of_people(self) -> CodeArray:
        return self._numbers(self.targets, EVERY, self.targets.size)

    def blocks(self) -> Iterator[CodeArray]:
        """Yield the released rows in blocks; a single block is cached."""
        blocks = row_blocks(self.released.size)
        if len(blocks) == 1:
            yield self._only_block
        else:
            yield from map(self._block, blocks)

    @cached_property
    def _only_block(self) -> CodeArray:
        return self._block(EVERY)

    def _block(self, rows: slice) -> CodeArray:
        codes = self._numbers(self.released, rows, len(range(*rows.indices(self.released.size))))
        for place, column in enumerate(self.columns):
            if column.shown is not None:
                codes[~column.shown[rows], place] = 0
        return codes

    def _numbers(self, part: "EncodedTable | IntegerGrid", rows: slice, size: int) -> CodeArray:
        narrow = np.int16 if self.targets.size < 2**15 else np.int32
        codes: CodeArray = np.empty((len(self.columns), size), narrow)
        for line, column in zip(codes, self.columns, strict=True):
            line[:] = column.numbers(part, rows)
        return codes.T


def wide(part: "EncodedTable | IntegerGrid", place: int, rows: slice) -> IntArray:
    """Return some rows of a column in whole numbers of one width."""
    return part.column(place, rows).astype(np.int64, copy=False)


def compared_people(
    released: "Table",
    population: "Table",
    people: Sequence["Table"],
    columns: tuple[str, ...],
    scale: "Table | Sequence[Table] | None",
    rng: np.random.Generator,
    neighbours: int,
) -> MembershipSpace:
    """Return members and non-members, scaled by the range over all tables."""
    from unveil.data.table import agree
    from unveil.data.table.encode import encode

    names = sorted(columns)
    given = (population, released, *people, *scales(scale))
    tables = agree(*(table.select(names) for table in given))
    others, rows, *everybody = encode(tables, names, span_of=range(len(tables)))[: 2 + len(people)]
    numbers = np.concatenate([each.numbers for each in everybody])
    targets = others.grid()._replace(numbers=numbers, codes=np.concatenate([each.codes for each in everybody]))
    k, seed = min(neighbours, population.rows), int(rng.integers(2**62))
    return MembershipSpace(rows, others, targets, _shown(tables[1]), seed, k)


def scales(scale: "Table | Sequence[Table] | None") -> Sequence["Table"]:
    """Return the tables that only make ranges."""
    if scale is None:
        return ()
    return scale if isinstance(scale, Sequence) else (scale,)


def _shown(released: "Table") -> dict[str, BoolArray]:
    """Return the rows with single values, per column with range cells."""
    from unveil.data.table.cells import NOBODY

    cells = {name: (released.cells or {})[name] for name in released.coarse() and released.column_names}
    return {name: (each.single & (each.state != NOBODY))[each.of_row] for name, each in cells.items()}


def _thinned(population: IntegerGrid, seed: int) -> IntegerGrid:
    size = len(population.numbers)
    if size <= _MOST_CROWD:
        return population
    return _take(population, np.sort(np.random.default_rng(seed).choice(size, _MOST_CROWD, replace=False)))


def _boxes_in_parts(around: "Neighbourhood", k: int) -> Iterator[NearKinds]:
    """Yield distinct targets with the boxes that are near."""
    for some, boxes in nearest_in_parts(around, k):
        row = boxes.row.astype(np.int64)
        yield NearKinds(some, boxes.start, row, boxes.distance, around.copies[row])


def _limits(around: "Neighbourhood", some: IntArray) -> IntArray:
    """Return how far the nearest row of some distinct targets is, ascending."""
    found = around.nearest(some, 1)
    if found is not None:
        return found.limit
    middle = some.size // 2
    return np.concatenate([_limits(around, some[:middle]), _limits(around, some[middle:])])


def _in_blocks(function: Callable[[IntArray], FloatArray], at_once: int) -> Callable[[IntArray], FloatArray]:
    return lambda rows: np.concatenate([function(rows[at : at + at_once]) for at in range(0, rows.size, at_once)])


def _take(grid: IntegerGrid, rows: IntArray) -> IntegerGrid:
    return grid._replace(numbers=grid.numbers[rows], codes=grid.codes[rows])
