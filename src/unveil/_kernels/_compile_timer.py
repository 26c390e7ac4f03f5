"""Report slow compilation to the user.

It imports neither numpy nor numba, so that a door can ask for the message before anything heavy is loaded.
"""

from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any

PATIENCE_SECONDS = 2.0
MESSAGE = "Compiling (first run only, about 10 s) ..."

_tellers: list[Callable[[str], None]] = []


def tell_by(tell: Callable[[str], None]) -> None:
    """Set the only function that reports slow compilation."""
    _tellers[:] = [tell]


@cache
def watch() -> None:
    """Watch numba's compilation in this process, if requested."""
    if _tellers:
        from numba.core import event

        follow: Any = event.register
        follow("numba:compile", _listener(event.Listener))


def _listener(base: Any) -> Any:
    """Return the listener for the start and end of compilation."""

    class CompileTimer(base):  # type: ignore[misc]
        spent, depth, since = 0.0, 0, 0.0

        def on_start(self, event: object) -> None:  # noqa: ARG002
            if self.depth == 0:
                self.since = perf_counter()
            self.depth += 1
            self._tell()

        def on_end(self, event: object) -> None:  # noqa: ARG002
            self._tell()
            self.depth -= 1
            if self.depth == 0:
                self.spent += perf_counter() - self.since

        def _tell(self) -> None:
            if _tellers and self.spent + perf_counter() - self.since > PATIENCE_SECONDS:
                _tellers.pop()(MESSAGE)

    return CompileTimer()
