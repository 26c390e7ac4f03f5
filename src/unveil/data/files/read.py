"""Read chosen columns of a table from a file of any format."""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from unveil.data.files._columns import as_text as to_text
from unveil.data.files._columns import as_typed as to_typed
from unveil.data.files._columns import plain_numbers, refuse_far_moments
from unveil.data.files._delimited_text import NotUtf8Error, csv_blocks, csv_columns, csv_height, csv_rows
from unveil.data.files._typed_formats import typed_cells as typed_cells
from unveil.data.files._typed_formats import typed_column, typed_columns, typed_rows
from unveil.data.files.column_store import ColumnStore
from unveil.data.files.header import is_surely_header, made_names, refuse_data
from unveil.data.files.settings import FileSettings, Header
from unveil.data.files.source import Source, not_utf8, open_source, shown
from unveil.data.files.statistical import FileLabels, statistical_columns, statistical_rows
from unveil.errors import InputError, did_you_mean, shortened

if TYPE_CHECKING:
    import polars as pl

_SHOWN_NAMES = 20
_TYPED = ("parquet", "feather", "ndjson")
#: Returns a column of a file, which may be read then.
LoadColumn: TypeAlias = "Callable[[], pl.Series]"


@dataclass(frozen=True)
class FileTable:
    """Content of a file: columns by name, reading notes, and metadata."""

    columns: Mapping[str, LoadColumn] = field(repr=False)
    notes: tuple[str, ...] = ()
    labels: FileLabels = field(default_factory=FileLabels)

    @property
    def frame(self) -> "pl.DataFrame":
        """All columns in memory."""
        import polars as pl

        return pl.DataFrame({name: load() for name, load in self.columns.items()})


def read_file(
    path: str | os.PathLike[str],
    settings: FileSettings | None = None,
    *,
    name: str = "",
    store: ColumnStore | None = None,
) -> FileTable:
    """Return the table in a file with all its columns, in its order.

    Cells of text stay as they are written, except numbers with decimal commas or groups of digits, which become plain
    ones; an empty cell is null. Other formats keep their types, and text in them that is all numbers becomes numbers.

    Parameters
    ----------
    path
        The file, or a pipe.
    settings
        What is told about it; None finds all of it out.
    name
        What the notes call the table; the name of the file if empty.
    store
        The place on disk from which columns are read one by one, where the format does not allow that; None is memory.

    Raises
    ------
    InputError
        If the file cannot be read or is damaged, with the row, counted from 1 below the header; or if its first line
        may be data and nothing was told about it.

    Examples
    --------
    >>> from unveil.data import samples
    >>> read_file(samples.path("partition_truth.csv")).frame.columns
    ['item', 'cluster']
    """
    settings = settings or FileSettings()
    source = open_source(path, settings)
    names = names_of(source, settings)
    source, columns, labels = _columns(source, names, range(len(names)), settings, store)
    twins = _refuse_twins(source, names, columns, _repeated(names))
    loads: dict[str, LoadColumn] = {}
    for place, called in enumerate(names):
        loads.setdefault(called, partial(_plain, source, columns[place]))
    name = name or Path(path).name
    said = source.reading(header=settings.header != "no")
    notes = (f"{name}: {said}",) if said else ()
    return FileTable(loads, notes + tuple(f"{name}: {note}" for note in twins), labels)


def _plain(source: Source, load: LoadColumn) -> "pl.Series":
    column = load()
    return plain_numbers(to_text(source, column), source.dialect) if source.kind == "csv" else to_typed(column)


class WrittenFile(NamedTuple):
    """Rows of a file as originally written, and the text format.

    ``suffix`` is ".parquet" for Parquet, whose columns keep their types; of any other format it is ".csv", which every
    program reads.
    """

    frame: "pl.DataFrame"
    suffix: str
    separator: str = ","
    encoding: str = "utf-8"
    header: bool = True


