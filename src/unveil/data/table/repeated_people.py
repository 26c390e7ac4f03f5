"""Find the column that identifies people with several rows."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil.data.table.coded_columns import value_counts
from unveil.data.table.words import names_time, names_trait, names_weight

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.table import Table

#: A column of fewer values, or of fewer rows for each of them on average, tells no people apart.
_LEAST_VALUES, _LEAST_ROWS = 20, 1.5
#: With more rows per value it is a group of people, or one long series.
_MOST_ROWS = 1_000
#: So many values are looked at.
_LOOKED_AT = 500
#: For so large a share of its values a column must be constant to belong to the person, and no other may fall below.
_CONSTANT, _CHANGING = 0.95, 0.9
#: If two rows at random agree more often than this, a column is too even to tell anything.
_EVEN = 0.9
#: Two rows of a person never share a point in time: of so many expected pairs at most this share may.
_EXPECTED, _SAME_TIME = 20.0, 0.02
#: Fewer rows than that at one point in time on average are no waves.
_LEAST_WAVE = 5
_NO_KEYS = ("date", "boolean")


@dataclass(frozen=True, kw_only=True)
class RepeatedPeople:
    """A column that seems to tell people apart who have several rows each.

    Attributes
    ----------
    column
        The column.
    people, rows
        Its number of values, and the number of rows that have one.
    constant
        Columns that differ from person to person and hardly ever between rows of one.
    time
        The column of points in time, of which no person has one twice; empty if there is none.
    """

    column: str
    people: int
    rows: int
    constant: tuple[str, ...]
    time: str = ""


def repeated_people(table: "Table", *, ignore: Collection[str] = ()) -> RepeatedPeople | None:
    """Return the column that identifies people with several rows, or None.

    Its values repeat, and its rows either never share a point in time (year, wave, visit), or agree in a trait that
    people keep (sex, birth, ethnicity) and in another column that does not follow from it. Households, schools and
    regions are no people: traits vary among the rows of one. Of several such columns the one with most values is
    returned; those of ``ignore`` are left out.

    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> waves = pl.DataFrame({"person": [i // 3 for i in range(90)], "year": [2001, 2002, 2003] * 30})
    >>> found = repeated_people(Table.from_frame(waves))
    >>> found.column, found.people, found.rows, found.time
    ('person', 30, 90, 'year')
    """
    found = [
        each
        for column in table.columns
        if column.name not in ignore
        and column.kind not in _NO_KEYS
        and not names_time(column.name)
        and not names_weight(column.name)
        and (each := _repeated_by(table, column.name)) is not None
    ]
    return max(found, key=lambda each: each.people, default=None)


def _repeated_by(table: "Table", key: str) -> RepeatedPeople | None:
    import polars as pl

    values, places = table.lookup(key)
    if values.dtype.is_float() and not values.eq(values.round()).all():
        return None
    counts = value_counts(table.content.cells[key])
    filled = int(counts["cells"].sum())
    if counts.height < _LEAST_VALUES or not _LEAST_ROWS <= filled / counts.height <= _MOST_ROWS:
        return None
    repeated = counts.filter(pl.col("cells") > 1)
    if 2 * repeated["cells"].sum() < filled:
        return None
    some = repeated.gather_every(-(-repeated.height // _LOOKED_AT))["value"]
    rows = table.content[np.flatnonzero(values.is_in(some.implode()).fill_null(False).to_numpy()[places])]
    others = [each.name for each in table.columns if each.name != key and rows[each.name].n_unique() > 1]
    constant = _constant(rows, key, others)
    traits = [name for name in others if names_trait(name) and _agreement(rows, name) <= _EVEN]
    if any(constant[name] < _CHANGING for name in traits):
        return None
    own = _independent(rows, key, [name for name in others if constant[name] >= _CONSTANT])
    times = (name for name in others if names_time(name) or table.column(name).kind == "date")
    time = next((name for name in times if _never_twice(rows, key, name)), "")
    if not time and not (len(own) > 1 and set(own) - set(traits) and set(own) & set(traits)):
        return None
    return RepeatedPeople(column=key, people=counts.height, rows=filled, constant=tuple(own), time=time)


def _constant(rows: "pl.DataFrame", key: str, others: list[str]) -> dict[str, float]:
    """Return for each column the share of keys with constant values."""
    import polars as pl

    seen = rows.group_by(key).agg(pl.col(name).n_unique() for name in others)
    return {name: float((seen[name] == 1).sum()) / seen.height for name in others}


def _agreement(rows: "pl.DataFrame", *names: str) -> float:
    """Return how likely two rows at random agree in these columns."""
    counts = rows.group_by(names).len()["len"].cast(float)
    return float((counts * counts).sum()) / rows.height**2


def _independent(rows: "pl.DataFrame", key: str, names: list[str]) -> list[str]:
    """Return varied columns of which none follows from another, nor the key from any."""
    import polars as pl

    def many(*columns: str) -> int:
        return rows.select(pl.struct(columns).n_unique()).item()  # type: ignore[no-any-return]

    chosen: list[str] = []
    for name in names:
        pairs = [(name, key), *((other, name) for other in chosen), *((name, other) for other in chosen)]
        if _agreement(rows, name) <= _EVEN and all(many(*pair) > many(pair[0]) for pair in pairs):
            chosen.append(name)
    return chosen


def _never_twice(rows: "pl.DataFrame", key: str, time: str) -> bool:
    """Return whether a key never repeats at one point in time."""
    if rows.height < _LEAST_WAVE * rows[time].n_unique():
        return False

    def pairs(*names: str) -> float:
        counts = rows.group_by(names).len()["len"].cast(float)
        return float((counts * (counts - 1)).sum()) / 2

    expected = pairs(key) * _agreement(rows, time)
    return expected >= _EXPECTED and pairs(key, time) <= _SAME_TIME * expected
