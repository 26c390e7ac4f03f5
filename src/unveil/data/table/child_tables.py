"""Child tables of a release: several rows per person, next to one row per person."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unveil._kernels.types import IntArray
    from unveil.data.table.release import Release
    from unveil.data.table.table import Table


@dataclass(frozen=True, eq=False)
class ChildTable:
    """Rows of one child table, sorted by person and then by time.

    Parameters
    ----------
    name
        What reports call the table, such as "visits".
    rows
        Its columns without the person key; ``time`` is one of them.
    person
        The person of each row, ascending: the row of the table with one row per person.
    people
        How many people there are; some may have no row here.
    time
        The column that orders the rows of a person, if there is one.
    """

    name: str
    rows: "Table" = field(repr=False)
    person: "IntArray" = field(repr=False)
    people: int
    time: str | None = None

    @property
    def start(self) -> "IntArray":
        """The first row of each person, and the number of rows at the end."""
        return np.searchsorted(self.person, np.arange(self.people + 1))


@dataclass(frozen=True, eq=False)
class ChildRelease:
    """One child table in the original, the release, and the control group, with agreed columns.

    The rows of ``release`` are those of the child tables; the arrays say whose each row is, ascending.
    """

    name: str
    release: "Release"
    person: "IntArray" = field(repr=False)
    released_person: "IntArray" = field(repr=False)
    control_person: "IntArray | None" = field(repr=False, default=None)
    time: str | None = None

    @classmethod
    def of(
        cls, original: ChildTable, released: ChildTable, control: ChildTable | None = None, *, masked: bool = False
    ) -> "ChildRelease":
        """Return the child tables of one release, next to each other."""
        from unveil.data.table.release import Release

        release = Release(
            original.rows,
            released.rows,
            None if control is None else control.rows,
            kind="masked" if masked else None,
            name=original.name,
        )
        outside = None if control is None else control.person
        return cls(original.name, release, original.person, released.person, outside, original.time)
