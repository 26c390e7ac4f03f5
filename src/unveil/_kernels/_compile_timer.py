"""Say to who waits that the compiler is at work, once it has taken a while; the result is kept for the next time.

It imports neither numpy nor numba, so that a door can ask for the message before anything heavy is loaded.
"""

from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any

PATIENCE_SECONDS = 2.0
MESSAGE = "preparing (once per machine) ..."

_tellers: list[Callable[[str], None]] = []


def tell_by(tell: Callable[[str], None]) -> None:
    """Let this function, and no other, say when compiling takes longer than people wait without a word."""
    _tellers[:] = [tell]


@cache
def watch() -> None:
    """Follow what numba compiles in this process, if anybody wants to hear of it; numba is loaded already."""
    if _tellers:
        from numba.core import event

        follow: Any = event.register
        follow("numba:compile", _listener(event.Listener))


def _listener(base: Any) -> Any:
    """Return what numba calls when it begins and ends to compile a function; those that it calls come within."""

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
