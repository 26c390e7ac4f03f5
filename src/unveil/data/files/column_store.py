"""Columns on disk in place of memory: written once, mapped back, and gone with the last table that holds them.

A column lies in a file as it would lie in memory, in the layout of Arrow, and polars takes it over where it lies
through Arrow's C data interface: no cell is copied. Its pages belong to the file, so that the system can drop them
whenever memory is short, and read them again. (polars itself has stopped mapping files in its version 2.)

No file has a name: whatever ends this process, nothing of it is left on the disk.
"""

import ctypes
import math
import mmap
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, addressof, byref, c_char, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from threading import RLock
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from unveil.data.files._mapping import array_of, is_mapped, map_file, reserve
from unveil.data.files.source import shown
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
Value = TypeVar("Value")

#: How many bits a cell takes in the second buffer of a column, by how Arrow calls its type.
_BITS = {b"b": 1, b"c": 8, b"C": 8, b"s": 16, b"S": 16, b"i": 32, b"I": 32, b"f": 32, b"tdD": 32, b"l": 64, b"L": 64}
_BITS |= {b"g": 64, b"_pli128": 128, b"vu": 128, b"vz": 128}
#: The same of moments and durations, whose names also tell the unit and the zone.
_TEMPORAL = (b"ts", b"tD", b"ttn", b"ttu")
#: Text and bytes: what is long lies in buffers of its own, whose sizes are in the last one.
_VIEWS = (b"vu", b"vz")
_ALIGNED = 64
#: Arrays with fewer entries are not worth a file.
_SHORT = 1000
_COMPILING = RLock()
_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_inside = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class _Schema(ctypes.Structure):
    """What the cells are, as Arrow's C data interface tells it."""


_Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", CFUNCTYPE(None, POINTER(_Schema))),
    ("private_data", c_void_p),
]


class _Array(ctypes.Structure):
    """Where the cells are; ten words, of which `_release` knows the places."""


_Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", c_void_p),
    ("private_data", c_void_p),
]


class _Stream(ctypes.Structure):
    """The chunks of a column, one after the other."""


_Stream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
    ("get_last_error", c_void_p),
    ("release", c_void_p),
    ("private_data", c_void_p),
]


class _Buffer(NamedTuple):
    """Some bytes in memory; at 0 where there are none."""

    address: int
    size: int


