"""Record linkage: re-identification by exact distance to the nearest original rows."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.cells.neighbours import people_around
from unveil._kernels.neighbours.nearest import nearest_rows, rows_around
from unveil._kernels.types import Int32Array, IntArray
from unveil.attacks._listing import attack
from unveil.data.table import Table, agree
from unveil.data.table.encode import EncodedTable, encode
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, whole_number
from unveil.guesses.candidates import Candidates


class Neighbours(NamedTuple):
    """Nearest rows with ties; target i has ``start[i]`` to ``start[i + 1] - 1``."""

    start: IntArray
    row: Int32Array
    distance: IntArray


@attack(source="Domingo-Ferrer and Torra (2001), distance-based record linkage")
@dataclass(frozen=True, kw_only=True)
class RecordLinkage:
    """Link each released row to the nearest original rows.

    A target is a released row, a candidate an original one, both known by their row number counted from 0. The
    ``neighbours`` nearest original rows, and all that are as near as the last of them, are trusted alike: ties are
    never broken, so the order of rows plays no part. Who is correct can be told where it is known which original row
    each released row stems from, which is so for a masked release only.

    Where released cells stand for several values, the nearest are all people who are compatible with the row; a row
    that no person is compatible with has those with the smallest gap.

    Parameters
    ----------
    columns
        The columns to compare; None for all that both tables have and the attacker knows.
    neighbours
        How many of the nearest original rows are trusted; at most as many as there are.
    targets
        How many released rows are attacked, drawn at random; None for all. With a number, ``guess.targets`` holds the
        row numbers of those drawn. A table in which very many rows are alike has very many candidates: draw some then.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [25, 30, 28]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [29, 24]}), name="released")
    >>> guess = RecordLinkage().run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    >>> guess.start, guess.candidate, guess.probability
    (array([0, 2, 3]), array([1, 2, 0], dtype=int32), array([0.5, 0.5, 1. ]))
    """

    columns: tuple[str, ...] | None = None
    neighbours: int = 1
    targets: int | None = None

    def __post_init__(self) -> None:
        check_settings(self.columns, self.neighbours, self.targets)

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:
        """Return each released row's nearest original rows; ``rng`` draws targets."""
        original, masked = compared(knowledge.records, released, self.columns)
        drawn = None
        if self.targets is not None and self.targets < len(masked.numbers):
            drawn = draw_by_content(masked, self.targets, rng=rng)
        found = neighbours_of(original, masked, self.neighbours, rows=drawn)
        count = np.diff(found.start)
        # Candidates are numbered upwards, not by distance.
        order = np.lexsort((found.row, np.repeat(np.arange(count.size), count)))
        return Candidates(found.start, found.row[order], np.repeat(1 / count, count), targets=drawn)


def check_settings(columns: tuple[str, ...] | None, neighbours: int, targets: int | None) -> None:
    """Refuse settings with which nothing would be compared."""
    if columns is not None and (isinstance(columns, str) or not columns):
        raise InputError("columns is empty. Pass a tuple such as ('age',), or None for all")
    for name, number in (("neighbours", neighbours), ("targets", targets)):
        if number is not None:
            whole_number(number, name)


def compared(original: Table, released: Table, columns: tuple[str, ...] | None) -> tuple[EncodedTable, EncodedTable]:
    """Return both tables' compared columns on one scale."""
    if columns is not None:
        for table in (original, released):
            for name in columns:
                table.column(name)
        original, released = original.select(columns), released.select(columns)
    original, released = agree(original, released)
    names = columns or tuple(column.name for column in original.columns if column.role == "known")
    if not names:
        raise InputError(
            f"the {original.name} and the {released.name} share no quasi-identifier: every "
            "shared column is an identifier, sensitive or ignored. Name the columns to compare"
        )
    one, other = encode([original, released], names)
    return one, other


def draw_by_content(table: EncodedTable, size: int, *, rng: np.random.Generator) -> IntArray:
    """Return sorted indices of a content-determined row sample."""
    order = table.by_content()
    return np.sort(order[rng.choice(order.size, size, replace=False)])


def neighbours_of(
    original: EncodedTable, released: EncodedTable, k: int, *, rows: IntArray | None = None
) -> Neighbours:
    """Return the nearest original rows of released ones, with ties."""
    size = len(original.numbers)
    if k > size:
        raise InputError(f"neighbours is {k}, but there are {size} original rows. Lower it to {size} or less")
    which = slice(None) if rows is None else rows
    if released.cells is not None:
        return Neighbours(*rows_around(people_around(released.cells, original.grid(), which), k))
    return Neighbours(*nearest_rows(original.grid(), released.grid(which), k))
