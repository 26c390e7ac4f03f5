"""Small charts as inline SVG: distributions, triangles of pairs, and waterfalls."""

from html import escape

import numpy as np

from unveil.report.blocks_spread import (
    MOST_NUMBERED_COLUMNS,
    DistributionPanel,
    DistributionPanels,
    Triangle,
    Triangles,
    Waterfall,
    Waterfalls,
)
from unveil.report.text import fixed, percent, shorten

#: A panel in pixels, and the part of a category's row that its name takes.
WIDTH, HEIGHT, _NAMES = 300, 110, 100
_ROW, _BAR = 20, 7
#: A cell of a triangle, and the room that a letter of a name takes.
CELL, _WIDE_CELL, _LETTER = 17, 37, 7.6
_LONGEST_NAME, _LONGEST_CATEGORY = 14, 11
#: The steps of the colours on each side of 0.
STEPS = 5


def svg_panels(block: DistributionPanels, *, identity: str) -> str:
    """Return all panels with their names, escaped.

    >>> panel = DistributionPanel(name="a < b", distance="KS 0.10", first=(0.5, 0.5), second=(0.4, 0.6),
    ...                           first_hatched=(False, False), second_hatched=(False, True))
    >>> text = svg_panels(DistributionPanels(title="T", panels=(panel,), names=("one", "two")), identity="p")
    >>> "a &lt; b" in text, text.count("<svg"), "<title>two: 40.0%</title>" in text
    (True, 1, True)
    """
    panels = (_panel(panel, block, f"{identity}-{at}") for at, panel in enumerate(block.panels))
    return f'<div class="panels">{"".join(panels)}</div>'


def legend_of(block: DistributionPanels, *, identity: str) -> list[tuple[str, str]]:
    """Return a legend entry for each table, and for hatched bars."""
    little = '<svg class="swatch" viewBox="0 0 36 16" aria-hidden="true" focusable="false">{}</svg>'
    found = [
        (little.format('<path class="outline" d="M6 14V3H28V14"/>'), block.names[0]),
        (little.format('<rect class="bar first" x="6" y="2" width="22" height="12"/>'), block.names[1]),
    ]
    if any(any((*panel.first_hatched, *panel.second_hatched)) for panel in block.panels):
        key = f"{identity}-key"
        box = f'<rect {_fill("outline", key, is_hatched=True)} x="6" y="2" width="22" height="12"/>'
        found.append((little.format(f"<defs>{_stripes('outline', key)}</defs>{box}"), block.hatched))
    return found


def _panel(panel: DistributionPanel, block: DistributionPanels, identity: str) -> str:
    drawn = _categories(panel, block, identity) if panel.categories else _bins(panel, block, identity)
    height = _ROW * len(panel.first) + 4 if panel.categories else HEIGHT + 18
    return (
        f'<div class="panel"><p><strong>{escape(panel.name)}</strong> <span>{escape(panel.distance)}</span></p>'
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="{identity}-title {identity}-description">'
        f'<title id="{identity}-title">{escape(f"{panel.name}: {panel.distance}")}</title>'
        f'<desc id="{identity}-description">{escape(_described(panel, block))}</desc>'
        f"<defs>{_stripes('outline', identity)}{_stripes('first', identity)}</defs>{drawn}</svg></div>"
    )


def _described(panel: DistributionPanel, block: DistributionPanels) -> str:
    if not panel.categories:
        between = f" from {panel.ends[0]} to {panel.ends[1]}" if all(panel.ends) else ""
        return f"{len(panel.first)} bins{between}. {panel.distance} between {' and '.join(block.names)}."
    shares = zip(panel.categories, panel.first, panel.second, strict=True)
    return "; ".join(f"{place}: {percent(one)}, {percent(other)}" for place, one, other in shares) + (
        f" ({block.names[0]}, {block.names[1]})."
    )


def _bins(panel: DistributionPanel, block: DistributionPanels, identity: str) -> str:
    """Return filled bars, with the first table as outline."""
    top = max((*panel.first, *panel.second, 1e-9))
    width = WIDTH / len(panel.first)
    parts = []
    for at, (share, is_hatched) in enumerate(zip(panel.second, panel.second_hatched, strict=True)):
        if share > 0:
            tall = share / top * (HEIGHT - 4)
            parts.append(
                f'<rect {_fill("first", identity, is_hatched=is_hatched)} x="{width * at + 0.5:.1f}" '
                f'y="{HEIGHT - tall:.1f}" width="{width - 1:.1f}" height="{tall:.1f}">'
                f"{_tip(block.names[1], share, block, is_hatched=is_hatched)}</rect>"
            )
    heights = [HEIGHT - share / top * (HEIGHT - 4) for share in panel.first]
    path = "".join(f"V{tall:.1f}H{width * (at + 1):.1f}" for at, tall in enumerate(heights))
    parts.append(f'<path class="outline" d="M0 {HEIGHT}{path}V{HEIGHT}"><title>{escape(block.names[0])}</title></path>')
    for at, is_hatched in enumerate(panel.first_hatched):
        if is_hatched:
            parts.append(
                f'<rect {_fill("outline", identity, is_hatched=True)} x="{width * at:.1f}" y="{heights[at]:.1f}" '
                f'width="{width:.1f}" height="{HEIGHT - heights[at]:.1f}">'
                f"{_tip(block.names[0], panel.first[at], block, is_hatched=True)}</rect>"
            )
    parts.append(f'<path class="axis" d="M0 {HEIGHT}H{WIDTH}"/>')
    parts += [
        f'<text class="tick{side}" x="{x}" y="{HEIGHT + 14}">{escape(text)}</text>'
        for text, x, side in zip(panel.ends, (0, WIDTH), ("", " end"), strict=True)
        if text
    ]
    return "".join(parts)


