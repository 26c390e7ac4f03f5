"""A table of people: its columns with their kinds and roles, and its rows, which are private."""

import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.data.files.read import read_file
from unveil.data.files.settings import FileSettings, Header
from unveil.data.files.statistical import without_missing
from unveil.data.table._agreement import Part, one_kind, with_shares
from unveil.data.table._build import settled_columns
from unveil.data.table._cell_reading import exact_values
from unveil.data.table._names import matched, renamed
from unveil.data.table.cells import Cells, Held
from unveil.data.table.dictionaries import Dictionary, dictionary_of_labels
from unveil.data.table.dictionary_files import read_dictionary
from unveil.data.table.hierarchy import Hierarchy
from unveil.data.table.kinds import KINDS, ROLES, Confidence, Kind, Role, Settled, ToldKind, guess_role
from unveil.data.table.markers import Marker, MarkerCount, ToldMarkers, told_markers
from unveil.data.table.native import series_of
from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from unveil._kernels.types import IntArray

__all__ = [
    "KINDS",
    "ROLES",
    "Column",
    "Kind",
    "Role",
    "Table",
    "ToldKind",
    "agree",
    "kind_notes",
    "kinds_of_release",
    "unsure_note",
    "with_markers",
]

_SHOWN = 10
_SAID: tuple[Confidence, ...] = ("told", "dictionary", "labels")


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """What is known of a column without looking at its rows.

    Attributes
    ----------
    name, kind, role
        What it is called, what it holds and what it is to an adversary.
    reason
        Why this kind and role were guessed, or "as told".
    missing
        How many cells are null.
    role_told
        Whether the role was told.
    confidence
        Where the kind comes from: "told", "dictionary", "labels" (inside the file), or a guess that is "sure",
        "likely" or "unsure".
    markers
        The texts that stand for no value; `Table.marked` says where they stand.
    question
        A sentence on what only the owner of the data can know, or "".
    written
        How the two truth values, or the dates, were written, where that is known.
    follows
        Whether its kind was taken from another table with which it agrees.
    called
        What it was called before it was renamed, or "".
    hierarchy, exact
        Which values the wider labels of a release stand for, where told; and whether its numbers are as they seem.
    """

    name: str
    kind: Kind
    role: Role
    reason: str
    missing: int
    role_told: bool = False
    confidence: Confidence = "sure"
    markers: tuple[Marker, ...] = ()
    question: str = ""
    written: tuple[str, ...] = ()
    follows: bool = False
    called: str = ""
    hierarchy: Hierarchy | None = None
    exact: bool = False

    @property
    def kind_told(self) -> bool:
        """Whether the kind was told."""
        return self.confidence == "told"

    @property
    def is_used(self) -> bool:
        """Whether attacks use it: identifiers and ignored columns they do not."""
        return self.role in ("known", "sensitive")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows about people, one each, with the kind and role of every column; never shows a row.

    Made by `Table.from_frame` and `Table.read`. ``frame`` is for the library itself: each kind is kept in one form
    (see `unveil.data.table.kinds.settle`), a missing value is null. ``notes`` say what was left out on the way.
    ``marked`` says for each column with markers which of them each cell holds, as UInt8: 0 none, else its place among
    the column's markers, from 1.

    A released table that `agree` has read beside an original has ``cells``: empty if every cell is one value, else what
    the cells of each column stand for. A column with ranges or sets keeps them in ``frame`` as they were written.
    """

    name: str
    columns: tuple[Column, ...]
    frame: "pl.DataFrame" = field(repr=False)
    sha256: str | None = None
    notes: tuple[str, ...] = ()
    marked: "Mapping[str, pl.Series]" = field(default_factory=dict, repr=False)
    cells: Mapping[str, Cells] | None = field(default=None, repr=False)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        name: str = "table",
        kinds: Mapping[str, ToldKind] | None = None,
        roles: Mapping[str, Role] | None = None,
        missing: Collection[str] | Mapping[str, Collection[str]] = (),
        markers: ToldMarkers | None = None,
        dictionary: Dictionary | str | os.PathLike[str] | None = None,
        rename: Mapping[str, str] | None = None,
        elsewhere: bool = False,
    ) -> "Table":
        """Return the rows of any DataFrame, list of dicts or mapping of columns as a table; it stays as it is.

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
        columns = series_of(frame, table=name)
        rename = _of_columns(rename or {}, columns) if elsewhere else rename or {}
        columns = renamed(columns, rename, table=name)
        table = _build(columns, name, kinds or {}, roles or {}, missing, markers, dictionary, elsewhere=elsewhere)
        return _called(table, rename)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        kinds: Mapping[str, ToldKind] | None = None,
        roles: Mapping[str, Role] | None = None,
        missing: Collection[str] | Mapping[str, Collection[str]] = (),
        markers: ToldMarkers | None = None,
        dictionary: Dictionary | str | os.PathLike[str] | None = None,
        rename: Mapping[str, str] | None = None,
        elsewhere: bool = False,
        separator: str = "detect",
        decimal: str = "detect",
        encoding: str = "detect",
        header: Header = "detect",
    ) -> "Table":
        """Return the table in a file of any format that docs/files.md names.

        Its name is that of the file unless told, and ``sha256`` is the hash of the file's bytes (None for a pipe). The
        first settings are those of `from_frame`. How text is written is found out and, where it is not plain CSV, said
        in ``notes``; ``separator``, ``decimal``, ``encoding`` and ``header`` overrule it (see
        `unveil.data.files.settings.FileSettings`). A first line that looks like data is refused, because its cells
        would become names, unless ``header`` is told: "yes" where it names the columns, "no" where it is data; they are
        then called ``column_1`` and so on.
        """
        path = Path(path)
        name = name or path.name
        settings = FileSettings(separator=separator, decimal=decimal, encoding=encoding, header=header)
        digest = _digest(path)
        found = read_file(path, settings, name=name)
        notes, labels = found.notes, found.labels
        columns = series_of(without_missing(found.frame, labels), table=name)
        rename = _of_columns(rename or {}, columns) if elsewhere else rename or {}
        columns = renamed(columns, rename, table=name)
        del found  # so that each column of text can go as soon as its numbers are read
        if dictionary is None and (labels.labels or labels.measures):
            dictionary = dictionary_of_labels(labels.labels, labels.measures, labels.missing)
        table = _build(columns, name, kinds or {}, roles or {}, missing, markers, dictionary, elsewhere=elsewhere)
        return replace(_called(table, rename), sha256=digest, notes=(*notes, *table.notes))

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
        import polars as pl

        columns = tuple(self.column(name) for name in names)
        # One by one: for polars a column called * would stand for all of them.
        frame = pl.DataFrame({name: self.frame.get_column(name) for name in names})
        marked = {name: self.marked[name] for name in names if name in self.marked}
        cells = {name: self.cells[name] for name in names} if self.cells else self.cells
        return replace(self, columns=columns, frame=frame, marked=marked, cells=cells)

    def held(self, name: str) -> Held:
        """Return the values of a column, and which markers stand where there is none."""
        return Held(self.frame.get_column(name), self.marked.get(name), self.column(name).markers)

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
        return replace(self, frame=pl.DataFrame(ends), sha256=None, marked={}, cells=None)

    def take(self, row_indices: "IntArray | Sequence[int]") -> "Table":
        """Return the rows at these positions, counted from 0, in this order; they have no hash, being no file."""
        import numpy as np

        frame = self.frame[row_indices]
        missing = frame.null_count().row(0) if frame.width else ()
        columns = tuple(replace(column, missing=count) for column, count in zip(self.columns, missing, strict=True))
        marked = {name: cells[row_indices] for name, cells in self.marked.items()}
        cells = self.cells
        if cells:
            rows = np.asarray(row_indices, np.int64)
            cells = {name: each.take(rows) for name, each in cells.items()}
        return replace(self, columns=columns, frame=frame, sha256=None, marked=marked, cells=cells)


