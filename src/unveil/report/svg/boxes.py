"""Rows of box plots as inline SVG, one image per row.

Across, a picture has shares of its width in place of pixels; down, it has pixels around its middle. So it fits a
telephone, a screen and paper without its marks or its texts growing or shrinking.
"""

import math
from html import escape
from typing import TYPE_CHECKING

from unveil.report.blocks_spread import BoxRow, BoxRows, BoxStatistics
from unveil.report.figure_tables import describe_box, describe_row, mean_text, spreads_of
from unveil.report.scale import ChartAxis
from unveil.report.svg.lines import point

if TYPE_CHECKING:
    from unveil.report.blocks import Style

#: How far the boxes of a row are apart, and half of how high one is.
LINE, HALF = 24, 7
#: A label of so many letters may stand around the end of an axis.
_SHORT = 4
#: One per series.
STYLES: "tuple[Style, ...]" = ("first", "second", "third", "fourth", "fifth")


def svg_row(row: BoxRow, block: BoxRows, across: ChartAxis) -> str:
    """Return the boxes of one row as an escaped ``<svg>`` element."""
    parts = [
        f'<svg class="row" role="img" aria-label="{escape(describe_row(row, block))}">',
        _lines(block, across),
        '<svg y="50%" width="100%" height="1" overflow="visible">',
    ]
    for number, (style, box) in enumerate(zip(STYLES, row.boxes, strict=False)):
        if box is not None and box.number:
            names = ", ".join(each for each in (row.name, block.series[number]) if each)
            title = escape(f"{names}: mean {mean_text(box, block)}, {describe_box(box, block)}")
            drawn = _box(box, style, across, LINE * (number - (len(row.boxes) - 1) / 2))
            parts.append(f"<g><title>{title}</title>{drawn}</g>")
    return "".join([*parts, "</svg></svg>"])


def svg_axis(across: ChartAxis) -> str:
    """Return the labeled points below the last row."""
    texts = (
        f'<text class="tick {_side(text, at, across)}" x="{_place(at, across):.2f}%" y="16">{escape(text)}</text>'
        for at, text in across.ticks
        if text
    )
    return (
        '<svg width="100%" height="20" aria-hidden="true" focusable="false">'
        f'<line class="axis" x1="0" x2="100%" y1="0" y2="0"/>{"".join(texts)}</svg>'
    )


def _side(text: str, at: float, across: ChartAxis) -> str:
    """Return the label position, kept within the ends of the axis."""
    place = _place(at, across)
    if len(text) <= _SHORT or 5 < place < 95:
        return "middle"
    return "end" if place >= 95 else "start"


def legend(block: BoxRows) -> list[tuple[str, str]]:
    """Return legend icons and meanings: series, thresholds, and box parts."""
    whole = ChartAxis(low=0.0, high=1.0, ticks=())
    shown = [(style, name) for style, name in zip(STYLES, block.series, strict=False) if name]
    found = [(_little(_box(_sample(), style, whole, 8)), name) for style, name in shown]
    limit = _little('<line class="threshold" x1="18" x2="18" y1="0" y2="16"/>')
    found += [(limit, threshold.name) for threshold in block.thresholds]
    if block.small:
        return found
    spreads = spreads_of(block)
    body = '<rect class="box-body first" x="15%" width="70%" y="1" height="14"/>'
    median = '<line class="median" x1="50%" x2="50%" y1="0" y2="16"/>'
    found.append((_little(body + median), "the middle half of the values, with the median"))
    within = ", with its 95% CI" if any(box.interval for box in spreads) else ""
    line = '<line class="mean-interval first" x1="10%" x2="90%" y1="8" y2="8"/>' if within else ""
    found.append((_little(line + _mark("first", "50%", "8")), f"the mean{within}"))
    ends = '<path class="whisker first" d="M3 8H33M3 4v8M33 4v8"/>'
    found.append((_little(ends), "values within 1.5 times the length of the box"))
    if any(box.beyond for box in spreads):
        found.append((_little('<circle class="beyond first" cx="18" cy="8" r="2.5"/>'), "values farther away"))
    return found


def _sample() -> BoxStatistics:
    return BoxStatistics(low=0.02, lower=0.2, median=0.35, upper=0.8, high=0.98, mean=0.57, number=1)


def _little(inside: str) -> str:
    return f'<svg class="swatch" viewBox="0 0 36 16" aria-hidden="true" focusable="false">{inside}</svg>'


def _place(value: float, across: ChartAxis) -> float:
    """Return a value's distance from the left, in percent."""
    inside = min(max(value, across.low), across.high)
    return (inside - across.low) / (across.high - across.low) * 100


def _lines(block: BoxRows, across: ChartAxis) -> str:
    """Return the vertical lines of one row."""
    grid = "".join(f"M{_place(at, across):.2f} 0v1" for at, _ in across.ticks)
    limits = "".join(f"M{_place(each.value, across):.2f} 0v1" for each in block.thresholds)
    straight = 'vector-effect="non-scaling-stroke"'
    return (
        '<svg width="100%" height="100%" viewBox="0 0 100 1" preserveAspectRatio="none" overflow="visible">'
        f'<path class="grid" d="{grid}" {straight}/>'
        + (f'<path class="threshold" d="{limits}" {straight}/>' if limits else "")
        + "</svg>"
    )


def _box(box: BoxStatistics, style: "Style", across: ChartAxis, middle: float) -> str:
    low, lower, median, upper, high, mean = (
        _place(value, across) for value in (box.low, box.lower, box.median, box.upper, box.high, box.mean)
    )
    y, top = f"{middle:g}", f"{middle - HALF:g}"
    whiskers = (
        _line("whisker", style, (low, lower), (y, y)),
        _line("whisker", style, (upper, high), (y, y)),
        *(_line("whisker", style, (end, end), (f"{middle - 4:g}", f"{middle + 4:g}")) for end in (low, high)),
    )
    body = (
        f'<rect class="box-body {style}" x="{lower:.2f}%" y="{top}" width="{upper - lower:.2f}%" height="{2 * HALF}"/>'
    )
    line = _line("median", style, (median, median), (f"{middle - HALF - 1:g}", f"{middle + HALF + 1:g}"))
    reach = ""
    if box.interval is not None and all(map(math.isfinite, box.interval)):
        ends = (_place(box.interval[0], across), _place(box.interval[1], across))
        reach = _line("mean-interval", style, ends, (y, y))
    dots = "".join(
        f'<circle class="beyond {style}" cx="{_place(value, across):.2f}%" cy="{y}" r="2.5"/>' for value in box.beyond
    )
    # The median last: it is as wide as a hair, and the mean often lies upon it.
    return "".join([*whiskers, body, dots, reach, _mark(style, f"{mean:.2f}%", y), line])


def _mark(style: "Style", x: str, y: str) -> str:
    # A path knows no shares of the width, so the mark sits at the corner of a picture of its own.
    inside = f'<g transform="scale(.75)">{point(style, 0, 0)}</g>'
    return f'<svg x="{x}" y="{y}" width="1" height="1" overflow="visible">{inside}</svg>'


def _line(kind: str, style: str, across: tuple[float, float], down: tuple[str, str]) -> str:
    (left, right), (top, bottom) = across, down
    return f'<line class="{kind} {style}" x1="{left:.2f}%" x2="{right:.2f}%" y1="{top}" y2="{bottom}"/>'
