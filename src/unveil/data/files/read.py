"""Read one table from a CSV or Parquet file: the columns asked for, or a message that says what to correct."""

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.data.files._columns import as_text as to_text
from unveil.data.files._columns import as_typed as to_typed
from unveil.data.files._delimited import csv_columns, csv_height, csv_rows
from unveil.data.files._parquet import parquet_columns, parquet_rows
from unveil.data.files.header import Header, check_header, is_surely_header, made_names, refuse_data
from unveil.data.files.source import Source, open_source, shown
from unveil.errors import InputError, did_you_mean, shortened

if TYPE_CHECKING:
    import polars as pl

_SHOWN_NAMES = 20


def read_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    *,
    optional: Collection[str] = (),
    complete: Collection[str] = (),
    options: Mapping[str, str] | None = None,
    as_text: bool = True,
    header: Header = "yes",
) -> "pl.DataFrame":
    """Return the named columns of a CSV or Parquet file, one row per row of the file, in its order.

    Parquet is known by its first bytes; everything else must be CSV in UTF-8 with a header (tabs between cells where
    the name ends in ``.tsv``), both also compressed with gzip. Only the columns asked for are read.

    Parameters
    ----------
    path
        The file, or a pipe.
    columns
        The name wanted for each column and its name in the file; None takes every column as it is called.
    optional
        Wanted names that the file may lack; the result then lacks them too. A column whose name is nearly that of a
        missing optional one is refused, because it is a slip that would otherwise go unseen.
    complete
        Wanted names whose cells must all be filled.
    options
        For each wanted name the command-line option that renames it, to be named in messages.
    as_text
        True reads identifiers: every cell as it is written (``01`` is not ``1``), and whole numbers of Parquet as
        their digits. False gives a text column as numbers where all of its cells are numbers, except codes that begin
        with 0, and keeps the types of Parquet.
    header
        "yes" takes the first line of CSV for the names of the columns, "no" for data below names that are made
        (``column_1`` and so on), and "detect" for names unless it looks like data, which is refused. Parquet always has
        names.

    Returns
    -------
    polars.DataFrame
        The wanted columns. An empty cell, and a NaN, is null.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged or lacks a column; with the row, counted from 1 below the header.

    Examples
    --------
    >>> from unveil.data import samples
    >>> read_table(samples.path("partition_truth.csv"), {"subject": "cluster"}).head(1).rows()
    [('triangles',)]
    """
    import polars as pl

    source = open_source(path)
    is_parquet = source.kind == "parquet"
    names = parquet_columns(source) if is_parquet else names_of(source, header)
    found = _find(source, names, columns, optional, options or {})
    chosen = list(dict.fromkeys(found.values()))
    if is_parquet:
        frame = parquet_rows(source, chosen)
    else:
        frame = csv_rows(source, names, chosen, has_header=check_header(header) != "no")
    if frame.height == 0:
        raise InputError(f"the file {source.name} must hold rows, but has a header only. Check that it is complete")
    cells = {name: to_text(source, frame[name]) if as_text else to_typed(frame[name]) for name in chosen}
    frame = pl.DataFrame({wanted: cells[name] for wanted, name in found.items()})
    for wanted in complete:
        if wanted in found:
            refuse_cells(frame[wanted].is_null(), path, found[wanted], "have a value in every row")
    return frame


def names_of(source: Source, header: Header = "detect") -> list[str]:
    """Return what the columns of a text table are called: by its first line, or by their number where it has no names.

    Raises the error for a first line that may be data, unless it is told what it is.
    """
    first = csv_columns(source)
    if check_header(header) == "no":
        return made_names(len(first))
    if header == "detect":
        refuse_data(source, first)
    return first


def refuse_cells(
    wrong: "pl.Series",
    path: str | os.PathLike[str],
    column: str,
    must: str,
    advice: str = "Correct the file, or leave those rows out",
) -> None:
    """Raise the error for a column with wrong cells, if ``wrong`` marks any: the first row and how many there are.

    ``must`` says what the column must do, as in "have a value in every row", and ``advice`` what to do about it.
    """
    count = int(wrong.sum())
    if count:
        first = wrong.arg_true()[0] + 1
        raise InputError(
            f"column {shortened(column)} of {shown(Path(path))} must {must}, but does not in row {first} (counted from "
            f"1 below the header; such rows: {count}). {advice}"
        )


