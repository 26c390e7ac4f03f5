"""Arrays stored on disk in memory-mapped, unnamed files.

The system drops such pages whenever memory is short, and reads them again. A file lasts as long as an array in it, and
whatever ends this process, nothing of it is left on the disk.
"""

import math
import mmap
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast
from weakref import finalize

import numpy as np

from unveil.data.files.source import shown
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
Value = TypeVar("Value")

#: The first file holds this many bytes, and each further one as many as all before it: few files stay open.
_LEAST_FILE = 1 << 26
#: Arrays with fewer entries are not worth a place on disk.
_SHORT = 1000
#: How many bytes are written at a time where the system cannot reserve them.
_AT_ONCE = 1 << 20


def usual_folder() -> Path:
    """Return the folder for large temporary files: TMPDIR or /var/tmp."""
    lasting = Path("/var/tmp")  # noqa: S108 (no file has a name there)
    told = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    return lasting if not told and os.access(lasting, os.W_OK) else Path(tempfile.gettempdir())


def can_map() -> bool:
    """Return whether nameless files can be mapped here, which on Windows they cannot."""
    return hasattr(mmap, "MAP_SHARED")


class _Arena:
    """Unnamed files in a folder, and the used bytes of the last."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, Lock()
        self._stream: IO[bytes] | None = None
        self._taken, self._size, self._next = 0, 0, _LEAST_FILE

    def take(self, size: int) -> "NDArray[np.uint8]":
        """Reserve bytes of a file, so that writing cannot fail."""
        with self._lock:
            if self._stream is None or self._taken + size > self._size:
                self._begin(max(size, self._next))
            start, pages = self._taken, self._pages
            self._reserve(start, size)
            self._taken = -(-(start + size) // mmap.PAGESIZE) * mmap.PAGESIZE
        taken = np.frombuffer(pages, np.uint8, size, start)
        # Not when Python ends: threads may still be busy then.
        finalize(taken, _release, pages, start, self._taken - start).atexit = False
        return taken

    def _begin(self, size: int) -> None:
        """Begin a file; the one before lasts as long as an array in it."""
        if self._stream is not None:
            self._stream.close()
        self._stream = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (arrays are put into it later)
        finalize(self, self._stream.close)
        # It is as long as its mapping, but takes no room on the disk before that is reserved.
        self._size, self._taken = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE, 0
        self._stream.truncate(self._size)
        self._pages = mmap.mmap(self._stream.fileno(), self._size)
        self._next += size

    def _reserve(self, start: int, size: int) -> None:
        stream = cast("IO[bytes]", self._stream)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(stream.fileno(), start, size)
            return
        stream.seek(start)
        for first in range(0, size, _AT_ONCE):
            stream.write(bytes(min(_AT_ONCE, size - first)))
        stream.flush()


def _release(pages: mmap.mmap, start: int, size: int) -> None:
    """Give pages of a file back to the disk, where the system can."""
    with suppress(AttributeError, OSError):
        pages.madvise(mmap.MADV_REMOVE, start, size)


@dataclass(frozen=True)
class ColumnStore:
    """Store for columns on disk, freed when no column is referenced.

    Parameters
    ----------
    folder
        The folder of the files, by default that of TMPDIR, else /var/tmp.

    Examples
    --------
    >>> from unveil.data import Table, samples
    >>> Table.read(samples.path("anes96.csv"), store=ColumnStore()).rows
    944
    """

    folder: Path = field(default_factory=usual_folder)

    @cached_property
    def _arena(self) -> _Arena:
        return _Arena(self.folder)

    def __reduce__(self) -> tuple[type["ColumnStore"], tuple[Path]]:
        return ColumnStore, (self.folder,)

    def array(self, values: "NDArray[Scalar]") -> "NDArray[Scalar]":
        """Return a copy of an array on disk, keeping its memory order.

        >>> ColumnStore().array(np.arange(6).reshape(2, 3).T).strides
        (8, 24)
        """
        if not values.size or not can_map() or _is_mapped(values):
            return values
        by_column = values.ndim == 2 and values.strides[0] < values.strides[1]
        lines = values.T if by_column else values
        copy = self.room(lines.shape, values.dtype)
        copy[...] = lines
        return copy.T if by_column else copy

    def room(self, shape: tuple[int, ...], kind: "type[Scalar] | np.dtype[Scalar]") -> "NDArray[Scalar]":
        """Return a writable array whose pages are reserved in a file.

        >>> made = ColumnStore().room((2, 3), np.int32)
        >>> made[:] = 7
        >>> int(made.sum())
        42
        """
        size = math.prod(shape) * np.dtype(kind).itemsize
        if not size or not can_map():
            return np.empty(shape, kind)
        try:
            return self._arena.take(size).view(kind).reshape(shape)
        except OSError as error:
            raise InputError(
                f"tables that are worked on from disk must be kept in {shown(self.folder)}, but that cannot be written "
                f"({error.strerror or 'unknown reason'}). Make room there, name a folder on another disk in TMPDIR, or "
                "allow more memory"
            ) from error


def write_column(values: "pl.Series", store: ColumnStore) -> "NDArray[np.uint8]":
    """Return a column as bytes on disk, which `read_column` reads."""
    stream = BytesIO()
    values.to_frame().write_ipc(stream, compression="lz4")
    return store.array(np.frombuffer(stream.getbuffer(), np.uint8))


def read_column(content: "NDArray[np.uint8]") -> "pl.Series":
    """Return the column in memory from the bytes of `write_column`."""
    import polars as pl

    return pl.read_ipc(content.tobytes()).to_series()


class ColumnBlocks:
    """Rows collected block by block on disk and read by column."""

    def __init__(self, names: Sequence[str], store: ColumnStore) -> None:
        self.height, self._store = 0, ColumnStore(store.folder)
        self._blocks: dict[str, list[NDArray[np.uint8]]] = {name: [] for name in names}

    def add(self, rows: "pl.DataFrame") -> None:
        """Write these rows below those that came before."""
        self.height += rows.height
        for name, blocks in self._blocks.items():
            blocks.append(write_column(rows.get_column(name), self._store))

    def get_column(self, name: str) -> "pl.Series":
        """Return one column of text in memory."""
        import polars as pl

        parts = map(read_column, self._blocks[name])
        return pl.concat([pl.Series(dtype=pl.String), *parts], rechunk=True).head(self.height).alias(name)


def _is_mapped(values: "NDArray[Any]") -> bool:
    """Return whether numbers lie in a file already."""
    base: Any = values
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return isinstance(base, mmap.mmap)


def room_for(store: ColumnStore | None, shape: tuple[int, ...], kind: "type[Scalar]") -> "NDArray[Scalar]":
    """Return a writable array, in the store if there is one."""
    return np.empty(shape, kind) if store is None else store.room(shape, kind)


def arrays_on_disk(value: Value, store: ColumnStore | None) -> Value:
    """Return a result with its long arrays in the store, if any."""
    if store is None:
        return value
    made: Any = value
    if isinstance(value, np.ndarray):
        made = store.array(value) if value.size >= _SHORT else value
    elif type(made) is tuple:
        made = tuple(arrays_on_disk(each, store) for each in made)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        made = replace(value, **{name: arrays_on_disk(each, store) for name, each in parts.items()})
    return cast("Value", made)