class _ExportedColumn:
    """A column handed over to polars."""

    def __init__(self, schema: _Schema, array: _Array) -> None:
        self._schema, self._array = schema, array

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return what the cells are and where they are."""
        return _capsule(addressof(self._schema), b"arrow_schema", None), _capsule(
            addressof(self._array), b"arrow_array", None
        )


def usual_folder() -> Path:
    """Return where large files for a while belong: where TMPDIR says, else /var/tmp, as /tmp is often in memory."""
    lasting = Path("/var/tmp")  # noqa: S108 (no file has a name there)
    told = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    return lasting if not told and os.access(lasting, os.W_OK) else Path(tempfile.gettempdir())


def can_map() -> bool:
    """Return whether files can be mapped here as a store needs it, which on Windows they cannot."""
    return hasattr(mmap, "MAP_PRIVATE") and ctypes.sizeof(c_void_p) == 8


@dataclass(frozen=True)
class ColumnStore:
    """Where columns are kept on disk: in files without a name, which are gone when nobody holds the column.

    Parameters
    ----------
    folder
        Where the files are; unless told where TMPDIR says, else in /var/tmp.

    Examples
    --------
    >>> from unveil.data import Table, samples
    >>> Table.read(samples.path("anes96.csv"), store=ColumnStore()).rows
    944
    """

    folder: Path = field(default_factory=usual_folder)

    def column(self, values: "pl.Series", *, like: "pl.Series | None" = None) -> "pl.Series":
        """Return the column with its cells on disk; what cannot be kept so, such as levels, stays in memory.

        ``like`` is a column on disk already, which is returned where its cells are the very same. A column that is
        written lies in one piece then.
        """
        import polars as pl

        if like is not None and like.dtype == values.dtype and _places(like) == _places(values):
            return like.alias(values.name)
        if values.is_empty() or not can_map():
            return values
        with _exported(values.rechunk()) as (schema, (array, *_)):
            if not _is_flat(schema):
                return values
            handed = _ExportedColumn(schema, self._mapped(array, _buffers(schema, array)))
            return pl.Series(values.name, handed)

    def frame(self, columns: "pl.DataFrame") -> "pl.DataFrame":
        """Return all columns with their cells on disk."""
        import polars as pl

        return pl.DataFrame({column.name: self.column(column) for column in columns})

    def array(self, values: "NDArray[Scalar]") -> "NDArray[Scalar]":
        """Return numbers that lie on disk, column by column if they did; changes stay in memory where they did not.

        >>> ColumnStore().array(np.arange(6).reshape(2, 3).T).strides
        (8, 24)
        """
        if not values.size or not can_map() or is_mapped(values):
            return values
        by_column = values.ndim == 2 and values.strides[0] < values.strides[1]
        lines = values.T if by_column else values
        with self._file() as stream:
            # Line by line: what is a part of a larger table is not in one piece.
            for line in lines if lines.ndim == 2 and not lines.flags.c_contiguous else [lines]:
                stream.write(np.ascontiguousarray(line).data)
            stream.flush()
            found = array_of(stream, values.dtype, lines.shape, mmap.MAP_PRIVATE)
        return found.T if by_column else found

    def room(self, shape: tuple[int, ...], kind: "type[Scalar]") -> "NDArray[Scalar]":
        """Return an array to be filled whose pages belong to a file; all of it is reserved on the disk beforehand.

        >>> made = ColumnStore().room((2, 3), np.int32)
        >>> made[:] = 7
        >>> int(made.sum())
        42
        """
        size = math.prod(shape) * np.dtype(kind).itemsize
        if not size or not can_map():
            return np.empty(shape, kind)
        with self._file() as stream:
            reserve(stream, size)
            return array_of(stream, np.dtype(kind), shape, mmap.MAP_SHARED)

    def _mapped(self, array: _Array, buffers: list[_Buffer]) -> _Array:
        """Return a chunk whose buffers are a file; the addresses of these stand at the head of it."""
        at, starts = len(buffers) * ctypes.sizeof(c_void_p), []
        with self._file() as stream:
            for buffer in buffers:
                at = -(-at // _ALIGNED) * _ALIGNED
                starts.append(at)
                if buffer.size:
                    stream.seek(at)
                    stream.write((c_char * buffer.size).from_address(buffer.address))
                at += buffer.size
            stream.truncate(at := at + _ALIGNED)
            base = map_file(stream.fileno(), at, mmap.MAP_PRIVATE)
        head = (c_void_p * len(buffers)).from_address(base)
        for place, (buffer, start) in enumerate(zip(buffers, starts, strict=True)):
            head[place] = base + start if buffer.address else None
        first = ctypes.cast(base, POINTER(c_void_p))
        # Nobody looks for children where there are none: `_release` finds there how much is mapped.
        return _Array(
            array.length, array.null_count, array.offset, len(buffers), 0, first, at, None, _release_address(), base
        )

    @contextmanager
    def _file(self) -> Iterator[IO[bytes]]:
        """Open a new file without a name, that only this user may read."""
        try:
            with tempfile.TemporaryFile(dir=self.folder) as stream:
                yield stream
        except OSError as error:
            raise InputError(
                f"tables that are worked on from disk must be kept in {shown(self.folder)}, but that cannot be written "
                f"({error.strerror or 'unknown reason'}). Make room there, name a folder on another disk in TMPDIR, or "
                "allow more memory"
            ) from error


def room_for(store: ColumnStore | None, shape: tuple[int, ...], kind: "type[Scalar]") -> "NDArray[Scalar]":
    """Return an array to be filled, in the store if there is one, else in memory."""
    return np.empty(shape, kind) if store is None else store.room(shape, kind)


def arrays_on_disk(value: Value, store: ColumnStore | None) -> Value:
    """Return what was found with the arrays of its parts, dataclasses and tuples, on disk, but for short ones."""
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


class StoredRows:
    """Rows that come piece by piece and go to a store; many pieces become one, as a process can map so many files."""

    #: So many pieces of one size become one piece.
    PIECES = 16

    def __init__(self, store: ColumnStore) -> None:
        self._store = store
        self._pieces: list[tuple[int, pl.DataFrame]] = []

    def add(self, rows: "pl.DataFrame") -> None:
        """Keep these rows below those that came before."""
        import polars as pl

        self._pieces.append((0, self._store.frame(rows)))
        while len(last := self._pieces[-self.PIECES :]) == self.PIECES and last[0][0] == last[-1][0]:
            whole = self._store.frame(pl.concat([each for _, each in last]))
            self._pieces[-self.PIECES :] = [(last[0][0] + 1, whole)]

    def frame(self, schema: "Mapping[str, pl.DataType]") -> "pl.DataFrame":
        """Return all rows, in a few pieces."""
        import polars as pl

        return pl.concat([pl.DataFrame(schema=schema), *(each for _, each in self._pieces)])


def _is_flat(schema: _Schema) -> bool:
    return _bits(schema) > 0 and not schema.n_children and not schema.dictionary


def _bits(schema: _Schema) -> int:
    name: bytes = schema.format
    return 64 if name.startswith(_TEMPORAL) else _BITS.get(name, 0)


def _buffers(schema: _Schema, array: _Array) -> list[_Buffer]:
    """Return where the cells of a chunk lie: which are filled, the cells, and of texts those that are long."""
    cells, addresses = array.length + array.offset, [array.buffers[place] or 0 for place in range(array.n_buffers)]
    sizes = [-(-cells // 8), -(-cells * _bits(schema) // 8)]
    if schema.format in _VIEWS:
        more = array.n_buffers - 3
        sizes += list((c_int64 * more).from_address(addresses[-1])) if more else []
        sizes.append(more * ctypes.sizeof(c_int64))
    return [_Buffer(address, size if address else 0) for address, size in zip(addresses, sizes, strict=True)]


def _places(values: "pl.Series") -> list[tuple[object, ...]]:
    """Return where all cells of a column lie, by which two columns of one type can be seen to be the same."""
    with _exported(values) as (schema, arrays):
        if not _is_flat(schema):
            return [(id(values),)]
        # The last buffer of texts is made anew for whoever asks.
        last = -1 if schema.format in _VIEWS else None
        return [(array.length, array.offset, *_buffers(schema, array)[:last]) for array in arrays]


@contextmanager
def _exported(values: "pl.Series") -> Iterator[tuple[_Schema, list[_Array]]]:
    """Let the chunks of a column be looked at."""
    capsule = values.__arrow_c_stream__(None)
    stream = _Stream.from_address(_inside(capsule, b"arrow_array_stream"))
    schema, arrays = _Schema(), []
    if stream.get_schema(byref(stream), byref(schema)):
        raise RuntimeError("polars does not say what a column holds")
    try:
        while True:
            array = _Array()
            if stream.get_next(byref(stream), byref(array)):
                raise RuntimeError("polars does not say where a column lies")
            if not array.release:
                break
            arrays.append(array)
        yield schema, arrays
    finally:
        for array in arrays:
            CFUNCTYPE(None, POINTER(_Array))(array.release)(byref(array))
        if schema.release:
            schema.release(byref(schema))


def _release_address() -> int:
    with _COMPILING:  # it must be made once, and last as long as any column
        return int(_release().address)


@cache
def _release() -> Any:
    """Return what polars calls when nobody holds a chunk any longer: compiled, as its threads must not wait for Python.

    Whoever waits for a thread of polars may be the one that holds the lock of Python.
    """
    from numba import cfunc, types

    unmap = types.ExternalFunction("munmap", types.int32(types.intp, types.uintp))

    def released(array: Any) -> None:
        unmap(array[9], array[6])
        array[8] = 0

    signature = types.void(types.CPointer(types.int64))  # type: ignore[no-untyped-call]
    try:
        made = cfunc(signature, cache=True)(released)
    except RuntimeError:  # no folder for compiled code
        made = cfunc(signature)(released)
    # Columns may outlive this module when Python ends.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made
