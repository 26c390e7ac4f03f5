"""Table of people: typed columns with roles, and private rows."""

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.data.files.column_store import ColumnStore
from unveil.data.files.read import LoadColumn, read_file
from unveil.data.files.settings import FileSettings, Header
from unveil.data.files.statistical import without_missing
from unveil.data.table._build import ColumnSettings, LoadCells, built_columns, refuse_empty
from unveil.data.table._cell_reading import exact_values
from unveil.data.table.cells import Cells, CodeColumn
from unveil.data.table.coded_columns import CellFrame, Lookup, StoredColumn, lookup_of, marks_in
from unveil.data.table.column import Column, listed
from unveil.data.table.dictionaries import Dictionary, dictionary_of_labels
from unveil.data.table.hierarchy import Hierarchy
from unveil.data.table.kinds import DeclaredKind, Role
from unveil.data.table.markers import DeclaredMarkers, MarkerCount
from unveil.data.table.native import series_of, taken_column
from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from unveil._kernels.types import IntArray


@dataclass(frozen=True, eq=False)
class Table:
    """Rows about people, with column types and roles; never prints rows.

    Made by `Table.from_frame` and `Table.read`. ``content`` is for the library itself: each kind is kept in one form
    (see `unveil.data.table.kinds.settle`), a missing value is null. ``notes`` say what was left out on the way.
    ``marked`` says for each column with markers which of them each cell holds, as UInt8: 0 none, else its place among
    the column's markers, from 1.

    A released table that `agree` has read beside an original has ``cells``: empty if every cell is one value, else what
    the cells of each column stand for. A column with ranges or sets keeps them in ``content`` as they were written.
    """

    name: str
    columns: tuple[Column, ...]
    content: CellFrame = field(repr=False)
    sha256: str | None = None
    notes: tuple[str, ...] = ()
    marked: "Mapping[str, pl.Series]" = field(default_factory=dict, repr=False)
    cells: Mapping[str, Cells] | None = field(default=None, repr=False)
    #: The place on disk of its columns, and of what is made of all its rows; None is memory.
    store: ColumnStore | None = field(default=None, repr=False)
    #: What tables that `agree` has brought together share, with rows and columns taken of them, so that it need not do
    #: it again. Whatever else is made of a table may hold other values, and has none.
    agreement: object = field(default=None, init=False, repr=False)
    #: Which of these tables its rows are of, and where they are there; None where they are all of them.
    agreed_as: int | None = field(default=None, init=False, repr=False)
    agreed_rows: "IntArray | None" = field(default=None, init=False, repr=False)
    #: Its columns in whole numbers, as far as they were asked for; shared with tables that have the same rows.
    on_scale: dict[str, object] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        name: str = "table",
        kinds: Mapping[str, DeclaredKind] | None = None,
        roles: Mapping[str, Role] | None = None,
        missing: Collection[str] | Mapping[str, Collection[str]] = (),
        markers: DeclaredMarkers | None = None,
        dictionary: Dictionary | str | os.PathLike[str] | None = None,
        rename: Mapping[str, str] | None = None,
        elsewhere: bool = False,
    ) -> "Table":
        """Return a table from any DataFrame, list of dicts, or mapping.

        Parameters
        ----------
        frame
            A frame of pandas, polars, pyarrow, DuckDB or whatever else narwhals takes or streams Arrow (a lazy one is
            collected); a list with a dict for each row, in which a missing key is a missing value; or a mapping from
            name to a list, array or series. At least one row and one column; the columns must have different names.
        name
            How messages call the table.
        kinds
            Kinds of columns, where the guess is not right: "number", "category", "ordered", "date", "boolean", "text",
            or the levels of an ordered column as a list from the lowest to the highest.
        roles
            Roles of columns: "identifier", "known", "sensitive", "ignored".
        missing
            Texts that stand for a missing value, such as "unknown", for all columns or as ``{"age": ["-1"]}`` for one.
            Null, NaN and the empty cell always do, and so do texts that are known everywhere, such as "NA".
        markers
            Texts that stand for no value, with their classes ("missing", "not applicable", "suppressed", "own code"),
            as ``{"#": "suppressed"}`` for all columns or as ``{"age": {"999": "not applicable"}}`` for one.
        dictionary
            What is known of the columns from elsewhere: a file that `read_dictionary` reads, or what it returned. What
            is told goes before it, and it goes before guesses.
        rename
            New names of columns by those they have in the frame; all other settings use the new ones.
        elsewhere
            Whether these settings are those of several tables: what they say of columns that this one lacks is left
            aside, and not refused.

        Examples
        --------
        >>> import polars as pl
        >>> people = Table.from_frame(pl.DataFrame({"age": [31, None], "town": ["Ulm", "?"]}), missing=["?"])
        >>> [(column.name, column.kind, column.role, column.missing) for column in people.columns]
        [('age', 'number', 'known', 1), ('town', 'category', 'known', 1)]
        """
        settings = ColumnSettings(
            kinds=kinds,
            roles=roles,
            missing=missing,
            markers=markers,
            dictionary=dictionary,
            rename=rename,
            elsewhere=elsewhere,
        )
        given = series_of(frame, table=name)
        refuse_empty(given, name)
        columns: list[tuple[str, LoadCells]] = [(each[0].name, partial(_itself, each)) for each in given]
        del given
        return cls(name, **built_columns(columns, settings, name)._asdict())

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        kinds: Mapping[str, DeclaredKind] | None = None,
        roles: Mapping[str, Role] | None = None,
        missing: Collection[str] | Mapping[str, Collection[str]] = (),
        markers: DeclaredMarkers | None = None,
        dictionary: Dictionary | str | os.PathLike[str] | None = None,
        rename: Mapping[str, str] | None = None,
        elsewhere: bool = False,
        separator: str = "detect",
        decimal: str = "detect",
        encoding: str = "detect",
        header: Header = "detect",
        store: ColumnStore | None = None,
    ) -> "Table":
        """Return the table in a file of any format that docs/how-to/files.md names.

        Its name is that of the file unless told, and ``sha256`` is the hash of the file's bytes (None for a pipe). The
        first settings are those of `from_frame`. How text is written is found out and, where it is not plain CSV, said
        in ``notes``; ``separator``, ``decimal``, ``encoding`` and ``header`` overrule it (see
        `unveil.data.files.settings.FileSettings`). A first line that looks like data is refused, because its cells
        would become names, unless ``header`` is told: "yes" where it names the columns, "no" where it is data; they are
        then called ``column_1`` and so on. ``store`` says where the columns are kept on disk, those too that `agree`
        makes of them; None keeps them in memory, with the same values.
        """
        path = Path(path)
        name = name or path.name
        settings = FileSettings(separator=separator, decimal=decimal, encoding=encoding, header=header)
        digest = _digest(path)
        found = read_file(path, settings, name=name, store=store)
        notes, labels = found.notes, found.labels

        def loaded(called: str, load: LoadColumn) -> tuple["pl.Series", str]:
            return taken_column(without_missing(load().alias(called), labels), called, name)

        columns: list[tuple[str, LoadCells]]
        columns = [(called, partial(loaded, called, load)) for called, load in found.columns.items()]
        del found  # so that each column of text can go as soon as its numbers are read
        if dictionary is None and (labels.labels or labels.measures):
            dictionary = dictionary_of_labels(labels.labels, labels.measures, labels.missing)
        told = ColumnSettings(
            kinds=kinds,
            roles=roles,
            missing=missing,
            markers=markers,
            dictionary=dictionary,
            rename=rename,
            elsewhere=elsewhere,
        )
        built = built_columns(columns, told, name, store)
        return cls(name, **built._replace(notes=(*notes, *built.notes))._asdict(), sha256=digest, store=store)

    @property
    def rows(self) -> int:
        """The number of rows, at least 1."""
        return self.content.height

    @property
    def frame(self) -> "pl.DataFrame":
        """All columns in memory; `series` returns one of them."""
        return self.content[:]

    def series(self, name: str) -> "pl.Series":
        """Return the values of a column in memory."""
        return self.content.get_column(name)

    def lookup(self, name: str) -> Lookup:
        """Return the values of a column and each row's place among them.

        On disk each value comes once, after a null; in memory there is one value for each row.

        >>> import numpy as np
        >>> values, rows = Table.from_frame({"age": [31, 40, 31]}).lookup("age")
        >>> (values.to_numpy() // 10)[rows]
        array([3, 4, 3])
        """
        values, rows = lookup_of(self.content.cells[name])
        return values.alias(name), rows

    def values(self, name: str) -> "pl.Series":
        """Return the occurring values of a column, in any order."""
        return self.lookup(name)[0].drop_nulls()

    def content_order(self) -> "IntArray":
        """Return the rows in a content-based order; ties in any order."""
        import numpy as np
        import polars as pl

        # Ranks sort as values do, and are narrower; one column by itself is sorted in another way.
        frame = self.content.ranks() if len(self.columns) > 1 else self.frame
        return frame.select(pl.arg_sort_by(frame.columns)).to_series().to_numpy().astype(np.int64)

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
                f"column {name!r} is not in the {self.name}; it has {listed(self.column_names)}."
                f"{did_you_mean(name, self.column_names)} Name a column that is there"
            )
        return found

    def marker_counts(self, name: str) -> tuple[MarkerCount, ...]:
        """Return the markers of a column and how many cells hold each."""
        marked = self.marked.get(name)
        return tuple(
            MarkerCount(
                text=marker.text,
                kind=marker.kind_of_marker,
                cells=0 if marked is None else int((marked == place).sum()),
            )
            for place, marker in enumerate(self.column(name).markers, 1)
        )

    def select(self, names: Sequence[str]) -> "Table":
        """Return the table with these columns only, in this order."""
        columns = tuple(self.column(name) for name in names)
        content = self.content[list(dict.fromkeys(names))]
        marked = {name: self.marked[name] for name in names if name in self.marked}
        cells = {name: self.cells[name] for name in names} if self.cells else self.cells
        made = self.agreeing(replace(self, columns=columns, content=content, marked=marked, cells=cells))
        object.__setattr__(made, "on_scale", self.on_scale)
        return made._agreed(self.agreed_as, self.agreed_rows)

    def held(self, name: str) -> CodeColumn:
        """Return the values of a column, and its markers."""
        return CodeColumn(self.series(name), self.marked.get(name), self.column(name).markers)

    def coarse(self, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the columns with cells of several values."""
        cells = self.cells or {}
        return tuple(name for name in (names or self.column_names) if name in cells and cells[name].coarse)

    def single_values(self) -> "Table":
        """Return the table with missing values for cells of several values."""
        if not self.coarse():
            return self
        cells = self.cells or {}
        values = [exact_values(cells[name], self.series(name)) for name in self.coarse()]
        return replace(self, content=self.content.with_columns(values), cells={})

    def with_readings(
        self, *, hierarchies: Mapping[str, Hierarchy] | None = None, exact: Collection[str] = ()
    ) -> "Table":
        """Return the original with settings for reading its releases.

        Parameters
        ----------
        hierarchies
            Which values the wider labels of a column stand for; each must hold all values of the column.
        exact
            Columns whose released numbers are as they seem: neither rounded nor cut off at the ends.
        """
        told = dict(hierarchies or {})
        for name, hierarchy in told.items():
            hierarchy.check(self.series(self.column(name).name), table=self.name)
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
        """Return two rows: the minimum and the maximum of each column."""
        import polars as pl

        ends = {
            column.name: pl.Series([values.min(), values.max()], dtype=values.dtype)
            for column in self.columns
            for values in (self.values(column.name),)
        }
        return self.agreeing(replace(self, content=CellFrame(ends), sha256=None, marked={}, cells=None))

    def take(self, row_indices: "IntArray | Sequence[int]") -> "Table":
        """Return the rows at these positions, in this order, without file hash."""
        import numpy as np

        content = CellFrame(self.content[np.asarray(row_indices)].to_dict())
        columns = tuple(replace(each, missing=content.cells[each.name].null_count()) for each in self.columns)
        marked = {name: cells[row_indices] for name, cells in self.marked.items()}
        rows = np.asarray(row_indices, np.int64)
        cells = {name: each.take(rows) for name, each in self.cells.items()} if self.cells else self.cells
        made = self.agreeing(replace(self, columns=columns, content=content, sha256=None, marked=marked, cells=cells))
        return made._agreed(self.agreed_as, rows if self.agreed_rows is None else self.agreed_rows[rows])

    def composed(self, rows: "IntArray") -> "Table":
        """Return rows combined from cells: ``rows`` gives source rows by column.

        >>> import numpy as np
        >>> people = Table.from_frame({"age": [31, 40], "town": ["Ulm", "Bonn"]})
        >>> people.composed(np.array([[0, 1], [1, 1]])).frame.rows()
        [(31, 'Bonn'), (40, 'Bonn')]
        """
        parts = [self.select([name]).take(rows[:, place]) for place, name in enumerate(self.column_names)]
        made = replace(
            self,
            columns=tuple(part.columns[0] for part in parts),
            content=CellFrame({part.columns[0].name: part.frame.to_series() for part in parts}),
            sha256=None,
            marked={name: cells for part in parts for name, cells in part.marked.items()},
            cells=self.cells and {name: cells for part in parts for name, cells in (part.cells or {}).items()},
        )
        return self.agreeing(made)

    def stored(self, store: ColumnStore) -> "Table":
        """Return the table with its columns on disk."""
        content = CellFrame({name: StoredColumn.of(self.series(name), store) for name in self.column_names})
        marked = {name: marks_in(store, each) for name, each in self.marked.items()}
        return self.agreeing(replace(self, content=content, marked=marked, store=store))

    def agreeing(self, table: "Table") -> "Table":
        """Return the table of new values that agrees with the same tables."""
        object.__setattr__(table, "agreement", self.agreement)
        return table

    def _agreed(self, place: int | None, rows: "IntArray | None") -> "Table":
        """Return this table, just made, as rows of one of the tables that agree."""
        object.__setattr__(self, "agreed_as", place)
        object.__setattr__(self, "agreed_rows", rows)
        return self


def _itself(column: tuple["pl.Series", str]) -> tuple["pl.Series", str]:
    return column


def _digest(path: Path) -> str | None:
    """Return the hash of a plain file, else ""."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None  # reading says why
