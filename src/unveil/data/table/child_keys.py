"""Person keys of child tables: the person of each row, and keys that do not fit together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table.words import names_time
from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.table import Table

#: Larger whole numbers have neighbors that no float tells apart.
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class PeopleKeys:
    """The people of a parent table and of its child tables.

    Parameters
    ----------
    keys
        The key of each person, in the order of the parent table; without one in that of their first rows.
    persons
        For each child table the person of each row, -1 where there is none.
    empty, orphans
        For each child table the number of rows without a key, and of rows whose key the parent table lacks.
    """

    keys: "pl.Series" = field(repr=False)
    persons: Mapping[str, IntArray] = field(repr=False)
    empty: Mapping[str, int]
    orphans: Mapping[str, int]

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.keys)

    def with_rows(self, name: str) -> int:
        """Return how many people have a row in a child table."""
        person = self.persons[name]
        return int(np.count_nonzero(np.bincount(person[person >= 0])))

    def refuse_problems(self, where: str) -> None:
        """Refuse empty keys, and keys without a person."""
        for name, rows in self.empty.items():
            if rows:
                raise InputError(
                    f"{rows:,} {'row' if rows == 1 else 'rows'} of the table {name!r} of the {where} have an empty "
                    "person key. Fill in the keys, or remove these rows"
                )
        for name, rows in self.orphans.items():
            if rows:
                raise InputError(
                    f"{rows:,} {'row' if rows == 1 else 'rows'} of the table {name!r} of the {where} without a person: "
                    "the people table lacks their key. Add these people, or remove the rows"
                )


def key_texts(table: "Table", key: str) -> "pl.Series":
    """Return the keys of a table as texts, however the file wrote them; null where they are empty.

    >>> from unveil.data.table import Table
    >>> key_texts(Table.from_frame({"person": [1.0, 2.0, None]}, name="visits"), "person").to_list()
    ['1', '2', None]
    """
    import polars as pl

    values = table.series(key)
    if values.dtype.is_float():
        whole = (values.is_null() | (values.round().eq(values) & (values.abs() < _EXACT))).all()
        values = values.cast(pl.Int64) if whole else values
    return values.cast(pl.String)


def people_keys(parent: "Table | None", children: "Mapping[str, Table]", key: str, *, where: str) -> PeopleKeys:
    """Return the people of a parent table and of child tables, by their keys.

    ``where`` says for messages which tables they are, such as "original".

    >>> from unveil.data.table import Table
    >>> people = Table.from_frame({"id": ["a", "b"], "age": [31, 40]}, name="people")
    >>> visits = Table.from_frame({"id": ["b", "b", "c"], "cost": [1, 2, 3]}, name="visits")
    >>> found = people_keys(people, {"visits": visits}, "id", where="release")
    >>> found.persons["visits"], dict(found.orphans)
    (array([ 1,  1, -1]), {'visits': 1})
    """
    import polars as pl

    for name, table in (*([] if parent is None else [("", parent)]), *children.items()):
        if key not in table.column_names:
            what = f"table {name!r}" if name else "people table"
            hint = did_you_mean(key, table.column_names) or " Add the column, or name another person key."
            raise InputError(f"The {what} of the {where} lacks the person key {key!r}.{hint}")
    texts = {name: key_texts(table, key) for name, table in children.items()}
    if parent is None:
        keys = pl.concat(list(texts.values())).drop_nulls().unique(maintain_order=True)
        if keys.is_empty():
            raise InputError(f"The person key {key!r} of the {where} is empty in all rows. Name another person key")
    else:
        keys = _parent_keys(parent, key, where)
    place = pl.DataFrame({"key": keys, "person": np.arange(len(keys))})
    persons, empty, orphans = {}, {}, {}
    for name, own in texts.items():
        joined = pl.DataFrame({"key": own}).join(place, on="key", how="left", maintain_order="left")["person"]
        persons[name] = joined.fill_null(-1).to_numpy().astype(np.int64)
        empty[name] = own.null_count()
        orphans[name] = joined.null_count() - empty[name]
        if joined.null_count() == joined.len():
            raise InputError(
                f"No row of the table {name!r} of the {where} has the key of a person. Compare the columns {key!r} of "
                "both files"
            )
    return PeopleKeys(keys, persons, empty, orphans)


def _parent_keys(parent: "Table", key: str, where: str) -> "pl.Series":
    keys = key_texts(parent, key)
    if keys.null_count():
        raise InputError(
            f"{keys.null_count():,} rows of the people table of the {where} have an empty person key {key!r}. Fill in "
            "the keys, or remove these rows"
        )
    repeated = keys.len() - keys.n_unique()
    if repeated:
        raise InputError(
            f"The people table of the {where} has several rows for one person: {repeated:,} repeat a key of another "
            f"row in {key!r}. Keep one row per person, or pass the table as a child table"
        )
    return keys


def time_column(table: "Table", *, ignore: Sequence[str] = ()) -> tuple[str | None, tuple[str, ...]]:
    """Return the column that orders the rows of a person, and all that might.

    It is the only date, or without dates the only number whose name means a time; None where several might be.

    >>> from unveil.data.table import Table
    >>> time_column(Table.from_frame({"year": [2001, 2002], "cost": [3, 4]}, name="visits"))
    ('year', ('year',))
    """
    own = [each for each in table.columns if each.name not in ignore]
    dates = tuple(each.name for each in own if each.kind == "date")
    found = dates or tuple(each.name for each in own if each.kind == "number" and names_time(each.name))
    return (found[0] if len(found) == 1 else None), found
