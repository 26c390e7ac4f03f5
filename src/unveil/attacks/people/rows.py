"""Rows of targets and released people, coded together."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.histories import FEW_VALUES, HistoryColumn
from unveil.data.pseudonyms import codes_of
from unveil.data.table import Table, stacked

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.child_tables import ChildRelease
    from unveil.data.table.release import Release


class TargetRows(NamedTuple):
    """The attacked people: rows of the original and of the control table, with one row per person."""

    inside: IntArray
    outside: IntArray

    @property
    def size(self) -> int:
        """Number of targets."""
        return self.inside.size + self.outside.size


@dataclass(frozen=True, kw_only=True, eq=False)
class PersonRows:
    """Rows of people: the targets come first, then the released people.

    Attributes
    ----------
    name
        The name of the table.
    columns
        The compared columns, one entry per row.
    exact
        The whole row as a number that equal rows share.
    person
        The person of each row, ascending; rows of one person are in time order, and at one time by content.
    targets, released
        Number of targets and of released people.
    time
        The column of times, if there is one.
    days
        The time of each row in days or in the unit of the data, NaN if missing; None without a time column.
    all_codes
        For each column, numbers included, its values as codes, -1 if missing.
    """

    name: str
    columns: tuple[HistoryColumn, ...] = field(repr=False)
    exact: IntArray = field(repr=False)
    person: IntArray = field(repr=False)
    targets: int
    released: int
    time: str | None = None
    days: FloatArray | None = field(default=None, repr=False)
    all_codes: tuple[Int32Array, ...] = field(default=(), repr=False)

    @property
    def people(self) -> int:
        """Number of targets and released people together."""
        return self.targets + self.released

    @property
    def sizes(self) -> IntArray:
        """Number of rows of each person."""
        return np.bincount(self.person, minlength=self.people)

    @property
    def start(self) -> IntArray:
        """The first row of each person, and the number of rows at the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def of_rows(self, rows: IntArray) -> "PersonRows":
        """Return some rows of the same people, in this order."""
        return PersonRows(
            name=self.name,
            columns=tuple(column.take(rows) for column in self.columns),
            exact=self.exact[rows],
            person=self.person[rows],
            targets=self.targets,
            released=self.released,
            time=self.time,
            days=None if self.days is None else self.days[rows],
            all_codes=tuple(codes[rows] for codes in self.all_codes),
        )


def parent_rows(release: "Release", targets: TargetRows, columns: tuple[str, ...]) -> PersonRows:
    """Return the parent rows of targets and released people."""
    tables = [release.original.take(targets.inside)]
    if release.control is not None:
        tables.append(release.control.take(targets.outside))
    people = targets.size + release.released.rows
    return _coded(
        "parent",
        [*tables, release.released],
        columns,
        None,
        np.arange(people),
        targets.size,
        people=release.released.rows,
    )


def child_columns(child: "ChildRelease") -> tuple[str, ...]:
    """Return the compared columns of a child table: no identifiers, and no cells that stand for several values."""
    release = child.release
    names = tuple(column.name for column in release.original.columns if column.role not in ("identifier", "ignored"))
    return tuple(name for name in names if name not in release.released.coarse(names))


def child_sides(child: "ChildRelease", targets: TargetRows) -> "list[tuple[Table, IntArray, IntArray]]":
    """Return the tables of the targets' rows, with the rows, and the target of each."""
    release = child.release
    sides = [(release.original, *_rows_of(child.person, targets.inside))]
    if release.control is not None and child.control_person is not None:
        rows, owner = _rows_of(child.control_person, targets.outside)
        sides.append((release.control, rows, targets.inside.size + owner))
    return sides


def child_rows(child: "ChildRelease", targets: TargetRows, released_people: int) -> PersonRows:
    """Return the child rows of targets and released people."""
    sides = child_sides(child, targets)
    tables = [*(table.take(rows) for table, rows, _ in sides), child.release.released]
    person = np.concatenate([*(owner for *_, owner in sides), targets.size + child.released_person])
    return _coded(child.name, tables, child_columns(child), child.time, person, targets.size, people=released_people)


def _rows_of(person: IntArray, attacked: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of attacked people in the order of these, and the place of the owner of each."""
    start = np.searchsorted(person, attacked)
    size = np.searchsorted(person, attacked, side="right") - start
    owner = np.repeat(np.arange(attacked.size), size)
    first = np.cumsum(size) - size
    return start[owner] + np.arange(owner.size) - first[owner], owner


def _coded(
    name: str,
    tables: "list[Table]",
    columns: tuple[str, ...],
    time: str | None,
    person: IntArray,
    targets: int,
    *,
    people: int,
) -> PersonRows:
    """Return the rows of several tables with common codes."""
    table = stacked(tables, columns)
    found, codes = [], []
    exact = np.zeros(person.size, np.int64)
    days = None
    for each in columns:
        series, kind = table.series(each), table.column(each).kind
        coded = codes_of(series)
        codes.append(coded)
        exact = np.unique(exact * (int(coded.max(initial=-1)) + 2) + coded, return_inverse=True)[1]
        numbers = _numbers(series, kind) if kind in ("number", "date") else None
        if each == time and numbers is not None:
            days = numbers
        is_number = numbers is not None and int(coded.max(initial=-1)) >= FEW_VALUES
        found.append(HistoryColumn(each, codes=None if is_number else coded, numbers=numbers if is_number else None))
    # Rows at the same time stand by content: their order in the file says nothing.
    order = np.lexsort((exact, np.zeros(person.size) if days is None else days, person))
    made = PersonRows(
        name=name,
        columns=tuple(found),
        exact=exact.astype(np.int64),
        person=person.astype(np.int64),
        targets=targets,
        released=people,
        time=None if days is None else time,
        days=days,
        all_codes=tuple(codes),
    )
    return made.of_rows(order)


def _numbers(series: "pl.Series", kind: str) -> FloatArray:
    """Return numbers, or times in days, NaN if missing."""
    import polars as pl

    if kind == "date":
        return np.asarray(series.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).fill_null(np.nan)) / 86_400e6
    return np.asarray(series.cast(pl.Float64).fill_null(np.nan).to_numpy(), np.float64)
