"""Which original cells can a released cell come from? For each column, levels of the original and their bounds."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.table.rank_windows import Windows, rows_in_boxes
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.table import Table, agree
from unveil.data.table.encode import MISSING, encode, without_markers
from unveil.errors import InputError
from unveil.guess.beliefs import Beliefs
from unveil.guess.mass_function import MassFunction

if TYPE_CHECKING:
    import polars as pl


#: What stands between the categories that a released cell leaves open, and what leaves all open.
BETWEEN, ANYTHING = " | ", "*"
#: Members of all different sets together, at most: they take 12 bytes each.
MOST_MEMBERS = 50_000_000
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(
    rf"(?P<open>[\[(])?\s*(?P<low>{_NUMBER})\s*(?:-|–|,|;|:|\.\.|to)\s*(?P<high>{_NUMBER})\s*(?P<end>[\])])?"
)
_BOUND = re.compile(rf"(?P<sign><=|>=|<|>|≤|≥)\s*(?P<value>{_NUMBER})|(?P<more>{_NUMBER})\s*\+")


class Fits(NamedTuple):
    """Which original cells of one column each released cell can come from.

    An original row with a level from ``first[j]`` to ``last[j]`` fits released row j; where ``among`` is given, only
    if ``among[choice[j], level]`` says so too.
    """

    level: Int32Array
    first: Int32Array
    last: Int32Array
    choice: Int32Array | None = None
    among: BoolArray | None = None


def fits_of(original: Table, released: Table, name: str, reach: float) -> Fits:
    """Return which original cells of a column fit each released one, by the rules of `CandidateSet`."""
    if original.column(name).kind == "number" and _is_text(released.frame[name]):
        return _in_ranges(original, released, name)
    one, other = agree(original.select([name]), released.select([name]))
    known, seen = encode([one, other], [name])
    if known.names_numbers:
        return _near(without_markers(known.numbers[:, 0]), without_markers(seen.numbers[:, 0]), reach)
    level, code = (np.maximum(part.codes[:, 0], 0) for part in (known, seen))
    return _listed(one.frame[name], other.frame[name], level, code)


def _is_text(cells: "pl.Series") -> bool:
    import polars as pl

    return cells.dtype in (pl.String, pl.Enum)


def _near(known: IntArray, seen: IntArray, reach: float) -> Fits:
    there = known[known != MISSING]
    most = int(reach * there.std()) if there.size else 0
    gone = seen == MISSING
    shown = np.where(gone, 0, seen)
    return _between(known, shown - most, shown + most, gone)


def _between(known: IntArray, low: IntArray, high: IntArray, anything: BoolArray) -> Fits:
    values = np.unique(known[known != MISSING])
    level = np.where(known == MISSING, values.size, np.searchsorted(values, known))
    first = np.where(anything, 0, np.searchsorted(values, low))
    last = np.where(anything, values.size, np.searchsorted(values, high, side="right") - 1)
    return Fits(level.astype(np.int32), first.astype(np.int32), last.astype(np.int32))


def _listed(known: "pl.Series", seen: "pl.Series", level: Int32Array, code: Int32Array) -> Fits:
    """Return the fits of a column without an order: equal, in the list that is shown, or anything."""
    import polars as pl

    last = int(max(level.max(initial=0), code.max(initial=0)))
    anything = code == 0
    if seen.dtype == pl.String:
        anything |= (seen == ANYTHING).fill_null(False).to_numpy()
    first, end = np.where(anything, 0, code), np.where(anything, last, code)
    several = np.zeros(code.size, bool)
    if seen.dtype == pl.String:
        several = (seen.str.contains(BETWEEN, literal=True)).fill_null(False).to_numpy() & ~np.isin(code, level)
    if not several.any():
        return Fits(level, first.astype(np.int32), end.astype(np.int32))
    lists, of_row = np.unique(code[several], return_inverse=True)
    texts = dict(zip(code[several].tolist(), seen.filter(pl.Series(several)).to_list(), strict=True))
    number = dict(zip(known.to_list(), level.tolist(), strict=True))
    among = np.zeros((lists.size + 1, last + 1), bool)
    among[0] = True
    for place, one in enumerate(lists.tolist(), 1):
        among[place, [number[text] for text in texts[one].split(BETWEEN) if text in number]] = True
    choice = np.zeros(code.size, np.int32)
    choice[several] = of_row + 1
    first, end = np.where(several, 0, first), np.where(several, last, end)
    return Fits(level, first.astype(np.int32), end.astype(np.int32), choice, among)


def _in_ranges(original: Table, released: Table, name: str) -> Fits:
    """Return the fits of a number column that is released as texts such as "20-29" or "[20, 30)"."""
    import polars as pl

    values = np.unique(original.frame[name].drop_nulls().to_numpy().astype(np.float64))
    known = original.frame[name].cast(pl.Float64).to_numpy()
    level = np.where(np.isnan(known), values.size, np.searchsorted(values, known))
    texts = released.frame[name].cast(pl.String)
    distinct = texts.unique().to_list()
    bounds = {text: _bounds(text, values) for text in distinct}
    strange = sum(text is not None and bounds[text] is None for text in distinct)
    if strange:
        raise InputError(
            f"column {name!r} holds numbers in the {original.name}, so in the {released.name} it must hold numbers or "
            f"ranges such as 20-29, [20, 30), <=19, 65+ or *, but {strange} different cells are none. Write them so, "
            "pass the mechanism, or leave the column out of columns"
        )
    found = np.array([bounds[text] or (0, values.size) for text in texts.to_list()], np.int32)
    return Fits(level.astype(np.int32), found[:, 0], found[:, 1])


def _bounds(text: str | None, values: FloatArray) -> tuple[int, int] | None:
    """Return the first and the last level that a text leaves open; None if it is no range.

    >>> numbers = np.array([20.0, 25.0, 30.0])
    >>> [_bounds(text, numbers) for text in ("20-29", "[20, 30)", "(20, 30]", "<=25", ">25", "25+", "25", "*", "old")]
    [(0, 1), (0, 1), (1, 2), (0, 1), (2, 2), (1, 2), (1, 1), (0, 3), None]
    """
    if text is None or text.strip() == ANYTHING:
        return 0, values.size
    text = text.strip()
    bound, both = _BOUND.fullmatch(text), _RANGE.fullmatch(text)
    low, high, above, below = -np.inf, np.inf, False, False
    if bound is not None:
        sign = {"≤": "<=", "≥": ">=", None: ">="}.get(bound["sign"], bound["sign"])
        number = float(bound["value"] or bound["more"])
        low, high = (number, high) if sign[0] == ">" else (low, number)
        above, below = sign == ">", sign == "<"
    elif both is not None:
        low, high = float(both["low"]), float(both["high"])
        above, below = both["open"] == "(", both["end"] == ")"
    elif re.fullmatch(_NUMBER, text):
        low = high = float(text)
    else:
        return None
    first = int(np.searchsorted(values, low, side="right" if above else "left"))
    return first, int(np.searchsorted(values, high, side="left" if below else "right")) - 1


class Sets(NamedTuple):
    """Different sets of original rows, one after the other, and which of them each released row has."""

    start: IntArray
    rows: Int32Array
    of_target: IntArray

    def pairs(self) -> tuple[IntArray, Int32Array]:
        """Return all released rows with the members of their sets, pair by pair."""
        count = np.diff(self.start)[self.of_target]
        _check_room(int(count.sum()))
        target = np.repeat(np.arange(count.size), count)
        shift = self.start[self.of_target] - np.cumsum(count) + count
        return target, self.rows[np.arange(target.size) + shift[target]]


def sets_of(fits: Sequence[Fits]) -> Sets:
    """Return the original rows that fit each released row in every column; released rows that show the same share."""
    keys = [key for one in fits for key in (one.first, one.last, one.choice) if key is not None]
    of_target, example = _alike(keys)
    boxes = Windows(*(np.column_stack([getattr(one, end)[example] for one in fits]) for end in ("first", "last")))
    start, rows = rows_in_boxes(np.column_stack([one.level for one in fits]), boxes, most=MOST_MEMBERS)
    _check_room(int(start[-1]))
    for one in fits:
        if one.choice is not None and one.among is not None:
            owner = np.repeat(np.arange(example.size), np.diff(start))
            kept = one.among[one.choice[example][owner], one.level[rows]]
            start = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=example.size))])
            rows = rows[kept]
    return Sets(start, rows, of_target)


def _check_room(members: int) -> None:
    if members > MOST_MEMBERS:
        raise InputError(
            f"the candidate sets must have at most {MOST_MEMBERS:,} members together, but have more. Name more "
            "columns, which make the sets smaller, or take fewer rows"
        )


def _alike(keys: Iterable[Int32Array]) -> tuple[IntArray, IntArray]:
    """Return a number per row, the same where all keys are, and one row of each number."""
    number = np.zeros(0, np.int64)
    for key in keys:
        joint = key.astype(np.int64) if not number.size else number * (int(key.max()) + 2) + key + 1
        number = np.unique(joint, return_inverse=True)[1].astype(np.int64)
    return number, np.unique(number, return_index=True)[1]


def beliefs_of_sets(size: int, sets: Sets) -> Beliefs:
    """Return the belief that each released row comes from one of its set, with no preference; none may be empty.

    >>> two = Sets(np.array([0, 2, 3]), np.array([0, 3, 1], np.int32), np.array([0, 1, 0]))
    >>> [mass.sets for mass in beliefs_of_sets(4, two).each]
    [(array([0, 3]),), (array([1]),), (array([0, 3]),)]
    """
    made = [
        MassFunction.from_set(size, sets.rows[begin:end].astype(np.int64))
        for begin, end in zip(sets.start[:-1].tolist(), sets.start[1:].tolist(), strict=True)
    ]
    return Beliefs.from_codes(size, sets.of_target, made)


def empty_rows(sets: Sets) -> IntArray:
    """Return the released rows whose set is empty."""
    return np.flatnonzero((np.diff(sets.start) == 0)[sets.of_target])
