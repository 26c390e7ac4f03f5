"""Numbers for values of which only some are asked for."""

import numpy as np

from unveil._kernels.types import CodeArray

#: Values that lie as close together are looked up in a table, however few are looked up.
_CLOSE = 2**12


def numbered(values: CodeArray, wanted: CodeArray) -> CodeArray:
    """Return positions among ascending wanted values, from 1; 0 if absent.

    >>> numbered(np.array([7, 5, 9, 7]), np.array([5, 7]))
    array([2, 1, 0, 2], dtype=int16)
    """
    narrow = np.int16 if wanted.size < 2**15 else np.int32
    low, high = (int(wanted[0]), int(wanted[-1])) if wanted.size else (0, 0)
    if high - low <= max(_CLOSE, 4 * values.size):
        table: CodeArray = np.zeros(high - low + 2, narrow)
        table[wanted - low] = np.arange(1, wanted.size + 1)
        return table[np.where((values >= low) & (values <= high), values - low, high - low + 1)]
    place = np.searchsorted(wanted, values)
    return np.where(wanted[np.minimum(place, wanted.size - 1)] == values, place + 1, 0).astype(narrow)
