"""The same charts as matplotlib axes, for notebooks and papers."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import InputError
from unveil.report.blocks import Block, CellGrid, Chart, Page, Playground, Rings, RiskSummary, Series, risk_chart
from unveil.report.blocks_spread import BoxRows, DistributionPanels, HeatMap, Triangles
from unveil.report.draw import pyplot
from unveil.report.scale import axis, thin
from unveil.report.svg.lines import LOOKS, MOST_MARKS
from unveil.report.svg.rings import POINT, places, size_of
from unveil.report.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The shapes of points, one per style, as on the page.
_POINT_MARKS = {"first": "o", "second": "s", "third": "D", "fourth": "^", "fifth": "|"}
_MARKS = {"round": "o", "square": "s", "none": ""}
_INK, _GRID = "#1a1f26", "#e6e9ed"


#: A block that matplotlib can draw.
DrawableChart = Chart | Rings | BoxRows | HeatMap | CellGrid | DistributionPanels | Triangles


def draw(chart: DrawableChart, axes: "Axes | None" = None) -> "Axes":
    """Draw a chart, rings, boxes, or heat map on ``axes``.

    The numbers, ticks, dashes and colours are those of the page.

    >>> line = Series(name="linked", x=np.array([0.0, 1.0]), y=np.array([0.4, 1.0]), style="first")
    >>> drawn = draw(Chart(title="T", x_label="merges", y_label="share", series=(line,)))
    >>> drawn.get_lines()[0].get_ydata().tolist()
    [0.4, 1.0]
    """
    if isinstance(chart, BoxRows):
        from unveil.report.draw.boxes import draw_boxes

        return draw_boxes(chart, axes)
    if isinstance(chart, CellGrid):
        return draw_cells(chart, axes)
    if isinstance(chart, HeatMap):
        from unveil.report.draw.heat import draw_heat

        return draw_heat(chart, axes)
    if isinstance(chart, DistributionPanels | Triangles):
        from unveil.report.draw.panels import draw_distributions, draw_triangles

        return draw_triangles(chart, axes) if isinstance(chart, Triangles) else draw_distributions(chart, axes)
    if isinstance(chart, Rings):
        return draw_rings(chart, axes)
    if axes is None:
        _, axes = pyplot.subplots(figsize=(6.4, max(4.8, 0.9 * len(chart.rows))), layout="constrained")
    for number, series in enumerate(chart.series):
        if series.kind == "points" and not chart.rows:
            _draw_named(series, axes)
        elif series.kind == "points":
            _draw_points(series, axes, shift=(number + 1) / (len(chart.series) + 1))
        else:
            _draw_series(series, axes)
    for vector in chart.vectors:
        colour = LOOKS[vector.style].colour
        if np.isfinite([vector.x, vector.y]).all():
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", xy=(vector.x, vector.y), xytext=(0.0, 0.0), arrowprops=arrow)
    for threshold in chart.thresholds:
        line = axes.axhline if threshold.across == "y" else axes.axvline
        line(threshold.value, color=_INK, linewidth=0.9, linestyle=(0, (3, 4)), label=threshold.name, zorder=1.5)
    _dress(chart, axes)
    return axes


def draw_all(charts: Sequence[DrawableChart]) -> "NDArray[Any]":
    """Draw the charts side by side and return their axes as array.

    >>> line = Series(name="linked", x=np.array([0.0, 1.0]), y=np.array([0.4, 1.0]), style="first")
    >>> draw_all([Chart(title="T", x_label="merges", y_label="share", series=(line,))] * 2).shape
    (2,)
    """
    _, axes = pyplot.subplots(1, len(charts), figsize=(5.4 * len(charts), 4.8), layout="constrained", squeeze=False)
    for chart, place in zip(charts, axes[0], strict=True):
        draw(chart, place)
    row: NDArray[Any] = axes[0]
    return row


def draw_page(page: Page) -> "NDArray[Any]":
    """Draw the first-screen charts of a page and return their axes."""
    charts = [chart for block in page.picture if (chart := chart_of(block)) is not None]
    if not charts:
        charts = [chart for block in page.blocks if (chart := chart_of(block)) is not None][:1]
    if not charts:
        raise InputError("this result has no chart. Print it, or take to_polars")
    return draw_all(charts)


def chart_of(block: Block) -> DrawableChart | None:
    """Return the chart of a block, None where it has none."""
    match block:
        case Chart() | Rings() | BoxRows() | HeatMap() | CellGrid() | DistributionPanels() | Triangles():
            return block
        case Playground():
            return block.chart
        case RiskSummary():
            return risk_chart(block)
    return None


def _draw_series(series: Series, axes: "Axes") -> None:
    look = LOOKS[series.style]
    if series.kind == "bars":
        inset = 0.04 * series.width
        bars = axes.bar(
            series.x + inset, series.y, series.width - 2 * inset, align="edge", color=look.colour, label=series.name
        )
        for bar, is_hatched in zip(bars, [] if series.hatched is None else series.hatched.tolist(), strict=False):
            if is_hatched:
                bar.set(facecolor="none", edgecolor=look.colour, hatch="////")
        return
    if series.kind == "band" and series.low is not None and series.high is not None:
        axes.fill_between(series.x, series.low, series.high, color=look.colour, alpha=0.2, label=series.name)
        return
    if series.low is not None and series.high is not None:
        axes.vlines(series.x, series.low, series.high, color=look.colour, linewidth=look.width, alpha=0.45)
    x, y = thin(series.x, series.y)
    # Dashes on the page count pixels; here they count line widths.
    dashes = (0, tuple(dash / look.width for dash in look.dashes)) if look.dashes else "solid"
    marker = _MARKS[look.mark] if x.size <= MOST_MARKS else ""
    axes.plot(
        x, y, color=look.colour, linestyle=dashes, linewidth=0.75 * look.width, marker=marker, markersize=4.5,
        label=series.name,
    )  # fmt: skip


def _draw_points(series: Series, axes: "Axes", *, shift: float) -> None:
    """Draw each value with its CI, in its row below earlier series."""
    look = LOOKS[series.style]
    low = series.x if series.low is None else series.low
    high = series.x if series.high is None else series.high
    reach = np.vstack([series.x - low, high - series.x])
    axes.errorbar(
        series.x, series.y + shift, xerr=np.maximum(reach, 0.0), linestyle="none", color=look.colour,
        marker=_POINT_MARKS[series.style], markersize=6, elinewidth=0.75 * look.width, label=series.name,
    )  # fmt: skip


def _draw_named(series: Series, axes: "Axes") -> None:
    """Draw points with vertical CIs and the names of their series."""
    low = series.y if series.low is None else series.low
    high = series.y if series.high is None else series.high
    reach = np.maximum(np.vstack([series.y - low, high - series.y]), 0.0)
    axes.errorbar(
        series.x, series.y, yerr=reach, linestyle="none", color=LOOKS[series.style].colour,
        marker=_POINT_MARKS[series.style], markersize=6, label="_" if series.labels else series.name,
    )  # fmt: skip
    for x, y, text in zip(series.x, series.y, series.labels, strict=False):
        axes.annotate(text, (x, y), xytext=(7, -12), textcoords="offset points", fontsize="small", parse_math=False)


def _name_rows(chart: Chart, axes: "Axes") -> None:
    middles = np.arange(len(chart.rows)) + 0.5
    axes.set_yticks(middles, [textwrap.fill(name, 28) for name in chart.rows], parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(chart.rows), 0.0)
    for edge in range(1, len(chart.rows)):
        axes.axhline(edge, color=_GRID, linewidth=0.8, zorder=0.5)


def _dress(chart: Chart, axes: "Axes") -> None:
    across, up = axis(*chart.x_range, chart.x_kind), axis(*chart.y_range, chart.y_kind)
    names = chart.x_names or across.ticks
    axes.set_xticks([at for at, _ in names], [text for _, text in names])
    axes.set_yticks([at for at, _ in up.ticks], [text.lstrip("-") if chart.mirrored else text for _, text in up.ticks])
    # Room beside the frame, so that a mark at 0 or 100 % is not cut in half.
    axes.set_xlim(across.low - 0.02 * (across.high - across.low), across.high + 0.02 * (across.high - across.low))
    axes.set_ylim(up.low - 0.02 * (up.high - up.low), up.high + 0.04 * (up.high - up.low))
    if chart.rows:
        _name_rows(chart, axes)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    # The name of a subject may hold dollar signs, which matplotlib would take for a formula.
    axes.set_title(chart.title, loc="left", fontsize="medium", parse_math=False)
    axes.grid(color=_GRID, linewidth=0.8, axis="x" if chart.rows else "both")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if len(chart.series) + len(chart.thresholds) > 1:
        # Below the label of the axis, by lines of text, however high the picture is.
        axes.legend(
            loc="upper left", bbox_to_anchor=(-0.02, 0.0), borderaxespad=4.6, ncols=2, frameon=False, fontsize="small"
        )  # fmt: skip


# The same table of cells as matplotlib axes, for notebooks and papers.

#: The colours of the page on white paper, by level, and of the text on them.
COLOURS = ("#ffffff", "#dde2e8", "#fdf3e1", "#9b1c1c")
INKS = ("#515a66", "#1a1f26", "#1a1f26", "#ffffff")
#: The same of levels of risk.
RISK_COLOURS = ("#e4e8ec", "#f6dccb", "#eea583", "#c2432e", "#7d0f12", "#ffffff")
RISK_INKS = ("#000000", "#000000", "#000000", "#ffffff", "#ffffff", "#1a1f26")


def draw_cells(grid: CellGrid, axes: "Axes | None" = None) -> "Axes":
    """Draw the cells on ``axes``, or on new axes.

    >>> import numpy as np
    >>> grid = CellGrid(title="T", rows=("r",), columns=("a", "b"), level=np.array([[0, 3]]), texts=(("5", "3"),),
    ...                 tips=(("", ""),), levels=("shown", "kept", "narrow", "worked out"))
    >>> [text.get_text() for text in draw_cells(grid).texts]
    ['5', '3']
    """
    from matplotlib.patches import Patch, Rectangle

    if axes is None:
        wide = 0.6 if grid.palette == "count" else 1.5
        size = (2.5 + wide * len(grid.columns), 1.8 + 0.3 * len(grid.rows))
        _, axes = pyplot.subplots(figsize=(min(size[0], 30), min(size[1], 30)), layout="constrained")
    is_count = grid.palette == "count"
    hatch = ("", "", "////", "") if is_count else ("",) * len(grid.levels)
    colours, inks = (COLOURS, INKS) if is_count else (RISK_COLOURS, RISK_INKS)
    for row, levels in enumerate(grid.level.tolist()):
        for column, level in enumerate(levels):
            if level >= 0:
                box = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colours[level], edgecolor="#a9b2bd")
                box.set_hatch(hatch[level])
                axes.add_patch(box)
                weight = "bold" if level == 3 and is_count else "normal"
                text, ink = grid.texts[row][column], inks[level]
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
        Patch(facecolor=colours[level], edgecolor="#a9b2bd", hatch=hatch[level], label=grid.levels[level])
        for level in there
    ]
    if boxes:
        axes.legend(
            handles=boxes, loc="upper left", bbox_to_anchor=(0, -0.02), ncols=2, frameon=False, fontsize="small"
        )
    return axes


# Marks on rings.

#: The colours of the page on white paper, from the most striking level on, and that of what is unknown.
RING_COLOURS = ("#5e0f12", "#9c2f1f", "#b0602a", "#b98a3e")
RING_UNKNOWN = "#7d858f"


def draw_rings(rings: Rings, axes: "Axes | None" = None) -> "Axes":
    """Return the axes with the marks of a block.

    >>> import numpy as np
    >>> one = Rings(title="T", caption="", description="", level=np.array([0]), levels=("high", "none"),
    ...             struck=np.array([True]), struck_name="hit")
    >>> len(draw_rings(one).patches)
    2
    """
    from matplotlib.patches import Circle

    if axes is None:
        _, axes = pyplot.subplots(figsize=(6.4, 6.4), layout="constrained")
    x, y, radius = places(rings.level.size)
    last = len(rings.levels) - 1
    unknown = rings.level == last
    axes.hlines(-y[unknown], x[unknown] - 0.2, x[unknown] + 0.2, colors=RING_UNKNOWN, linewidths=1.0)
    for a, d, level, struck in zip(x, -y, rings.level.tolist(), rings.struck.tolist(), strict=True):
        if level != last:
            axes.add_patch(Circle((a, d), size_of(level, last) / 2, color=RING_COLOURS[level], linewidth=0))
        if struck:
            axes.add_patch(Circle((a, d), POINT * size_of(level, last) / 2, color="white", linewidth=0))
    for level, name in enumerate(rings.levels):
        mark, colour = ("_", RING_UNKNOWN) if level == last else ("o", RING_COLOURS[level])
        size = 9 * (0.6 if level == last else size_of(level, last))
        axes.plot([], [], mark, color=colour, markersize=size, label=name)
    axes.plot([], [], "o", mfc="white", mec=RING_COLOURS[0], mew=2.5, markersize=6, label=rings.struck_name)
    room = radius + 0.7
    axes.set(xlim=(-room, room), ylim=(-room, room), aspect="equal")
    axes.set_axis_off()
    axes.set_title(rings.title, loc="left", fontsize="medium", parse_math=False)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.02), ncols=2, frameon=False, fontsize="small")
    return axes
