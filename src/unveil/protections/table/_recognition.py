"""Recognition of a declared method in a file: mechanism and refutations.

The settings of a method do not tell everything: which rows a method put into one group, or what it made of a value, is
read from the file itself, row by row, because an attacker who knows the method and the original can work it out.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, IntArray
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guesses.candidates import NOBODY
from unveil.protections.table._mechanism import MechanismPart, ProductMechanism, RecodedColumns, row_codes

if TYPE_CHECKING:
    import polars as pl


#: From this many different values on, noise that leaves less than this share of them is none.
_VARIED, _ALIKE = 10, 0.7


class DeclaredFile(NamedTuple):
    """A file with a declared method: tables and true original rows."""

    original: Table
    released: Table
    truth: IntArray

    def texts(self, names: Sequence[str]) -> "pl.DataFrame":
        """Return released columns as in the file: words, also those of intervals, as texts; numbers stay."""
        import polars as pl

        frame = self.released.frame[list(names)]
        return frame.with_columns(
            [self.released.held(name).texts() for name in names if frame[name].dtype == pl.String]
        )


class Refutation(NamedTuple):
    """A refutation of a declared method, and the rows behind it.

    There are none where only the rows together show it.
    """

    sentence: str
    rows: IntArray = np.empty(0, np.int64)


class RecognizedMechanism(NamedTuple):
    """Parts of a recognized mechanism, the refutations, and their combination."""

    parts: tuple[MechanismPart, ...]
    against: tuple[Refutation, ...] = ()
    mechanism: Callable[[tuple[MechanismPart, ...]], Mechanism] = ProductMechanism


def recoded(file: DeclaredFile, names: Sequence[str]) -> RecodedColumns:
    """Return the recoding of column contents that the file shows.

    Raises
    ------
    InputError
        If not every original row is released once: whom the others would have been grouped with is then not known.
    """
    rows = file.original.rows
    if file.released.rows != rows or (file.truth == NOBODY).any():
        raise InputError(
            f"groups can only be recognized in a file with every original row, but only "
            f"{int((file.truth != NOBODY).sum())} of {rows} are in it. Release all of them, or name no method"
        )
    place = np.argsort(file.truth)
    return RecodedColumns(file.original.frame[list(names)], file.texts(names)[place])


def small_groups(
    file: DeclaredFile, names: Sequence[str], k: int, *, leave_out: BoolArray | None = None
) -> tuple[Refutation, ...]:
    """Return the rows in classes below k; some may be omitted."""
    code = row_codes([file.texts(names)])[0]
    size = np.bincount(code)[code]
    few = size < k if leave_out is None else (size < k) & ~leave_out
    if not few.any():
        return ()
    rows = np.flatnonzero(few)
    first = int(rows[0])
    alike = "is unique" if size[first] == 1 else f"has only {size[first] - 1} equal to it"
    more = f", as are {rows.size - 1} more rows" if rows.size > 1 else ""
    sentence = (
        f"a group of {size[first]} under k={k}: released row {first + 1} (counted from 1) {alike} in "
        f"{listed(names)}{more}"
    )
    return (Refutation(sentence, rows),)


def repeated(file: DeclaredFile, names: Sequence[str]) -> tuple[Refutation, ...]:
    """Return a refutation by columns with many repeated values.

    Noise leaves next to no two values alike.
    """
    found = [name for name in names if name in file.released.column_names]
    fewer = []
    for name in found:
        before, after = (table.series(name).n_unique() for table in (file.original, file.released))
        share = min(file.released.rows / file.original.rows, 1.0)
        if before >= _VARIED and after < _ALIKE * share * before:
            fewer.append(name)
    return (Refutation(f"{listed(fewer)}: values repeat, which noise excludes"),) if fewer else ()


def listed(names: Sequence[str]) -> str:
    """Return columns by name, the first few where there are many.

    >>> listed(["age"]), listed(["age", "town"])
    ("column 'age'", "columns 'age', 'town'")
    """
    shown = ", ".join(map(repr, names[:5]))
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"column{'s' * (len(names) > 1)} {shown}{more}"
