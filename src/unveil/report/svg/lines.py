"""Charts as inline SVG, colored by classes for dark mode and print."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Literal

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.report.blocks import Chart, Series, Style, Threshold, Vector
from unveil.report.scale import ChartAxis, axis, thin, value_text
from unveil.report.text import shorten

WIDTH, HEIGHT = 640, 396
LEFT, RIGHT, TOP, BOTTOM = 70, 34, 44, 70
#: How far a mark at the very edge may reach over it before it is cut.
_BLEED = 5


class Frame:
    """Mapping from chart values to image coordinates."""

    def __init__(self, chart: Chart) -> None:
        self.x: ChartAxis = axis(*chart.x_range, chart.x_kind)
        self.y: ChartAxis = axis(*chart.y_range, chart.y_kind)
        self.width = WIDTH - LEFT - RIGHT
        self.height = HEIGHT - TOP - BOTTOM

    def across(self, x: FloatArray) -> FloatArray:
        """Return the distance of each x from the left edge."""
        return LEFT + (x - self.x.low) / (self.x.high - self.x.low) * self.width

    def down(self, y: FloatArray) -> FloatArray:
        """Return the distance of each y from the top edge."""
        return TOP + (self.y.high - y) / (self.y.high - self.y.low) * self.height

    def point(self, x: float, y: float) -> tuple[str, str]:
        """Return one point as two texts."""
        return _pixel(self.across(np.array([x]))[0]), _pixel(self.down(np.array([y]))[0])


def svg(chart: Chart, *, identity: str) -> str:
    """Return the chart as ``<svg>``; ``identity`` is unique per page.

    Titles, labels and names are escaped. The numbers behind the picture are in the description that a screen reader
    reads; the numbers of the frame are in ``data-`` attributes, so that a script can draw into it. Each mark has its
    value as its ``<title>``; a line has in ``data-said`` what is said of its points, in the order of its path.

    >>> line = Series(name="a < b", x=np.array([0.0, 1.0]), y=np.array([0.0, 1.0]), style="first")
    >>> text = svg(Chart(title="T", x_label="x", y_label="y", series=(line,)), identity="chart-1")
    >>> "a &lt; b: 0% at 0, 100% at 1." in text
    True
    """
    if chart.rows:
        from unveil.report.svg.rows import svg_rows

        return svg_rows(chart, identity=identity)
    from unveil.report.svg.bars import bar_values, bars, hatching

    frame = Frame(chart)
    styles = dict.fromkeys(vector.style for vector in chart.vectors)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{identity}-title {identity}-description" '
        f'data-box="{LEFT} {TOP} {frame.width} {frame.height}" data-x="{frame.x.low:g} {frame.x.high:g}" '
        f'data-y="{frame.y.low:g} {frame.y.high:g}" data-marks="{MOST_MARKS}">',
        f'<title id="{identity}-title">{escape(chart.title)}</title>',
        f'<desc id="{identity}-description">{escape(describe(chart))}</desc>',
        "<defs>",
        f'<clipPath id="{identity}-clip"><rect x="{LEFT - _BLEED}" y="{TOP - _BLEED}" '
        f'width="{frame.width + 2 * _BLEED}" height="{frame.height + 2 * _BLEED}"/></clipPath>',
        *(_arrow_head(style, identity) for style in styles),
        *(hatching(series.style, identity) for series in chart.series if series.hatched is not None),
        "</defs>",
        *_axes(chart, frame),
        f'<g clip-path="url(#{identity}-clip)">',
        *(_band(series, frame) for series in chart.series if series.kind == "band"),
        *(bars(series, chart, frame, identity) for series in chart.series if series.kind == "bars"),
        *(_threshold(threshold, frame) for threshold in chart.thresholds),
        *(_line(number, series, chart, frame) for number, series in enumerate(chart.series) if series.kind == "line"),
        *(_vector(number, vector, chart, frame, identity) for number, vector in enumerate(chart.vectors)),
        "</g>",
        *(_threshold_name(threshold, frame, line) for line, threshold in _in_lines(chart.thresholds)),
        *bar_values(chart, frame),
        *(named_points(series, chart, frame) for series in chart.series if series.kind == "points"),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part)


def swatch(style: Style, *, kind: Literal["line", "marked line", "arrow", "bar", "band", "point"]) -> str:
    """Return the legend icon: a line, arrow, bar, or point."""
    if kind in ("bar", "band"):
        inside = f'<rect class="{kind} {style}" x="6" y="2" width="22" height="12"/>'
    elif kind == "point":
        inside = f'<path class="interval {style}" d="M3 8H33"/>{point(style, 18, 8)}'
    elif kind == "arrow":
        inside = f'<path class="vector {style}" d="M2 8H26"/><path class="head {style}" d="M34 8l-9-4.5v9z"/>'
    else:
        inside = f'<path class="line {style}" d="M1 8H35"{_dashes(style)}/>'
        inside += _marks(style, "M18 8h.01") if kind == "marked line" else ""
    return f'<svg class="swatch" viewBox="0 0 36 16" aria-hidden="true" focusable="false">{inside}</svg>'


#: The outline of a point around the origin: no two styles have the same, so that none differ by colour alone.
_POINTS: dict[Style, str] = {
    "first": "a6 6 0 1 1 12 0a6 6 0 1 1-12 0z",
    "second": "m1-5h10v10h-10z",
    "third": "l6-7l6 7l-6 7z",
    "fourth": "m0 5l6-11l6 11z",
    "fifth": "m4-7h4v14h-4z",
}


def point(style: Style, x: float, y: float) -> str:
    """Return the mark of a point at an image position."""
    return f'<path class="point {style}" d="M{_pixel(x - 6)} {_pixel(y)}{_POINTS[style]}"/>'


def describe(chart: Chart) -> str:
    """Return a text description: ends of lines, bars, arrows, and points.

    >>> bars = Series(name="share", x=np.array([0.0]), y=np.array([0.25]), style="first", kind="bars", width=0.5)
    >>> describe(Chart(title="T", x_label="x", y_label="y", series=(bars,)))
    'Across: x. Up: y. share: 25% from 0 to 0.5.'
    """
    if chart.rows:
        from unveil.report.svg.rows import describe_rows

        return describe_rows(chart)
    from unveil.report.svg.bars import bar_text

    said = [f"Across: {chart.x_label}. Up: {chart.y_label}."]
    for series in chart.series:
        x, y = series.x[np.isfinite(series.y)], series.y[np.isfinite(series.y)]
        if y.size == 0:
            said.append(f"{series.name}: undefined everywhere.")
        elif series.kind == "bars":
            bars = (bar_text(a, h, series, chart) for a, h in zip(x, y, strict=True))
            said.append(f"{series.name}: {', '.join(bars)}.")
        else:
            ends = [(x[0], y[0])] if y.size == 1 else [(x[0], y[0]), (x[-1], y[-1])]
            said.append(f"{series.name}: {', '.join(_at(a, h, chart) for a, h in ends)}.")
    said += [
        f"{vector.name}: to {_at(vector.x, vector.y, chart)}." for vector in chart.vectors if math.isfinite(vector.x)
    ]
    said += [f"{threshold.name}." for threshold in chart.thresholds]
    return " ".join(said)


def _pixel(value: float) -> str:
    return f"{value:.1f}"


def _path(x: FloatArray, y: FloatArray) -> str:
    """Return the path through the points, broken where y is NaN."""
    steps, pen_down = [], False
    for across, down in zip(x.tolist(), y.tolist(), strict=True):
        if math.isfinite(down):
            steps.append(f"{'L' if pen_down else 'M'}{_pixel(across)} {_pixel(down)}")
        pen_down = math.isfinite(down)
    return "".join(steps)


def _dashes(style: Style) -> str:
    dashes = LOOKS[style].dashes
    return f' stroke-dasharray="{" ".join(map(str, dashes))}"' if dashes else ""


def _marks(style: Style, path: str, number: int | None = None) -> str:
    # A line of almost no length with a cap is a dot or a square: one path draws the marks of a whole curve.
    mark = LOOKS[style].mark
    if mark == "none":
        return ""
    which = "" if number is None else f' data-marks-of="{number}"'
    return f'<path class="marks {style}" stroke-linecap="{mark}"{which} d="{path}"/>'


def _line(number: int, series: Series, chart: Chart, frame: Frame) -> str:
    x, y = thin(series.x, series.y)
    said = "|".join(_at(a, h, chart) for a, h in zip(x.tolist(), y.tolist(), strict=True) if math.isfinite(h))
    across, down = frame.across(x), frame.down(y)
    dots = ""
    if x.size <= MOST_MARKS:
        pairs = zip(across.tolist(), down.tolist(), strict=True)
        dots = "".join(f"M{_pixel(a)} {_pixel(d)}h.01" for a, d in pairs if math.isfinite(d))
    line = (
        f'<path class="line {series.style}" data-line="{number}"{_dashes(series.style)} data-said="{escape(said)}" '
        f'd="{_path(across, down)}"><title>{escape(series.name)}</title></path>'
    )
    return _intervals(series, frame) + line + _marks(series.style, dots, number)


def _band(series: Series, frame: Frame) -> str:
    if series.low is None or series.high is None:
        return ""
    there = _path(frame.across(series.x), frame.down(series.low))
    back = _path(frame.across(series.x[::-1]), frame.down(series.high[::-1]))
    title = f"<title>{escape(series.name)}</title>"
    return f'<path class="band {series.style}" d="{there}{back.replace("M", "L", 1)}Z">{title}</path>'


def _intervals(series: Series, frame: Frame) -> str:
    """Return the CIs of a line's points as one path, or ""."""
    if series.low is None or series.high is None:
        return ""
    ends = (frame.across(series.x), frame.down(series.low), frame.down(series.high))
    path = "".join(
        f"M{_pixel(a)} {_pixel(low)}V{_pixel(high)}"
        for a, low, high in zip(*(each.tolist() for each in ends), strict=True)
        if math.isfinite(low)
    )
    return f'<path class="interval {series.style}" d="{path}"/>' if path else ""