def _categories(panel: DistributionPanel, block: DistributionPanels, identity: str) -> str:
    top = max((*panel.first, *panel.second, 1e-9))
    room = WIDTH - _NAMES - 6
    parts = []
    for at, category in enumerate(panel.categories):
        y = _ROW * at + 2
        name = escape(shorten(category, _LONGEST_CATEGORY))
        parts.append(f'<text class="tick end" x="{_NAMES - 6}" y="{y + 12}">{name}</text>')
        sides = (panel.first, panel.first_hatched, "outline"), (panel.second, panel.second_hatched, "first")
        for place, (shares, hatched, look) in enumerate(sides):
            if shares[at] > 0:
                parts.append(
                    f'<rect {_fill(look, identity, is_hatched=hatched[at])} x="{_NAMES}" y="{y + place * (_BAR + 1)}" '
                    f'width="{shares[at] / top * room:.1f}" height="{_BAR}">'
                    f"{_tip(block.names[place], shares[at], block, is_hatched=hatched[at])}</rect>"
                )
    return f'{"".join(parts)}<path class="axis" d="M{_NAMES} 0V{_ROW * len(panel.categories)}"/>'


def _tip(name: str, share: float, block: DistributionPanels, *, is_hatched: bool) -> str:
    return f"<title>{escape(f'{name}: {block.hatched if is_hatched else percent(share)}')}</title>"


def _fill(look: str, identity: str, *, is_hatched: bool) -> str:
    if is_hatched:
        return f'class="hatched" fill="url(#{identity}-{look})"'
    return 'class="bar first"' if look == "first" else 'class="outline"'


def _stripes(look: str, identity: str) -> str:
    return (
        f'<pattern id="{identity}-{look}" width="4" height="4" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path class="{look} stripes" d="M1 0v4"/></pattern>'
    )


def svg_triangles(block: Triangles, *, identity: str) -> str:
    """Return the triangles, with column names on the diagonals.

    >>> values = np.array([[np.nan, np.nan], [0.5, np.nan]])
    >>> block = Triangles(title="T", columns=("a", "b"), triangles=(Triangle(name="original", values=values),))
    >>> text = svg_triangles(block, identity="t")
    >>> 'class="diverging-7"' in text, ">0.50</text>" in text
    (True, True)
    """
    parts = (_triangle(each, block, f"{identity}-{at}") for at, each in enumerate(block.triangles))
    return f'<div class="panels triangles">{"".join(parts)}</div>'


def step_of(value: float, limit: float) -> int:
    """Return a value's step, 0 at -limit to 10 at limit.

    >>> step_of(-1.0, 1.0), step_of(0.05, 1.0), step_of(0.5, 0.5)
    (0, 5, 10)
    """
    return STEPS + round(min(max(value / limit, -1.0), 1.0) * STEPS)


def number_text(value: float) -> str:
    """Return a number with two digits; a dash if undefined."""
    return "–" if np.isnan(value) else fixed(value).replace("-", "−")


