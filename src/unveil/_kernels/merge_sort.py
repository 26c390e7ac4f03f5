"""Merge sort for compiled loops, faster to compile than numpy's."""

from typing import Any

from numpy.typing import NDArray

#: So many values are sorted by insertion; more of them are merged from such runs.
_RUN = 16


def sort_part(values: NDArray[Any], spare: NDArray[Any], low: int, high: int) -> None:
    """Sort values in a range, using ``spare`` of the same length.

    >>> import numpy as np
    >>> numbers = np.array([9, 3, 2, 1, 0])
    >>> sort_part(numbers, np.empty(5, np.int64), 1, 4)
    >>> numbers
    array([9, 1, 2, 3, 0])
    """
    for begin in range(low, high, _RUN):
        for here in range(begin, min(begin + _RUN, high)):
            value, place = values[here], here
            while place > begin and values[place - 1] > value:
                values[place] = values[place - 1]
                place -= 1
            values[place] = value
    run = _RUN
    while low + run < high:
        for begin in range(low, high, 2 * run):
            middle, end = min(begin + run, high), min(begin + 2 * run, high)
            left, right = begin, middle
            for place in range(begin, end):
                if right >= end or (left < middle and values[left] <= values[right]):
                    spare[place] = values[left]
                    left += 1
                else:
                    spare[place] = values[right]
                    right += 1
        for place in range(low, high):
            values[place] = spare[place]
        run *= 2
