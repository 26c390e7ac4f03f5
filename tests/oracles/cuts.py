"""Every way to cut a line into stretches of at least a given length."""

from collections.abc import Iterator


def cuts(length: int, least: int) -> Iterator[list[int]]:
    """Yield the lengths of the stretches of each cut.

    >>> list(cuts(5, 2))
    [[2, 3], [3, 2], [5]]
    """
    if length == 0:
        yield []
    for first in range(least, length + 1):
        for rest in cuts(length - first, least):
            yield [first, *rest]