def _at(x: float, y: float, chart: Chart) -> str:
    return f"{value_text(y, chart.y_kind)} at {value_text(x, chart.x_kind)}"


def _arrow_head(style: Style, identity: str) -> str:
    return (
        f'<marker id="{identity}-{style}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="11" markerHeight="11" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path class="head {style}" d="M0 0L10 5L0 10z"/></marker>'
    )


def _vector(number: int, vector: Vector, chart: Chart, frame: Frame, identity: str) -> str:
    seen = math.isfinite(vector.x) and math.isfinite(vector.y)
    (x0, y0), (x1, y1) = frame.point(0.0, 0.0), frame.point(vector.x if seen else 0.0, vector.y if seen else 0.0)
    return (
        f'<line class="vector {vector.style}" data-vector="{number}" x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" '
        f'marker-end="url(#{identity}-{vector.style})" visibility="{"visible" if seen else "hidden"}">'
        f"<title>{escape(f'{vector.name}: to {_at(vector.x, vector.y, chart)}')}</title></line>"
    )


def _threshold(threshold: Threshold, frame: Frame) -> str:
    x, y = frame.point(threshold.value, threshold.value)
    if threshold.across == "y":
        return f'<line class="threshold" x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"/>'
    return f'<line class="threshold" x1="{x}" y1="{TOP}" x2="{x}" y2="{HEIGHT - BOTTOM}"/>'


