"""A table as a picture: each cell with its text, told apart by how much is known of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil._kernels.types import IntArray
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.report.blocks import TableBlock

#: What a cell is, in the order of the legend: each level has its own fill, its own pattern or its own mark.
LEVELS = 4
#: Cells that a table does not have.
NO_CELL = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class CellGrid:
    """Rows and columns of cells, each on a level from 0 (plain) to 3 (most striking); -1 is no cell.

    ``texts`` is what stands in each cell, as short as it can be, and ``tips`` what is said of it when it is pointed at.
    ``levels`` are the names of the levels in the legend.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    level: IntArray
    texts: tuple[tuple[str, ...], ...]
    tips: tuple[tuple[str, ...], ...]
    levels: tuple[str, ...]
    #: What the rows and the columns are, such as "ward" and "age".
    row_label: str = ""
    column_label: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        shape = (len(self.rows), len(self.columns))
        if self.level.shape != shape or len(self.levels) != LEVELS:
            raise InputError(
                f"a grid of {shape[0]} rows and {shape[1]} columns must have a level for each cell and {LEVELS} names "
                f"of levels, but has {self.level.shape} and {len(self.levels)}. Pass as many"
            )


def grid_table(grid: CellGrid) -> "TableBlock":
    """Return the cells as a table of text: for a terminal, a spreadsheet, and those who do not see the picture.

    A cell of a striking level bears its sign: ! for the most striking, ~ for the one before it.

    >>> import numpy as np
    >>> grid = CellGrid(title="T", rows=("r",), columns=("a", "b"), level=np.array([[0, 3]]), texts=(("5", "3"),),
    ...                 tips=(("", ""),), levels=("shown", "kept", "narrow", "worked out"))
    >>> grid_table(grid).rows
    (('r', '5', '3 !'),)
    """
    from unveil.report.blocks import Side, TableBlock

    right: Side = "right"
    signs = {2: " ~", 3: " !"}
    rows = tuple(
        (name, *(f"{text}{signs.get(int(level), '')}" for text, level in zip(texts, levels, strict=True)))
        for name, texts, levels in zip(grid.rows, grid.texts, grid.level, strict=True)
    )
    return TableBlock(
        caption=grid.title,
        columns=(grid.row_label, *grid.columns),
        rows=rows,
        align=("left", *((right,) * len(grid.columns))),
        note=f"! {grid.levels[3]}; ~ {grid.levels[2]}",
    )
