"""Errors with one clear message: problem, cause, and fix."""

import difflib
import sys
from collections import Counter
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

_SHOWN_LETTERS = 60


class UnveilError(Exception):
    """Base of every error that unveil raises on purpose."""


class InputError(UnveilError, ValueError):
    """The caller's data or settings cannot be used.

    The message says what must hold, what was seen, where (file, column, row number) and what to do.
    It never holds a cell of the data: rows are private.
    """


class NobodyFitsError(InputError):
    """An attack that rules out all candidates of some ``rows``, from 0."""

    def __init__(self, message: str, rows: Iterable[int]) -> None:
        super().__init__(message)
        self.rows = tuple(int(row) for row in rows)


class OwnCodeError(InputError):
    """Failure of a user's class or function; ``trace`` is its traceback."""

    def __init__(self, message: str, trace: str) -> None:
        super().__init__(message)
        self.trace = trace

    def __reduce__(self) -> "tuple[type[OwnCodeError], tuple[str, str]]":
        return type(self), (str(self), self.trace)


class CannotProtectError(InputError):
    """A protection that cannot reach its aim on this data."""


class MissingExtraError(UnveilError, ImportError):
    """Missing optional library; the message names the extra to install."""


class UndefinedMetricWarning(UserWarning):
    """A metric is undefined for this input; the message gives the reason."""


def did_you_mean(wrong: str, have: Iterable[str]) -> str:
    """Return a suggestion of the nearest valid name, or "".

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
    """Return a quoted name, cut if very long."""
    return repr(name if len(name) <= _SHOWN_LETTERS else name[:_SHOWN_LETTERS] + "…")


def where_raised(error: BaseException) -> str:
    """Return type and place of a foreign error, without its text.

    >>> where_raised(ZeroDivisionError("the secret"))
    'ZeroDivisionError'
    """
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" in {last[0].name}, line {last[0].lineno} of {PurePath(last[0].filename).name}" if last else ""
    return type(error).__name__ + place


# The modules that a user named, as in package.module:Class: only their frames, and those of modules below them, are the
# user's own code.
_OWN: set[str] = set()


def mark_own(*modules: str) -> None:
    """Register modules as the user's own code."""
    _OWN.update(modules)


def own_error(error: BaseException, *modules: str, with_text: bool = False) -> OwnCodeError | None:
    """Return the message for an error in the user's code, else None.

    The traceback begins in the user's file and has no frame of unveil. The text of an error may hold data: it is part
    of it only ``with_text``, for errors before any data is read and for private logs.

    Parameters
    ----------
    error
        What was raised.
    modules
        Where the user's own code lies, besides the modules that were marked by :func:`mark_own`.
    with_text
        Whether the traceback has the text of the error.

    Examples
    --------
    >>> own_error(ZeroDivisionError()) is None
    True
    """
    import traceback

    if isinstance(error, UnveilError):
        return None
    own = _OWN.union(modules)
    walked = traceback.walk_tb(error.__traceback__)
    steps = [(step, line) for step, line in walked if not _is_of(step, ("unveil", "importlib"))]
    first = next((place for place, (step, _) in enumerate(steps) if _is_of(step, own)), None)
    if first is None:
        return None
    frames = traceback.StackSummary.extract(iter(steps[first:]))
    last, line = [(step, line) for step, line in steps[first:] if _is_of(step, own)][-1]
    where = f"{type(error).__name__} in {last.f_code.co_name}, line {line} of {PurePath(last.f_code.co_filename).name}"
    said = "".join(traceback.format_exception_only(error))
    text = said if with_text else f"{type(error).__name__} (its text may hold data and is not shown)\n"
    trace = "".join(["Traceback (most recent call last):\n", *frames.format(), text])
    return OwnCodeError(f"error in your {_owner(steps[first][0])}: {where}. Correct it", trace.rstrip("\n"))


def _is_of(step: "FrameType", modules: Iterable[str]) -> bool:
    """Return whether a frame belongs to one of these modules or submodules."""
    name = f"{step.f_globals.get('__name__', '')}."
    return any(name.startswith(f"{each}.") for each in modules)


def _owner(step: "FrameType") -> str:
    """Return the user's class, function, or module that runs in a frame."""
    module, thing = step.f_globals["__name__"], step.f_locals.get("self")
    if thing is not None:
        return f"class {type(thing).__module__}:{type(thing).__qualname__}"
    return f"module {module}" if step.f_code.co_name == "<module>" else f"function {module}:{step.f_code.co_qualname}"


def whole_number(value: Any, what: str, *, at_least: int = 1, at_most: int | None = None, advice: str = "") -> int:
    """Return a validated whole-number setting within its bounds; True is invalid.

    ``what`` is how messages call it, and ``advice`` what to do where the plain hint would not help.

    >>> whole_number(3, "k", at_least=2)
    3
    >>> whole_number(1, "k", at_least=2)
    Traceback (most recent call last):
    unveil.errors.InputError: k must be a whole number of at least 2, but is 1. Raise it
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    number = int(value) if whole else at_least - 1
    if at_least <= number and (at_most is None or number <= at_most):
        return number
    must = f"of at least {at_least:,}" if at_most is None else f"from {at_least:,} to {at_most:,}"
    hint = advice or (
        f"Write one such as {at_least:,}" if not whole else "Raise it" if number < at_least else "Lower it"
    )
    seen = f"{number:,}" if whole else repr(value)
    raise InputError(f"{what} must be a whole number {must}, but is {seen}. {hint}")


def share(value: Any, what: str, *, zero: bool = True, one: bool = True, advice: str = "Write 5% as 0.05") -> float:
    """Return a validated share between 0 and 1, with optional ends.

    >>> share(0.25, "alpha")
    0.25
    >>> share(0, "level", zero=False)
    Traceback (most recent call last):
    unveil.errors.InputError: level must lie between 0 and 1, 0 excluded, but is 0. Write 5% as 0.05
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 0 <= value <= 1 and (zero or value > 0) and (one or value < 1):
        return float(value)
    without = "" if zero and one else f", {'both' if not (zero or one) else '1' if zero else '0'} excluded"
    fits = is_number and not abs(value) > sys.float_info.max
    seen = f"{float(value):g}" if fits else "beyond all floats" if is_number else repr(value)
    raise InputError(f"{what} must lie between 0 and 1{without}, but is {seen}. {advice}")


def column_names(names: Any, what: str) -> tuple[str, ...]:
    """Return a setting that must name columns: at least one, and each once.

    >>> column_names(["age", "sex"], "known")
    ('age', 'sex')
    >>> column_names("age", "known")
    Traceback (most recent call last):
    unveil.errors.InputError: known must be a sequence of column names. Write known=('age', 'sex')
    """
    listed = isinstance(names, Iterable) and not isinstance(names, str)
    found: tuple[str, ...] = tuple(names) if listed else ()
    if not listed or not all(isinstance(name, str) for name in found):
        raise InputError(f"{what} must be a sequence of column names. Write {what}=('age', 'sex')")
    if not found:
        raise InputError(f"{what} must name at least one column, but names none. Write {what}=('age', 'sex')")
    repeated = [name for name, count in Counter(found).items() if count > 1]
    if repeated:
        raise InputError(f"{what} must name each column once, but {repeated[0]!r} is named more often. Name it once")
    return found
