"""Heat maps as inline SVG: ten steps, one path each, NaN hatched.

Across, a picture has shares of its width in place of pixels: on a screen it is as wide as its columns need and scrolls
in a box of its own, on paper it is as wide as the paper, and its texts stay as large as they are.
"""

from html import escape

import numpy as np

from unveil._kernels.types import IntArray
from unveil.report.blocks_spread import HeatMap
from unveil.report.scale import value_text
from unveil.report.svg.heads import Tier, column_width, svg_heads, tiers
from unveil.report.text import decimal, fixed

#: How many colours there are from light to dark; the style sheet has one for each.
STEPS = 10
#: The most columns with a number in each cell.
MOST_NUMBERED = 12
#: The most cells whose values a pointer can ask for: a page stays small.
MOST_TOLD = 20_000
#: The height of a row in pixels.
ROW = 26


def steps_of(heat: HeatMap) -> IntArray:
    """Return the step of each cell, 0 to 9, -1 if undefined.

    >>> values = np.array([[0.0, 0.05, 0.1, 0.95, 1.0, np.nan]])
    >>> columns = tuple((each,) for each in "abcdef")
    >>> steps_of(HeatMap(title="T", rows=("r",), columns=columns, levels=("l",), values=values, value_label="v"))
    array([[ 0,  0,  1,  9,  9, -1]])
    """
    there = np.isfinite(heat.values)
    span = heat.high - heat.low if heat.high > heat.low else 1.0
    share = np.where(there, (heat.values - heat.low) / span, 0.0)
    # A value that rounding moved below the edge of a step belongs to that step.
    step = np.clip(np.floor(share * STEPS + 1e-9), 0, STEPS - 1).astype(np.int64)
    return np.where(there, step, -1)


def svg_heat(heat: HeatMap, *, identity: str) -> str:
    """Return the cells with heads as an escaped ``<svg>`` element.

    >>> heat = HeatMap(title="T", rows=("r",), columns=(("a < b",),), levels=("l",), values=np.array([[0.5]]),
    ...                value_label="v")
    >>> text = svg_heat(heat, identity="h")
    >>> "a &lt; b" in text, text.count('class="heat-6"'), ">0.50</text>" in text
    (True, 1, True)
    """
    levels = tiers(heat)
    top = sum(tier.height for tier in levels) + 4
    number, width, height = max(len(heat.columns), 1), column_width(heat), ROW * len(heat.rows)
    steps = steps_of(heat)
    parts = [
        f'<svg class="cells" width="{number * width}" height="{top + height}" role="img" '
        f'aria-labelledby="{identity}-title {identity}-description"{_values(heat)}>',
        f'<title id="{identity}-title">{escape(heat.title)}</title>',
        f'<desc id="{identity}-description">{escape(describe_heat(heat))}</desc>',
    ]
    parts += [
        # The field is a unit wide per column and a unit high per row, however wide the picture is.
        hatching(identity, f"scale({1 / width:.5f} {1 / ROW:.5f}) ") if (steps < 0).any() else "",
        f'<svg class="field" y="{top}" width="100%" height="{height}" viewBox="0 -.5 {number} {len(heat.rows) or 1}" '
        f'preserveAspectRatio="none">{_cells(steps, identity)}</svg>',
        _partings(levels, number, top, height),
        *svg_heads(levels, number, width),
    ]
    if len(heat.columns) <= MOST_NUMBERED:
        parts.append(_numbers(heat, steps, top))
    return "\n".join(part for part in [*parts, "</svg>"] if part)


def hatching(identity: str, scale: str = "") -> str:
    """Return the hatching of undefined cells; ``scale`` undoes stretching."""
    return (
        f'<defs><pattern id="{identity}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="{scale}rotate(45)"><path class="hatch" d="M1 0v6"/></pattern></defs>'
    )


