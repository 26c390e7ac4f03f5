"""Template data of each chart: SVG, legend, and texts."""

from html import escape
from typing import Any

from unveil.report.blocks import NO_CELL, CellGrid, Chart, Rings, Series
from unveil.report.blocks_spread import BoxRows, DistributionPanels, HeatMap, Triangles, Waterfalls
from unveil.report.svg.bars import hatched_swatch
from unveil.report.svg.lines import MOST_MARKS, svg, swatch
from unveil.report.text import shorten


def figure_of(chart: Chart, identity: str) -> dict[str, Any]:
    """Return a chart, with a legend for several lines."""
    from markupsafe import Markup

    legend = [(_swatch(series), series.name) for series in chart.series if not series.labels]
    legend += [(swatch(vector.style, kind="arrow"), vector.name) for vector in chart.vectors]
    if hatched := next((each for each in chart.series if each.hatched is not None and each.hatched.any()), None):
        legend.append((hatched_swatch(hatched.style, f"{identity}-key"), chart.hatched))
    if not chart.rows and all(series.kind == "points" for series in chart.series):
        legend = []  # each point has its name beside it
    return {
        "chart": chart,
        "svg": Markup(svg(chart, identity=identity)),  # noqa: S704 - svg() escapes every text of the chart
        "legend": [(Markup(picture), name) for picture, name in legend] if len(legend) > 1 else [],  # noqa: S704
    }


def rings_figure(rings: Rings, identity: str) -> dict[str, Any]:
    """Return marks on rings with their legend."""
    from markupsafe import Markup

    from unveil.report.svg.rings import legend, svg_rings

    return {
        "chart": rings,
        "svg": Markup(svg_rings(rings, identity=identity)),  # noqa: S704 - svg_rings() escapes every text
        "legend": [(Markup(picture), name) for picture, name in legend(rings)],  # noqa: S704
    }


def cells_figure(grid: CellGrid, identity: str) -> dict[str, Any]:
    """Return a table of cells with its legend."""
    from markupsafe import Markup

    return {
        "chart": grid,
        "svg": Markup(svg_cells(grid, identity=identity)),  # noqa: S704 - svg_cells() escapes every text
        "legend": [(Markup(picture), name) for picture, name in legend(grid, identity=identity)],  # noqa: S704
    }


def panels_figure(block: DistributionPanels | Triangles | Waterfalls, identity: str) -> dict[str, Any]:
    """Return small charts side by side with their legend."""
    from markupsafe import Markup

    from unveil.report.svg.panels import diverging_legend, legend_of, svg_panels, svg_triangles, svg_waterfalls

    if isinstance(block, Triangles):
        drawn, legend = svg_triangles(block, identity=identity), diverging_legend(block)
    elif isinstance(block, Waterfalls):
        drawn, legend = svg_waterfalls(block, identity=identity), []
    else:
        drawn, legend = svg_panels(block, identity=identity), legend_of(block, identity=identity)
    return {
        "chart": block,
        "svg": Markup(drawn),  # noqa: S704 - every text of the charts is escaped
        "legend": [(Markup(picture), name) for picture, name in legend],  # noqa: S704
    }


def box_figure(block: BoxRows, identity: str) -> dict[str, Any]:
    """Return rows of boxes: SVG and values per row, axis, and legend."""
    from markupsafe import Markup

    from unveil.report.figure_tables import across_of, mean_text, number_text
    from unveil.report.svg.boxes import legend, svg_axis, svg_row

    across = across_of(block)
    rows: list[dict[str, Any]] = [
        {
            "row": row,
            "svg": Markup(svg_row(row, block, across)),  # noqa: S704 - svg_row() escapes every text
            "means": [mean_text(box, block) for box in row.boxes],
            "numbers": [number_text(box) for box in row.boxes],
        }
        for row in block.rows
    ]
    numbers = {number_text(box) for row in block.rows for box in row.boxes if box is not None}
    return {
        "chart": block,
        "identity": identity,
        "rows": rows,
        "intervals": any(" " in text for row in rows for text in row["means"]),
        "gaps": any(" " in text for row in rows for text in row["numbers"]),
        # Small pictures have no room for a column that says the same thing again and again.
        "same": numbers.pop() if block.small and len(numbers) == 1 else "",
        "axis": Markup(svg_axis(across)),  # noqa: S704 - svg_axis() escapes every text
        "legend": [(Markup(picture), name) for picture, name in legend(block)],  # noqa: S704
    }


def heat_figure(heat: HeatMap, identity: str) -> dict[str, Any]:
    """Return a heat map with scale, column order, and data table."""
    from markupsafe import Markup

    from unveil.report.figure_tables import heat_table
    from unveil.report.svg.heads import orders
    from unveil.report.svg.heat import legend, svg_heat

    return {
        "chart": heat,
        "identity": identity,
        "svg": Markup(svg_heat(heat, identity=identity)),  # noqa: S704 - svg_heat() escapes every text
        "scale": Markup(legend(heat, identity=identity)),  # noqa: S704 - legend() escapes every text
        "names": list(zip(heat.rows, heat.bold or [False] * len(heat.rows), strict=True)),
        "orders": orders(heat),
        "table": heat_table(heat),
    }


def _swatch(series: Series) -> str:
    if series.kind == "bars":
        return swatch(series.style, kind="bar")
    if series.kind == "points":
        return swatch(series.style, kind="point")
    if series.kind == "band":
        return swatch(series.style, kind="band")
    return swatch(series.style, kind="marked line" if series.x.size <= MOST_MARKS else "line")


