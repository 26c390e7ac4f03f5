"""Multi-level column heads of a heat map: level, turned, or left out."""

import re
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Literal

from unveil.report.blocks_spread import HeatMap
from unveil.report.text import name

#: Pixels: all columns together where they fit, the narrowest and the widest one.
_FIT, _NARROWEST, _WIDEST = 690, 4, 56
#: Pixels: a letter of a head on average, the room that a head needs when it is turned, a line of one that is not.
_LETTER, _TURNED, _LINE = 7.2, 13, 14
#: The most lines of a head that is not turned; a name is broken behind these letters.
_MOST_LINES = 6
_PIECES = re.compile(r"[^,:;=…/ _-]*[,:;=…/ _-]?")
#: The most columns that are made wide enough for a turned head each, even if they then scroll.
_MOST_TURNED = 80
_LONGEST = 60
#: Pixels: how wide the columns are together on paper, and how much of them a telephone shows at once.
_PAPER, _SIGHT = 540, 160


@dataclass(frozen=True, kw_only=True)
class Head:
    """Name above the columns from ``first`` to ``last`` (excluded)."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class Tier:
    """Heads of one level: orientation and height in pixels."""

    heads: tuple[Head, ...]
    way: Literal["level", "turned", "none"]
    #: The lines of each head, where they are not turned.
    lines: tuple[tuple[str, ...], ...]
    height: int
    #: Whether the heads have no room on paper.
    only_on_screen: bool


def heads_of(heat: HeatMap, level: int) -> tuple[Head, ...]:
    """Return the names of a level above their columns."""
    found, first = [], 0
    for path, columns in groupby(column[: level + 1] for column in heat.columns):
        last = first + sum(1 for _ in columns)
        found.append(Head(name=name(path[-1], _LONGEST), first=first, last=last))
        first = last
    return tuple(found)


def column_width(heat: HeatMap) -> int:
    """Return how many pixels wide a column is on a screen."""
    number = max(len(heat.columns), 1)
    return min(max(_FIT // number, _TURNED if number <= _MOST_TURNED else _NARROWEST), _WIDEST)


def tiers(heat: HeatMap) -> list[Tier]:
    """Return the heads of each level: wrapped, turned, or left out."""
    width, number = column_width(heat), max(len(heat.columns), 1)
    return [_tier(heads_of(heat, level), width, _PAPER / number) for level in range(len(heat.levels))]


def _tier(heads: tuple[Head, ...], width: int, paper: float) -> Tier:
    """Return the heads of one level for these column widths."""
    for room, only_on_screen in ((min(width, paper), False), (width, True)):
        lines = tuple(wrapped(each.name, int(((each.last - each.first) * room - 4) / _LETTER)) for each in heads)
        if all(lines):
            height = _LINE * max(map(len, lines), default=0) + 6
            return Tier(heads=heads, way="level", lines=lines, height=height, only_on_screen=only_on_screen)
    narrowest = min(each.last - each.first for each in heads)
    if narrowest * width < _TURNED:
        return Tier(heads=heads, way="none", lines=(), height=0, only_on_screen=False)
    height = round(max(len(each.name) for each in heads) * _LETTER) + 12
    return Tier(heads=heads, way="turned", lines=(), height=height, only_on_screen=narrowest * paper < _TURNED - 3)


def wrapped(text: str, letters: int) -> tuple[str, ...]:
    """Return a name in at most six lines, or "".

    >>> wrapped("DV:theta=0,chunk=100", 12), wrapped("random walk", 5)
    (('DV:theta=0,', 'chunk=100'), ())
    """
    lines: list[str] = []
    for piece in _PIECES.findall(text):
        if len(piece.rstrip()) > letters:
            return ()
        if lines and len((lines[-1] + piece).rstrip()) <= letters:
            lines[-1] += piece
        elif piece:
            lines.append(piece)
    return tuple(line.strip() for line in lines) if len(lines) <= _MOST_LINES else ()


def orders(heat: HeatMap) -> list[tuple[str, bool]]:
    """Return the order of columns without heads, for screen or paper."""
    said = []
    for level, tier in enumerate(tiers(heat)):
        if tier.way == "none" or tier.only_on_screen:
            names = dict.fromkeys(each.name for each in tier.heads)
            within = f"Within each {heat.levels[level - 1]}, columns" if level else "Columns"
            whole = len(tier.heads) == len(names) * (len(heads_of(heat, level - 1)) if level else 1)
            said.append(
                (
                    f"{within} from the left by {heat.levels[level]}{'' if whole else ', where it is there'}: "
                    f"{', '.join(names)}.",
                    tier.only_on_screen,
                )
            )
    return said


def svg_heads(levels: list[Tier], number: int, width: int) -> list[str]:
    """Return the heads of all levels, outermost first, escaped."""
    parts, top = [], 0
    for level, tier in enumerate(levels):
        bottom = top + tier.height
        inside = ""
        if tier.way == "level":
            pairs = zip(tier.heads, tier.lines, strict=True)
            inside = "".join(_level_head(head, lines, number, width, bottom - 6) for head, lines in pairs)
        elif tier.way == "turned":
            inside = "".join(_turned_head(head, number, bottom - 5) for head in tier.heads)
        if inside and level < len(levels) - 1:
            inside += "".join(_brace(head, number, bottom - 1) for head in tier.heads)
        # On paper, heads come down to where those below them are left out.
        drop = sum(other.height for other in levels[level + 1 :] if other.only_on_screen)
        if inside:
            kind = " only-on-screen" if tier.only_on_screen or drop else ""
            parts.append(f'<g class="heads{kind}">{inside}</g>')
            if drop and not tier.only_on_screen:
                parts.append(f'<g class="heads only-on-paper" transform="translate(0 {drop})">{inside}</g>')
        top = bottom
    return parts


def _turned_head(head: Head, number: int, y: int) -> str:
    x = 100 * (head.first + head.last) / 2 / number
    return f'<text class="turned end" x="{x:.3f}%" y="{y}">{escape(head.name)}</text>'


def _brace(head: Head, number: int, y: int) -> str:
    left, right = 100 * head.first / number, 100 * head.last / number
    return f'<line class="brace" x1="{left:.3f}%" x2="{right:.3f}%" y1="{y}" y2="{y}"/>'


def _level_head(head: Head, lines: tuple[str, ...], number: int, width: int, y: int) -> str:
    """Return the centered name, repeated for wide column groups."""
    columns, longest = head.last - head.first, max(map(len, lines))
    # An odd number: the one in the middle is that of the paper, where all is in sight.
    times = max((columns * width // max(_SIGHT, round(longest * _LETTER) + 40) - 1) // 2 * 2 + 1, 1)
    places = (100 * (head.first + columns * (2 * each + 1) / (2 * times)) / number for each in range(times))
    return "".join(
        f'<text class="middle{"" if each == times // 2 else " only-on-screen"}" x="{x:.3f}%" '
        f'y="{y - _LINE * (len(lines) - 1 - at)}">{escape(line)}</text>'
        for each, x in enumerate(places)
        for at, line in enumerate(lines)
    )
