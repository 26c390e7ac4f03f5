"""Interface of generators: training rows in, one release out."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import ReleaseKind
from unveil.errors import InputError, own_error

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.files.settings import FileSettings


@dataclass(frozen=True, eq=False)
class SourceTable:
    """Training people, as the audit reads them and as supplied.

    Attributes
    ----------
    table
        The people as the audit reads them, planted rows at the end.
    frame
        The same rows as their owner has them: cells as they are written in the file (see
        `unveil.data.files.read.read_as_written`), or the frame that was passed, of whatever library.
    suffix
        What a command is given: ".csv" or ".parquet".
    separator, encoding, header
        How that file is written if it is text, and whether its first line names the columns.
    """

    table: Table
    frame: Any = field(repr=False)
    suffix: str = ".csv"
    separator: str = ","
    encoding: str = "utf-8"
    header: bool = True

    @classmethod
    def of_file(cls, path: Path, table: Table, settings: "FileSettings") -> "SourceTable":
        """Return the people of a file, with cells as written."""
        from unveil.data.files.read import read_as_written

        return cls(table, **read_as_written(path, settings)._asdict())

    def composed(self, cells: IntArray) -> "SourceTable":
        """Return rows composed of these people's cells, per column.

        Columns that the audit does not read are of the row that the first column's cell is of.
        """
        import narwhals as nw

        of_column = {column.called or column.name: cells[:, place] for place, column in enumerate(self.table.columns)}
        if isinstance(self.frame, Mapping | list):
            frame = nw.from_native(self.some_cells(np.arange(self.table.rows)), eager_only=True)
        else:
            frame = nw.from_native(self.frame, eager_only=True)
        made = {name: frame[name][of_column.get(name, cells[:, 0])] for name in frame.columns}
        whole = nw.from_dict(made, backend=frame.implementation)
        return replace(self, table=self.table.composed(cells), frame=nw.to_native(whole))

    def some(self, rows: IntArray) -> Any:
        """Return these rows in a new frame of the same library."""
        import narwhals as nw

        if isinstance(self.frame, Mapping):
            return {name: [column[row] for row in rows.tolist()] for name, column in self.frame.items()}
        if isinstance(self.frame, list):
            return [dict(self.frame[row]) for row in rows.tolist()]
        taken = nw.from_native(self.frame, eager_only=True)[np.asarray(rows, np.int64)]
        # Rows of pandas keep their labels, which would tell who was left out.
        return nw.to_native(nw.maybe_reset_index(taken))

    def some_cells(self, rows: IntArray) -> "pl.DataFrame":
        """Return these rows as a polars frame, for writing."""
        import polars as pl

        from unveil.data.table.native import series_of

        if isinstance(self.frame, pl.DataFrame):
            return self.frame[np.asarray(rows, np.int64)]
        cells = [each for each, _ in series_of(self.some(rows), table="people")]
        # pandas writes a NaN as an empty cell.
        return pl.DataFrame({each.name: each.fill_nan(None) if each.dtype.is_float() else each for each in cells})

    def content(self, rows: IntArray) -> bytes:
        """Return these rows as the content of a file."""
        frame, stream = self.some_cells(rows), io.BytesIO()
        if self.suffix == ".parquet":
            frame.write_parquet(stream)
            return stream.getvalue()
        frame.write_csv(stream, separator=self.separator, include_header=self.header)
        content = stream.getvalue()
        return content if self.encoding == "utf-8" else content.decode("utf-8").encode(self.encoding)


@dataclass(frozen=True, eq=False)
class GeneratedRelease:
    """One release from a generator.

    Attributes
    ----------
    released
        The release.
    truth
        For each released row the place among the rows given that it was made from; None where rows belong to no person,
        or the matches are unknown.
    kind
        What the release is, where that is known.
    seconds
        How long the generator took, by the clock; NaN where that is not known any more.
    notes
        What a reader has to know.
    log
        What the generator printed, or the end of it; it may hold anything, cells too.
    """

    released: Table
    truth: IntArray | None = None
    kind: ReleaseKind | None = None
    seconds: float = float("nan")
    notes: tuple[str, ...] = ()
    log: bytes = field(default=b"", repr=False)


class RunError(InputError):
    """A failed run: problem, fix, and hidden output.

    ``trace`` is the traceback of a function or class of the user's own that failed.
    """

    def __init__(self, happened: str, advice: str = "", log: bytes = b"", trace: str = "") -> None:
        super().__init__(f"the generator {'. '.join(filter(None, [happened, advice]))}")
        self.happened, self.advice, self.log, self.trace = happened, advice, log, trace

    def __reduce__(self) -> "tuple[type[RunError], tuple[str, str, bytes, str]]":
        return type(self), (self.happened, self.advice, self.log, self.trace)

    @classmethod
    def of_own_code(cls, error: BaseException, module: str, printed: bytes = b"") -> "RunError":
        """Return the error of user code; its text is only logged."""
        import traceback

        own, whole = own_error(error, module), own_error(error, module, with_text=True)
        if own is None or whole is None:  # it was called wrongly, so that no line of it ran
            log = printed + _bytes("".join(traceback.format_exception_only(error)))
            return cls(f"raised {type(error).__name__} when it was called", "Correct its parameters", log)
        return cls(f"stopped: {own}", log=printed + _bytes(whole.trace), trace=own.trace)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


class Generator(Protocol):
    """A generator of releases that can be called repeatedly."""

    @property
    def written(self) -> str:
        """How reports write it."""

    @property
    def kind(self) -> ReleaseKind | None:
        """Release type, if known before a run."""

    def make(self, given: SourceTable, rows: IntArray, *, seed: int, folder: Path) -> GeneratedRelease:
        """Return the release that is made of these rows.

        Parameters
        ----------
        given
            All people; it stays as it is.
        rows
            Which of them the generator is given, in this order.
        seed
            Where its randomness starts from, if it takes notice.
        folder
            Where it may put files in a folder of its own, which is gone when this returns or raises.

        Raises
        ------
        RunError
            If no release is made.
        """


def checked_columns(released: Table, given: Table) -> tuple[str, ...]:
    """Return notes on missing columns; raise InputError without attacked columns."""
    have = set(released.column_names)
    used = [column.name for column in given.columns if column.is_used]
    missing = [name for name in used if name not in have]
    if len(missing) == len(used):
        raise RunError(
            f"released none of the attacked columns {_listed(missing)}",
            "Write them under their original names",
        )
    extra = [name for name in released.column_names if name not in given.column_names]
    return (
        *((f"the generator leaves out these columns of the original: {_listed(missing)}",) if missing else ()),
        *((f"the generator adds columns, which are ignored: {_listed(extra)}",) if extra else ()),
    )


def _listed(names: list[str], at_most: int = 5) -> str:
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(map(repr, names[:at_most])) + more