# A table as inline SVG: plain, grey, striped and dark cells, so that no two levels differ by colour alone.

#: The size of a row and of a line of heads in pixels, and of one letter.
_ROW, _LETTER, _WIDE_LETTER = 24, 7.0, 8.0
_LEAST, _MOST, _MOST_RISK, _MOST_NAME = 34, 110, 170, 24


def svg_cells(grid: CellGrid, *, identity: str) -> str:
    """Return the cells with heads as an escaped ``<svg>`` element.

    >>> import numpy as np
    >>> grid = CellGrid(title="T", rows=("r",), columns=("a < b",), level=np.array([[3]]), texts=(("3",),),
    ...                 tips=(("3 people",),), levels=("shown", "kept", "narrow", "worked out"))
    >>> text = svg_cells(grid, identity="g")
    >>> "a &lt; b" in text, text.count('class="count-3"'), "<title>3 people</title>" in text
    (True, 1, True)
    """
    names = [shorten(name, _MOST_NAME) for name in grid.rows]
    left = 12 + _WIDE_LETTER * max([len(name) for name in names] + [len(grid.row_label)], default=0)
    longest = max((len(text) for texts in grid.texts for text in texts), default=1)
    wide = max(_LEAST, _LETTER * longest + 10)
    turned = any(_LETTER * len(name) + 8 > min(wide + 40, _MOST) for name in grid.columns) and len(grid.columns) > 8
    most = _MOST if grid.palette == "count" else _MOST_RISK
    wide = wide if turned else max(wide, min(most, _LETTER * max(map(len, grid.columns), default=1) + 10))
    heads = [shorten(name, _MOST_NAME if turned else max(3, int(wide / _LETTER))) for name in grid.columns]
    top = 26.0 + (0.72 * _LETTER * max(map(len, heads), default=0) if turned else _ROW)
    width, height = left + wide * len(grid.columns) + (60 if turned else 4), top + _ROW * len(grid.rows) + 4
    width = max(width, left + _LETTER * len(grid.column_label))
    parts = [
        f'<svg class="count-grid" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" '
        f'aria-labelledby="{identity}-title {identity}-description">',
        f'<title id="{identity}-title">{escape(grid.title)}</title>',
        f'<desc id="{identity}-description">{escape(describe_cells(grid))}</desc>',
        _stripes(identity) if grid.palette == "count" else "",
        f'<text class="tick" x="{left:.0f}" y="14">{escape(grid.column_label)}</text>',
        f'<text class="tick" x="2" y="{top - 8:.0f}">{escape(grid.row_label)}</text>',
    ]
    for at, head in enumerate(heads):
        x = left + wide * (at + 0.5)
        how = (
            f'transform="translate({x:.1f} {top - 8:.1f}) rotate(-45)"' if turned else f'x="{x:.1f}" y="{top - 8:.1f}"'
        )
        anchor = "" if turned else " middle"
        parts.append(f'<text class="tick{anchor}" {how}>{escape(head)}</text>')
    for row, name in enumerate(names):
        y = top + _ROW * row
        parts.append(f'<text class="tick" x="2" y="{y + 16:.1f}">{escape(name)}</text>')
        parts += [_cell(grid, row, at, left + wide * at, y, wide, identity) for at in range(len(heads))]
    return "\n".join(part for part in [*parts, "</svg>"] if part)


def legend(grid: CellGrid, *, identity: str) -> list[tuple[str, str]]:
    """Return an icon and a name for each level in the chart."""
    found = []
    for level in range(len(grid.levels)):
        if (grid.level == level).any():
            key = f"{identity}-key-{level}"
            pattern = _stripes(key) if grid.palette == "count" else ""
            inside = f'{pattern}<rect {_look(grid, level, key)} x="4" y="1" width="28" height="14"/>'
            little = f'<svg class="swatch" viewBox="0 0 36 16" aria-hidden="true" focusable="false">{inside}</svg>'
            found.append((little, grid.levels[level]))
    return found


def describe_cells(grid: CellGrid) -> str:
    """Return a map in words: number of cells by level."""
    if grid.palette == "risk":
        return " ".join(f"{tip}." for tips in grid.tips for tip in tips if tip)
    told = [f"{int((grid.level == level).sum())} {name}" for level, name in enumerate(grid.levels)]
    return f"{len(grid.rows)} rows and {len(grid.columns)} columns. Cells: {', '.join(told)}."


def _cell(grid: CellGrid, row: int, column: int, x: float, y: float, wide: float, identity: str) -> str:
    level = int(grid.level[row, column])
    if level == NO_CELL:
        return ""
    box = f'<rect {_look(grid, level, identity)} x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{_ROW}"/>'
    text = grid.texts[row][column]
    look = f"{grid.palette}-text-{level} middle"
    said = f'<text class="{look}" x="{x + wide / 2:.1f}" y="{y + 16:.1f}">{escape(text)}</text>'
    tip = grid.tips[row][column]
    return f"<g>{f'<title>{escape(tip)}</title>' if tip else ''}{box}{said if text else ''}</g>"


def _look(grid: CellGrid, level: int, identity: str) -> str:
    stripes = f' fill="url(#{identity}-stripes)"' if level == 2 and grid.palette == "count" else ""
    return f'class="{grid.palette}-{level}"{stripes}'


def _stripes(identity: str) -> str:
    return (
        f'<defs><pattern id="{identity}-stripes" width="8" height="8" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><path class="stripe-paper" d="M0 0h8v8h-8z"/><path class="stripe" d="M2 0v8"/>'
        "</pattern></defs>"
    )
