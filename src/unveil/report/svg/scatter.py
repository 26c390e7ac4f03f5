"""Points with their names in a chart of two axes, each with the interval of its height."""

import math
from html import escape
from typing import TYPE_CHECKING

from unveil.report.blocks import Chart, Series
from unveil.report.scale import value_text
from unveil.report.text import shorten

if TYPE_CHECKING:
    from unveil.report.svg.lines import Frame

#: A name to the right of a point needs this part of the width.
_ROOM = 0.55
_LONGEST_NAME = 24


def named_points(series: Series, chart: Chart, frame: "Frame") -> str:
    """Return each point of a series with its interval and the name of the series beside it; the value is its title."""
    from unveil.report.svg.lines import point

    ends = [series.y if each is None else each for each in (series.low, series.high)]
    drawn = []
    for x, y, low, high in zip(*(each.tolist() for each in (series.x, series.y, *ends)), strict=True):
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        at, (_, top), (_, bottom) = frame.point(x, y), frame.point(x, high), frame.point(x, low)
        across, up = map(float, at)
        is_left = x <= chart.x_range[0] + _ROOM * (chart.x_range[1] - chart.x_range[0])
        place = f'class="label" x="{across + 11:.1f}"' if is_left else f'class="label end" x="{across - 11:.1f}"'
        said = f"{series.name}: {value_text(y, chart.y_kind)} at {value_text(x, chart.x_kind)}"
        drawn.append(
            f'<g><title>{escape(said)}</title><path class="interval {series.style}" d="M{across:.1f} {top}V{bottom}"/>'
            f'{point(series.style, across, up)}<text {place} y="{up + 5:.1f}">'
            f"{escape(shorten(series.name, _LONGEST_NAME))}</text></g>"
        )
    return "".join(drawn)