def with_markers(tables: Sequence[Table], names: Sequence[str]) -> "list[pl.DataFrame]":
    """Return columns of tables that agree under numbers as names, with one more for each that may lack values.

    It holds the marker that stands in a cell without a value, so that two such cells are equal only for the same
    reason. Some names have a meaning for polars, which numbers have not.
    """
    import polars as pl

    marked = {name for table in tables for name in names if name in table.marked}
    frames = []
    for table in tables:
        columns = {}
        for place, name in enumerate(names):
            columns[str(place)] = values = table.frame.get_column(name)
            if name in marked:
                none = pl.repeat(0, table.rows, dtype=pl.UInt8, eager=True)
                columns[f"{place}m"] = table.marked.get(name, none).zip_with(values.is_null(), none)
        frames.append(pl.DataFrame(columns))
    return frames


def kinds_of_release(kinds: Mapping[str, ToldKind]) -> dict[str, ToldKind]:
    """Return the told kinds by which a released table is read: words stay as they are written.

    All other kinds are those of the original, beside which `agree` reads ranges, stars and sets.

    >>> kinds_of_release({"age": "number", "zip": "category"})
    {'zip': 'category'}
    """
    return {name: kind for name, kind in kinds.items() if kind in ("category", "text")}


def _digest(path: Path) -> str | None:
    """Return the hash of a file's bytes; of what is no plain file nothing is said."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None  # reading says why


def _build(
    columns: list[tuple["pl.Series", str]],
    name: str,
    kinds: Mapping[str, ToldKind],
    roles: Mapping[str, Role],
    missing: Collection[str] | Mapping[str, Collection[str]],
    markers: ToldMarkers | None,
    dictionary: Dictionary | str | os.PathLike[str] | None,
    *,
    elsewhere: bool,
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
    if elsewhere:
        kinds = {column: kind for column, kind in kinds.items() if column in names}
        roles = {column: role for column, role in roles.items() if column in names}
        if isinstance(missing, Mapping):
            missing = {column: texts for column, texts in missing.items() if column in names}
        markers = {key: told for key, told in (markers or {}).items() if isinstance(told, str) or key in names}
    _check_told(names, name, kinds, roles)
    if dictionary is not None and not isinstance(dictionary, Dictionary):
        dictionary = read_dictionary(dictionary)
    told = told_markers(missing, markers, names, name)
    settled, notes = settled_columns(columns, kinds, told, dictionary, name)
    known = {} if dictionary is None else dictionary.columns
    described = [
        _described(each, roles.get(each.values.name) or getattr(known.get(each.values.name), "role", None))
        for each in settled
    ]
    frame = pl.DataFrame({each.values.name: each.values for each in settled})
    marked = {each.values.name: each.marked for each in settled if each.marked is not None}
    return Table(name, tuple(described), frame, notes=notes, marked=marked)


def _of_columns(rename: Mapping[str, str], columns: list[tuple["pl.Series", str]]) -> dict[str, str]:
    names = {series.name for series, _ in columns}
    return {old: new for old, new in rename.items() if old in names}


def _called(table: Table, rename: Mapping[str, str]) -> Table:
    """Return the table whose columns know what they were called before they were renamed."""
    before = {new: old for old, new in rename.items()}
    columns = (replace(column, called=before.get(column.name, "")) for column in table.columns)
    return replace(table, columns=tuple(columns)) if before else table


def _described(settled: Settled, told: Role | None) -> Column:
    role, why = (told, "as told") if told else guess_role(settled.values, settled.kind)
    return Column(
        name=settled.values.name,
        kind=settled.kind,
        role=role,
        reason=f"{settled.kind}: {settled.reason}; {role}: {why}",
        missing=settled.values.null_count(),
        role_told=told is not None,
        confidence=settled.confidence,
        markers=settled.markers,
        question=settled.question,
        written=settled.written,
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
        and rounded numbers, top and bottom codes are recognised, with a note.

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
    others = tuple(matched(original, other) for other in others)
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
        cells = {name: part[1].cells for name, part in zip(names, parts, strict=True)}
        agreed[1] = replace(agreed[1], cells=with_shares(agreed, cells))
    return tuple(agreed)


def kind_notes(table: Table) -> tuple[str, ...]:
    """Return what must be said of the kinds of the columns in use: those that nothing in the data tells, and questions.

    Identifiers and ignored columns are not in use.

    >>> import polars as pl
    >>> kind_notes(Table.from_frame(pl.DataFrame({"q8": [1, 2, 5, 4, 3, 9] * 5})))
    ("9 may stand for no answer in 'q8'. If so, name it as missing.",)
    """
    used = [column for column in table.columns if column.is_used]
    unsure = unsure_note(table)
    asked = (f"{column.question}." for column in used if column.question and column.confidence not in _SAID)
    return (*([unsure] if unsure else []), *asked)


def unsure_note(table: Table) -> str:
    """Return which columns in use nothing tells the kind of for sure, or "" where there are none."""
    used = [column for column in table.columns if column.is_used]
    unsure = [column.name for column in used if column.confidence == "unsure"]
    if not unsure:
        return ""
    return (
        f"Kinds were guessed. For {len(unsure)} of {len(used)} columns ({_listed(unsure)}) nothing in the data tells "
        "for sure what they hold. Tell their kinds, or pass a dictionary: each wrong one changes the figures."
    )


def _assembled(table: Table, place: int, parts: Sequence[Sequence[Part]]) -> Table:
    """Return the table with the columns that all tables have, and a note on those it loses."""
    import polars as pl

    own = [part[place] for part in parts]
    columns = tuple(part.column for part in own)
    kept = {column.name for column in columns}
    dropped = [name for name in table.column_names if name not in kept]
    notes = table.notes
    if dropped:
        many = "columns" if len(dropped) > 1 else "column"
        notes += (f"{len(dropped)} {many} of the {table.name} left out, not being in all tables: {_listed(dropped)}",)
    notes += tuple(part.note for part in own if part.note and part.note not in notes)
    # By name: a series whose name is empty would lose it in a list of them.
    frame = pl.DataFrame({part.column.name: part.values for part in own})
    marked = {part.column.name: part.marked for part in own if part.marked is not None}
    cells = {name: each for name, each in table.cells.items() if name in kept} if table.cells else table.cells
    return replace(table, columns=columns, frame=frame, notes=notes, marked=marked, cells=cells)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more
