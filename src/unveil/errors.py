"""What can go wrong, and how it is said: one clear sentence that ends with what to do."""


class UnveilError(Exception):
    """Base of every error that unveil raises on purpose."""


class InputError(UnveilError, ValueError):
    """The caller's data or settings cannot be used.

    The message says what must hold, what was seen, where (file, column, row number) and what to do.
    It never holds a cell of the data: rows are private.
    """


class MissingExtraError(UnveilError, ImportError):
    """An optional library is needed and is not installed; the message names the extra that brings it."""


class UndefinedMetricWarning(UserWarning):
    """A metric has no value for this input and is NaN; the message says why."""
