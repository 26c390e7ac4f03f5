"""Release of a table, and attacker knowledge about its people."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from unveil.data.table.agree import agree, kind_notes
from unveil.data.table.table import Table
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil._kernels.types import IntArray
    from unveil.data.mechanism import Mechanism
    from unveil.data.table.child_tables import ChildRelease

ReleaseKind = Literal["masked", "synthetic"]


@dataclass(frozen=True, eq=False)
class Release:
    """Original table, release, and optional control group, with agreed columns.

    Parameters
    ----------
    original
        The people whose privacy is at stake.
    released
        What everybody will see.
    control
        People of the same kind who are not in the original: what an attack finds out about them, it did not learn
        from the release.
    kind
        "masked" if each released row comes from one original row, "synthetic" if not, None if that is not known.
    name
        How reports call the release.
    notes
        What a reader has to know, such as columns that were left out; those of the tables are added.
    truth
        For each released row the row of the original that it was made from, counted from 0; None where rows are
        nobody's (synthetic) or it is not known.
    mechanism
        How likely each released row is for each original one, where the masking method can say so; what an attacker
        knows who knows the method and its settings.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [31, 40], "town": ["Ulm", "Bonn"]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [30, 40]}), name="released")
    >>> Release(original, released).original.column_names
    ('age',)
    """

    original: Table
    released: Table
    control: Table | None = None
    kind: ReleaseKind | None = None
    name: str = "release"
    notes: tuple[str, ...] = ()
    truth: "IntArray | None" = None
    # It may know the original, and what is private is never printed.
    mechanism: "Mechanism | None" = field(default=None, repr=False)
    #: Child tables of the same people: rows of ``original``, ``released`` and ``control`` are then one per person.
    children: "tuple[ChildRelease, ...]" = ()

    def __post_init__(self) -> None:
        if self.kind not in ("masked", "synthetic", None):
            raise InputError("the kind of a release must be 'masked', 'synthetic' or None. Pass one of them")
        # Read anew: cells may have been read beside other people, or before it was known that they are masked.
        released = replace(self.released, cells=None)
        control = [] if self.control is None else [self.control]
        tables = agree(self.original, released, *control, masked=self.kind == "masked")
        added = [note for table in tables for note in table.notes if note not in self.notes]
        added += kind_notes(tables[0])
        for name, table in zip(("original", "released", "control"), tables, strict=False):
            object.__setattr__(self, name, table)
        object.__setattr__(self, "notes", (*self.notes, *dict.fromkeys(added)))
        if self.control is not None and _same_rows(self.original, self.control):
            raise InputError(
                f"the {self.control.name} has the same rows as the {self.original.name}. "
                "Pass held-out records, or no control table"
            )


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Attacker's background knowledge: rows about original and control people.

    Where ``records`` are only some of the original, ``scale`` holds rows that reach as far as the whole of it (such as
    :meth:`Table.extremes <unveil.data.table.Table.extremes>`), so that distances do not depend on who was drawn.
    """

    records: Table
    control: Table | None = None
    scale: Table | None = None


def _same_rows(one: Table, other: Table) -> bool:
    """Return whether two tables hold the same rows, in any order."""
    if one.rows != other.rows:
        return False
    return one.content.hash_rows(0).sort().equals(other.content.hash_rows(0).sort())