def refuse_repeats(frame: "pl.DataFrame", path: str | os.PathLike[str], keys: Sequence[str]) -> None:
    """Raise the error for two rows with the same cells in the columns ``keys``, if there are such: which rows."""
    import polars as pl

    # As many hashes as rows prove that all rows differ, much faster than comparing cells.
    if frame.select(keys).hash_rows().n_unique() == frame.height:
        return
    repeated = frame.select(keys).with_row_index("row", offset=1).filter(pl.struct(keys).is_duplicated())
    again = repeated.with_columns(pl.col("row").first().over(keys).alias("first")).filter(
        pl.col("row") > pl.col("first")
    )
    if again.height:
        raise InputError(
            f"each row of {shown(Path(path))} must have another {' and '.join(keys)}, but row {again['row'][0]} has "
            f"that of row {again['first'][0]} (counted from 1 below the header; such rows: {again.height}). "
            "Keep one of each"
        )


def _find(
    source: Source,
    names: Sequence[str],
    columns: Mapping[str, str] | None,
    optional: Collection[str],
    options: Mapping[str, str],
) -> dict[str, str]:
    """Return the wanted names that the file has, with their names in the file."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if columns is not None:
        # Nameless columns come from separators at the end of each line and do no harm unless asked for.
        repeated = [name for name in repeated if name or name in columns.values()]
    if repeated:
        # A first line that is data has cells in place of names.
        sure = is_surely_header(source, names)
        seen = f"is called {_listed(repeated)}" if sure else "has the name of another"
        raise InputError(
            f"the columns of {source.name} must have different names, but more than one {seen}. "
            "Rename or remove the others"
        )
    if columns is None:
        return {name: name for name in names}
    lacking = {wanted: name for wanted, name in columns.items() if name not in names}
    required = {wanted: name for wanted, name in lacking.items() if wanted not in optional}
    if required:
        raise _lacking(source, names, columns.values(), required, options)
    spare = [name for name in names if name not in columns.values()]
    for name in lacking.values():
        if guess := did_you_mean(name, spare):
            raise InputError(
                f"column {shortened(name)} of {source.name} is optional and missing, but another is called nearly so."
                f"{guess} Rename or remove that column"
            )
    return {wanted: name for wanted, name in columns.items() if wanted not in lacking}


def _lacking(
    source: Source,
    names: Sequence[str],
    known: Collection[str],
    required: Mapping[str, str],
    options: Mapping[str, str],
) -> InputError:
    # The first line may be data, and data are not shown: not even as what a name was nearly called.
    is_header = bool(set(names) & set(known)) or is_surely_header(source, names)
    guesses = dict.fromkeys(did_you_mean(name, names) for name in required.values()) if is_header else {}
    renaming = [options[wanted] for wanted in required if wanted in options]
    advice = "Rename the column in the file" + (f", or name yours with {' and '.join(renaming)}" if renaming else "")
    for sign, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", "commas")):
        if len(names) == 1 and source.kind == "csv" and sign in names[0]:
            expected = "tabs, because its name ends in .tsv" if source.separator == "\t" else "commas"
            advice = f"The header seems to have {word} between the names: save the file with {expected}"
    nothing_fits = not any(guesses) and not set(names) & set(known)
    if not nothing_fits and source.kind == "csv":
        # A header that has run into the first row has cells among its names: then the shape is what is wrong.
        csv_height(source, len(names))
    seen = f"none of its {len(names)} columns has such a name" if nothing_fits else f"has {_listed(names)}"
    if nothing_fits and "seems to have" not in advice:
        advice = f"Check that the first row names the columns. {advice}"
    return InputError(
        f"the file {source.name} must have the column{'s' * (len(required) > 1)} {_listed(list(required.values()))}, "
        f"but {seen}.{''.join(guesses)} {advice}"
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(shortened(name) for name in names[:_SHOWN_NAMES]) + more
