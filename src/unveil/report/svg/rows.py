"""Charts of points with CIs, one row per compared item."""

import math
from html import escape

import numpy as np

from unveil.report.blocks import Chart, Series, Threshold
from unveil.report.scale import ChartAxis, axis
from unveil.report.svg.lines import point
from unveil.report.text import decimal, name, percent, short_percent

WIDTH = 640
_LEFT, _RIGHT, _TOP, _BOTTOM = 16, 30, 10, 66
#: A name, then one line per series, then air.
_NAME, _LINE, _AIR = 30, 25, 14
#: How long a name and a value may be before they leave the picture on a small screen.
_LONGEST_NAME = 50
_VALUE_WIDTH = 74


def svg_rows(chart: Chart, *, identity: str) -> str:
    """Return a chart of points as an escaped ``<svg>`` element.

    >>> rates = Series(name="attack", x=np.array([0.2]), y=np.array([0.0]), style="first", kind="points",
    ...                low=np.array([0.1]), high=np.array([0.3]))
    >>> chart = Chart(title="T", x_label="x", y_label="", x_kind="share", series=(rates,), rows=("a < b",))
    >>> text = svg_rows(chart, identity="c")
    >>> "a &lt; b" in text, "attack: 20.0% (10.0% to 30.0%) for a &lt; b." in text
    (True, True)
    """
    band = _NAME + _LINE * len(chart.series) + _AIR
    # The name of a threshold needs a line of its own above the first row.
    head = _TOP + (18 if chart.thresholds else 0)
    bottom = head + band * len(chart.rows)
    across = axis(*chart.x_range, chart.x_kind)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {bottom + _BOTTOM}" role="img" '
        f'aria-labelledby="{identity}-title {identity}-description">',
        f'<title id="{identity}-title">{escape(chart.title)}</title>',
        f'<desc id="{identity}-description">{escape(describe_rows(chart))}</desc>',
        *(_tick(_place(at, across), text, bottom) for at, text in across.ticks),
        f'<path class="axis" d="M{_LEFT} {bottom}H{WIDTH - _RIGHT}"/>',
        f'<text class="label middle" x="{WIDTH / 2:.0f}" y="{bottom + 54}">{escape(chart.x_label)}</text>',
    ]
    parts += [_threshold(threshold, _place(threshold.value, across), bottom) for threshold in chart.thresholds]
    for number, row in enumerate(chart.rows):
        top = head + band * number
        if number:
            parts.append(f'<path class="axis faint" d="M{_LEFT} {top}H{WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="row-name" x="{_LEFT + 2}" y="{top + 22}">{escape(name(row, _LONGEST_NAME))}</text>')
        for line, series in enumerate(chart.series):
            middle = top + _NAME + _LINE * line + _LINE / 2
            parts += [_mark(series, at, middle, chart, across) for at in np.flatnonzero(series.y == number).tolist()]
    return "\n".join(part for part in [*parts, "</svg>"] if part)


def describe_rows(chart: Chart) -> str:
    """Return a text description: each value with its CI."""
    said = [f"Across: {chart.x_label}."]
    for series in chart.series:
        values = []
        for at, row in enumerate(series.y.tolist()):
            if math.isfinite(series.x[at]):
                values.append(f"{_said(series, at, chart)} for {name(chart.rows[int(row)], _LONGEST_NAME)}")
        said.append(f"{series.name}: {', '.join(values) or 'undefined everywhere'}.")
    return " ".join([*said, *(f"{threshold.name}." for threshold in chart.thresholds)])


def _said(series: Series, at: int, chart: Chart) -> str:
    if series.labels:
        return series.labels[at]
    value, low, high = _interval(series, at)
    return _text(value, chart) + (f" ({_text(low, chart)} to {_text(high, chart)})" if low < high else "")


def _interval(series: Series, at: int) -> tuple[float, float, float]:
    value = float(series.x[at])
    low = value if series.low is None else float(series.low[at])
    high = value if series.high is None else float(series.high[at])
    return value, low, high


def _text(value: float, chart: Chart) -> str:
    return percent(value) if chart.x_kind == "share" else decimal(value)


def _place(value: float, across: ChartAxis) -> float:
    inside = min(max(value, across.low), across.high)
    return _LEFT + (inside - across.low) / (across.high - across.low) * (WIDTH - _LEFT - _RIGHT)


def _tick(x: float, text: str, bottom: int) -> str:
    return (
        f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}"/>'
        f'<text class="tick middle" x="{x:.1f}" y="{bottom}" dy="1.35em">{escape(text)}</text>'
    )


def _threshold(threshold: Threshold, x: float, bottom: int) -> str:
    side = "end" if x > WIDTH / 2 else "start"
    return (
        f'<line class="threshold" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}"/>'
        f'<text class="threshold-name {side}" x="{x:.1f}" y="{_TOP}" dx="{-6 if side == "end" else 6}" dy="12">'
        f"{escape(threshold.name)}</text>"
    )


def _mark(series: Series, at: int, middle: float, chart: Chart, across: ChartAxis) -> str:
    value, low, high = _interval(series, at)
    if not math.isfinite(value):
        return ""
    reach = ""
    if math.isfinite(low) and math.isfinite(high) and low < high:
        left, right = _place(low, across), _place(high, across)
        reach = f'<path class="interval {series.style}" d="M{left:.1f} {middle:.1f}H{right:.1f}"/>'
    else:
        left = right = _place(value, across)
    # The value stands behind the interval, or before it where there is no room left.
    behind = right + 12 + _VALUE_WIDTH <= WIDTH
    x, side = (right + 12, "start") if behind else (max(left - 12, _VALUE_WIDTH), "end")
    shown = short_percent(value) if chart.x_kind == "share" and value in (0.0, 1.0) else _text(value, chart)
    mark = point(series.style, _place(value, across), middle)
    if series.labels:
        shown, mark = series.labels[at], ""
    text = f'<text class="value {side}" x="{x:.1f}" y="{middle:.1f}" dy=".34em">{escape(shown)}</text>'
    row = name(chart.rows[int(series.y[at])], _LONGEST_NAME)
    title = f"<title>{escape(f'{row}, {series.name}: {_said(series, at, chart)}')}</title>"
    return f"<g>{title}{reach}{mark}{text}</g>"
