"""What the template needs of each picture: the drawing, its legend, and the texts that stand beside it."""

from typing import Any

from unveil.report.blocks import Chart, Rings, Series
from unveil.report.blocks_cells import CellGrid
from unveil.report.blocks_spread import BoxRows, HeatMap
from unveil.report.line_styles import MOST_MARKS
from unveil.report.svg.lines import svg, swatch


def figure_of(chart: Chart, identity: str) -> dict[str, Any]:
    """Return a chart with its legend, where there is more than one line."""
    from markupsafe import Markup

    legend = [(_swatch(series), series.name) for series in chart.series]
    legend += [(swatch(vector.style, kind="arrow"), vector.name) for vector in chart.vectors]
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

    from unveil.report.svg.cells import legend, svg_cells

    return {
        "chart": grid,
        "svg": Markup(svg_cells(grid, identity=identity)),  # noqa: S704 - svg_cells() escapes every text
        "legend": [(Markup(picture), name) for picture, name in legend(grid, identity=identity)],  # noqa: S704
    }


def box_figure(block: BoxRows, identity: str) -> dict[str, Any]:
    """Return rows of boxes: a picture and the figures of each row, the axis, and the legend."""
    from markupsafe import Markup

    from unveil.report.box_texts import across_of, mean_text, number_text
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
    """Return a heat map with its scale, the order of columns without a head, and its figures as a table."""
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
    return swatch(series.style, kind="marked line" if series.x.size <= MOST_MARKS else "line")
