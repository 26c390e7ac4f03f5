"""Files that are mapped into memory, and arrays that lie in such: no file stays open for that."""

import ctypes
import math
import mmap
import os
import weakref
from ctypes import CFUNCTYPE, c_char, c_int, c_int64, c_size_t, c_void_p
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

#: So many bytes are written at a time where room is reserved by writing.
_AT_ONCE = 1 << 20


def map_file(number: int, size: int, how: int) -> int:
    """Return the address of a mapped file; what is written to it goes there, or if it is private stays in memory."""
    function = CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_int, c_int, c_int, c_int64, use_errno=True)
    mapped = function(("mmap", ctypes.CDLL(None, use_errno=True)))
    base: int | None = mapped(None, size, mmap.PROT_READ | mmap.PROT_WRITE, how, number, 0)
    if base in (None, c_void_p(-1).value):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return base


def _unmap(base: int, size: int) -> None:
    CFUNCTYPE(c_int, c_void_p, c_size_t)(("munmap", ctypes.CDLL(None)))(base, size)


def reserve(stream: IO[bytes], size: int) -> None:
    """Make a file so long, with room for all of it: what is written to its pages later could not be refused."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(stream.fileno(), 0, size)
        return
    for first in range(0, size, _AT_ONCE):
        stream.write(bytes(min(_AT_ONCE, size - first)))
    stream.flush()


def array_of(stream: IO[bytes], kind: "np.dtype[Scalar]", shape: tuple[int, ...], how: int) -> "NDArray[Scalar]":
    """Return an array that is a mapped file; what numpy and Python map would keep each file open, and many may not be.

    It is unmapped with the last array that looks at it, and not when Python ends: threads may still be busy then.
    """
    size = math.prod(shape) * kind.itemsize
    base = map_file(stream.fileno(), size, how)
    held: Any = (c_char * size).from_address(base)
    weakref.finalize(held, _unmap, base, size).atexit = False
    found: NDArray[Scalar] = np.frombuffer(held, kind).reshape(shape)
    return found


def is_mapped(values: "NDArray[Any]") -> bool:
    """Return whether numbers lie in a file already."""
    base: Any = values
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return isinstance(base, ctypes.Array)