def legend(heat: HeatMap, *, identity: str) -> str:
    """Return the legend: ten steps with limits, and hatching."""
    cell = 100 / STEPS
    edges = np.linspace(heat.low, heat.high, STEPS + 1).tolist()
    boxes = "".join(
        f'<line class="heat-{step + 1}" x1="{step * cell:g}%" x2="{(step + 1) * cell:g}%" y1="8" y2="8" '
        'stroke-width="16"/>'
        for step in range(STEPS)
    )
    texts = "".join(
        f'<text class="tick middle" x="{step * cell:g}%" y="31">{escape(value_text(edge, "number"))}</text>'
        for step, edge in enumerate(edges)
    )
    strip = f'<svg class="strip" width="270" height="36" aria-hidden="true" focusable="false">{boxes}{texts}</svg>'
    key = f"{identity}-key"
    hatched = (
        f'<svg class="hatched" width="27" height="16" aria-hidden="true" focusable="false">{hatching(key)}'
        f'<rect width="27" height="16" fill="url(#{key}-hatch)"/></svg>'
    )
    gaps = f"<span>{hatched}{escape(heat.undefined)}</span>" if not np.isfinite(heat.values).all() else ""
    return f'<div class="scale"><span>{escape(heat.value_label)}</span>{strip}{gaps}</div>'


def describe_heat(heat: HeatMap) -> str:
    """Return a text description: row means, extremes, and undefined cells."""
    said = [f"{heat.value_label} of {len(heat.rows)} rows by {', '.join(heat.levels)} in {len(heat.columns)} columns."]
    for row, values in zip(heat.rows, heat.values, strict=True):
        there = values[np.isfinite(values)]
        if there.size == 0:
            said.append(f"{row}: undefined everywhere.")
            continue
        gaps = f", undefined in {values.size - there.size}" if there.size < values.size else ""
        reach = f" ({decimal(there.min(), places=2)} to {decimal(there.max(), places=2)})"
        said.append(f"{row}: mean {decimal(there.mean(), places=2)}{reach}{gaps}.")
    return " ".join(said)


def _values(heat: HeatMap) -> str:
    """Return cell values and column names for the tooltip script."""
    if not 0 < heat.values.size <= MOST_TOLD:
        return ""
    rows = ";".join(",".join("" if np.isnan(value) else fixed(value) for value in row) for row in heat.values.tolist())
    columns = "|".join(", ".join(column).replace("|", "/") for column in heat.columns)
    return f' data-cells="{rows}" data-columns="{escape(columns)}"'


def _cells(steps: IntArray, identity: str) -> str:
    """Return one path per step, a thick line per run of cells."""
    paths: dict[int, list[str]] = {}
    for row, line in enumerate(steps if steps.shape[1] else ()):
        edges = (np.flatnonzero(np.diff(line)) + 1).tolist()
        pens: dict[int, int] = {}
        for start, end in zip([0, *edges], [*edges, line.size], strict=True):
            step = int(line[start])
            move = f"m{start - pens[step]} 0" if step in pens else f"M{start} {row}"
            paths.setdefault(step, []).append(f"{move}h{end - start}")
            pens[step] = end
    drawn = []
    for step, path in sorted(paths.items()):
        look = f'class="heat-{step + 1}"' if step >= 0 else f'stroke="url(#{identity}-hatch)"'
        drawn.append(f'<path {look} d="{"".join(path)}"/>')
    return "".join(drawn)


def _partings(levels: list[Tier], number: int, top: int, height: int) -> str:
    """Return the separators of rows and column groups, innermost first."""
    rows = "".join(f'<line x2="100%" y1="{y}" y2="{y}"/>' for y in range(top + ROW, top + height, ROW))
    lines = [f'<g class="parting thin">{rows}</g>' if rows else ""]
    # Where columns are a few pixels wide, a line around each would leave nothing of it.
    last = len(levels) if number <= MOST_NUMBERED else len(levels) - 1
    for level in range(last - 1, -1, -1):
        places = (f"{100 * head.first / number:.3f}%" for head in levels[level].heads[1:])
        inside = "".join(f'<line x1="{x}" x2="{x}" y1="{top}" y2="{top + height}"/>' for x in places)
        lines.append(
            f'<g class="parting{" thin" if level == last - 1 and level else ""}">{inside}</g>' if inside else ""
        )
    return "".join(lines)


def _numbers(heat: HeatMap, steps: IntArray, top: int) -> str:
    texts = []
    for (row, column), step in np.ndenumerate(steps):
        if step >= 0:
            x, y = 100 * (column + 0.5) / len(heat.columns), top + ROW * row + ROW // 2 + 4
            value = fixed(float(heat.values[row, column]))
            texts.append(f'<text class="middle on-{step + 1}" x="{x:.2f}%" y="{y}">{value}</text>')
    return "".join(texts)
