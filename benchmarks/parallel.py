"""How long a command would take on more cores than this machine has.

``python -m benchmarks.parallel 2 16 --command unveil audit ... --threads 16`` runs the command, which must itself use
as many threads. Every 20 ms it looks how many threads of the command could run (state R) and how much CPU time went by.
The projected wall time is the sum of CPU time / min(threads that could run, cores). CPU time that more cores would add
(shared caches and memory) is not in the model.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

_PAUSE = 0.02


def projection(process: "subprocess.Popen[bytes]") -> Counter[int]:
    """Watch a process until it ends, and return CPU seconds by the number of threads that could run."""
    by_threads: Counter[int] = Counter()
    spent: dict[int, int] = {}
    while process.poll() is None:
        every = _processes(process.pid)
        running = sum(state == "R" for pid in every for state in _states(pid))
        # What ended threads took stands with their process alone.
        now = {pid: _ticks(pid) for pid in every}
        by_threads[max(running, 1)] += sum(max(0, ticks - spent.get(pid, 0)) for pid, ticks in now.items())
        spent |= now
        time.sleep(_PAUSE)
    tick = os.sysconf("SC_CLK_TCK")
    return Counter({number: ticks / tick for number, ticks in sorted(by_threads.items())})


def _processes(pid: int) -> list[int]:
    """Return a process and all that it started."""
    try:
        children = [each for task in Path(f"/proc/{pid}/task").iterdir() for each in _read(task / "children").split()]
    except OSError:  # it has ended
        return []
    return [pid, *(found for child in children for found in _processes(int(child)))]


def _states(pid: int) -> list[str]:
    try:
        return [_fields(task)[0] for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _ticks(pid: int) -> int:
    return sum(map(int, _fields(Path(f"/proc/{pid}"))[11:13]))


def _fields(folder: Path) -> list[str]:
    return _read(folder / "stat").rpartition(")")[2].split() or ["?"] + ["0"] * 12


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def main() -> None:
    """Run the command, and print its projection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cores", type=int, nargs="+")
    parser.add_argument("--command", nargs=argparse.REMAINDER, required=True)
    told = parser.parse_args()
    found = projection(subprocess.Popen(told.command, stdout=sys.stderr))
    print(f"CPU {found.total():.1f} s")
    for cores in told.cores:
        print(f"{cores} cores: {sum(spent / min(number, cores) for number, spent in found.items()):.1f} s")


if __name__ == "__main__":
    main()
