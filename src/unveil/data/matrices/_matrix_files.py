"""Read a matrix from numpy, scipy, or Matrix Market, without running code."""

import os
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from unveil.data.files.source import decompressed, open_source, shown
from unveil.data.matrices.csv_matrix import csv_matrix
from unveil.data.matrices.matrix_market import market_matrix
from unveil.data.matrices.square_matrix import OLD_KEYS, MatrixFile, Names, SquareMatrix, refuse_shape, square_matrix
from unveil.errors import InputError

_DAMAGED = (
    ValueError, TypeError, KeyError, OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError,
    # The header of an array is written as Python, and numpy reads it so.
    SyntaxError, tokenize.TokenError, OverflowError,
)  # fmt: skip


def matrix_of(path: str | os.PathLike[str], *, square: bool = True) -> MatrixFile:
    """Return the matrix of a file, by its detected format."""
    path = Path(path)
    head = _head(path)
    what = f"the matrix of {shown(path)}"
    if head.startswith(b"\x93NUMPY"):
        with path.open("rb") as stream:
            return MatrixFile(_array(stream, path, what, square))
    if head.startswith(b"PK\x03\x04"):
        return _archive(path, what, square)
    if head.startswith((b"%%MatrixMarket", b"\x1f\x8b")):
        text = decompressed(path, None) if head.startswith(b"\x1f\x8b") else path.read_bytes()
        if text.startswith(b"%%MatrixMarket"):
            return MatrixFile(market_matrix(text, path, what, square=square))
    source = open_source(path)
    if source.kind != "csv":
        raise InputError(
            f"{what} must be in a file of CSV, NPY, NPZ or Matrix Market, but this is one of another kind. Write it as "
            "one of these"
        )
    return csv_matrix(source, what, square=square)


def _head(path: Path) -> bytes:
    """Return the first bytes of a plain file, empty for anything else."""
    try:
        if not path.is_file():  # to open a pipe could take for ever
            return b""
        with path.open("rb") as stream:
            return stream.read(16)
    except (OSError, ValueError):
        return b""


def _damaged(path: Path, kind: str) -> InputError:
    return InputError(
        f"the file {shown(path)} cannot be read as {kind}: it is damaged, or holds something else than numbers. "
        "Write it again, with plain numbers and without Python objects"
    )


def _array(stream: Any, path: Path, what: str, square: bool) -> SquareMatrix:
    """Return the array of an NPY stream, after checking its size."""
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    except _DAMAGED:
        raise _damaged(path, "a numpy array") from None
    if dtype.hasobject or dtype.kind not in "biuf":
        raise _damaged(path, "a numpy array")
    refuse_shape(shape, what=what, square=square)
    try:
        stream.seek(0)
        array = np.lib.format.read_array(stream, allow_pickle=False)
    except _DAMAGED:
        raise _damaged(path, "a numpy array") from None
    array.flags.writeable = False  # so that the check need not copy it
    return square_matrix(array, what=what, square=square)


def _archive(path: Path, what: str, square: bool) -> MatrixFile:
    """Return the matrix of an NPZ file, sparse or dense, with its names."""
    try:
        with zipfile.ZipFile(path) as archive:
            keys = {name.removesuffix(".npy"): name for name in archive.namelist()}
            have = {OLD_KEYS.get(key, key): name for key, name in keys.items()}
            if "format" in have:
                return MatrixFile(_sparse(path, what, square))
            names = {key: _texts(archive, have[key], path) for key in ("items", "pseudonyms") if key in have}
            arrays = [have[key] for key in have if key not in names and have[key].endswith(".npy")]
            if not arrays:
                return csv_matrix(open_source(path), what, square=square)  # a workbook, or a packed table
            if len(arrays) != 1:
                raise InputError(
                    f"the file {shown(path)} must hold one array, and may also hold 'items' and 'pseudonyms', but "
                    f"has {len(arrays)} arrays. Save the matrix alone, with numpy.savez or scipy.sparse.save_npz"
                )
            with archive.open(arrays[0]) as stream:
                return MatrixFile(_array(stream, path, what, square), names.get("items"), names.get("pseudonyms"))
    except InputError:
        raise
    except _DAMAGED:
        raise _damaged(path, "an archive of numpy arrays (NPZ)") from None


def _texts(archive: zipfile.ZipFile, name: str, path: Path) -> Names:
    with archive.open(name) as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise InputError(f"the names in {shown(path)} must be one list of text. Save them as an array of str")
    return tuple(str(value) for value in array)


def _sparse(path: Path, what: str, square: bool) -> SquareMatrix:
    from scipy.sparse import load_npz

    matrix = load_npz(path)  # never unpickles
    refuse_shape(matrix.shape, what=what, stored=matrix.nnz, square=square)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return square_matrix(matrix, what=what, square=square)
