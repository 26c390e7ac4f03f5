"""Escape CSV cells that a spreadsheet would run as formulas."""

from typing import TYPE_CHECKING

from unveil.errors import InputError, shortened

if TYPE_CHECKING:
    import polars as pl

# The last four are how East Asian keyboards write these signs, and spreadsheets take them for the same.
_FORMULA = r"^'*(\s*[=+\-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}]|[\t\r])"
_SHOWN = 5
_NUMBER = r"^'*\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"


def shown_as_text(column: "pl.Series", what: str) -> "pl.Series":
    """Return the texts with an apostrophe before each possible formula.

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
    return _neutral(column)


def neutral_csv(frame: "pl.DataFrame") -> str:
    """Return a table as CSV with formulas escaped.

    Each that it would run has an apostrophe before it; numbers stay as they are.

    >>> import polars as pl
    >>> print(neutral_csv(pl.DataFrame({"=town": ["Ulm", "=1+1"], "count": [-1, 2]})), end="")
    '=town,count
    Ulm,-1
    '=1+1,2
    """
    import polars as pl

    texts = [_neutral(column) for column in frame if column.dtype == pl.String]
    safe = frame.with_columns(texts)
    safe.columns = _neutral(pl.Series(frame.columns, dtype=pl.String)).to_list()
    return safe.write_csv()


def formula_warning(frame: "pl.DataFrame") -> str:
    """Return a warning about formula cells, with {} for the file.

    It is for files whose cells must stay as they are, because programs read them.

    >>> import polars as pl
    >>> formula_warning(pl.DataFrame({"town": ["Ulm", "-5"]}))
    ''
    >>> formula_warning(pl.DataFrame({"town": ["Ulm", "=1+1"]})).partition(":")[0]
    "A spreadsheet would run cells of {} as formulas, in the column 'town'"
    """
    import polars as pl

    names = pl.Series(frame.columns, dtype=pl.String)
    found = [
        shortened(column.name).replace("{", "{{").replace("}", "}}")
        for column, is_name in zip(frame, _is_formula(names), strict=True)
        if is_name or (column.dtype == pl.String and _is_formula(column).any())
    ]
    if not found:
        return ""
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return (
        f"A spreadsheet would run cells of {{}} as formulas, in the column{'s' * (len(found) > 1)} "
        f"{', '.join(found[:_SHOWN])}{more}: they begin with =, +, -, @, a tab or a carriage return. They are written "
        "as they are; open the file with another program, or import these columns as text"
    )


def _neutral(column: "pl.Series") -> "pl.Series":
    return ("'" + column).zip_with(_is_formula(column), column).alias(column.name)


def as_meant(column: "pl.Series") -> "pl.Series":
    """Return the texts without the apostrophes of :func:`shown_as_text`.

    >>> import polars as pl
    >>> as_meant(pl.Series(["Ada", "'=1+1", "-5", "'@bob", "''-x", "'-5", None])).to_list()
    ['Ada', '=1+1', '-5', '@bob', "'-x", "'-5", None]
    """
    bare = column.str.strip_prefix("'")
    return bare.zip_with(column.str.starts_with("'").fill_null(value=False) & _is_formula(bare), column)


def _is_formula(column: "pl.Series") -> "pl.Series":
    return (column.str.contains(_FORMULA) & ~column.str.contains(_NUMBER)).fill_null(value=False)