def _triangle(triangle: Triangle, block: Triangles, identity: str) -> str:
    number = len(block.columns)
    wide = _WIDE_CELL if number <= MOST_NUMBERED_COLUMNS else CELL
    names = [shorten(name, _LONGEST_NAME) for name in block.columns]
    width = max(wide * at + _LETTER * len(name) + 8 for at, name in enumerate(names))
    texts = [
        f'<text class="tick" x="{wide * at + 4}" y="{CELL * at + 12}">{escape(name)}</text>'
        for at, name in enumerate(names)
    ]
    # One path holds all cells of a step: a page stays small.
    paths: dict[str, list[str]] = {}
    for row, column in zip(*np.tril_indices(number, -1), strict=True):
        value = float(triangle.values[row, column])
        look = "unknown-cell" if np.isnan(value) else f"diverging-{step_of(value, triangle.limit)}"
        paths.setdefault(look, []).append(f"M{wide * column} {CELL * row}h{wide}v{CELL}h-{wide}z")
        if number <= MOST_NUMBERED_COLUMNS and not np.isnan(value):
            middle = f'x="{wide * column + wide / 2:g}" y="{CELL * row + 12}"'
            texts.append(f'<text class="middle on-{look}" {middle}>{number_text(value)}</text>')
    cells = "".join(f'<path class="{look}" d="{"".join(path)}"/>' for look, path in sorted(paths.items()))
    known = triangle.values[np.isfinite(triangle.values)]
    said = f"{known.size} pairs, from {number_text(known.min())} to {number_text(known.max())}." if known.size else ""
    return (
        f'<div class="panel" tabindex="0"><p><strong>{escape(triangle.name)}</strong> '
        f"<span>−{triangle.limit:g} to {triangle.limit:g}</span></p>"
        f'<svg class="triangle" viewBox="0 0 {width:.0f} {CELL * number}" width="{width:.0f}" role="img" '
        f'aria-labelledby="{identity}-title {identity}-description">'
        f'<title id="{identity}-title">{escape(f"{block.title}: {triangle.name}")}</title>'
        f'<desc id="{identity}-description">{escape(said or "No pair is known.")}</desc>'
        f"{cells}{''.join(texts)}</svg></div>"
    )


def diverging_legend(block: Triangles) -> list[tuple[str, str]]:
    """Return a legend entry for the ends and middle of colors."""
    little = '<svg class="swatch" viewBox="0 0 36 16" aria-hidden="true" focusable="false">{}</svg>'
    shown = (0, "negative"), (STEPS, "none"), (2 * STEPS, "positive")
    found = [
        (little.format(f'<rect class="diverging-{step}" x="6" y="2" width="22" height="12"/>'), text)
        for step, text in shown
    ]
    lower = np.tril(np.ones((len(block.columns),) * 2, bool), -1)
    if any(np.isnan(each.values[lower]).any() for each in block.triangles):
        found.append((little.format('<rect class="unknown-cell" x="6" y="2" width="22" height="12"/>'), "not measured"))
    return found


#: A waterfall: its width, the place of its bars, and the height of a step.
_FALL_WIDTH, _FALL_LEFT, _FALL_RIGHT, _STEP = 640, 180, 60, 22


def svg_waterfalls(block: Waterfalls, *, identity: str) -> str:
    """Return the waterfalls behind their names; at most one is unfolded, and every text is escaped.

    >>> item = Waterfall(name="Row 3", steps=(("a < b", 3.0), ("job", 1.0)))
    >>> text = svg_waterfalls(Waterfalls(title="T", items=(item,), x_label="bits"), identity="w")
    >>> "a &lt; b" in text, "+1.0" in text, "Total 4.0 bits: a &lt; b +3.0, job +1.0." in text
    (True, True, True)
    """
    largest = max((sum(value for _, value in item.steps) for item in block.items), default=0.0) or 1.0
    parts = (
        f'<details name="{identity}"{"" if at else " open"}><summary>{escape(item.name)}</summary>'
        f"{_waterfall(item, block, largest, f'{identity}-{at}')}</details>"
        for at, item in enumerate(block.items)
    )
    return f'<div class="panels waterfalls">{"".join(parts)}</div>'


def _waterfall(item: Waterfall, block: Waterfalls, largest: float, identity: str) -> str:
    unit = (_FALL_WIDTH - _FALL_LEFT - _FALL_RIGHT) / largest
    total = sum(value for _, value in item.steps)
    rows, start = [], 0.0
    for at, (step, value) in enumerate((*item.steps, ("Total", total))):
        is_total = at == len(item.steps)
        x, y = _FALL_LEFT + (0.0 if is_total else start * unit), _STEP * at + 3
        end = x + value * unit
        text = f"{value:.1f}" if is_total else f"+{value:.1f}"
        rows.append(
            f'<text class="tick end" x="{_FALL_LEFT - 8}" y="{y + 13}">{escape(shorten(step, 24))}</text>'
            f'<rect class="bar {"second" if is_total else "first"}" x="{x:.1f}" y="{y}" width="{end - x:.1f}" '
            f'height="{_STEP - 6}"><title>{escape(f"{step}: {text} {block.x_label}")}</title></rect>'
            f'<text class="value" x="{end + 6:.1f}" y="{y + 13}">{text}</text>'
        )
        start += value
    described = f"Total {total:.1f} {block.x_label}: {', '.join(f'{step} +{value:.1f}' for step, value in item.steps)}."
    height = _STEP * (len(item.steps) + 1) + 2
    return (
        f'<svg viewBox="0 0 {_FALL_WIDTH} {height}" role="img" '
        f'aria-labelledby="{identity}-title {identity}-description">'
        f'<title id="{identity}-title">{escape(item.name)}</title>'
        f'<desc id="{identity}-description">{escape(described)}</desc>'
        f'<path class="axis" d="M{_FALL_LEFT} 0V{height}"/>{"".join(rows)}</svg>'
    )