def read_as_written(path: str | os.PathLike[str], settings: FileSettings | None = None) -> WrittenFile:
    """Return the table of a file in its original notation.

    Cells of text are exactly as they are written: no number loses its decimal comma or its groups of digits. An empty
    cell is null. The rows and columns are those of `read_file`.

    >>> from unveil.data import samples
    >>> read_as_written(samples.path("partition_truth.csv")).separator
    ','
    """
    import polars as pl

    settings = settings or FileSettings()
    source = open_source(path, settings)
    names = names_of(source, settings)
    source, columns, _ = _columns(source, names, range(len(names)), settings)
    cells: dict[str, pl.Series] = {}
    for place, called in enumerate(names):
        cells.setdefault(called, columns[place]())
    rows = pl.DataFrame(cells)
    if source.kind != "csv":
        return WrittenFile(rows, ".parquet" if source.kind == "parquet" else ".csv")
    written = source.dialect
    return WrittenFile(rows, ".csv", written.separator, written.encoding, settings.header != "no")


#: Old names of columns, which files may use still.
_OTHER_NAMES: Mapping[str, str] = {"item": "entry", "pseudonym": "token"}


def read_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    *,
    optional: Collection[str] = (),
    complete: Collection[str] = (),
    numbers: Collection[str] = (),
    options: Mapping[str, str] | None = None,
    as_text: bool = True,
    separator: str = "detect",
    decimal: str = "detect",
    encoding: str = "detect",
    header: Header = "yes",
) -> "pl.DataFrame":
    """Return the named columns of a table file, in row order.

    The first bytes tell the format (see docs/how-to/files.md), and the first megabyte how text is written. Only the
    columns asked for are read, where the format allows it.

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
    numbers
        Wanted names that hold numbers: with decimal commas or groups of digits they become plain ones. All other cells
        of text are names, and stay as they are.
    options
        For each wanted name the command-line option that renames it, to be named in messages.
    as_text
        True reads identifiers: every cell as it is written (``01`` is not ``1``), and whole numbers of Parquet as
        their digits. False gives a text column as numbers where all of its cells are numbers, except codes that begin
        with 0, and keeps the types of Parquet.
    separator, decimal, encoding, header
        What is told about the file: see `FileSettings`. Here the first line names the columns unless told otherwise.

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

    settings = FileSettings(separator=separator, decimal=decimal, encoding=encoding, header=header)
    source = open_source(path, settings)
    names = names_of(source, settings)
    if columns is not None:
        other = {name: _OTHER_NAMES.get(name, name) for name in columns.values()}
        columns = {
            wanted: other[name] if name not in names and other[name] in names else name
            for wanted, name in columns.items()
        }
    found = _find(source, names, columns, optional, options or {})
    # Nameless columns come from separators at the end of each line and do no harm unless asked for.
    repeated = {name: places for name, places in _repeated(names).items() if name or name in found.values()}
    chosen = sorted({names.index(name) for name in found.values()}.union(*repeated.values()))
    source, loads, _ = _columns(source, names, chosen, settings)
    _refuse_twins(source, names, loads, repeated)
    cells = {}
    for wanted, name in found.items():
        column = loads[names.index(name)]().alias(name)
        if source.kind == "csv" and (wanted in numbers or not as_text):
            column = plain_numbers(column, source.dialect)
        cells[wanted] = to_text(source, column) if as_text else to_typed(column)
    for wanted in complete:
        if wanted in found:
            refuse_cells(cells[wanted].is_null(), path, found[wanted], "have a value in every row")
    return pl.DataFrame(cells)


def names_of(source: Source, settings: FileSettings) -> list[str]:
    """Return the column names of a file, from its header or numbered.

    Raises the error for a first line that may be data, unless it is told what it is.
    """
    if source.kind in _TYPED:
        return typed_columns(source)
    if source.kind != "csv":
        return statistical_columns(source, settings)
    first = csv_columns(source)
    if settings.header == "no":
        return made_names(len(first))
    if source.is_sheet and "" in first[1:]:
        raise InputError(
            f"the first row of {source.name} must name every column, but leaves column {first.index('', 1) + 1} "
            "without a name, as a title or merged cells do. Name each column in one row, and remove the rows above it"
        )
    if settings.header == "detect":
        refuse_data(source, first)
    return first


def _columns(
    source: Source,
    names: Sequence[str],
    chosen: Sequence[int],
    settings: FileSettings,
    store: ColumnStore | None = None,
) -> tuple[Source, dict[int, LoadColumn], FileLabels]:
    """Return the chosen columns by position, and the source used."""
    labels = FileLabels()
    if source.kind == "csv":
        has_header = settings.header != "no"
        try:
            height, loads = _csv_columns(source, len(names), chosen, store, has_header=has_header)
        except NotUtf8Error:
            again = not_utf8(source, settings)
            if again is None:
                raise
            source = again
            height, loads = _csv_columns(source, len(names), chosen, store, has_header=has_header)
    elif store is not None and source.kind in ("parquet", "feather"):
        height = typed_cells(source) // max(len(names), 1)
        loads = [partial(typed_column, source, names[place], height) for place in chosen]
    else:
        wanted = [names[place] for place in chosen]
        if source.kind in _TYPED:
            frame = typed_rows(source, wanted)
        else:
            frame, labels = statistical_rows(source, wanted, settings)
        height, loads = frame.height, [column.clone for column in frame]
    if height == 0:
        raise InputError(f"the file {source.name} must hold rows, but has a header only. Check that it is complete")
    return source, {at: partial(_near, load, at, source) for at, load in zip(chosen, loads, strict=True)}, labels


def _csv_columns(
    source: Source, width: int, chosen: Sequence[int], store: ColumnStore | None, *, has_header: bool
) -> tuple[int, list[LoadColumn]]:
    """Return the number of rows, and the columns at the chosen places."""
    if store is None:
        frame = csv_rows(source, width, chosen, has_header=has_header)
        # Each by itself, so that it can go when it was used.
        return frame.height, [column.clone for column in frame]
    blocks = csv_blocks(source, width, store, has_header=has_header)
    return blocks.height, [partial(blocks.get_column, str(place)) for place in chosen]


def _near(load: LoadColumn, place: int, source: Source) -> "pl.Series":
    """Return a column under its position, or reject out-of-range dates."""
    column = load()
    refuse_far_moments(column, source.name)
    return column.alias(str(place))


def _repeated(names: Sequence[str]) -> dict[str, list[int]]:
    """Return the names that more than one column has, and the places of these."""
    places = defaultdict(list)
    for place, name in enumerate(names):
        places[name].append(place)
    return {name: each for name, each in places.items() if len(each) > 1}


def _refuse_twins(
    source: Source, names: Sequence[str], columns: Mapping[int, LoadColumn], repeated: Mapping[str, Sequence[int]]
) -> list[str]:
    """Return notes on duplicate columns; reject equal names with different cells.

    They are told by their numbers: a first line that is data has cells in place of names.
    """
    notes = []
    for places in repeated.values():
        numbers = f"{', '.join(str(place + 1) for place in places[:-1])} and {places[-1] + 1}"
        first, *others = (columns[place]() for place in places)
        if not all(first.equals(other) for other in others):
            raise InputError(
                f"the columns of {source.name} must have different names, but columns {numbers} of its {len(names)} "
                "(counted from 1) have the same name and other cells. Rename or remove all but one of them"
            )
        notes.append(f"columns {numbers} have the same name and the same cells, and one of them is kept")
    return notes


def refuse_cells(
    wrong: "pl.Series",
    path: str | os.PathLike[str],
    column: str,
    must: str,
    advice: str = "Correct the file, or leave those rows out",
) -> None:
    """Raise the error for a column with invalid cells, if any.

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
    """Raise the error for rows with repeated keys, if any."""
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
    nothing_fits = not any(guesses) and not set(names) & set(known)
    if not nothing_fits and source.kind == "csv":
        # A header that has run into the first row has cells among its names: then the shape is what is wrong.
        csv_height(source, len(names))
    seen = f"none of its {len(names)} columns has such a name" if nothing_fits else f"has {_listed(names)}"
    if nothing_fits:
        advice = f"Check that the first row names the columns. {advice}"
    return InputError(
        f"the file {source.name} must have the column{'s' * (len(required) > 1)} {_listed(list(required.values()))}, "
        f"but {seen}.{''.join(guesses)} {advice}"
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(shortened(name) for name in names[:_SHOWN_NAMES]) + more
