"""The same heat map as matplotlib axes, for notebooks and papers."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from unveil.report.blocks_spread import HeatMap
from unveil.report.draw import pyplot
from unveil.report.svg.heads import heads_of
from unveil.report.svg.heat import MOST_NUMBERED, STEPS, steps_of
from unveil.report.text import fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The colours of the page on white paper, from the lowest step on, and how many of them have dark numbers.
COLOURS = (
    "#f7f9d0",
    "#c1e6b8",
    "#89d0b9",
    "#55b6c1",
    "#379abf",
    "#247eb7",
    "#2662a7",
    "#214793",
    "#1a2e7a",
    "#0d1c53",
)
LIGHT_STEPS = 6
_UNDEFINED = "#7d858f"
#: The most heads of a level that have room beside one another.
_MOST_HEADS = 80


def draw_heat(heat: HeatMap, axes: "Axes | None" = None) -> "Axes":
    """Draw the cells on ``axes`` or new axes; NaN is hatched.

    >>> heat = HeatMap(title="T", rows=("r",), columns=(("a",), ("b",)), levels=("l",), value_label="v",
    ...                values=np.array([[0.5, np.nan]]))
    >>> drawn = draw_heat(heat)
    >>> drawn.images[0].get_array().tolist(), [text.get_text() for text in drawn.texts]
    ([[5.0, None]], ['0.50'])
    """
    from matplotlib.colors import BoundaryNorm, ListedColormap

    if axes is None:
        width = 2.6 + min(max(0.5 * len(heat.columns), 2.0), 8.0)
        _, axes = pyplot.subplots(figsize=(width, 1.8 + 0.26 * max(len(heat.rows), 1)), layout="constrained")
    steps = steps_of(heat)
    shown = np.ma.masked_less(steps.astype(np.float64), 0)
    axes.patch.set(facecolor="white", hatch="//////", edgecolor=_UNDEFINED, linewidth=0)
    norm = BoundaryNorm(np.arange(STEPS + 1) - 0.5, STEPS)
    if steps.size:
        picture = axes.imshow(
            shown, cmap=ListedColormap(COLOURS), norm=norm, aspect="auto", interpolation="nearest"
        )  # fmt: skip
        bar = axes.figure.colorbar(picture, ax=axes, ticks=np.arange(STEPS + 1) - 0.5, fraction=0.05, pad=0.02)
        bar.ax.set_yticklabels([f"{edge:.3g}" for edge in np.linspace(heat.low, heat.high, STEPS + 1)])
        bar.set_label(heat.value_label)
    if len(heat.columns) <= MOST_NUMBERED:
        for (row, column), step in np.ndenumerate(steps):
            if step >= 0:
                colour, value = "black" if step < LIGHT_STEPS else "white", fixed(float(heat.values[row, column]))
                axes.text(column, row, value, ha="center", va="center", color=colour, fontsize="x-small")
    _dress(heat, axes)
    return axes


def _dress(heat: HeatMap, axes: "Axes") -> None:
    axes.set_yticks(range(len(heat.rows)), [textwrap.fill(row, 34) for row in heat.rows], parse_math=False)
    for label, bold in zip(axes.get_yticklabels(), heat.bold or [False] * len(heat.rows), strict=True):
        label.set_fontweight("bold" if bold else "normal")
    axes.tick_params(length=0, labelsize="small")
    # The outermost names are above; the innermost ones that still have room are below.
    named = [level for level in range(len(heat.levels)) if len(heads_of(heat, level)) <= _MOST_HEADS]
    inner = named[-1] if named else 0
    heads = heads_of(heat, inner) if named else ()
    turned = 90 if sum(len(head.name) for head in heads) > 70 else 0
    size = "small" if len(heads) <= 40 else 5.5
    middles = [(head.first + head.last - 1) / 2 for head in heads]
    axes.set_xticks(middles, [head.name for head in heads], rotation=turned, fontsize=size, parse_math=False)
    axes.set_xlabel(heat.levels[inner])
    for head in heads_of(heat, 0)[1:]:
        axes.axvline(head.first - 0.5, color="white", linewidth=1.5)
    if inner > 0:
        above = axes.secondary_xaxis("top")
        outer = heads_of(heat, 0)
        above.set_xticks([(head.first + head.last - 1) / 2 for head in outer], [head.name for head in outer])
        above.tick_params(length=0, labelsize="small")
        above.spines["top"].set_visible(False)
    axes.spines[:].set_visible(False)
    axes.set_title(heat.title, loc="left", fontsize="medium", parse_math=False)
