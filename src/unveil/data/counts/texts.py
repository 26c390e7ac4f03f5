"""What the text of a cell says about its count: a figure, a range, a symbol in its place, or nothing to count."""

import re
from dataclasses import dataclass
from typing import Literal

from unveil._kernels.counts.rows import LARGEST_COUNT
from unveil.data.counts.settings import CountSettings, Range
from unveil.data.table._cell_texts import folded, is_suppressed

#: How a cell is told: its count, a range, a symbol that tells no range by itself, or that there is nothing to count.
CellNotation = Literal["figure", "range", "symbol", "nothing"]

_SYMBOLS = frozenset(
    {"", "*", "c", "x", "s", "[c]", "[x]", "..", "…", "...", ":", "na", "n/a", "nan", "null", "none", "suppressed"}
)
_NOTHING = frozenset({"[z]", "z"})
#: One office writes them for zero, another for what does not apply or is not known.
_UNCLEAR = frozenset({"-", "–", ".", "--"})
_FIGURE = re.compile(r"\d{1,3}(?:[ ,'\u202f]\d{3})+|\d+(?:\.0+)?", re.ASCII)
_DECIMAL = re.compile(r"-?\d+[.,]\d+|-?\d*[.,]?\d+e[+-]?\d+", re.ASCII | re.IGNORECASE)
_POINTS_BETWEEN_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+", re.ASCII)
_BELOW = re.compile(r"(?:<|less than|fewer than|under)\s*(\d+)", re.ASCII)
_AT_MOST = re.compile(r"(?:<=|≤|up to)\s*(\d+)", re.ASCII)
_FROM = re.compile(r"(?:>=|≥|at least)\s*(\d+)|(\d+)\s*(?:\+|or more|and over)", re.ASCII)
_ABOVE = re.compile(r"(?:>|more than)\s*(\d+)", re.ASCII)
_BETWEEN = re.compile(r"(\d+)\s*(?:-|–|to|\.\.)\s*(\d+)", re.ASCII)


@dataclass(frozen=True)
class ParsedCell:
    """The meaning of a cell's text: its notation, least and greatest value, and the symbol if it is one."""

    told: CellNotation
    low: int = 0
    high: int | None = None
    symbol: str = ""


class UnreadableError(Exception):
    """A text that is no count; the first argument says what a cell must hold, the second what to do."""


def told_by(text: str | None, settings: CountSettings, *, inner: bool = True) -> ParsedCell:
    """Return what a cell says; ``inner`` is whether no variable of it is at its total.

    >>> told_by("1,204", CountSettings()), told_by("<5", CountSettings())
    (ParsedCell(told='figure', low=1204, high=1204, symbol=''), ParsedCell(told='range', low=1, high=4, symbol=''))
    >>> told_by("*", CountSettings()).symbol
    '*'
    """
    plain = folded(text or "")
    for own, told in settings.hidden.items():
        if plain == folded(own):
            return ParsedCell("nothing") if told is None else ParsedCell("range", *told)
    if _FIGURE.fullmatch(plain):
        return _figure(int(re.sub(r"[^\d]", "", plain.partition(".")[0])), settings, inner=inner)
    if (told := _printed_range(plain)) is not None:
        return ParsedCell("range", *told)
    if plain in _NOTHING:
        return ParsedCell("nothing")
    if plain in _SYMBOLS or is_suppressed(plain.strip("[]()")):
        return ParsedCell("symbol", symbol=plain)
    raise _unreadable(plain)


def _figure(shown: int, settings: CountSettings, *, inner: bool) -> ParsedCell:
    if shown > LARGEST_COUNT:
        raise UnreadableError("hold counts of at most about 10^12", "Check whether these are counts")
    low, high = shown, shown
    if settings.rounding is not None and (inner or not settings.rounding.inner):
        if shown % settings.rounding.base:
            raise UnreadableError(
                f"hold multiples of {settings.rounding.base}, to which its figures are said to be rounded",
                "Tell another base, or leave exact totals out with --rounding BASE:METHOD:inner",
            )
        ends = settings.rounding.told(shown)
        low, high = ends[0], ends[1] if ends[1] is not None else shown
    elif settings.noise and not (shown == 0 and settings.zeros_true):
        low, high = max(0, shown - settings.noise), shown + settings.noise
    return ParsedCell("figure" if low == high else "range", low, high)


def _printed_range(plain: str) -> Range | None:
    for pattern, shift in ((_BELOW, -1), (_AT_MOST, 0)):
        if found := pattern.fullmatch(plain):
            # Zeros are shown where only small counts are hidden; otherwise it is told.
            top = int(found[1]) + shift
            return (1, top) if top >= 1 else (0, max(top, 0))
    if found := _FROM.fullmatch(plain):
        return int(found[1] or found[2]), None
    if found := _ABOVE.fullmatch(plain):
        return int(found[1]) + 1, None
    if (found := _BETWEEN.fullmatch(plain)) and int(found[1]) <= int(found[2]):
        return int(found[1]), int(found[2])
    return None


def _unreadable(plain: str) -> UnreadableError:
    if plain in _UNCLEAR:
        return UnreadableError(
            f"say clearly what its cells tell, and {plain!r} means zero to some and not applicable to others",
            f'Tell it: --suppressed "{plain}=0", --suppressed "{plain}=0.." or --suppressed "{plain}=none"',
        )
    if re.fullmatch(r"-\s?\d.*", plain):
        return UnreadableError("hold counts, which are not negative", "Check the figures")
    if _POINTS_BETWEEN_THOUSANDS.fullmatch(plain):
        return UnreadableError(
            "hold whole numbers, and a point before three digits is read as one before decimals",
            "Where points stand between thousands, write the figures without them (1204, not 1.204)",
        )
    if _DECIMAL.fullmatch(plain):
        return UnreadableError(
            "hold whole numbers, and sums, means and weighted figures are none",
            "Pass counts; magnitudes are not attacked",
        )
    if plain.endswith("%"):
        return UnreadableError("hold counts, and shares are none", "Name the column percent, or leave it out")
    return UnreadableError(
        "hold counts or symbols that are known",
        'Tell what a symbol means with --suppressed "TEXT=RANGE", as in --suppressed "§=1..4"',
    )
