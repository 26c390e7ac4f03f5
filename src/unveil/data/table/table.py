"""A table of people: its columns with their kinds and roles, and its rows, which are private."""

import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.data.files.header import Header
from unveil.data.files.read import read_table
from unveil.data.table._agreement import Part, one_kind, with_shares
from unveil.data.table._cell_reading import exact_values
from unveil.data.table.cells import Cells
from unveil.data.table.hierarchy import Hierarchy
from unveil.data.table.kinds import KINDS, ROLES, Kind, Role, Settled, ToldKind, guess_role, settle
from unveil.data.table.native import series_of
from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["KINDS", "ROLES", "Column", "Kind", "Role", "Table", "ToldKind", "agree", "kinds_of_release"]

_SHOWN = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """What is known of a column without looking at its rows.

    ``reason`` says why this kind and role were guessed, or "as told"; ``missing`` counts the missing values.
    """

    name: str
    kind: Kind
    role: Role
    reason: str
    missing: int
    kind_told: bool = False
    role_told: bool = False
    #: Which values the wider labels of a release stand for, where told; and whether its numbers are as they seem.
    hierarchy: Hierarchy | None = None
    exact: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """Rows about people, one each, with the kind and role of every column; never shows a row.

    Made by `Table.from_frame` and `Table.read`. ``frame`` is for the library itself: each kind is kept in one form
    (see `unveil.data.table.kinds.settle`), a missing value is null. ``notes`` say what was left out on the way.

    A released table that `agree` has read beside an original has ``cells``: empty if every cell is one value, else what
    the cells of each column stand for. A column with coarse cells keeps them in ``frame`` as they were written.
    """

    name: str
    columns: tuple[Column, ...]
    frame: "pl.DataFrame" = field(repr=False)
    sha256: str | None = None
    notes: tuple[str, ...] = ()
    cells: Mapping[str, Cells] | None = field(default=None, repr=False)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        name: str = "table",
        kinds: Mapping[str, ToldKind] | None = None,
        roles: Mapping[str, Role] | None = None,
        missing: Collection[str] = (),
    ) -> "Table":
        """Return the rows of any eager DataFrame (pandas, polars, pyarrow, …) as a table; the frame stays as it is.

        Parameters
        ----------
        frame
            At least one row and one column; the columns must have different names.
        name
            How messages call the table.
        kinds
            Kinds of columns, where the guess is not right: "number", "category", "ordered", "date", "boolean", "text",
            or the levels of an ordered column as a list from the lowest to the highest.
        roles
            Roles of columns: "identifier", "known", "sensitive", "ignored".
        missing
            Texts that stand for a missing value, such as "?" or "NA". Null, NaN and the empty cell always do.

        Examples
        --------
        >>> import polars as pl
        >>> people = Table.from_frame(pl.DataFrame({"age": [31, None], "town": ["Ulm", "?"]}), missing=["?"])
        >>> [(column.name, column.kind, column.role, column.missing) for column in people.columns]
        [('age', 'number', 'known', 1), ('town', 'category', 'known', 1)]
        """
        return _build(series_of(frame, table=name), name, kinds or {}, roles or {}, missing)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        kinds: Mapping[str, ToldKind] | None = None,
        roles: Mapping[str, Role] | None = None,
        missing: Collection[str] = (),
        header: Header = "detect",
    ) -> "Table":
        """Return the table in a CSV or Parquet file; the settings are those of `from_frame`.

        Its name is that of the file unless told, and ``sha256`` is the hash of the file's bytes (None for a pipe). A
        first line that looks like data is refused, because its cells would become names, unless ``header`` is told:
        "yes" where it names the columns, "no" where it is data; they are then called ``column_1`` and so on.
        """
        path = Path(path)
        is_parquet, digest = _look(path)
        frame = read_table(path, as_text=not is_parquet, header=header)
        name = name or path.name
        columns = series_of(frame, table=name)
        del frame  # so that each column of text can go as soon as its numbers are read
        return replace(_build(columns, name, kinds or {}, roles or {}, missing), sha256=digest)

    @property
    def rows(self) -> int:
        """The number of rows, at least 1."""
        return self.frame.height

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def column(self, name: str) -> Column:
        """Return the column of that name, or say which there are."""
        found = self._by_name.get(name)
        if found is None:
            raise InputError(
                f"column {name!r} is not in the {self.name}; it has {_listed(self.column_names)}."
                f"{did_you_mean(name, self.column_names)} Name a column that is there"
            )
        return found

    def select(self, names: Sequence[str]) -> "Table":
        """Return the table with these columns only, in this order."""
        import polars as pl

        columns = tuple(self.column(name) for name in names)
        # One by one: for polars a column called * would stand for all of them.
        frame = pl.DataFrame({name: self.frame.get_column(name) for name in names})
        cells = {name: self.cells[name] for name in names} if self.cells else self.cells
        return replace(self, columns=columns, frame=frame, cells=cells)

    def coarse(self, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return which of these columns, or of all, have cells that stand for more than one value."""
        cells = self.cells or {}
        return tuple(name for name in (names or self.column_names) if name in cells and cells[name].coarse)

    def single_values(self) -> "Table":
        """Return the table with a missing value for each cell that stands for several, for who cannot use such."""
        if not self.coarse():
            return self
        cells = self.cells or {}
        frame = self.frame.with_columns(
            exact_values(cells[name], self.frame.get_column(name)) for name in self.coarse()
        )
        return replace(self, frame=frame, cells={})

    def with_readings(
        self, *, hierarchies: Mapping[str, Hierarchy] | None = None, exact: Collection[str] = ()
    ) -> "Table":
        """Return the original with what is told about cells of its releases.

        Parameters
        ----------
        hierarchies
            Which values the wider labels of a column stand for; each must hold all values of the column.
        exact
            Columns whose released numbers are as they seem: neither rounded nor cut off at the ends.
        """
        told = dict(hierarchies or {})
        for name, hierarchy in told.items():
            hierarchy.check(self.frame.get_column(self.column(name).name), table=self.name)
        for name in exact:
            self.column(name)
        return replace(
            self,
            columns=tuple(
                replace(each, hierarchy=told.get(each.name, each.hierarchy), exact=each.exact or each.name in exact)
                for each in self.columns
            ),
        )

    def extremes(self) -> "Table":
        """Return two rows that reach as far as the whole table: the least and the greatest value of each column."""
        import polars as pl

        ends = {
            column.name: values.sort(nulls_last=True).head(1).append(values.sort().tail(1))
            for column in self.columns
            for values in (self.frame.get_column(column.name),)
        }
        return replace(self, frame=pl.DataFrame(ends), cells=None, sha256=None)

    def take(self, row_indices: "NDArray[np.int64] | Sequence[int]") -> "Table":
        """Return the rows at these positions, counted from 0, in this order; they have no hash, being no file."""
        import numpy as np

        frame = self.frame[row_indices]
        missing = frame.null_count().row(0) if frame.width else ()
        columns = tuple(replace(column, missing=count) for column, count in zip(self.columns, missing, strict=True))
        cells = (
            {name: each.take(np.asarray(row_indices, np.int64)) for name, each in self.cells.items()}
            if self.cells
            else self.cells
        )
        return replace(self, columns=columns, frame=frame, cells=cells, sha256=None)


def kinds_of_release(kinds: Mapping[str, ToldKind]) -> dict[str, ToldKind]:
    """Return the told kinds by which a released table is read: words stay as they are written.

    All other kinds are those of the original, beside which `agree` reads ranges, stars and sets.

    >>> kinds_of_release({"age": "number", "zip": "category"})
    {'zip': 'category'}
    """
    return {name: kind for name, kind in kinds.items() if kind in ("category", "text")}


def _look(path: Path) -> tuple[bool, str | None]:
    """Return whether the file is Parquet, and the hash of its bytes; of what is no plain file nothing is said."""
    try:
        if not path.is_file():
            return False, None
        with path.open("rb") as stream:
            is_parquet = stream.read(4) == b"PAR1"
            stream.seek(0)
            return is_parquet, hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return False, None  # reading says why


def _build(
    columns: list[tuple["pl.Series", str]],
    name: str,
    kinds: Mapping[str, ToldKind],
    roles: Mapping[str, Role],
    missing: Collection[str],
) -> Table:
    import polars as pl

    if not columns or columns[0][0].len() == 0:
        seen = "no column" if not columns else "no row"
        raise InputError(f"the {name} must have at least one row and one column, but has {seen}. Pass the whole table")
    names = [series.name for series, _ in columns]
    pattern = next(
        (place for place, text in enumerate(names, 1) if text == "*" or re.fullmatch(r"\^.*\$", text, re.S)), 0
    )
    if pattern:  # polars takes such a name for a pattern of names
        raise InputError(
            f"a column name must not be * nor begin with ^ and end with $, as that of column {pattern} of the {name} "
            "does. Rename it"
        )
    _check_told(names, name, kinds, roles)
    described, values = [], []
    columns.reverse()
    while columns:
        series, remark = columns.pop()
        settled = settle(series, told=kinds.get(series.name), missing=missing, remark=remark, table=name)
        del series
        described.append(_described(settled, roles.get(settled.values.name), kind_told=settled.values.name in kinds))
        values.append(settled.values)
    return Table(name, tuple(described), pl.DataFrame({series.name: series for series in values}))


def _described(settled: Settled, told: Role | None, *, kind_told: bool) -> Column:
    role, why = (told, "as told") if told else guess_role(settled.values, settled.kind)
    return Column(
        name=settled.values.name,
        kind=settled.kind,
        role=role,
        reason=f"{settled.kind}: {settled.reason}; {role}: {why}",
        missing=settled.values.null_count(),
        kind_told=kind_told,
        role_told=told is not None,
    )


def _check_told(names: Sequence[str], table: str, kinds: Mapping[str, ToldKind], roles: Mapping[str, Role]) -> None:
    for what, told in (("kinds", kinds), ("roles", roles)):
        unknown = [name for name in told if name not in set(names)]
        if unknown:
            raise InputError(
                f"{what} names column {unknown[0]!r}, which is not in the {table}.{did_you_mean(unknown[0], names)} "
                "Correct the name, or leave it out"
            )
    for name, role in roles.items():
        if role not in ROLES:
            raise InputError(
                f"the role of column {name!r} must be one of {', '.join(ROLES)}. Correct it in roles={{…}}"
            )


def agree(original: Table, *others: Table, masked: bool = False) -> tuple[Table, ...]:
    """Return the tables with the same columns in the same order, of the same kinds and roles.

    The original leads: a kind or role told for one table counts for all, else those of the original do. A column that
    one of the tables lacks is dropped from all, with a note. One without any value takes the kind it has elsewhere.

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
        Whether each released row stems from a person. Then an empty cell where the original has none was taken out,
        and rounded numbers, top and bottom codes are recognised, with a note.

    Raises
    ------
    InputError
        If no column is in all of them, if a column is of another kind in two tables of people, or if most cells of a
        released column cannot be read.

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
    tables = (original, *others)
    names = [name for name in original.column_names if all(name in table._by_name for table in others)]
    if not names:
        raise InputError(
            f"the {' and the '.join(table.name for table in tables)} must have columns of the same name, but have none "
            "in common. Pass tables about the same people, with a header"
        )
    parts = [one_kind(tables, name, masked=masked) for name in names]
    agreed = [_assembled(table, place, parts) for place, table in enumerate(tables)]
    if len(agreed) > 1 and others[0].cells is None:
        notes = dict.fromkeys(part.note for part in parts if part.note)
        cells = {name: part.cells for name, part in zip(names, parts, strict=True)}
        agreed[1] = replace(agreed[1], cells=with_shares(agreed, cells), notes=(*agreed[1].notes, *notes))
    return tuple(agreed)


def _assembled(table: Table, place: int, parts: Sequence[Part]) -> Table:
    """Return the table with the columns that all tables have, and a note on those it loses."""
    import polars as pl

    columns = tuple(part.columns[place] for part in parts)
    kept = {column.name for column in columns}
    dropped = [name for name in table.column_names if name not in kept]
    notes = table.notes
    if dropped:
        many = "columns" if len(dropped) > 1 else "column"
        notes += (f"{len(dropped)} {many} of the {table.name} left out, not being in all tables: {_listed(dropped)}",)
    # By name: a series whose name is empty would lose it in a list of them.
    frame = pl.DataFrame({part.columns[place].name: part.values[place] for part in parts})
    cells = {name: each for name, each in table.cells.items() if name in kept} if table.cells else table.cells
    return replace(table, columns=columns, frame=frame, notes=notes, cells=cells)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more
