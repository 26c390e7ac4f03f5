"""Detect cells that mean no value: missing, not applicable, or suppressed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from unveil._figure import figure
from unveil.data.table.words import LISTED, MarkerKind
from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

MARKER_KINDS: tuple[MarkerKind, ...] = get_args(MarkerKind)

#: Numbers below 0 that stand for a missing value where all other values are at least 0.
_BELOW_ZERO = frozenset([*range(-9, -5), -66, -77, -88, -99, -97, -98, -666, -777, -888, -999, -9999])
_MOST_BELOW_ZERO = 4
_NEARLY_NINES = (97, 98, 997, 998)
_ENOUGH_NUMBERS = 5
_MOST_UNLISTED = 2
#: `Table.marked` counts markers in a byte.
MOST_MARKERS = 254


@dataclass(frozen=True)
class Marker:
    """Marker text and meaning; case and outer blanks do not matter.

    ``kind_of_marker`` is "missing", "not applicable", "suppressed", "own code" (a number out of reach of the others,
    such as 99999, whatever it means) or "unreadable" (a cell of a release that is none of the original's kind).
    ``told`` says that it was not guessed: it is then null in a category too, if it is missing or suppressed.
    """

    text: str
    kind_of_marker: MarkerKind
    told: bool = field(default=False, compare=False, repr=False)

    @property
    def key(self) -> str:
        """Key of the marker across tables: number or lower-case text."""
        number = number_of(self.text)
        return repr(number) if number is not None else self.text.strip().lower()

    @property
    def is_null_in_words(self) -> bool:
        """True if it is null in categories and texts, too."""
        return self.told and self.kind_of_marker in ("missing", "suppressed")


@dataclass(frozen=True, kw_only=True)
class MarkerCount:
    """Marker text, its meaning, and its number of cells."""

    text: str = figure("The text of such a cell.")
    kind: MarkerKind = figure(
        "Meaning of the text: missing, not applicable, suppressed, own code or unreadable.", name="class"
    )
    cells: int = figure("Number of cells with this text.", counts="rows")


#: Markers as callers tell them: each text with its class, for all columns or, below a column's name, for that one.
DeclaredMarkers = Mapping[str, MarkerKind | Mapping[str, MarkerKind]]


def number_of(text: str) -> float | None:
    """Return the finite number that a text is, or None.

    >>> number_of(" -9 "), number_of("1e999"), number_of("N")
    (-9.0, None, None)
    """
    try:
        number = float(text) if "_" not in text else float("nan")
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def told_markers(
    missing: Iterable[str] | Mapping[str, Iterable[str]],
    markers: DeclaredMarkers | None,
    names: Sequence[str],
    table: str,
) -> dict[str, dict[str, MarkerKind]]:
    """Return the declared markers of each column, with their classes.

    Parameters
    ----------
    missing
        Texts that stand for a missing value in every column, or such texts for each column.
    markers
        Texts with their classes, for all columns or below a column's name.
    names, table
        The columns there are, and how messages call the table.

    Examples
    --------
    >>> told_markers({"age": ["-1"]}, {"#": "suppressed"}, ["age", "sex"], "table")
    {'age': {'-1': 'missing', '#': 'suppressed'}, 'sex': {'#': 'suppressed'}}
    """
    if isinstance(missing, str):
        raise InputError(f"missing must be a list of texts, or one for each column. Write missing=[{missing!r}]")
    told: dict[str, dict[str, MarkerKind]] = {name: {} for name in names}
    if not isinstance(missing, Mapping):
        missing = dict.fromkeys(names, tuple(missing))
    for name, texts in missing.items():
        _refuse_unknown("missing", name, told, table)
        if isinstance(texts, str):
            raise InputError(f"missing[{name!r}] must be a list of texts. Write missing={{{name!r}: [{texts!r}]}}")
        told[name] |= dict.fromkeys(map(str, texts), "missing")
    for key, kinds in (markers or {}).items():
        if isinstance(kinds, Mapping):
            _refuse_unknown("markers", key, told, table)
        for text, kind in kinds.items() if isinstance(kinds, Mapping) else [(key, kinds)]:
            if kind not in MARKER_KINDS:
                where = f" of column {key!r}" if isinstance(kinds, Mapping) else ""
                raise InputError(
                    f"a marker{where} must stand for one of {', '.join(MARKER_KINDS)}, but one stands for {kind!r}. "
                    "Name one of these in markers={…}"
                )
            for name in [key] if isinstance(kinds, Mapping) else names:
                told[name][text] = kind
    return told


def _refuse_unknown(what: str, name: str, declared: Mapping[str, object], table: str) -> None:
    if name not in declared:
        raise InputError(
            f"{what} names column {name!r}, which is not in the {table}.{did_you_mean(name, declared)} "
            "Correct the name, or leave it out"
        )


def word_markers(
    words: "pl.Series", numbers: int, declared: Iterable[Marker] = (), *, unlisted: bool = True
) -> dict[str, Marker]:
    """Return the markers among the distinct non-numeric cells.

    Parameters
    ----------
    words
        The different cells that are no numbers, as they are written.
    numbers
        How many different numbers stand beside them.
    declared
        Markers that are known of this column; those that are numbers are left aside.
    unlisted
        Whether one or two words on no list, beside five numbers and nothing else, are taken for missing values.

    Returns
    -------
    dict
        Each cell that is a marker, as it is written, with the marker. The empty cell is none: it is plainly missing.

    Examples
    --------
    >>> import polars as pl
    >>> word_markers(pl.Series(["N", "n ", "?"]), 5)["n "]
    Marker(text='N', kind_of_marker='not applicable')
    >>> word_markers(pl.Series(["N", "W"]), 0)
    {}
    """
    if words.is_empty():
        return {}
    plain = words.str.strip_chars().str.to_lowercase()
    known = {word: Marker(word, kind) for word, (kind, least) in LISTED.items() if numbers >= least}
    known |= {marker.key: marker for marker in declared}
    rest = plain.filter(~plain.is_in([*known, ""])).unique()
    beside_numbers = 0 < rest.len() <= _MOST_UNLISTED and numbers >= _ENOUGH_NUMBERS
    if unlisted and beside_numbers and not rest.str.contains(r"\d").any():
        known |= {word: Marker(word, "missing") for word in rest}
    is_known = plain.is_in(list(known))
    cells: dict[str, list[str]] = {}
    for cell, word in sorted(zip(words.filter(is_known).to_list(), plain.filter(is_known).to_list(), strict=True)):
        cells.setdefault(word, []).append(cell)
    found: dict[str, Marker] = {}
    for word, written in sorted(cells.items()):
        marker = replace(known[word], text=min(cell.strip() for cell in written))
        found |= dict.fromkeys(written, marker)
    return found


def is_unlisted(marker: Marker) -> bool:
    """Return whether a marker is an unlisted word, which must stay private."""
    return number_of(marker.text) is None and marker.key not in LISTED


def number_markers(different: "pl.Series", numbers: "pl.Series") -> list[Marker]:
    """Return the numeric markers among the distinct values of a column.

    >>> import polars as pl
    >>> ages = pl.Series([31, 24, 99, -9, 45, 99, 0])
    >>> [marker.text for marker in number_markers(ages.unique().sort(), ages)]
    ['-9', '99']
    """
    found: list[Marker] = []
    below = different.filter(different < 0).bottom_k(_MOST_BELOW_ZERO + 1).sort().to_list()
    if 0 < len(below) <= _MOST_BELOW_ZERO and len(below) < different.len() and _BELOW_ZERO.issuperset(below):
        found += [Marker(f"{int(value)}", "missing") for value in below]
    last = different.top_k(_MOST_BELOW_ZERO + 1).sort().to_list()
    top = 0
    while top < len(last) - 1 and _is_nines(last[-1 - top]) and (numbers == last[-1 - top]).sum() >= 2:
        top += 1
    # Below them must come a gap as wide as what is left of the values, and two values to be left.
    for many in range(top, 0, -1):
        if 2 * last[-1 - many] < last[-many] and different.len() - many - len(found) >= 2:
            return found + [Marker(f"{int(value)}", "own code") for value in last[-many:]]
    return found


def _is_nines(value: float) -> bool:
    if value < 10 or value != int(value):
        return False
    digits = str(int(value))
    return int(value) in _NEARLY_NINES or (digits[0] in "789" and len(set(digits)) == 1)


def marked_cells(
    series: "pl.Series", numbers: "pl.Series | None", cells: Mapping[str, Marker]
) -> tuple[tuple[Marker, ...], "pl.Series | None"]:
    """Return a column's markers, and the marker of each cell, from 1.

    ``series`` are the cells as they came in, ``numbers`` the numbers they are, if any, and ``cells`` those that are
    markers; where there are none, the second is None. A marker that is a number is looked for among the numbers, and
    any other among the texts.
    """
    import polars as pl

    written: dict[Marker, list[str]] = {}
    for cell, marker in cells.items():
        written.setdefault(marker, []).append(cell)
    if len(written) > MOST_MARKERS:
        raise InputError(
            f"column {series.name!r} must have at most {MOST_MARKERS} markers, but has {len(written)}. "
            "Name only texts that stand for no value"
        )
    if not written:
        return (), None
    marked = pl.repeat(0, series.len(), dtype=pl.UInt8, eager=True).alias(series.name)
    for place, (marker, texts) in enumerate(written.items(), 1):
        number = number_of(marker.text)
        held = series.is_in(texts) if number is None or numbers is None else numbers == number
        marked = marked.set(held.fill_null(value=False), place)
    return tuple(written), marked
