"""The value of each bar above it, and what it is below it: a reader must not guess them from the axes."""

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from unveil.report.blocks import Chart
from unveil.report.scale import value_text
from unveil.report.text import about

if TYPE_CHECKING:
    from unveil.report.svg.lines import Frame

#: A bar must be so wide (in pixels of the picture) for its value to stand above it.
LEAST_WIDTH = 34.0


def bar_values(chart: Chart, frame: "Frame") -> list[str]:
    """Return the value of each bar as a text above its middle; none where the bars are too narrow for that.

    A bar that stands for one whole number has that number below it too, where the axis has none there.
    """
    ticks = {round(at, 9) for at, _ in frame.x.ticks}
    texts = []
    for series in chart.series:
        if series.kind != "bars":
            continue
        left, right = frame.across(series.x), frame.across(series.x + series.width)
        if series.x.size and float((right - left).min()) < LEAST_WIDTH:
            continue
        floor = float(frame.down(np.array([frame.y.low]))[0])
        numbers = np.round(series.x + series.width / 2, 9)
        for a, b, top, height, number in zip(left, right, frame.down(series.y), series.y, numbers, strict=True):
            if chart.x_kind == "count" and series.width == 1 and float(number) not in ticks:
                name = value_text(float(number), "count")
                texts.append(
                    f'<text class="tick middle" x="{(a + b) / 2:.1f}" y="{floor:.1f}" dy="1.35em">{name}</text>'
                )
            if math.isfinite(height) and height > 0:
                shown = about(float(height)) if chart.y_kind == "share" else value_text(float(height), chart.y_kind)
                texts.append(
                    f'<text class="value middle" x="{(a + b) / 2:.1f}" y="{top:.1f}" dy="-5">{escape(shown)}</text>'
                )
    return texts
