"""Bars of a chart: positive, negative, hatched, with values."""

import math
from html import escape

import numpy as np

from unveil.report.blocks import Chart, Series, Style
from unveil.report.scale import value_text
from unveil.report.svg.lines import Frame
from unveil.report.text import about

#: A bar must be so wide (in pixels of the picture) for its value to stand above it.
LEAST_WIDTH = 34.0
#: Bars narrower than this in pixels have less air between them.
_NARROW = 24.0


def bars(series: Series, chart: Chart, frame: Frame, identity: str) -> str:
    """Return a series of bars, with values as titles."""
    left, right = frame.across(series.x), frame.across(series.x + series.width)
    top, floor = frame.down(series.y), float(frame.down(np.array([max(frame.y.low, 0.0)]))[0])
    if chart.mirrored:
        floor = float(frame.down(np.zeros(1))[0])
    air = 2.0 if float(np.min(right - left, initial=np.inf)) >= _NARROW else 0.5
    hatched = np.zeros(series.x.size, bool) if series.hatched is None else series.hatched
    drawn = zip(*(each.tolist() for each in (left, right, top, series.x, series.y, hatched)), strict=True)
    return "".join(
        f'<rect {_look(series.style, identity, is_hatched=raised)} x="{a + air:.1f}" y="{min(t, floor):.1f}" '
        f'width="{max(b - a - 2 * air, 1):.1f}" height="{_height(t, floor, chart):.1f}">'
        f"<title>{escape(_tip(x, y, series, chart, is_hatched=raised))}</title></rect>"
        for a, b, t, x, y, raised in drawn
        if math.isfinite(t) and (y or not chart.mirrored)
    )


def _tip(x: float, y: float, series: Series, chart: Chart, *, is_hatched: bool) -> str:
    return f"{series.name}: {chart.hatched if is_hatched else bar_text(x, y, series, chart)}"


def _height(top: float, floor: float, chart: Chart) -> float:
    return abs(floor - top) if chart.mirrored else max(floor - top, 0)


def bar_text(x: float, y: float, series: Series, chart: Chart) -> str:
    """Return a bar's value and meaning in words."""
    value = value_text(abs(y) if chart.mirrored else y, chart.y_kind)
    for at, name in chart.x_names:
        if x <= at <= x + series.width or math.isclose(at, x) or math.isclose(at, x + series.width):
            return f"{value} at {name}"
    ends = (value_text(end, chart.x_kind) for end in (x, x + series.width))
    return f"{value} from {' to '.join(ends)}"


def bar_values(chart: Chart, frame: Frame) -> list[str]:
    """Return each bar's value as text, where bars are wide.

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
        raised = [False] * series.x.size if series.hatched is None else series.hatched.tolist()
        places = zip(left, right, frame.down(series.y), series.y, numbers, raised, strict=True)
        for a, b, top, height, number, is_hatched in places:
            if chart.x_kind == "count" and series.width == 1 and float(number) not in ticks:
                name = value_text(float(number), "count")
                texts.append(
                    f'<text class="tick middle" x="{(a + b) / 2:.1f}" y="{floor:.1f}" dy="1.35em">{name}</text>'
                )
            if math.isfinite(height) and height > 0 and not is_hatched:
                shown = about(float(height)) if chart.y_kind == "share" else value_text(float(height), chart.y_kind)
                texts.append(
                    f'<text class="value middle" x="{(a + b) / 2:.1f}" y="{top:.1f}" dy="-5">{escape(shown)}</text>'
                )
    return texts


def hatching(style: Style, identity: str) -> str:
    """Return the pattern of hatched bars of a style."""
    return (
        f'<pattern id="{identity}-{style}-hatched" width="5" height="5" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path class="line {style}" d="M1 0v5"/></pattern>'
    )


def hatched_swatch(style: Style, identity: str) -> str:
    """Return the symbol of a hatched bar in the legend."""
    inside = f'<rect {_look(style, identity, is_hatched=True)} x="6" y="2" width="22" height="12"/>'
    return (
        f'<svg class="swatch" viewBox="0 0 36 16" aria-hidden="true" focusable="false">'
        f"<defs>{hatching(style, identity)}</defs>{inside}</svg>"
    )


def _look(style: Style, identity: str, *, is_hatched: bool) -> str:
    # Style rules would win over the fill of a bar.
    return f'class="{style}" fill="url(#{identity}-{style}-hatched)"' if is_hatched else f'class="bar {style}"'
