"""Cells of a CSV file that a spreadsheet would run as a formula, written so that it shows them instead."""

from typing import TYPE_CHECKING

from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

# The last four are how East Asian keyboards write these signs, and spreadsheets take them for the same.
_FORMULA = r"^'*\s*[=+\-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}]"
_NUMBER = r"^'*\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"


def shown_as_text(column: "pl.Series", what: str) -> "pl.Series":
    """Return the texts with an apostrophe before each that a spreadsheet would run; numbers stay as they are.

    :func:`as_meant` undoes it, whatever the texts are.

    Parameters
    ----------
    column
        Texts; its name is that of the column in the file.
    what
        What they are, for the message.

    Raises
    ------
    InputError
        If a text holds a control character, such as a tab or a line break: no spreadsheet and no terminal can be
        trusted with it.

    Examples
    --------
    >>> import polars as pl
    >>> shown_as_text(pl.Series(["Ada", "=1+1", "-5", "@bob", "'-x", None]), "names").to_list()
    ['Ada', "'=1+1", '-5', "'@bob", "''-x", None]
    """
    wild = column.str.contains(r"\p{Cc}").fill_null(value=False).arg_true()
    if wild.len():
        raise InputError(
            f"{what} in a CSV file must hold no control character (tab, line break and the like), but that of row "
            f"{wild[0] + 1} (counted from 1) of the column {column.name!r} does. Rename it in the input"
        )
    return ("'" + column).zip_with(_is_formula(column), column).alias(column.name)


def as_meant(column: "pl.Series") -> "pl.Series":
    """Return the texts of a file without the apostrophes that :func:`shown_as_text` put before them.

    >>> import polars as pl
    >>> as_meant(pl.Series(["Ada", "'=1+1", "-5", "'@bob", "''-x", "'-5", None])).to_list()
    ['Ada', '=1+1', '-5', '@bob', "'-x", "'-5", None]
    """
    bare = column.str.strip_prefix("'")
    return bare.zip_with(column.str.starts_with("'").fill_null(value=False) & _is_formula(bare), column)


def _is_formula(column: "pl.Series") -> "pl.Series":
    return (column.str.contains(_FORMULA) & ~column.str.contains(_NUMBER)).fill_null(value=False)
