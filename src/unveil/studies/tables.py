"""What an adversary knows about a table: some of its columns, and some of its rows."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
from unveil.errors import InputError


class TableCase(NamedTuple):
    """A release as one adversary meets it: what is seen, what is known, and whose each released row is.

    ``truth`` numbers the rows that the adversary holds. Released rows of all others have numbers above these: their
    people are no candidates, whatever the attack does.
    """

    released: Table
    knowledge: Knowledge
    truth: IntArray


def draw_table_knowledge(
    release: Release, *, known_columns: float | None, known_share: float, rng: np.random.Generator
) -> TableCase:
    """Return what an adversary meets who knows some columns of some people.

    Parameters
    ----------
    release
        Where the original rows come from, with its truth.
    known_columns
        How many of the columns that an adversary can know and that are released, each set of that many being equally
        likely; None for all of them.
    known_share
        The share of original rows that the adversary holds, above 0 and at most 1, drawn by lot; at least one row.
    rng
        Where chance comes from.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [25, 30, 28], "town": ["Ulm", "Bonn", "Ulm"]}), name="original")
    >>> release = Release(people, people.take([2, 0, 1]), truth=np.array([2, 0, 1]))
    >>> case = draw_table_knowledge(release, known_columns=1, known_share=0.5, rng=np.random.default_rng(1))
    >>> case.knowledge.records.rows, len(case.knowledge.records.columns), sorted(case.truth.tolist())
    (2, 1, [0, 1, 2])
    """
    original, truth = release.original, _truth(release)
    names = _drawn_columns(_knowable(release), known_columns, original.name, rng)
    if not 0 < known_share <= 1:
        raise InputError(f"known_share must be above 0 and at most 1, but is {known_share!r}. Write half as 0.5")
    size = max(1, int(np.floor(known_share * original.rows + 0.5)))
    held = np.sort(rng.choice(original.rows, size, replace=False))
    number = np.full(original.rows, -1, np.int64)
    number[held] = np.arange(size)
    number[number < 0] = np.arange(size, original.rows)
    people = original.select(names)
    whole = size == original.rows
    knowledge = Knowledge(people) if whole else Knowledge(people.take(held), scale=people.extremes())
    mine = np.where(truth < 0, truth, number[np.maximum(truth, 0)])
    return TableCase(release.released.select(names), knowledge, mine)


class PeopleCase(NamedTuple):
    """A release of some people beside all who are in the data and as many who are not, and the columns that are known.

    The columns are in an order by lot, so that an attack may divide them.
    """

    released: Table
    knowledge: Knowledge
    columns: tuple[str, ...]


def draw_leaked_people(
    release: Release, *, known_columns: float | None, leaked_share: float, rng: np.random.Generator
) -> PeopleCase:
    """Return what an adversary meets who knows some columns of everybody, where some people leaked.

    The original rows are divided by lot into three parts of the same size: members, people who are only there to be
    released in the place of members, and the control. The release has as many rows as there are members: those of a
    share of the members, and for the rest those of the second part. So with a ``leaked_share`` of 0 it tells nothing
    about the members that it does not tell about the control, and with 1 it is the protected table of the members.

    Parameters
    ----------
    release
        Where the original rows come from, with its truth.
    known_columns
        How many of the columns that an adversary can know and that are released, each set of that many being equally
        likely; None for all of them.
    leaked_share
        The share of the members whose rows are released, from 0 to 1.
    rng
        Where chance comes from.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": range(30), "pay": range(30)}), name="original")
    >>> release = Release(people, people, truth=np.arange(30))
    >>> case = draw_leaked_people(release, known_columns=None, leaked_share=0.2, rng=np.random.default_rng(1))
    >>> members, released = (set(table.frame["age"]) for table in (case.knowledge.records, case.released))
    >>> len(released), len(members & released)
    (10, 2)
    """
    original, truth = release.original, _truth(release)
    names = _drawn_columns(_knowable(release), known_columns, original.name, rng)
    columns = tuple(names[place] for place in rng.permutation(len(names)))
    part = original.rows // 3
    if not part:
        raise InputError(
            f"the {original.name} must have at least 3 rows to be divided, but has {original.rows}. Take a larger table"
        )
    lot = rng.permutation(original.rows)
    members, others, control = (lot[place * part : (place + 1) * part] for place in range(3))
    leaked = int(np.floor(leaked_share * part + 0.5))
    shown = np.zeros(original.rows, np.bool_)
    shown[members[:leaked]] = shown[others[leaked:]] = True
    rows = np.flatnonzero((truth >= 0) & shown[np.maximum(truth, 0)])
    records, outside = (original.take(np.sort(who)) for who in (members, control))
    knowledge = Knowledge(records, replace(outside, name="control"))
    return PeopleCase(release.released.take(rows), knowledge, columns)


def _truth(release: Release) -> IntArray:
    if release.truth is None:
        raise InputError(
            "a study needs a release that knows whose each row is, and this one does not. Take a masked one"
        )
    return release.truth


def _knowable(release: Release) -> list[str]:
    shared = set(release.released.column_names)
    return [column.name for column in release.original.columns if column.role == "known" and column.name in shared]


def _drawn_columns(can: list[str], count: float | None, table: str, rng: np.random.Generator) -> list[str]:
    if not can:
        raise InputError(
            f"the {table} must have a released column that an adversary knows, but has none. Name some as known"
        )
    if count is None:
        return can
    if not 1 <= count <= len(can):
        raise InputError(
            f"known_columns must be from 1 to the number of columns that can be known, but is {count:g} and the "
            f"{table} has {len(can)}. Lower it, or name more columns as known"
        )
    return [can[place] for place in np.sort(rng.choice(len(can), int(count), replace=False))]
