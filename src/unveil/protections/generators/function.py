"""A generator as a Python function of a frame and random generator."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import ReleaseKind
from unveil.errors import UnveilError
from unveil.protections.generators.generator import GeneratedRelease, RunError, SourceTable, checked_columns
from unveil.protections.generators.messages import Messages


@dataclass(frozen=True, kw_only=True)
class FunctionGenerator:
    """A function ``(frame, rng) -> frame`` that makes releases.

    Parameters
    ----------
    function
        The function; it gets a copy of the rows, and ``numpy.random.default_rng(seed)``.
    written
        How reports write it; empty for the module and name of the function.
    read
        Turns what it returned into a table; `Table.from_frame` if not told.
    kind
        What its releases are, where that was told.

    Examples
    --------
    >>> def resampled(frame, rng):
    ...     return frame[rng.integers(len(frame), size=len(frame))]
    >>> FunctionGenerator(function=resampled).written.endswith(":resampled")
    True
    """

    function: Callable[[Any, np.random.Generator], Any] = field(repr=False)
    written: str = ""
    read: Callable[[Any], Table] = field(default=Table.from_frame, repr=False)
    kind: ReleaseKind | None = None

    def __post_init__(self) -> None:
        own = _home(self.function)
        object.__setattr__(self, "written", self.written or f"{own.__module__}:{own.__qualname__}")

    def make(self, given: SourceTable, rows: IntArray, *, seed: int, folder: Path) -> GeneratedRelease:  # noqa: ARG002 (it needs no files)
        """Return the function's release of these rows, with its output."""
        frame, printed = given.some(rows), Messages()
        started = time.monotonic()
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                returned = self.function(frame, np.random.default_rng(seed))
        except (Exception, SystemExit) as error:  # a user's function may raise anything, and its text may hold data
            raise RunError.of_own_code(error, _home(self.function).__module__, printed.content()) from None
        seconds = time.monotonic() - started
        log = printed.content()
        try:
            released = self._table(returned)
            notes = checked_columns(released, given.table)
        except RunError as error:
            raise RunError(error.happened, error.advice, log) from None
        return GeneratedRelease(released, kind=self.kind, seconds=seconds, notes=notes, log=log)

    def _table(self, returned: Any) -> Table:
        if returned is None or isinstance(returned, str | bytes | Path):
            raise RunError(
                f"returned {_article(returned)} instead of a frame",
                "End the function with 'return frame'",
            )
        try:
            return self.read(returned)
        except UnveilError as error:
            raise RunError(f"returned an unreadable table: {error}") from None


def _article(returned: Any) -> str:
    return "nothing" if returned is None else f"a {type(returned).__name__}"


def _home(function: Any) -> Any:
    """Return the function, or the class of a callable object."""
    return function if hasattr(function, "__qualname__") else type(function)
