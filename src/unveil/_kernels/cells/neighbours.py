"""Nearest boxes or people for all nearest-neighbor attacks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unveil._kernels.cells.boxes import CellBoxes, CellColumns, boxes_of
from unveil._kernels.cells.nearest_boxes import (
    BoxComparison,
    boxes_to_people,
    distinct_people,
    near_of,
    people_to_boxes,
    side_of_boxes,
)
from unveil._kernels.neighbours.density import within
from unveil._kernels.neighbours.index import IntegerGrid
from unveil._kernels.neighbours.search import NearRows, nearer_rows
from unveil._kernels.types import Int32Array, IntArray


class BoxNeighbourhood(NamedTuple):
    """Targets among rows, one side people and the other boxes; a `Neighbourhood`.

    Where ``heavier_first`` numbers the rows by their weight, so many of those that tie for the last of k places are
    near as there are places, the heavier ones first.
    """

    row_of: Int32Array
    target_of: Int32Array
    comparison: BoxComparison
    heavier_first: IntArray | None = None

    @property
    def copies(self) -> IntArray:
        """Number of rows per distinct row."""
        return self.comparison.rows.copies

    @property
    def targets(self) -> int:
        """Number of distinct targets."""
        return self.comparison.targets.copies.size

    def nearest(self, some: IntArray, k: int) -> NearRows | None:
        """Return the near rows of some ascending targets, or None if full."""
        found = self.nearest_of_each(some, (k,))
        return None if found is None else found[0]

    def nearest_of_each(self, some: IntArray, ks: Sequence[int]) -> list[NearRows] | None:
        """Return the same for several k, by one search."""
        near = near_of(self.comparison, some, max(ks))
        if near is None:
            return None
        every = [near if k == max(ks) else nearer_rows(near, self.copies, k) for k in ks]
        if self.heavier_first is None:
            return every
        return [by_weight(each, self.copies, self.heavier_first, k) for each, k in zip(every, ks, strict=True)]


def boxes_around(cells: CellColumns, people: IntegerGrid) -> tuple[BoxNeighbourhood, CellBoxes]:
    """Return people as targets among boxes of released rows."""
    boxes, persons = boxes_of(cells), distinct_people(people, cells.codes)
    sides = persons.side, side_of_boxes(boxes, cells)
    comparison = people_to_boxes(*sides, cells, people.step_cost, people.mismatch_cost)
    return BoxNeighbourhood(boxes.of_row, persons.of_row.astype(np.int32), comparison), boxes


def heaviest_boxes_around(cells: CellColumns, people: IntegerGrid) -> BoxNeighbourhood:
    """Return the same with ties broken by weight."""
    around, boxes = boxes_around(cells, people)
    return around._replace(heavier_first=boxes.heavier_first())


def people_around(cells: CellColumns, people: IntegerGrid, rows: IntArray | slice = slice(None)) -> BoxNeighbourhood:
    """Return released rows of cells, all or some, as targets among people."""
    boxes, persons = boxes_of(cells, rows), distinct_people(people, cells.codes)
    sides = side_of_boxes(boxes, cells), persons.side
    comparison = boxes_to_people(*sides, cells, people.step_cost, people.mismatch_cost)
    return BoxNeighbourhood(persons.of_row.astype(np.int32), boxes.of_row, comparison)


def compatible_people(cells: CellColumns, people: IntegerGrid) -> IntArray:
    """Return how many people are compatible with each released row."""
    radius, many = within(people_around(cells, people), 1)
    return np.where(radius == 0, many, 0)


def by_weight(near: NearRows, copies: IntArray, heavier_first: IntArray, k: int) -> NearRows:
    """Return near boxes with distance 0 certain and 1 tied, by weight."""
    owner = np.repeat(np.arange(near.limit.size), np.diff(near.start))
    order = np.lexsort((heavier_first[near.row], near.distance, owner))
    row, distance = near.row[order], near.distance[order]
    rank = heavier_first[row]
    so_far = np.cumsum(copies[row])
    # The entry that the k-th row belongs to, counted within its target.
    last = np.searchsorted(so_far, so_far[near.start[:-1]] - copies[row[near.start[:-1]]] + k)
    limit, heaviest = distance[last][owner], rank[last][owner]
    tied = (distance == limit) & (rank == heaviest)
    kept = tied | (distance < limit) | ((distance == limit) & (rank < heaviest))
    start = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=near.limit.size))])
    return NearRows(start, row[kept], tied[kept].astype(np.int64), np.ones(near.limit.size, np.int64))
