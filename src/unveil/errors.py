"""What can go wrong, and how it is said: one clear sentence that ends with what to do."""

import difflib
from collections.abc import Iterable

_SHOWN_LETTERS = 60


class UnveilError(Exception):
    """Base of every error that unveil raises on purpose."""


class InputError(UnveilError, ValueError):
    """The caller's data or settings cannot be used.

    The message says what must hold, what was seen, where (file, column, row number) and what to do.
    It never holds a cell of the data: rows are private.
    """


class NobodyFitsError(InputError):
    """An attack leaves nobody possible for some released rows, which proves it wrong; ``rows`` are these, from 0."""

    def __init__(self, message: str, rows: Iterable[int]) -> None:
        super().__init__(message)
        self.rows = tuple(int(row) for row in rows)


class CannotProtectError(InputError):
    """A protection cannot reach its aim on this data, such as equal degrees in a graph that is too dense."""


class MissingExtraError(UnveilError, ImportError):
    """An optional library is needed and is not installed; the message names the extra that brings it."""


class UndefinedMetricWarning(UserWarning):
    """A metric has no value for this input and is NaN; the message says why."""


def did_you_mean(wrong: str, have: Iterable[str]) -> str:
    """Return a question that suggests the nearest of the names there are, with a space before it, or nothing.

    Only for names of columns, options and settings: a nearest cell would give data away.

    >>> did_you_mean("clusters", ["item", "cluster"])
    " Did you mean 'cluster'?"
    >>> did_you_mean("colour", ["item", "cluster"])
    ''
    """
    plain = {name.strip().casefold(): name for name in have}
    near = difflib.get_close_matches(wrong.strip().casefold(), plain, n=1, cutoff=0.65)
    return f" Did you mean {shortened(plain[near[0]])}?" if near else ""


def shortened(name: str) -> str:
    """Return the name of a column, option or setting in quotes, cut where it is very long."""
    return repr(name if len(name) <= _SHOWN_LETTERS else name[:_SHOWN_LETTERS] + "…")
