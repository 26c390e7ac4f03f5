"""Read Matrix Market text: header and square matrix.

The reader of scipy ends the whole process on some damaged files, such as one that is cut within a number.
"""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from unveil.data.files.source import shown
from unveil.data.matrices.square_matrix import SquareMatrix, refuse_shape, square_matrix
from unveil.errors import InputError

_HEADER = re.compile(rb"%%MatrixMarket\s+matrix\s+(\S+)\s+(\S+)\s+(\S+)\s*$", re.IGNORECASE)
_SIZES = re.compile(rb"\s*([0-9]{1,18})\s+([0-9]{1,18})(?:\s+([0-9]{1,18}))?\s*$")
#: Numbers per stored value, by what it holds.
FIELDS = {"pattern": 2, "integer": 3, "unsigned-integer": 3, "real": 3, "double": 3}


def market_header(line: bytes) -> tuple[str, str, str]:
    """Return format, field, and symmetry of a header, in lower case.

    >>> market_header(b"%%MatrixMarket matrix coordinate real general")
    ('coordinate', 'real', 'general')
    """
    said = _HEADER.match(line)
    form, field, symmetry = ("", "", "") if said is None else (word.decode("latin-1").lower() for word in said.groups())
    return form, field, symmetry


def market_sizes(line: bytes) -> tuple[int, int, int | None] | None:
    """Return the rows, columns, and non-zeros that a line states, or None.

    >>> market_sizes(b"3 3 7"), market_sizes(b"3 3"), market_sizes(b"1 2 0.5")
    ((3, 3, 7), (3, 3, None), None)
    """
    said = _SIZES.match(line)
    return None if said is None else (int(said[1]), int(said[2]), None if said[3] is None else int(said[3]))


def market_matrix(text: bytes, path: Path, what: str, *, square: bool = True) -> SquareMatrix:
    """Return the matrix of a text; ``what`` starts errors."""
    stream = io.BytesIO(text)
    form, field, symmetry = market_header(stream.readline())
    if field == "complex":
        raise InputError(f"{what} must hold real numbers, but holds complex ones. Write their sizes instead")
    if symmetry in ("skew-symmetric", "hermitian"):
        raise InputError(f"{what} must be general or symmetric, but is {symmetry}. Write all of its places as general")
    sizes = next((market_sizes(line) for line in stream if line.strip() and not line.lstrip().startswith(b"%")), None)
    known = form in ("coordinate", "array") and field in FIELDS and symmetry in ("general", "symmetric")
    if not known or sizes is None or (sizes[2] is None) != (form == "array"):
        raise _damaged(path)
    rows, columns, stored = sizes
    refuse_shape((rows, columns), what=what, stored=stored, square=square or symmetry == "symmetric")
    numbers = _numbers(stream.read(), path)
    if stored is None:
        return square_matrix(_dense(numbers, (rows, columns), symmetry, path), what=what, square=square)
    if numbers.shape != (stored, FIELDS[field]) and (stored or numbers.size):
        raise _damaged(path)
    return square_matrix(_sparse(numbers, (rows, columns), symmetry, path, what), what=what, square=square)


def _numbers(body: bytes, path: Path) -> Any:
    """Return the numbers, a row for each line."""
    lines = [line for line in body.splitlines() if line.strip() and not line.lstrip().startswith(b"%")]
    if not lines:
        return np.empty((0, 0))
    try:
        return np.loadtxt([line.decode("ascii") for line in lines], ndmin=2, comments=None)
    except ValueError:
        raise _damaged(path) from None


def _dense(numbers: Any, shape: tuple[int, int], symmetry: str, path: Path) -> Any:
    """Return a column-major array; symmetric ones list the lower triangle."""
    column, row = np.triu_indices(shape[0]) if symmetry == "symmetric" else np.indices(shape[::-1]).reshape(2, -1)
    if numbers.shape != (row.size, 1):
        raise _damaged(path)
    matrix = np.zeros(shape)
    matrix[row, column] = numbers[:, 0]
    if symmetry == "symmetric":
        matrix[column, row] = numbers[:, 0]
    return matrix


def _sparse(numbers: Any, shape: tuple[int, int], symmetry: str, path: Path, what: str) -> Any:
    from scipy.sparse import coo_array

    places = numbers[:, :2] if numbers.size else np.empty((0, 2))
    if not ((places >= 1) & (places <= shape) & (places == np.floor(places))).all():
        raise _damaged(path)
    row, column = places.astype(np.int64).T - 1
    value = numbers[:, 2] if numbers.shape[1] > 2 else np.ones(row.size)
    if symmetry == "symmetric":
        off = row != column
        row, column, value = (
            np.concatenate([row, column[off]]),
            np.concatenate([column, row[off]]),
            np.concatenate([value, value[off]]),
        )
    repeated = row.size - np.unique(row * shape[1] + column).size
    if repeated:
        raise InputError(
            f"{what} must have every place at most once, but {repeated} lines repeat the place of another. "
            "Keep one of each"
        )
    return coo_array((value, (row, column)), shape=shape)


def _damaged(path: Path) -> InputError:
    return InputError(
        f"the file {shown(path)} cannot be read as Matrix Market: it is damaged, cut short, or holds something else "
        "than numbers. Write it again"
    )
