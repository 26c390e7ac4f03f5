"""Box plots as matplotlib axes."""

import math
import textwrap
from typing import TYPE_CHECKING

from unveil.report.blocks_spread import BoxRows, BoxStatistics
from unveil.report.draw import pyplot
from unveil.report.figure_tables import across_of, mean_text
from unveil.report.svg.boxes import STYLES
from unveil.report.svg.lines import LOOKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unveil.report.blocks import Style

_INK, _GRID = "#1a1f26", "#e6e9ed"
_MARKS = {"first": "o", "second": "s", "third": "D", "fourth": "^", "fifth": "P"}
#: The height of a box, and of the room for each, where a row is 1 high.
_BODY, _ROOM = 0.62, 0.92


def draw_boxes(block: BoxRows, axes: "Axes | None" = None) -> "Axes":
    """Draw the boxes on ``axes``, or on new axes.

    The numbers, the ticks and the marks are those of the page; the mean of each box stands at the right.

    >>> from unveil.report.blocks_spread import box_of
    >>> drawn = draw_boxes(BoxRows(title="T", x_label="score", rows=(box_of("a", [0.1, 0.2, 0.3]),)))
    >>> [round(float(edge), 3) for edge in drawn.patches[0].get_bbox().intervalx]
    [0.15, 0.25]
    """
    if axes is None:
        height = 1.5 + 0.3 * max(len(block.rows), 1) * (0.4 + 0.6 * len(block.series))
        _, axes = pyplot.subplots(figsize=(7.4, height), layout="constrained")
    across = across_of(block)
    for number, row in enumerate(block.rows):
        for series, box in enumerate(row.boxes):
            if box is not None:
                middle = number + (series - (len(row.boxes) - 1) / 2) * _ROOM / len(row.boxes)
                _draw_box(box, STYLES[series], axes, middle, _BODY / len(row.boxes))
                text = mean_text(box, block)
                axes.annotate(
                    text, (1.01, middle), xycoords=("axes fraction", "data"), va="center", fontsize="x-small"
                )  # fmt: skip
    for threshold in block.thresholds:
        axes.axvline(threshold.value, color=_INK, linewidth=0.9, linestyle=(0, (3, 4)), label=threshold.name, zorder=1)
    for style, name in zip(STYLES, block.series, strict=False):
        if name:
            axes.plot([], [], _MARKS[style], color=LOOKS[style].colour, label=name)
    room = 0.02 * (across.high - across.low)
    axes.set_xlim(across.low - room, across.high + room)
    axes.set_xticks([at for at, _ in across.ticks], [text for _, text in across.ticks])
    _dress(block, axes)
    return axes


def _draw_box(box: BoxStatistics, style: "Style", axes: "Axes", middle: float, height: float) -> None:
    if not box.number:
        return
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    colour = LOOKS[style].colour
    axes.hlines([middle, middle], [box.low, box.upper], [box.lower, box.high], colors=colour, linewidth=1.0)
    axes.vlines([box.low, box.high], middle - height / 4, middle + height / 4, colors=colour, linewidth=1.0)
    corner, width = (box.lower, middle - height / 2), box.upper - box.lower
    fill = to_rgba(colour, 0.22) if style == "first" else "white"
    axes.add_patch(Rectangle(corner, width, height, facecolor=fill, edgecolor=colour, linewidth=1.0, zorder=2))
    if box.beyond:
        axes.plot(box.beyond, [middle] * len(box.beyond), "o", mfc="none", mec=colour, markersize=3, linestyle="none")
    if box.interval is not None and all(map(math.isfinite, box.interval)):
        axes.hlines(middle, *box.interval, colors=colour, linewidth=3.5, alpha=0.6, zorder=2.5)
    axes.plot([box.mean], [middle], _MARKS[style], color=colour, mec="white", mew=0.6, markersize=5.5, zorder=3)
    axes.vlines(box.median, middle - 0.55 * height, middle + 0.55 * height, colors=_INK, linewidth=1.8, zorder=3.5)


def _dress(block: BoxRows, axes: "Axes") -> None:
    names = [textwrap.fill(row.name, 34) for row in block.rows]
    axes.set_yticks(range(len(names)), names, parse_math=False)
    for label, row in zip(axes.get_yticklabels(), block.rows, strict=True):
        label.set_fontweight("bold" if row.bold else "normal")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    arrow = {"left": "← more private", "right": "more private →", "": ""}[block.more_private]
    axes.set_xlabel(f"{block.x_label}    {arrow}".rstrip(), parse_math=False)
    axes.set_ylabel(block.row_label, parse_math=False)
    axes.set_title(block.title, loc="left", fontsize="medium", parse_math=False)
    # Above the column of means.
    axes.text(1.01, 1.0, "mean", transform=axes.transAxes, va="bottom", fontsize="x-small")
    axes.grid(color=_GRID, linewidth=0.8, axis="x")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if block.thresholds or any(block.series):
        # Below the label of the axis, by lines of text: a picture of many rows is much higher than one of few.
        axes.legend(
            loc="upper left", bbox_to_anchor=(0.0, 0.0), borderaxespad=4.6, ncols=2, frameon=False, fontsize="small"
        )  # fmt: skip
