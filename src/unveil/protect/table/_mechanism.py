"""How likely masked rows are, put together from parts: each part speaks for some of the columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from unveil.data.table import Table

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Part(Protocol):
    """What a mask does to some columns, independently of the others."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that this part speaks for."""

    def log_chance(self, original: Table, released: Table) -> Floats:
        """Return one line per released row: the logarithm of its chance given each original row.

        The tables have some of the part's columns, in their order; where one is left out, it is not known.
        """


@dataclass(frozen=True, eq=False)
class Parts:
    """The mechanism of a mask: given a person's row, its parts are masked independently, so chances multiply.

    Both tables may have some of the columns only (see `Table.select`): the chances are then those of what is left.
    Rows that are equal in a part's columns have equal chances: only lots tell them apart.
    """

    parts: tuple[Part, ...]

    def log_likelihood(self, original: Table, released: Table, rows: Integers) -> Floats:
        """Return the logarithm of the chance, or density, of the released ``rows`` given each original row."""
        have = set(original.column_names) & set(released.column_names)
        asked = released.take(np.asarray(rows, np.int64))
        total = np.zeros((asked.rows, original.rows))
        for part in self.parts:
            names = [name for name in part.names if name in have]
            if names:
                total += part.log_chance(original.select(names), asked.select(names))
        return total


@dataclass(frozen=True, eq=False)
class Unchanged:
    """Columns that stay as they are: only a row with the same values can have become a released one."""

    names: tuple[str, ...]

    def log_chance(self, original: Table, released: Table) -> Floats:
        """Return 0 where two rows are equal, else minus infinity."""
        before, after = row_codes([original.frame, released.frame])
        return np.where(after[:, None] == before[None, :], 0.0, -np.inf)


@dataclass(frozen=True, eq=False)
class Recoded:
    """Columns whose values were replaced by those of a group of rows, as ``before`` and ``after`` show row by row.

    Of the rows that had one content, some share has one new content: that share is the chance. Which of the
    rows it was, only lots tell, if anything.
    """

    before: "pl.DataFrame"
    after: "pl.DataFrame"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in their order."""
        return tuple(self.before.columns)

    def log_chance(self, original: Table, released: Table) -> Floats:
        """Return the logarithms of the shares, minus infinity where no row with that content was recoded so."""
        from scipy.sparse import csr_array

        names = list(original.column_names)
        old, asked_old = row_codes([_only(self.before, names), original.frame])
        new, asked_new = row_codes([_only(self.after, names), released.frame])
        shape = (max(int(new.max()), int(asked_new.max())) + 1, max(int(old.max()), int(asked_old.max())) + 1)
        counts = csr_array((np.ones(old.size), (new, old)), shape=shape)
        rows_with = np.maximum(np.bincount(old, minlength=shape[1]), 1)
        lines, line = np.unique(asked_new, return_inverse=True)
        with np.errstate(divide="ignore"):
            logs = np.log(counts[lines].toarray() / rows_with)
        found: Floats = logs[line][:, asked_old]
        return found


@dataclass(frozen=True, eq=False)
class OneColumn:
    """A column whose values change at random among those that it has.

    ``values`` are the different values; ``chances`` takes numbers of released values, and returns for each a line with
    its chance given each original value. The number after the last stands for a missing value.
    """

    name: str
    values: "pl.Series"
    chances: Callable[[Integers], Floats]

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.name,)

    def log_chance(self, original: Table, released: Table) -> Floats:
        """Return the logarithms of the chances; a value that the column never had has none."""
        before = value_numbers(self.values, original.frame.get_column(self.name))
        after = value_numbers(self.values, released.frame.get_column(self.name))
        lines, line = np.unique(after, return_inverse=True)
        known = lines <= self.values.len()
        # One more column and line for values that are not known here.
        table = np.zeros((lines.size, self.values.len() + 2))
        table[known, :-1] = self.chances(lines[known])
        with np.errstate(divide="ignore"):
            logs = np.log(table)
        return logs[line][:, before]


def _only(frame: "pl.DataFrame", names: Sequence[str]) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame({name: frame.get_column(name) for name in names})


def row_codes(frames: Sequence["pl.DataFrame"]) -> list[Integers]:
    """Return a number for each row of frames with the same columns: two rows have the same if they are equal.

    >>> import polars as pl
    >>> row_codes([pl.DataFrame({"a": [2, None, 1]}), pl.DataFrame({"a": [1.0, 2.0]})])
    [array([2, 0, 1]), array([1, 2])]
    """
    code = np.zeros(sum(frame.height for frame in frames), np.int64)
    for place in range(frames[0].width):
        rank = _ranks([frame.to_series(place) for frame in frames])
        code = code * (int(rank.max(initial=0)) + 1) + rank
        code = np.unique(code, return_inverse=True)[1].astype(np.int64)
    return [part.copy() for part in np.split(code, np.cumsum([frame.height for frame in frames])[:-1])]


def value_numbers(values: "pl.Series", column: "pl.Series") -> Integers:
    """Return where each cell is among ``values``; the number after the last if missing, and one more if not there.

    >>> import polars as pl
    >>> value_numbers(pl.Series(["a", "c"]), pl.Series(["c", None, "b", "a"]))
    array([1, 2, 3, 0])
    """
    rank = _ranks([values, column])
    number = np.full(int(rank.max(initial=0)) + 1, values.len() + 1)
    number[0] = values.len()
    number[rank[: values.len()]] = np.arange(values.len())
    return number[rank[values.len() :]].astype(np.int64)


def _ranks(parts: Sequence["pl.Series"]) -> Integers:
    """Return the place of each cell among the different values of all parts, from 1; 0 where missing."""
    import polars as pl

    joined = pl.concat([part.alias("values").to_frame() for part in parts], how="vertical_relaxed").to_series()
    return joined.rank("dense").cast(pl.Int64).fill_null(0).to_numpy().astype(np.int64)
