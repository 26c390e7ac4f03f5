"""Pictures of what can be worked out: the table itself, and how narrow each hidden count has become."""

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil.questions.tables.findings import GridFindings, TablesFindings
from unveil.report.blocks_cells import CellGrid
from unveil.report.text import count


def grid_chart(findings: TablesFindings) -> CellGrid | None:
    """Return the table that gives most away as a grid, None where there is none."""
    grid = findings.grid
    if grid is None or not grid.level.size:
        return None
    places = [[(row, column) for column in range(len(grid.columns))] for row in range(len(grid.rows))]
    left = f" {count(grid.left_out)} cells are left out here." if grid.left_out else ""
    cells = "White cells are shown. Of the others each holds what is left: one number is worked out."
    if not (grid.level > 0).any():
        cells = "Every cell is shown."
    return CellGrid(
        title=f"{grid.table}: what whoever reads it knows",
        rows=grid.rows,
        columns=grid.columns,
        row_label=grid.row_label,
        column_label=grid.column_label,
        level=grid.level,
        texts=tuple(tuple(_text(grid, *place) for place in row) for row in places),
        tips=tuple(tuple(_tip(grid, findings, *place) for place in row) for row in places),
        levels=(
            "shown",
            f"{findings.treatment} and kept",
            f"narrow: at most {findings.values} values left",
            "worked out",
        ),
        caption=f"{cells}{left}",
    )


def _text(grid: GridFindings, row: int, column: int) -> str:
    level, low, high = (int(each[row, column]) for each in (grid.level, grid.low, grid.high))
    if level < 0:
        return ""
    if low == high:
        return count(low)
    return f"{count(low)}+" if high >= NO_END else f"{count(low)}–{count(high)}"


def _tip(grid: GridFindings, findings: TablesFindings, row: int, column: int) -> str:
    level, low, high = (int(each[row, column]) for each in (grid.level, grid.low, grid.high))
    if level < 0:
        return ""
    name = f"{grid.rows[row]}, {grid.columns[column]}"
    if level == 0:
        return f"{name}: {count(low)}, shown"
    if low == high:
        return f"{name}: {count(low)}, worked out"
    left = f"{count(low)} or more" if high >= NO_END else f"{count(low)} to {count(high)}"
    return f"{name}: {findings.treatment}, {left} left"


def levels_of(grid: GridFindings) -> dict[int, int]:
    """Return how many cells of each level are in the picture."""
    levels, numbers = np.unique(grid.level, return_counts=True)
    return {int(level): int(number) for level, number in zip(levels, numbers, strict=True)}
