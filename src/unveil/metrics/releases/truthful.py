"""Truthfulness of released rows: ranges and suppression are true, noise is not."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, IntArray
from unveil.data.table import Table, agree
from unveil.data.table._cell_columns import PeopleValues
from unveil.data.table._cell_reading import read_values
from unveil.data.table.cells import ABSENT, SHOWN, SUPPRESSED, Cells, OrderedCells
from unveil.errors import InputError

#: A release is truthful if at least this share of its rows match.
TRUTHFUL = 0.99
#: At most this many released rows are matched.
MOST_ROWS = 2_000
#: Below the places of all values, missing ones and markers.
_NO_PLACE = -(2**62)


def truthful_share(original: Table, released: Table, columns: Sequence[str], matches: IntArray | None = None) -> float:
    """Return the share of released rows that match compatible original rows.

    A released cell is compatible with an original value if it equals the value, holds it (a band, a range, a prefix, a
    set) or is suppressed or missing. A row is compatible if all its cells are. Without ``matches`` it is the size of a
    maximum matching, one to one, divided by the number of released rows. Of more than 2,000 released rows 2,000 are
    drawn and matched with all original rows. Fewer rows then compete for the same original row, so that the share can
    be too high: a high share is necessary for a truthful release, not sufficient.

    Parameters
    ----------
    original, released
        The tables. Unless they agree already, the release is read as a masked one.
    columns
        The columns to compare.
    matches
        The original row of each released row, -1 for none: each row is compared with its own only.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [31, 35, 47, 48], "sex": ["f", "m", "f", "f"]}))
    >>> bands = Table.from_frame(pl.DataFrame({"age": ["30-39", "*", "40-49", "40-49"], "sex": ["f", "m", "f", "m"]}))
    >>> truthful_share(people, bands, ["age", "sex"])
    0.75
    """
    if not columns:
        raise InputError("no column to compare is given. Name the columns, as in ['age']")
    original, released = agree(original, released, masked=True)
    held = [HeldValues.of(cells_of([original], released, name)) for name in columns]
    places = [each.cells.places(original.held(name)) for each, name in zip(held, columns, strict=True)]
    if matches is not None:
        own = np.asarray(matches)
        fits = np.asarray(own >= 0)
        for each, place in zip(held, places, strict=True):
            fits &= (
                each.fit(each.cells.of_row.astype(np.int64), place[np.where(own >= 0, own, 0)]) if place.size else False
            )
        return float(fits.mean())
    rows = _drawn(released.select(columns))
    cells = np.column_stack([each.cells.of_row[rows] for each in held]).astype(np.int64)
    boxes, of_row = np.unique(cells, axis=0, return_inverse=True)
    return _matched(compatible_rows(held, places, boxes, rows.size), of_row.reshape(-1)) / rows.size


def cells_of(people: Sequence[Table], released: Table, name: str) -> Cells:
    """Return the cells of a released column."""
    if released.cells and name in released.cells:
        return released.cells[name]
    kind = released.column(name).kind
    return read_values(PeopleValues([each.held(name) for each in people]), released.held(name), kind, masked=True)


class HeldValues(NamedTuple):
    """Values in each cell, from ``first`` to ``last``, unless with gaps.

    ``keys`` are the pairs of a cell with gaps and a place that it holds, as ``cell * size + place``, ascending.
    """

    cells: Cells
    first: IntArray
    last: IntArray
    has_gaps: BoolArray
    keys: IntArray
    size: int

    @classmethod
    def of(cls, cells: Cells) -> "HeldValues":
        """Return the places that the cells of a released column hold."""
        size = len(cells.values) + 1
        if isinstance(cells.holds, OrderedCells):
            first, last = np.maximum(cells.holds.first, 0), cells.holds.last
            has_gaps, keys = np.zeros(first.size, bool), np.empty(0, np.int64)
        else:
            count = np.diff(cells.holds.start)
            keys = np.sort(np.repeat(np.arange(count.size), count) * size + cells.holds.member)
            first, last = np.zeros(count.size, np.int64), np.full(count.size, -1)
            some, start = count > 0, cells.holds.start
            first[some], last[some] = keys[start[:-1][some]] % size, keys[start[1:][some] - 1] % size
            has_gaps = last - first + 1 != count
        is_open = (cells.state == SUPPRESSED) | (cells.state == ABSENT)
        first = np.where(is_open, _NO_PLACE, np.where(cells.state == SHOWN, first, 0))
        last = np.where(is_open, size, np.where(cells.state == SHOWN, last, -1))
        return cls(cells, first, last, has_gaps & ~is_open, keys, size)

    def fit(self, cell: NDArray[np.integer], place: IntArray) -> BoolArray:
        """Return whether cells hold values, given by position."""
        fits = np.asarray((self.first[cell] <= place) & (place <= self.last[cell]))
        some = np.nonzero(fits & self.has_gaps[cell])
        if some[0].size:
            wanted = (cell * np.int64(self.size) + place)[some]
            fits[some] = self.keys[np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)] == wanted
        return fits


def _drawn(released: Table) -> IntArray:
    """Return a content-ordered random sample of rows."""
    if released.rows <= MOST_ROWS:
        return np.arange(released.rows)
    return released.content_order()[np.random.default_rng(0).choice(released.rows, MOST_ROWS, replace=False)]


def compatible_rows(
    held: Sequence[HeldValues], places: Sequence[IntArray], boxes: NDArray[np.integer], enough: int
) -> list[IntArray | None]:
    """Return the people compatible with each box; None from ``enough`` on.

    Values of one cell are neighbors in the order of places: the column with the fewest of them gives the candidates.
    """
    orders = [np.argsort(place, kind="stable") for place in places]
    starts, ends = np.empty(boxes.shape, np.int64), np.empty(boxes.shape, np.int64)
    for column, (each, place, order) in enumerate(zip(held, places, orders, strict=True)):
        starts[:, column] = np.searchsorted(place[order], each.first[boxes[:, column]], side="left")
        ends[:, column] = np.searchsorted(place[order], each.last[boxes[:, column]], side="right")
    widths = np.maximum(ends - starts, 0)
    found: list[IntArray | None] = []
    for box, by_width, start, end in zip(boxes, np.argsort(widths, axis=1, kind="stable"), starts, ends, strict=True):
        rows = orders[by_width[0]][start[by_width[0]] : end[by_width[0]]]
        for column in by_width.tolist():
            if rows.size == 0:
                break
            rows = rows[held[column].fit(np.full(rows.size, box[column]), places[column][rows])]
        found.append(None if rows.size >= enough else rows)
    return found


def _matched(compatible: Sequence[IntArray | None], of_row: IntArray) -> int:
    """Return the number of released rows in a maximum matching.

    A row that is compatible with at least as many original rows as there are released ones always finds one that no
    other row needs, so that it is left for the end.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    few = [part for box in of_row.tolist() if (part := compatible[box]) is not None]
    sure = of_row.size - len(few)
    rows = np.concatenate([np.empty(0, np.int64), *few])
    if not rows.size:
        return sure
    different, place = np.unique(rows, return_inverse=True)
    start = np.concatenate([[0], np.cumsum([part.size for part in few])])
    graph = csr_array((np.ones(rows.size, np.int8), place, start), shape=(len(few), different.size))
    return sure + int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())
