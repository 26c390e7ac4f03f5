"""How much memory a scenario will take, told beforehand from sizes alone, so that no machine runs out of it."""

import os
from pathlib import Path

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
    """Return how many bytes of memory this machine has; where it does not say, as good as none are missing."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63 - 1


def available_memory() -> int:
    """Return how many bytes of memory nobody uses now, or a container allows; else how many there are."""
    most = min([physical_memory(), *(limit for path in _ALLOWED if (limit := _number_in(path)) is not None)])
    free = _number_in(_FREE, "MemAvailable:")
    return most if free is None else min(most, 1024 * free)


def _number_in(path: Path, name: str = "") -> int | None:
    """Return the number behind a name in a file of the system, None where there is none."""
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
    """Refuse what would take more memory than there may be, with what to do about it."""
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
