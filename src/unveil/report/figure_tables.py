"""Box plots and heat maps as tables of text: for a terminal, and for those who do not see the picture."""

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.report.blocks import TableBlock
from unveil.report.blocks_spread import BoxRows, HeatMap
from unveil.report.box_texts import figure_text, interval_text, number_text
from unveil.report.svg.heads import heads_of
from unveil.report.svg.heat import MOST_NUMBERED
from unveil.report.text import count, fixed


def boxes_table(block: BoxRows) -> TableBlock:
    """Return the figures behind rows of boxes, one line per box.

    >>> from unveil.report.blocks_spread import box_of
    >>> boxes_table(BoxRows(title="T", x_label="score", rows=(box_of("a", [0.1, 0.2, 0.3]),))).rows
    (('a', '0.200', '0.200', '0.150', '0.250', '0.100', '0.300', '3'),)
    """
    several = any(block.series)
    intervals = any(box is not None and interval_text(box, block) for row in block.rows for box in row.boxes)
    rows = []
    for row in block.rows:
        for series, box in zip(block.series, row.boxes, strict=True):
            if box is not None:
                values = (box.median, box.lower, box.upper, *box.extremes)
                texts = (figure_text(value, block) for value in values)
                names = (row.name, series) if several else (row.name,)
                # A column of its own breaks between numbers, and not inside one, where a terminal is narrow.
                within = (interval_text(box, block, between=" to "),) if intervals else ()
                rows.append((*names, figure_text(box.mean, block), *within, *texts, number_text(box)))
    means = ("Mean", *(("95% interval",) if intervals else ()))
    heads = [block.row_label, *([""] if several else []), *means, "Median", "25%", "75%", "Low", "High"]
    caption = f"{block.title}: {block.x_label}"
    if intervals and len({row[-1] for row in rows}) == 1:
        # Beside an interval there is no room for a column that says the same thing again and again.
        caption += f" ({block.number_label.lower()} in each row: {rows[0][-1]})"
        rows = [row[:-1] for row in rows]
    else:
        heads.append(block.number_label)
    align = tuple("left" if place <= several else "right" for place in range(len(heads)))
    return TableBlock(caption=caption, columns=tuple(heads), rows=tuple(rows), align=align)  # type: ignore[arg-type]


def heat_table(heat: HeatMap, *, every: bool = False) -> TableBlock:
    """Return the values of a heat map; where it has more than 12 columns, the means by the outermost level.

    ``every`` asks for all values however many there are.

    An undefined value is left out of a mean, and counted in the last column.

    >>> heat = HeatMap(title="T", rows=("r",), columns=(("a",), ("b",)), levels=("l",), value_label="v",
    ...                values=np.array([[0.5, np.nan]]))
    >>> heat_table(heat).rows
    (('r', '0.50', 'undefined'),)
    """
    if every or len(heat.columns) <= MOST_NUMBERED:
        heads = [", ".join(column) for column in heat.columns]
        rows = [(row, *map(fixed, values.tolist())) for row, values in zip(heat.rows, heat.values, strict=True)]
        caption = f"{heat.title}: {heat.value_label} by {', '.join(heat.levels)}"
    else:
        groups = heads_of(heat, 0)
        groups = groups if len(groups) <= MOST_NUMBERED else ()
        heads = [*(group.name for group in groups), "All columns", "Undefined"]
        rows = [
            (
                row,
                *(_mean(values[group.first : group.last]) for group in groups),
                _mean(values),
                count(int(np.isnan(values).sum())),
            )
            for row, values in zip(heat.rows, heat.values, strict=True)
        ]
        caption = f"{heat.title}: mean {heat.value_label} by {heat.levels[0]}" if groups else f"{heat.title}: means"
    align = ("left", *(("right",) * len(heads)))
    return TableBlock(caption=caption, columns=("", *heads), rows=tuple(rows), align=align)  # type: ignore[arg-type]


def _mean(values: FloatArray) -> str:
    there = values[np.isfinite(values)]
    return fixed(float(there.mean()) if there.size else float("nan"))
