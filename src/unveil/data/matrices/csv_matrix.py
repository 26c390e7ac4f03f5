"""Read a matrix from CSV, with optional row and column names."""

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.data.files._columns import plain_numbers
from unveil.data.files._delimited_text import csv_columns, csv_rows
from unveil.data.files.source import Source
from unveil.data.matrices.square_matrix import MatrixFile, Names, refuse_shape, square_matrix
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl


# A fraction with a million digits would take minutes to divide, so exponents and cells are kept short.
_WRITTEN = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)(?:\s*/\s*(\d+))?\s*(%?)", re.ASCII)
_LONGEST_NUMBER = 100


def written_numbers(text: "pl.Series") -> "pl.Series":
    """Return cells as numbers, also ``40%`` and ``1/3``; null if invalid.

    >>> import polars as pl
    >>> written_numbers(pl.Series(["0.5", "40%", "1/3", "x"])).to_list()
    [0.5, 0.4, 0.3333333333333333, None]
    """
    import polars as pl

    plain = text.str.strip_chars()
    numbers = plain.cast(pl.Float64, strict=False)
    other = plain.filter(numbers.is_null()).drop_nulls().unique()
    if other.len() == 0:
        return numbers
    found = [written_number(cell) for cell in other]
    rest = plain.replace_strict(other, pl.Series(found, dtype=pl.Float64), default=None, return_dtype=pl.Float64)
    return numbers.zip_with(numbers.is_not_null(), rest)


def written_number(cell: str) -> float | None:
    """Return the number written as decimal, fraction, or percent, or None."""
    parts = _WRITTEN.fullmatch(cell.strip()) if len(cell) <= _LONGEST_NUMBER else None
    if parts is None:
        return None
    above, below, percent = parts.groups()
    try:
        return float(Fraction(above) / int(below or 1) / (100 if percent else 1))
    except (ZeroDivisionError, OverflowError):
        return None


def csv_matrix(source: Source, what: str, *, square: bool = True) -> MatrixFile:
    """Return the matrix and names of a CSV file; ``what`` starts errors."""
    top = csv_columns(source)
    width = len(top)
    left = csv_rows(source, width, [0])["0"]
    height = left.len() + 1
    has_pseudonyms, has_items = _named(source, top, left, height, square)
    rows, columns = height - has_pseudonyms, width - has_items
    refuse_shape((rows, columns), what=what, square=square)
    matrix = np.empty((rows, columns))
    if not has_pseudonyms:
        import polars as pl

        first = _read_numbers(pl.Series(top[has_items:], dtype=pl.String), source)
        matrix[0] = first.fill_null(np.nan).to_numpy()
    if height > 1:
        matrix[rows - height + 1 :] = _numbers(source, range(has_items, width), height - 1)
    wrong = np.argwhere(~np.isfinite(matrix))
    if wrong.size:
        row, column = wrong[0] + 1
        raise InputError(
            f"{what} must hold a number such as 0.25, 25% or 1/4 in every cell, but does not in row {row}, column "
            f"{column} (counted from 1, without names); such cells: {len(wrong)}. Write 0 for "
            "impossible pairs"
        )
    matrix.flags.writeable = False
    items = (([] if has_pseudonyms else [top[0]]) + left.fill_null("").to_list()) if has_items else None
    pseudonyms = top[has_items:] if has_pseudonyms else None
    return MatrixFile(
        square_matrix(matrix, what=what, square=square),
        _filled_names(items, "rows", what),
        _filled_names(pseudonyms, "columns", what),
    )


def _read_numbers(cells: "pl.Series", source: Source) -> "pl.Series":
    """Return cells as numbers, with the decimal mark of their file."""
    return written_numbers(plain_numbers(cells, source.dialect))


def _named(source: Source, top: list[str], left: "pl.Series", height: int, square: bool) -> tuple[bool, bool]:
    """Return whether the first row and the first column are names.

    A square file has names on both sides or none: both where its corner is empty or a word, and then names may be
    numbers. Names on one side only must be words: numbers there are more likely a matrix that is not square. Where one
    is allowed, an empty corner or a word in it says that both sides have names.
    """
    import polars as pl

    corner = pl.Series(top[:1], dtype=pl.String)
    if height == len(top):
        both = _are_words(corner, source) and height > 1
        return both, both
    edge = pl.concat([corner, left.rename(corner.name)])
    above, beside = _are_words(pl.Series(top, dtype=pl.String), source), _are_words(edge, source)
    if not square and not (above or beside) and _are_words(corner, source) and height > 1 < len(top):
        return True, True
    return above, beside


def _are_words(cells: "pl.Series", source: Source) -> bool:
    """Return whether most of the cells are no numbers."""
    return cells.len() > 0 and _read_numbers(cells, source).null_count() * 2 > cells.len()


def _filled_names(names: list[str] | None, word: str, what: str) -> Names | None:
    if names is None:
        return None
    empty = [number for number, name in enumerate(names, start=1) if not name]
    if empty:
        raise InputError(
            f"the names of the {word} of {what} must all be filled in, but number {empty[0]} (counted from 1) is not; "
            f"such names: {len(empty)}. Name it, or remove all names"
        )
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if first.setdefault(name, number) != number:
            raise InputError(
                f"the names of the {word} of {what} must differ, but number {number} has that of number {first[name]} "
                "(counted from 1). Rename or remove one of them"
            )
    return tuple(names)


def _numbers(source: Source, places: range, height: int) -> FloatArray:
    """Return the numbers below the first line, NaN if invalid."""
    import polars as pl

    wanted = [str(place) for place in places]
    kinds: dict[str, type[pl.DataType]] = {
        str(place): pl.Float64 if place in places else pl.String for place in range(places.stop)
    }
    try:
        frame = (
            pl.scan_csv(
                source.for_polars(),
                has_header=False,
                skip_rows=1,
                schema=kinds,
                separator=source.dialect.separator,
                quote_char=source.dialect.quote,
                ignore_errors=True,  # what is no plain number becomes null, and is read again below
                glob=False,
            )
            .select(wanted)
            .head(height)
            .collect()
        )
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(  # what polars says can hold a cell
            f"the file {source.name} cannot be read as a table of numbers. Write it again as plain CSV in UTF-8"
        ) from None
    again = [column.name for column in frame if column.null_count()]
    if again:
        texts = csv_rows(source, places.stop, map(int, again))
        frame = frame.with_columns(_read_numbers(texts[name], source).alias(name) for name in again)
    return frame.fill_null(np.nan).to_numpy()
