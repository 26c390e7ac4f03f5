"""Likelihood of masked rows, as a product over column parts.

Parts know cells of the original, so none of them, here or next to its mask, has a repr that would print them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array


class MechanismPart(Protocol):
    """The effect of a mask on some columns, independent of the rest."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that this part speaks for."""

    def log_chance(self, original: Table, released: Table, line: IntArray, candidate: IntArray) -> FloatArray:
        """Return log-probabilities of released rows ``line`` given originals ``candidate``.

        The two are arrays that numpy brings to one shape: all pairs, or some. The tables have some of the part's
        columns, in their order; where one is left out, it is not known.
        """


class Support(NamedTuple):
    """Possible original rows: ``many[j]`` of ``rows`` from ``begin[j]`` on."""

    begin: IntArray
    many: IntArray
    rows: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class ProductMechanism:
    """A mechanism whose parts mask each row independently, so that probabilities multiply.

    Both tables may have some of the columns only (see `Table.select`): the chances are then those of what is left.
    Rows that are equal in a part's columns have equal chances: only lots tell them apart.
    """

    parts: tuple[MechanismPart, ...]

    def log_likelihood(self, original: Table, released: Table, rows: IntArray) -> FloatArray:
        """Return log-likelihoods of released ``rows``, per original row."""
        asked = released.take(np.asarray(rows, np.int64))
        line, candidate = np.arange(asked.rows)[:, None], np.arange(original.rows)[None, :]
        total = np.zeros((asked.rows, original.rows))
        for part, before, after in self._seen(original, asked):
            total += part.log_chance(before, after, line, candidate)
        return total

    def likely_pairs(
        self, original: Table, released: Table, rows: IntArray, at_most: int
    ) -> tuple[IntArray, IntArray, FloatArray] | None:
        """Return possible pairs of released and original rows, with log-likelihoods.

        Released ``rows`` are given by place among them.

        They are sorted by both. None where no column narrows them down by equal values, or not to at most ``at_most``:
        all pairs are then to be asked.
        """
        asked = released.take(np.asarray(rows, np.int64))
        seen = self._seen(original, asked)
        found = [
            part.support(*tables) for part, *tables in seen if isinstance(part, (UnchangedColumns, RecodedColumns))
        ]
        least = min(found, key=lambda support: int(support.many.sum()), default=None)
        if least is None or int(least.many.sum()) > at_most:
            return None
        line = np.repeat(np.arange(asked.rows), least.many)
        start = np.cumsum(least.many) - least.many
        candidate = least.rows[np.arange(line.size) + (least.begin - start)[line]]
        total = np.zeros(line.size)
        for part, before, after in seen:
            total += part.log_chance(before, after, line, candidate)
            alive = total > -np.inf
            line, candidate, total = line[alive], candidate[alive], total[alive]
        order = np.lexsort((candidate, line))
        return line[order], candidate[order], total[order]

    def _seen(self, original: Table, released: Table) -> list[tuple[MechanismPart, Table, Table]]:
        """Return parts with a shared column, and the reduced tables."""
        have = set(original.column_names) & set(released.column_names)
        seen = []
        for part in self.parts:
            names = [name for name in part.names if name in have]
            if names:
                seen.append((part, original.select(names), released.select(names)))
        return seen


@dataclass(frozen=True, eq=False, repr=False)
class UnchangedColumns:
    """Columns that stay unchanged, and so must match."""

    names: tuple[str, ...]

    def log_chance(self, original: Table, released: Table, line: IntArray, candidate: IntArray) -> FloatArray:
        """Return 0 where two rows are equal, else minus infinity."""
        before, after = row_codes([original.frame, released.frame])
        return np.where(after[line] == before[candidate], 0.0, -np.inf)

    def support(self, original: Table, released: Table) -> Support:
        """Return the equal rows."""
        before, after = row_codes([original.frame, released.frame])
        rows = np.argsort(before, kind="stable")
        begin = np.searchsorted(before[rows], after)
        return Support(begin, np.searchsorted(before[rows], after, side="right") - begin, rows)


