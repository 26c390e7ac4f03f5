"""Whom an audit attacks: people drawn by what their rows hold, and as many others who are not in the data."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release

#: The group of each row of the original, None where it is missing, and the same of the control table.
Labels = tuple[tuple[str | None, ...], tuple[str | None, ...] | None]
#: Which of the people: those for named adversaries, or one of two halves that share nobody.
Part = Literal["told", "search", "fresh"]


@dataclass(frozen=True, kw_only=True)
class People:
    """Which rows are attacked, by position: those for named adversaries, and two halves that share nobody.

    ``search`` is where the worst adversary is looked for, ``fresh`` where the winner is measured.
    """

    told: IntArray
    search: IntArray
    fresh: IntArray


def draw_people(table: Table, targets: int | None, *, rng: np.random.Generator) -> People:
    """Return whom to attack, drawn by what the rows hold and not by where they stand.

    Rows that are equal in all columns are interchangeable. Halves are of the same size where there are rows enough.

    >>> import polars as pl
    >>> people = draw_people(Table.from_frame(pl.DataFrame({"age": range(9)})), 3, rng=np.random.default_rng(1))
    >>> people.told.size, people.search.size, people.fresh.size
    (3, 3, 3)
    """
    import polars as pl

    content = table.frame.select(pl.arg_sort_by(table.frame.columns)).to_series().to_numpy().astype(np.int64)
    drawn = content[rng.permutation(content.size)]
    most = content.size if targets is None else targets
    half = min(most, max(content.size // 2, 1))
    # Somebody must be measured even where there is only one person.
    fresh = drawn[:half]
    return People(told=drawn[:most], fresh=fresh, search=drawn[half : 2 * half] if content.size > 1 else fresh)


@dataclass(frozen=True, kw_only=True)
class DrawnPeople:
    """The people of one release who are attacked, and as many others; for groups also what each belongs to."""

    release: Release
    people: People
    outsiders: People | None
    #: None where nobody asked for groups.
    groups: Labels | None = None
    #: Groups of fewer people are never shown.
    minimum_cell: int = 11
    #: How many tables of groups are read together, each of which could show a bad group by chance.
    looks: int = 1

    def knowledge(self, part: Part) -> Knowledge:
        """Return what an adversary knows about these people, with as many others."""
        control = None
        if self.release.control is not None and self.outsiders is not None:
            control = self.release.control.take(getattr(self.outsiders, part))
        records = self.release.original.take(getattr(self.people, part))
        return Knowledge(records, control, scale=self.release.original.extremes())

    @property
    def whole(self) -> Knowledge:
        """Everybody in the original and in the control table."""
        return Knowledge(self.release.original, self.release.control)

    @property
    def members(self) -> Knowledge:
        """The people for named adversaries beside everybody in the control table, which is divided further."""
        return Knowledge(
            self.release.original.take(self.people.told),
            self.release.control,
            scale=self.release.original.extremes(),
        )
