"""CPU times side by side: in one run, in turns, as ratios, because machines differ and are never quiet."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time


@dataclass(frozen=True)
class Row:
    """One line of a benchmark table; ``ratio`` is how many times as much CPU as ours."""

    case: str
    who: str
    seconds: float
    ratio: float


def side_by_side(case: str, tasks: Mapping[str, Callable[[], None]], *, repeat: int) -> list[Row]:
    """Return the least CPU time of each task over ``repeat`` rounds; the first task is ours."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeat):
        for who, task in tasks.items():
            start = process_time()
            task()
            best[who] = min(best[who], process_time() - start)
    mine = next(iter(best.values()))
    return [Row(case, who, seconds, seconds / mine) for who, seconds in best.items()]


def least(task: Callable[[], object]) -> float:
    """Return the least CPU time of five runs."""
    times = []
    for _ in range(5):
        start = process_time()
        task()
        times.append(process_time() - start)
    return min(times)


def as_markdown(rows: list[Row]) -> str:
    """Return the rows as a table."""
    lines = ["| case | who | CPU seconds | times ours |", "|---|---|---:|---:|"]
    lines += [f"| {row.case} | {row.who} | {row.seconds:.3f} | {row.ratio:.1f} |" for row in rows]
    return "\n".join(lines)


def peak_memory() -> int:
    """Return the most memory that this process has had, in MB.

    ``ru_maxrss`` would not do: a process that is started by another begins with the peak of that one.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) // 2**10