def _in_lines(thresholds: Sequence[Threshold]) -> list[tuple[int, Threshold]]:
    """Return thresholds with their names, stacked where needed."""
    upright = [threshold for threshold in thresholds if threshold.across == "x"]
    return [(upright.index(each) if each.across == "x" else 0, each) for each in thresholds]


def _threshold_name(threshold: Threshold, frame: Frame, line: int) -> str:
    x, y = frame.point(threshold.value, threshold.value)
    if threshold.across == "y":
        return (
            f'<text class="threshold-name end" x="{WIDTH - RIGHT - 4}" y="{y}" dy="-6">{escape(threshold.name)}</text>'
        )
    right_half = float(x) > LEFT + frame.width / 2
    side, shift = ("end", -6) if right_half else ("start", 6)
    return (
        f'<text class="threshold-name {side}" x="{x}" y="{TOP}" dx="{shift}" dy="{12 + 22 * line}">'
        f"{escape(threshold.name)}</text>"
    )


def _axes(chart: Chart, frame: Frame) -> list[str]:
    bottom, right, middle = HEIGHT - BOTTOM, WIDTH - RIGHT, _pixel(LEFT + frame.width / 2)
    columns = "".join(x_tick(frame.point(at, 0.0)[0], text) for at, text in chart.x_names or frame.x.ticks)
    rows = "".join(
        f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}"/>'
        f'<text class="tick end" x="{LEFT - 9}" y="{y}" dy=".34em">'
        f"{escape(text.lstrip('-') if chart.mirrored else text)}</text>"
        for y, text in ((frame.point(0.0, at)[1], text) for at, text in frame.y.ticks)
    )
    return [
        f'<g class="rows">{rows}</g>',
        f'<g class="columns">{columns}</g>',
        f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>',
        f'<text class="label middle" x="{middle}" y="{HEIGHT - 12}">{escape(chart.x_label)}</text>',
        # Not turned by 90 degrees: nobody should have to tilt a telephone to read it.
        f'<text class="label" x="4" y="20">{escape(chart.y_label)}</text>',
    ]


