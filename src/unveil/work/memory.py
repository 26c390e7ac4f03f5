"""Memory limits: projected from sizes, and monitored during computation.

What counts is what belongs to no file: the system can drop and read again what does. Where the system does not say how
much that is (anywhere but on Linux) nothing is watched.
"""

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from unveil.errors import InputError

#: A worker that has loaded everything and computed nothing yet.
BASE = 320 * 2**20
#: Per node: what attacks keep of it, its candidates above all.
PER_NODE = 4_000
#: Per edge of the original and of the released graph: both as rows, as keys, and as they are while they change.
PER_EDGE = 400
#: Per cell of a table, and per row of it.
PER_CELL, PER_ROW = 100, 4_000
#: Where Linux says how many kB of memory are free, and how many bytes a container may take.
_FREE = Path("/proc/meminfo")
_ALLOWED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")
#: Reading takes this many times the size of the file, which may be compressed.
READING = 50


class NeedsMemoryError(InputError):
    """A scenario would take more memory than it may."""


def physical_memory() -> int:
    """Return the physical memory in bytes, or a huge number if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63 - 1


def available_memory() -> int:
    """Return the available memory in bytes, within container limits."""
    most = min([physical_memory(), *(limit for path in _ALLOWED if (limit := _number_in(path)) is not None)])
    free = _number_in(_FREE, "MemAvailable:")
    return most if free is None else min(most, 1024 * free)


def _number_in(path: Path, name: str = "") -> int | None:
    """Return the number after a name in a system file, or None."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        return next(int(line.removeprefix(name).split()[0]) for line in lines if line.startswith(name))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def graph_bytes(nodes: int, edges: int) -> int:
    """Return how many bytes protecting and attacking a graph will take.

    The rule is 320 MiB, 4,000 bytes per released node, and 400 per edge of the original and of the release. For the
    listed attacks on graphs with 167 to 26,475 nodes that was 1.1 to 1.4 times what they took.

    >>> graph_bytes(26_475, 2 * 53_381) // 2**20
    461
    """
    return BASE + PER_NODE * nodes + PER_EDGE * edges


def table_bytes(rows: int, columns: int) -> int:
    """Return how many bytes protecting and attacking a table will take.

    The rule is 320 MiB, 100 bytes per cell of the original and as many of the release, and 4,000 per row.

    >>> table_bytes(700, 10) // 2**20
    324
    """
    return BASE + 2 * PER_CELL * rows * columns + PER_ROW * rows


def check_memory(
    need: int,
    limit: int | None,
    what: str,
    *,
    advice: str = "Allow more memory, use fewer workers, or leave it out of the study",
) -> None:
    """Reject work that needs more memory than allowed."""
    if limit is not None and need > limit:
        raise NeedsMemoryError(
            f"{what} is projected to take {size_shown(need)} of memory, and may take {size_shown(limit)}. {advice}"
        )


def check_reading(path: Path, limit: int | None, what: str) -> None:
    """Refuse to read a file that would take too much memory."""
    if limit is not None and path.is_file():
        check_memory(READING * path.stat().st_size, limit, f"reading {what}")


def size_shown(size: int) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> size_shown(3 * 2**30), size_shown(700_000_000)
    ('3 GiB', '0.65 GiB')
    """
    return f"{size / 2**30:.2g} GiB" if size >= 2**29 else f"{size / 2**20:.3g} MiB"


#: Where Linux says what a process holds, and what of it belongs to no file.
_STATUS = Path("/proc/self/status")
_OWN = ("RssAnon:", "RssShmem:")
#: What a process holds that has loaded unveil and done nothing. What it held beyond that is not the audit's.
BARE = 100 * 2**20
#: So many seconds are between two looks, and between two attempts to stop whoever did not stop.
_EVERY, _AGAIN = 0.1, 10.0


class _TooMuchMemoryError(BaseException):
    """Interrupt for a computation above its memory limit."""


def own_memory() -> int | None:
    """Return this process's own memory in bytes, or None."""
    try:
        lines = _STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) for line in lines if line.startswith(_OWN)]
    return 1024 * sum(found) if found else None


def others_memory() -> int:
    """Return the memory of this process that precedes the audit."""
    return max(0, (own_memory() or 0) - BARE)


def give_back() -> None:
    """Return unused memory to the system, if supported."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if own_memory() is not None else None
    if trim is not None:
        trim(ctypes.c_size_t(0))


@dataclass(frozen=True)
class MemoryLimit:
    """Memory limit in bytes, its user ``what``, and ``advice``."""

    limit: int
    what: str
    advice: str


@contextmanager
def memory_bound(bound: MemoryLimit | None, *, doing: Callable[[], str], before: int | None = None) -> Iterator[None]:
    """Stop the enclosed computation above the memory limit; None is unlimited.

    Parameters
    ----------
    bound
        How much it may take, with words for the message.
    doing
        Returns what is being done at that moment, for the message.
    before
        How much of what the process holds is not counted; unless given, what it holds now beyond a bare one.

    Raises
    ------
    NeedsMemoryError
        If it took more: between two steps of Python, as for Ctrl-C, so that a compiled loop ends first.
    """
    if bound is None or own_memory() is None:
        yield
        return
    watch = _Watch(bound.limit, others_memory() if before is None else before)
    try:
        with watch.stopping():
            yield
    except _TooMuchMemoryError:
        raise NeedsMemoryError(
            f"{bound.what} took {_shown(watch.taken)} of memory while {doing()}, and may take {_shown(bound.limit)}. "
            f"{bound.advice}"
        ) from None


def _shown(size: int) -> str:
    # With all digits, as the two numbers are often close to one another.
    return f"{size / 2**20:,.0f} MiB"


class _Watch:
    """Monitor that stops the measured thread above its limit."""

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
        """Receive a pending interrupt now instead of later.

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
