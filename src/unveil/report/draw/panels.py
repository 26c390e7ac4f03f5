"""Column distributions and triangles of pairs as matplotlib axes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unveil.report.blocks_spread import MOST_NUMBERED_COLUMNS, DistributionPanel, DistributionPanels, Triangles
from unveil.report.draw import pyplot
from unveil.report.svg.lines import LOOKS
from unveil.report.svg.panels import STEPS, number_text, step_of
from unveil.report.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The colours of the page on white paper, from the lowest step on.
COLOURS = (
    "#174e8c",
    "#2f73b5",
    "#6ba3d0",
    "#a6cbe3",
    "#d7e6f0",
    "#f7f7f7",
    "#f6dfd0",
    "#f0b795",
    "#dd8160",
    "#bb3f38",
    "#8a1126",
)
_PER_ROW = 3


def draw_distributions(block: DistributionPanels, axes: "Axes | None" = None) -> "Axes":
    """Return the axes with one small chart for each column inside.

    >>> panel = DistributionPanel(name="age", distance="KS 0.10", first=(0.5, 0.5), second=(0.4, 0.6),
    ...                           first_hatched=(False, False), second_hatched=(False, True))
    >>> drawn = draw_distributions(DistributionPanels(title="T", panels=(panel,), names=("one", "two")))
    >>> drawn.child_axes[0].get_title(loc="left")
    'age  KS 0.10'
    """
    per_row = min(_PER_ROW, len(block.panels)) or 1
    rows = -(-len(block.panels) // per_row)
    axes = _frame(block.title, (3.2 * per_row, 2.1 * rows + 0.6), axes)
    for at, (panel, inner) in enumerate(zip(block.panels, _inner(axes, len(block.panels), per_row), strict=True)):
        _draw_panel(panel, block, inner)
        if at == 0:
            inner.legend(frameon=False, fontsize="x-small")
    return axes


def _frame(title: str, size: tuple[float, float], axes: "Axes | None") -> "Axes":
    if axes is None:
        _, axes = pyplot.subplots(figsize=size, layout="constrained")
    axes.set_axis_off()
    axes.set_title(title, loc="left", fontsize="medium", parse_math=False)
    return axes


def _inner(axes: "Axes", number: int, per_row: int) -> "Iterator[Axes]":
    """Yield inset axes, row by row."""
    rows = max(-(-number // per_row), 1)
    for at in range(number):
        left, top = at % per_row / per_row, 1 - at // per_row / rows
        yield axes.inset_axes((left + 0.1 / per_row, top - 0.85 / rows, 0.86 / per_row, 0.68 / rows))


def _draw_panel(panel: DistributionPanel, block: DistributionPanels, axes: "Axes") -> None:
    blue, grey = LOOKS["first"].colour, LOOKS["fifth"].colour
    at = np.arange(len(panel.first), dtype=np.float64)
    if panel.categories:
        first = axes.barh(at - 0.2, panel.first, 0.36, edgecolor=grey, facecolor="none", label=block.names[0])
        second = axes.barh(at + 0.2, panel.second, 0.36, color=blue, label=block.names[1])
        axes.set_yticks(at, [shorten(text, 12) for text in panel.categories], parse_math=False)
        axes.invert_yaxis()
    else:
        second = axes.bar(at, panel.second, 0.9, color=blue, label=block.names[1])
        first = axes.bar(at, panel.first, 1.0, edgecolor=grey, facecolor="none", label=block.names[0])
        axes.set_xticks([-0.5, at.size - 0.5], list(panel.ends), parse_math=False)
        axes.set_yticks([])
    for bars, hatched in ((first, panel.first_hatched), (second, panel.second_hatched)):
        for bar, is_hatched in zip(bars, hatched, strict=True):
            if is_hatched:
                bar.set(facecolor="none", edgecolor=bar.get_edgecolor() if bars is first else blue, hatch="////")
    axes.tick_params(length=0, labelsize="x-small")
    axes.spines[["top", "right", "left" if not panel.categories else "bottom"]].set_visible(False)
    axes.set_title(f"{panel.name}  {panel.distance}", loc="left", fontsize="small", parse_math=False)


def draw_triangles(block: Triangles, axes: "Axes | None" = None) -> "Axes":
    """Return the axes with one triangle for each set of values inside.

    >>> from unveil.report.blocks_spread import Triangle
    >>> values = np.array([[np.nan, np.nan], [0.5, np.nan]])
    >>> block = Triangles(title="T", columns=("a", "b"), triangles=(Triangle(name="original", values=values),))
    >>> [text.get_text() for text in draw_triangles(block).child_axes[0].texts]
    ['a', '0.50', 'b']
    """
    from matplotlib.patches import Rectangle

    number = len(block.columns)
    axes = _frame(block.title, (4.2 * len(block.triangles), 0.6 + 0.26 * number + 0.8), axes)
    for triangle, inner in zip(block.triangles, _inner(axes, len(block.triangles), len(block.triangles)), strict=True):
        for row, name in enumerate(block.columns):
            for column in range(row):
                value = float(triangle.values[row, column])
                if np.isnan(value):
                    continue
                step = step_of(value, triangle.limit)
                inner.add_patch(Rectangle((column, row), 1, 1, facecolor=COLOURS[step], edgecolor="white"))
                if number <= MOST_NUMBERED_COLUMNS:
                    ink = "white" if abs(step - STEPS) > STEPS - 2 else "black"
                    inner.text(
                        column + 0.5, row + 0.5, number_text(value), ha="center", va="center", color=ink, size="x-small"
                    )
            inner.text(row + 0.1, row + 0.5, shorten(name, 14), va="center", fontsize="x-small", parse_math=False)
        inner.set(xlim=(0, number + 3), ylim=(number, 0))
        inner.set_axis_off()
        title = f"{triangle.name}, −{triangle.limit:g} to {triangle.limit:g}"
        inner.set_title(title, loc="left", fontsize="small", parse_math=False)
    return axes
