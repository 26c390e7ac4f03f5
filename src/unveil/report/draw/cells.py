"""The same table of cells as matplotlib axes, for notebooks and papers."""

from typing import TYPE_CHECKING

from unveil.report.blocks_cells import CellGrid
from unveil.report.draw import pyplot
from unveil.report.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The colours of the page on white paper, by level, and of the text on them.
COLOURS = ("#ffffff", "#dde2e8", "#fdf3e1", "#9b1c1c")
INKS = ("#515a66", "#1a1f26", "#1a1f26", "#ffffff")


def draw_cells(grid: CellGrid, axes: "Axes | None" = None) -> "Axes":
    """Return the axes with the cells drawn on them: ``axes``, or those of a new figure; narrow ones are striped.

    >>> import numpy as np
    >>> grid = CellGrid(title="T", rows=("r",), columns=("a", "b"), level=np.array([[0, 3]]), texts=(("5", "3"),),
    ...                 tips=(("", ""),), levels=("shown", "kept", "narrow", "worked out"))
    >>> [text.get_text() for text in draw_cells(grid).texts]
    ['5', '3']
    """
    from matplotlib.patches import Patch, Rectangle

    if axes is None:
        size = (2.5 + 0.6 * len(grid.columns), 1.8 + 0.3 * len(grid.rows))
        _, axes = pyplot.subplots(figsize=(min(size[0], 30), min(size[1], 30)), layout="constrained")
    hatch = ("", "", "////", "")
    for row, levels in enumerate(grid.level.tolist()):
        for column, level in enumerate(levels):
            if level >= 0:
                box = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=COLOURS[level], edgecolor="#a9b2bd")
                box.set_hatch(hatch[level])
                axes.add_patch(box)
                weight = "bold" if level == 3 else "normal"
                text, ink = grid.texts[row][column], INKS[level]
                axes.text(column, row, text, ha="center", va="center", color=ink, fontsize="small", fontweight=weight)
    axes.set(xlim=(-0.5, len(grid.columns) - 0.5), ylim=(len(grid.rows) - 0.5, -0.5))
    turn = 45 if len(grid.columns) > 8 else 0
    axes.set_xticks(
        range(len(grid.columns)), [shorten(name, 24) for name in grid.columns], rotation=turn, parse_math=False
    )
    axes.set_yticks(range(len(grid.rows)), [shorten(name, 24) for name in grid.rows], parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_title(grid.title, loc="left", fontsize="medium", parse_math=False)
    there = [level for level in range(len(grid.levels)) if (grid.level == level).any()]
    boxes = [
        Patch(facecolor=COLOURS[level], edgecolor="#a9b2bd", hatch=hatch[level], label=grid.levels[level])
        for level in there
    ]
    if boxes:
        axes.legend(
            handles=boxes, loc="upper left", bbox_to_anchor=(0, -0.02), ncols=2, frameon=False, fontsize="small"
        )
    return axes
