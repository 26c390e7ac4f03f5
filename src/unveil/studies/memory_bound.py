"""A bound on memory that is kept: a process that takes more than it may stops by itself, and says so.

What counts is what belongs to no file: the system can drop and read again what does. Where it does not say how much
that is (anywhere but on Linux) nothing is watched.
"""

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from unveil.studies.memory import NeedsMemoryError

#: Where Linux says what a process holds, and what of it belongs to no file.
_STATUS = Path("/proc/self/status")
_OWN = ("RssAnon:", "RssShmem:")
#: What a process holds that has loaded unveil and done nothing. What it held beyond that is not the audit's.
BARE = 100 * 2**20
#: So many seconds are between two looks, and between two attempts to stop whoever did not stop.
_EVERY, _AGAIN = 0.1, 10.0


class _TooMuchMemoryError(BaseException):
    """Ends what is computed, as Ctrl-C does; nothing below takes it for an error of its own."""


def own_memory() -> int | None:
    """Return how many bytes this process holds that belong to no file; None where the system does not say."""
    try:
        lines = _STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) for line in lines if line.startswith(_OWN)]
    return 1024 * sum(found) if found else None


def others_memory() -> int:
    """Return how much this process holds already that is not what the audit takes."""
    return max(0, (own_memory() or 0) - BARE)


def give_back() -> None:
    """Give memory back to the system that nobody uses any longer, where the C library keeps it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if own_memory() is not None else None
    if trim is not None:
        trim(ctypes.c_size_t(0))


@contextmanager
def memory_bound(
    limit: int | None, *, what: str, doing: Callable[[], str], advice: str, before: int | None = None
) -> Iterator[None]:
    """Stop what is computed here as soon as this process takes more than so many bytes; None is no bound.

    Parameters
    ----------
    what, doing, advice
        For the message: who takes it, what is being done at that moment, and what to do about it.
    before
        How much of what the process holds is not counted; unless told what it holds now beyond a bare one.

    Raises
    ------
    NeedsMemoryError
        If it took more: between two steps of Python, as for Ctrl-C, so that a compiled loop ends first.
    """
    if limit is None or own_memory() is None:
        yield
        return
    watch = _Watch(limit, others_memory() if before is None else before)
    try:
        with watch.stopping():
            yield
    except _TooMuchMemoryError:
        raise NeedsMemoryError(
            f"{what} took {_shown(watch.taken)} of memory while {doing()}, and may take {_shown(limit)}. {advice}"
        ) from None


def _shown(size: int) -> str:
    # With all digits, as the two numbers are often close to one another.
    return f"{size / 2**20:,.0f} MiB"


class _Watch:
    """Looks now and then at what this process takes, and stops the thread that made it where that is too much."""

    def __init__(self, limit: int, before: int) -> None:
        self.taken = 0
        self._limit, self._before = limit, before
        self._thread = threading.get_ident()
        self._ended = threading.Event()
        # The main thread can be stopped while it waits for others.
        self._is_main = threading.current_thread() is threading.main_thread()

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """Watch until this ends."""
        # By default nothing happens on this signal, so that one that comes late does no harm.
        usual = signal.signal(signal.SIGURG, self._stop_here) if self._is_main else None
        watcher = threading.Thread(target=self._look, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self._ended.set()
            watcher.join()
            if self._is_main:
                signal.signal(signal.SIGURG, usual)
            else:
                self._let_arrive()

    def _let_arrive(self) -> None:
        """Take an error that is on its way to this thread: it comes at one of the next steps, and must not come later.

        It cannot be called back: Python 3.11 would look for it at every step from then on, and never get beyond the
        first where it is traced.
        """
        try:
            for _ in range(1000):
                pass
        except _TooMuchMemoryError:
            pass

    def _look(self) -> None:
        wait = _EVERY
        while not self._ended.wait(wait):
            wait = _EVERY
            if self._is_too_much():
                give_back()  # what is held for nobody must not end an audit
                if self._is_too_much():
                    self._stop()
                    wait = _AGAIN

    def _is_too_much(self) -> bool:
        taken = (own_memory() or 0) - self._before
        if taken <= self._limit:
            return False
        self.taken = taken
        return True

    def _stop(self) -> None:
        if self._is_main:
            signal.pthread_kill(self._thread, signal.SIGURG)
        else:
            error = ctypes.py_object(_TooMuchMemoryError)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), error)

    def _stop_here(self, _number: int, _frame: FrameType | None) -> None:
        if self.taken:
            raise _TooMuchMemoryError
