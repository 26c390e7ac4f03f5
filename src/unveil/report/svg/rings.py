"""Marks on rings as inline SVG, by level of risk.

Nothing differs by colour alone, colours come through classes, and one path draws all marks of a level.
"""

from html import escape
from math import pi

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.report.blocks import Rings

WIDTH, HEIGHT = 640, 560
#: The most marks that can still be told apart; whoever has more things puts several into one mark.
MOST_MARKS = 1000
_RADIUS = 270.0
#: With few marks they would be as large as plates.
_LARGEST_STEP = 40.0
#: How wide a mark of each level is, over the distance of rings; the last level has dashes.
SIZES = (0.92, 0.74, 0.56, 0.4)
_DASH = 0.2
#: How wide the point in the middle of a mark is, over the mark.
POINT = 0.4


def places(number: int) -> tuple[FloatArray, FloatArray, float]:
    """Return positions in ring distances, and the outermost radius.

    The first is in the middle, each ring has the room for marks one unit apart, and begins at the top.

    >>> x, y, radius = places(7)
    >>> x.round(2).tolist(), y.round(2).tolist(), radius
    ([0.0, 0.0, 0.87, 0.87, 0.0, -0.87, -0.87], [0.0, -1.0, -0.5, 0.5, 1.0, 0.5, -0.5], 1.0)
    """
    x, y = [np.zeros(min(number, 1))], [np.zeros(min(number, 1))]
    left, ring = number - 1, 0
    while left > 0:
        ring += 1
        here = min(left, int(2 * pi * ring))
        angle = 2 * pi * np.arange(here) / here
        x.append(ring * np.sin(angle))
        y.append(-ring * np.cos(angle))
        left -= here
    return np.concatenate(x), np.concatenate(y), float(ring)


def svg_rings(rings: Rings, *, identity: str) -> str:
    """Return the chart as an escaped ``<svg>`` element.

    >>> one = Rings(title="T", caption="", description="a < b", level=np.array([0]), levels=("high", "none"),
    ...             struck=np.array([True]), struck_name="hit")
    >>> text = svg_rings(one, identity="r")
    >>> "a &lt; b" in text, text.count("<path")
    (True, 2)
    """
    x, y, radius = places(rings.level.size)
    step = min(_RADIUS / (radius + 0.5), _LARGEST_STEP)
    across, down = WIDTH / 2 + step * x, HEIGHT / 2 + step * y
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{identity}-title {identity}-description">',
        f'<title id="{identity}-title">{escape(rings.title)}</title>',
        f'<desc id="{identity}-description">{escape(rings.description)}</desc>',
    ]
    last = len(rings.levels) - 1
    for level in range(last + 1):
        here = rings.level == level
        parts.append(_titled(rings.levels[level], _marks(across[here], down[here], level, last, step)))
        here &= rings.struck
        struck = f"{rings.levels[level]}; {rings.struck_name}"
        parts.append(_titled(struck, _points(across[here], down[here], level, last, step)))
    return "\n".join(part for part in [*parts, "</svg>"] if part)


def legend(rings: Rings) -> list[tuple[str, str]]:
    """Return an icon and a name for each level and struck marks."""
    last = len(rings.levels) - 1
    middle, here, step = np.array([18.0]), np.array([8.0]), 15.0
    found = [(_little(_marks(middle, here, level, last, step)), name) for level, name in enumerate(rings.levels)]
    struck = _marks(middle, here, 0, last, step) + _points(middle, here, 0, last, step)
    return [*found, (_little(struck), rings.struck_name)]


def size_of(level: int, last: int) -> float:
    """Return the mark size over the ring distance, by level."""
    return float(np.interp(level, np.linspace(0, max(last - 1, 1), len(SIZES)), SIZES))


def _titled(text: str, drawn: str) -> str:
    return f"<g><title>{escape(text)}</title>{drawn}</g>" if drawn else ""


def _little(inside: str) -> str:
    return f'<svg class="swatch" viewBox="0 0 36 16" aria-hidden="true" focusable="false">{inside}</svg>'


def _marks(x: FloatArray, y: FloatArray, level: int, last: int, step: float) -> str:
    if x.size == 0:
        return ""
    if level == last:
        half = _DASH * step
        path = "".join(f"M{a - half:.1f} {d:.1f}h{2 * half:.1f}" for a, d in zip(x.tolist(), y.tolist(), strict=True))
        return f'<path class="node unknown" stroke-width="{max(0.12 * step, 1.5):.1f}" d="{path}"/>'
    width = size_of(level, last) * step
    return f'<path class="node level-{level + 1}" stroke-width="{width:.1f}" d="{_dots(x, y)}"/>'


def _points(x: FloatArray, y: FloatArray, level: int, last: int, step: float) -> str:
    if x.size == 0:
        return ""
    width = POINT * size_of(level, last) * step
    return f'<path class="node struck" stroke-width="{width:.1f}" d="{_dots(x, y)}"/>'


def _dots(x: FloatArray, y: FloatArray) -> str:
    # A line of almost no length with a round cap is a dot.
    return "".join(f"M{a:.1f} {d:.1f}h.01" for a, d in zip(x.tolist(), y.tolist(), strict=True))
