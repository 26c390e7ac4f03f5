"""Bring tables to the same columns and types, and read released cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unveil._kernels.threads import in_threads, worth
from unveil.data.table._agreement import AgreedColumn, kept_cells, one_kind, with_shares
from unveil.data.table._names import matched
from unveil.data.table.coded_columns import CellColumn, CellFrame, StoredColumn, marks_in
from unveil.data.table.column import listed, unsure_note
from unveil.data.table.kinds import DeclaredKind
from unveil.data.table.rules import Confidence
from unveil.data.table.scales import Agreement
from unveil.data.table.table import Table
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_SAID: tuple[Confidence, ...] = ("given", "dictionary", "labels")


def agree(original: Table, *others: Table, masked: bool = False) -> tuple[Table, ...]:
    """Return the tables with the same columns, order, types, and roles.

    The original leads: a kind or role told for one table counts for all, else those of the original do.
    Names that differ in case, blanks and the like are taken for those of the original, with a note. A column that one
    of the tables lacks is dropped from all, with a note, which asks where a name is nearly that of another. A column
    without any value takes the kind it has elsewhere.

    The first of ``others`` is the released table, all further ones are people. Its cells are read as sets of the values
    that people have (``20-29``, ``75+``, ``021**``, ``{a,b}``, ``*``, see the guide): it gets ``cells``, unless it has
    been read before.

    Parameters
    ----------
    original
        The people whose data are released.
    others
        The released table, then people who are not in the original, and rows that only make a scale.
    masked
        Whether each released row stems from a person. Then a missing cell where the original has none was taken out,
        and rounded numbers, top and bottom codes are recognized, with a note.

    Raises
    ------
    InputError
        If no column is in all of them, if a column was told to be of another kind in two of them, or if most cells of a
        column cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [31, 40], "name": ["Ann", "Bea"]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": ["30-39", "*"]}), name="released")
    >>> [table.column_names for table in agree(original, released)]
    [('age',), ('age',)]
    >>> agree(original, released)[1].coarse()
    ('age',)
    """
    if original.agreement is not None and all(
        other.agreement is original.agreement and other.column_names == original.column_names for other in others
    ):
        return (original, *others)
    others = tuple(matched(original, other) for other in others)
    tables = (original, *others)
    names = [name for name in original.column_names if all(name in table.column_names for table in others)]
    if not names:
        raise InputError(
            f"the {' and the '.join(table.name for table in tables)} must have columns of the same name, but have none "
            "in common. Pass tables about the same people, with a header"
        )

    def brought(name: str) -> list[AgreedColumn]:
        return list(map(_placed, tables, one_kind(tables, name, masked=masked)))

    parts = in_threads(brought, names, threads=worth(original.rows))
    agreed = [_assembled(table, place, parts) for place, table in enumerate(tables)]
    if len(agreed) > 1 and others[0].cells is None:
        cells = {name: part[1].cells for name, part in zip(names, parts, strict=True)}
        agreed[1] = replace(agreed[1], cells=with_shares(agreed, cells))
    together = Agreement(agreed)
    for place, table in enumerate(agreed):
        object.__setattr__(table, "agreement", together)
        object.__setattr__(table, "agreed_as", place)
    return tuple(agreed)


def _placed(table: Table, part: AgreedColumn) -> AgreedColumn:
    """Return the column with its cells on disk where those of the table are."""
    cells = None if part.cells is None else kept_cells(table, part.cells)
    marked = None if part.marked is None else marks_in(table.store, part.marked)
    return part._replace(values=StoredColumn.of(part.values, table.store), marked=marked, cells=cells)


def _assembled(table: Table, place: int, parts: Sequence[Sequence[AgreedColumn]]) -> Table:
    """Return the table with the common columns, and a note on lost ones."""
    own = [part[place] for part in parts]
    columns = tuple(part.column for part in own)
    kept = {column.name for column in columns}
    dropped = [name for name in table.column_names if name not in kept]
    notes = table.notes
    if dropped:
        many = "columns" if len(dropped) > 1 else "column"
        notes += (f"{len(dropped)} {many} of the {table.name} left out, not being in all tables: {listed(dropped)}",)
    notes += tuple(part.note for part in own if part.note and part.note not in notes)
    content = CellFrame({part.column.name: part.values for part in own})
    marked = {part.column.name: part.marked for part in own if part.marked is not None}
    cells = {name: each for name, each in table.cells.items() if name in kept} if table.cells else table.cells
    return replace(table, columns=columns, content=content, notes=notes, marked=marked, cells=cells)


def stacked(tables: Sequence[Table], names: Sequence[str]) -> Table:
    """Return the concatenated rows of tables, with markers of missing values."""
    import polars as pl

    marked = {
        name: pl.concat(
            [table.marked.get(name, pl.repeat(0, table.rows, dtype=pl.UInt8, eager=True)) for table in tables]
        )
        for name in names
        if any(name in table.marked for table in tables)
    }

    def column(name: str) -> CellColumn:
        return StoredColumn.joined([table.lookup(name) for table in tables], tables[0].store)

    columns = in_threads(column, names, threads=worth(tables[0].rows))
    content = CellFrame(dict(zip(names, columns, strict=True)))
    made = replace(tables[0].select(names), content=content, marked=marked, cells=None)
    return tables[0].agreeing(made) if len({table.agreement for table in tables}) == 1 else made


def kind_notes(table: Table) -> tuple[str, ...]:
    """Return notes on uncertain types of the columns in use.

    Identifiers and ignored columns are not in use.

    >>> import polars as pl
    >>> kind_notes(Table.from_frame(pl.DataFrame({"q8": [1, 2, 5, 4, 3, 9] * 5})))
    ("9 may stand for no answer in 'q8'. If so, name it as missing.",)
    """
    used = [column for column in table.columns if column.is_used]
    unsure = unsure_note(table.columns)
    asked = (f"{column.question}." for column in used if column.question and column.confidence not in _SAID)
    return (*([unsure] if unsure else []), *asked)


def kinds_of_release(kinds: Mapping[str, DeclaredKind]) -> dict[str, DeclaredKind]:
    """Return the declared types for reading a release; words stay unchanged.

    All other kinds are those of the original, beside which `agree` reads ranges, stars and sets.

    >>> kinds_of_release({"age": "number", "zip": "category"})
    {'zip': 'category'}
    """
    return {name: kind for name, kind in kinds.items() if kind in ("category", "text")}


def with_markers(tables: Sequence[Table], names: Sequence[str]) -> "list[pl.DataFrame]":
    """Return numbered columns, with marker columns for missing values.

    It holds the marker that stands in a cell without a value, so that two such cells are equal only for the same
    reason. Some names have a meaning for polars, which numbers have not.
    """
    import polars as pl

    marked = {name for table in tables for name in names if name in table.marked}
    frames = []
    for table in tables:
        columns = {}
        for place, name in enumerate(names):
            columns[str(place)] = values = table.series(name)
            if name in marked:
                none = pl.repeat(0, table.rows, dtype=pl.UInt8, eager=True)
                columns[f"{place}m"] = table.marked.get(name, none).zip_with(values.is_null(), none)
        frames.append(pl.DataFrame(columns))
    return frames