@dataclass(frozen=True, eq=False, repr=False)
class RecodedColumns:
    """Columns recoded by groups of rows, from ``before`` to ``after``.

    Of the rows that had one content, some share has one new content: that share is the chance. Which of the
    rows it was, only lots tell, if anything.
    """

    before: "pl.DataFrame"
    after: "pl.DataFrame"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in their order."""
        return tuple(self.before.columns)

    def log_chance(self, original: Table, released: Table, line: IntArray, candidate: IntArray) -> FloatArray:
        """Return log shares of recodings; minus infinity if none."""
        shares, old, new = self._shares(original, released)
        if line.ndim == 1:
            found = np.asarray(shares[new[line], old[candidate]]).ravel()
        else:
            lines, place = np.unique(new, return_inverse=True)
            found = shares[lines].toarray()[place[line], old[candidate]]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(found), np.float64)

    def support(self, original: Table, released: Table) -> Support:
        """Return the rows whose content was recoded to the released one."""
        from scipy.sparse import csr_array

        shares, old, new = self._shares(original, released)
        rows = csr_array((np.ones(old.size), (old, np.arange(old.size))), shape=(shares.shape[1], old.size))
        possible = csr_array(shares @ rows)
        begin = possible.indptr[new].astype(np.int64)
        return Support(begin, possible.indptr[new + 1] - begin, possible.indices.astype(np.int64))

    def _shares(self, original: Table, released: Table) -> "tuple[csr_array, IntArray, IntArray]":
        """Return recoding shares, new (lines) by old (columns), and contents."""
        import polars as pl
        from scipy.sparse import csr_array

        names = list(original.column_names)
        old, asked_old = row_codes([_only(self.before, names), original.frame])
        after = _only(self.after, names)
        # What was written as text may have been read since, with null for a star.
        texts = [released.held(name).texts() for name in names if after.schema[name] == pl.String]
        new, asked_new = row_codes([after, released.frame.with_columns(texts)])
        shape = (max(int(new.max()), int(asked_new.max())) + 1, max(int(old.max()), int(asked_old.max())) + 1)
        rows_with = np.bincount(old, minlength=shape[1])
        return csr_array((1 / rows_with[old], (new, old)), shape=shape), asked_old, asked_new


@dataclass(frozen=True, eq=False, repr=False)
class SingleColumn:
    """A column whose values change at random among those that it has.

    ``values`` are the different values; ``chances`` takes numbers of released values, and returns for each a line with
    its chance given each original value. The number after the last stands for a missing value.
    """

    name: str
    values: "pl.Series"
    chances: Callable[[IntArray], FloatArray]

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.name,)

    def log_chance(self, original: Table, released: Table, line: IntArray, candidate: IntArray) -> FloatArray:
        """Return log-probabilities; unknown values have none."""
        before = value_numbers(self.values, original.series(self.name))
        after = value_numbers(self.values, released.series(self.name))
        lines, place = np.unique(after, return_inverse=True)
        known = lines <= self.values.len()
        # One more column and line for values that are not known here.
        table = np.zeros((lines.size, self.values.len() + 2))
        table[known, :-1] = self.chances(lines[known])
        with np.errstate(divide="ignore"):
            logs = np.log(table)
        return np.asarray(logs[place[line], before[candidate]], np.float64)


def _only(frame: "pl.DataFrame", names: Sequence[str]) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame({name: frame.get_column(name) for name in names})


def row_codes(frames: Sequence["pl.DataFrame"]) -> list[IntArray]:
    """Return a number per row, equal for equal rows.

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


def value_numbers(values: "pl.Series", column: "pl.Series") -> IntArray:
    """Return each cell's position in ``values``.

    A missing cell gets the number after the last, an absent one the next.

    >>> import polars as pl
    >>> value_numbers(pl.Series(["a", "c"]), pl.Series(["c", None, "b", "a"]))
    array([1, 2, 3, 0])
    """
    rank = _ranks([values, column])
    number = np.full(int(rank.max(initial=0)) + 1, values.len() + 1)
    number[0] = values.len()
    number[rank[: values.len()]] = np.arange(values.len())
    return number[rank[values.len() :]].astype(np.int64)


def _ranks(parts: Sequence["pl.Series"]) -> IntArray:
    """Return the rank of each cell among all parts, from 1."""
    import polars as pl

    joined = pl.concat([part.alias("values").to_frame() for part in parts], how="vertical_relaxed").to_series()
    return joined.rank("dense").cast(pl.Int64).fill_null(0).to_numpy().astype(np.int64)
