"""Box plots and heat maps as text tables, for terminals and accessibility."""

import math
from dataclasses import replace

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.report.blocks import TableBlock
from unveil.report.blocks_spread import BoxRow, BoxRows, BoxStatistics, HeatMap, Waterfalls
from unveil.report.scale import ChartAxis, axis, round_step, value_text
from unveil.report.svg.heads import heads_of
from unveil.report.svg.heat import MOST_NUMBERED
from unveil.report.text import UNDEFINED, count, fixed, percent


def boxes_table(block: BoxRows) -> TableBlock:
    """Return the values of box rows, one line per box.

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


def waterfall_table(block: Waterfalls) -> TableBlock:
    """Return the steps of all waterfalls, one per line."""
    return TableBlock(
        caption=block.title,
        columns=("Record", "Step", block.x_label),
        rows=tuple((each.name, step, fixed(value)) for each in block.items for step, value in each.steps),
        align=("left", "left", "right"),
    )


def heat_table(heat: HeatMap, *, every: bool = False) -> TableBlock:
    """Return heat map values, averaged by outer level above 12 columns.

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


# Texts next to and below rows of box plots: the axis, and figures with as few decimals as tell them apart.

Ticks = tuple[tuple[float, str], ...]

#: How many letters of labels, with a gap after each, an axis has room for on a telephone.
_LETTERS = 40
#: Figures can differ by this part of the width of an axis at least.
_FINE = 0.05
#: The most decimals of a figure.
_MOST_PLACES = 9


def across_of(block: BoxRows) -> ChartAxis:
    """Return the chart axis: the requested range, and values beyond it.

    >>> from unveil.report.blocks_spread import box_of
    >>> across = across_of(BoxRows(title="T", x_label="x", rows=(box_of("a", [0.5, 1.5]),)))
    >>> across.low, across.high
    (0.0, 1.5)
    """
    found = axis(*_reach(block), block.x_kind)
    return replace(found, ticks=_thinned(_told_apart(found) if block.x_kind == "number" else found.ticks))


def _reach(block: BoxRows) -> tuple[float, float]:
    low, high = block.x_range
    for box in spreads_of(block):
        if box.number:
            low, high = min(low, box.extremes[0]), max(high, box.extremes[1])
    return low, high


def spreads_of(block: BoxRows) -> list[BoxStatistics]:
    """Return all boxes of all rows."""
    return [box for row in block.rows for box in row.boxes if box is not None]


def _told_apart(across: ChartAxis) -> Ticks:
    """Return labeled points with enough decimals to differ."""
    if len({text for _, text in across.ticks}) == len(across.ticks):
        return across.ticks
    step = round_step((across.high - across.low) / 5)
    first, last = math.ceil(across.low / step - 1e-9), math.floor(across.high / step + 1e-9)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    way = f",.{places}f" if places <= _MOST_PLACES else ".3g"
    return tuple((k * step, f"{k * step + 0.0:{way}}") for k in range(first, last + 1))


def _thinned(ticks: Ticks) -> Ticks:
    """Return labeled points, thinned to fit a small screen."""
    longest = max((len(text) for _, text in ticks), default=0)
    every = next(k for k in range(1, len(ticks) + 2) if math.ceil(len(ticks) / k) * (longest + 2) <= _LETTERS or k > 5)
    return tuple((at, text if number % every == 0 else "") for number, (at, text) in enumerate(ticks))


def places_of(block: BoxRows) -> int:
    """Return the number of decimals that distinguishes the values, at least three.

    >>> from unveil.report.blocks_spread import box_of
    >>> near = (box_of("a", [0.99951, 0.99953]), box_of("b", [0.99957, 0.99961]))
    >>> places_of(BoxRows(title="T", x_label="x", rows=near, x_range=(0.9995, 0.9997)))
    5
    """
    low, high = _reach(block)
    width = high - low if high > low else 1.0
    most = min(max(3 - math.floor(math.log10(width) + 1e-9), 0), _MOST_PLACES)
    # Means that differ by rounding only are the same.
    means = {round(box.mean, 12) for box in spreads_of(block) if box.number}
    fewest = max(math.ceil(-math.log10(_FINE * width) - 1e-9), min(most, 3))
    enough = (places for places in range(fewest, most) if len({round(mean, places) for mean in means}) == len(means))
    return next(enough, most)


def figure_text(value: float, block: BoxRows) -> str:
    """Return a value with the common number of decimals.

    >>> block = BoxRows(title="T", x_label="x", rows=(), x_range=(0.0, 40.0))
    >>> figure_text(2.0, block), figure_text(1 / 3, block), figure_text(float("nan"), block)
    ('2.00', '0.33', 'undefined')
    """
    if not math.isfinite(value):
        return UNDEFINED
    if block.x_kind == "share":
        return percent(value)
    if block.x_kind in ("power", "power of share"):
        return value_text(value, block.x_kind)
    places = places_of(block)
    # Adding 0 turns the minus zero that rounding leaves into zero.
    return f"{round(value, places) + 0.0:,.{places}f}"


def mean_text(box: BoxStatistics | None, block: BoxRows) -> str:
    """Return the mean of a box, with its interval."""
    if box is None:
        return ""
    within = interval_text(box, block, between="–" if box.interval and box.interval[0] >= 0 else " to ")
    return figure_text(box.mean, block) + (f" ({within})" if within else "")


def interval_text(box: BoxStatistics, block: BoxRows, *, between: str = "–") -> str:
    """Return the 95% CI of a box's mean, or "" if there is none; `between` separates its limits."""
    if box.number == 0 or box.interval is None or not all(map(math.isfinite, box.interval)):
        return ""
    low, high = box.interval
    return f"{figure_text(low, block)}{between}{figure_text(high, block)}"


def number_text(box: BoxStatistics | None) -> str:
    """Return the number of values in a box, with undefined ones."""
    if box is None:
        return ""
    return f"{count(box.number)} of {count(box.number + box.undefined)}" if box.undefined else count(box.number)


def describe_row(row: BoxRow, block: BoxRows) -> str:
    """Return a text description of a chart row.

    >>> from unveil.report.blocks_spread import box_of
    >>> row = box_of("a", [0.1, 0.2, 0.3])
    >>> describe_row(row, BoxRows(title="T", x_label="x", rows=(row,)))
    'median 0.200, middle half from 0.150 to 0.250, whiskers from 0.100 to 0.300'
    """
    said = []
    for series, box in zip(block.series, row.boxes, strict=True):
        if box is not None:
            text = describe_box(box, block)
            said.append(f"{series}: {text}" if series else text)
    return "; ".join(said) or "nothing"


def describe_box(box: BoxStatistics, block: BoxRows) -> str:
    """Return in words what one box shows."""
    if not box.number:
        return "no value"
    low, lower, median, upper, high = (
        figure_text(value, block) for value in (box.low, box.lower, box.median, box.upper, box.high)
    )
    text = f"median {median}, middle half from {lower} to {upper}, whiskers from {low} to {high}"
    if box.beyond:
        least, most = (figure_text(value, block) for value in box.extremes)
        text += f", all values from {least} to {most}"
    return text