def x_tick(x: str, text: str) -> str:
    """Return one labeled point of the horizontal axis, as the script does."""
    bottom = HEIGHT - BOTTOM
    return (
        f'<line class="grid" x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}"/>'
        f'<text class="tick middle" x="{x}" y="{bottom}" dy="1.35em">{escape(text)}</text>'
    )


# Points with their names in a chart of two axes, each with the interval of its height.

#: A name to the right of a point needs this part of the width.
_ROOM = 0.55
_LONGEST_NAME = 24


def named_points(series: Series, chart: Chart, frame: "Frame") -> str:
    """Return each point of a series with CI, name, and value title."""
    ends = [series.y if each is None else each for each in (series.low, series.high)]
    drawn = []
    points = zip(*(each.tolist() for each in (series.x, series.y, *ends)), strict=True)
    for number, (x, y, low, high) in enumerate(points):
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        at, (_, top), (_, bottom) = frame.point(x, y), frame.point(x, high), frame.point(x, low)
        across, up = map(float, at)
        is_left = x <= chart.x_range[0] + _ROOM * (chart.x_range[1] - chart.x_range[0])
        place = f'class="label" x="{across + 11:.1f}"' if is_left else f'class="label end" x="{across - 11:.1f}"'
        drop = 5
        if series.labels:
            # To the right below a point of a rising line there is room.
            place, drop = f'class="value" x="{across + 9:.1f}"', 18
        said = f"{series.name}: {value_text(y, chart.y_kind)} at {value_text(x, chart.x_kind)}"
        drawn.append(
            f'<g><title>{escape(said)}</title><path class="interval {series.style}" d="M{across:.1f} {top}V{bottom}"/>'
            f'{point(series.style, across, up)}<text {place} y="{up + drop:.1f}">'
            f"{escape(shorten(series.labels[number] if series.labels else series.name, _LONGEST_NAME))}</text></g>"
        )
    return "".join(drawn)


# Line styles of charts, for the page and matplotlib: dashes and marks, not colour alone.

#: A curve of more points than this is drawn without a mark on each.
MOST_MARKS = 40


@dataclass(frozen=True, kw_only=True)
class LineStyle:
    """Line style: color on white paper, dashes, marks, and width."""

    colour: str
    dashes: tuple[int, ...] = ()
    mark: Literal["round", "square", "none"] = "none"
    width: float = 2.25


LOOKS: Mapping[Style, LineStyle] = MappingProxyType(
    {
        "first": LineStyle(colour="#0a5ea8", mark="round"),
        "second": LineStyle(colour="#a8480a", dashes=(8, 4), mark="square"),
        "third": LineStyle(colour="#1b7350", dashes=(2, 4)),
        "fourth": LineStyle(colour="#74399b", dashes=(11, 4, 2, 4)),
        "fifth": LineStyle(colour="#50575f", dashes=(14, 6)),
        "first-reference": LineStyle(colour="#5b7a99", dashes=(2, 3), width=1.5),
        "second-reference": LineStyle(colour="#94714f", dashes=(6, 3, 2, 3), width=1.5),
    }
)
