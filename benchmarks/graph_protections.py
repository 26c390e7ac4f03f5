"""Every listed protection of graphs with its usual settings: CPU time, peak of memory, and what it gives or why not.

Needs the edge lists in the folder ``graphs`` below the one that UNVEIL_DATA names. Each protection protects each graph
in a process of its own, twice, and the second time counts: the first compiles.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.timing import peak_memory
from unveil.data.graph.read import read_graph
from unveil.errors import InputError
from unveil.protections import PROTECTIONS

ROOT = Path(__file__).parent.parent
#: No protection is waited for longer than this, in seconds on the clock.
PATIENCE = 900
#: A run that takes longer than this, in CPU seconds, is not done a second time.
LONG = 15
#: CPU seconds of other programs on facebook, measured once, on another day, on a busy machine, and with starting,
#: reading and writing; not all did what they say.
QUOTED = {
    "id-removal": "SecGraph 1.2",
    "switch": "SecGraph 0.9 (changed no edge)",
    "random-walk": "SecGraph 2.0",
    "k-degree": "SecGraph 1.5",
    "bounded-t-means": "SecGraph 2.4 (76 classes below 5)",
    "umga": "UMGA 1.1",
    "graph-anon": "GraphAnon 0.06",
    "dk-series-dp": "SecGraph over 62.9 (not finished)",
}
QUOTED_GRAPH = "facebook"


def files() -> list[Path]:
    """Return the edge lists there are, the smallest file first."""
    folder = Path(os.environ.get("UNVEIL_DATA", "")) / "graphs"
    return sorted(folder.glob("*.txt.gz"), key=lambda path: path.stat().st_size)


def listed() -> list[str]:
    """Return the names of the protections of graphs."""
    return [name for name, each in PROTECTIONS.items() if each.on == "graph"]


def outcomes(graphs: Sequence[str] = (), protections: Sequence[str] = ()) -> None:
    """Print a line for each graph and protection, or for those that are named."""
    paths = [path for path in files() if not graphs or path.name.removesuffix(".txt.gz") in graphs]
    if not paths:
        print("UNVEIL_DATA names no folder with such files graphs/*.txt.gz: protections of graphs are left out\n")
        return
    quoted_by = "other programs, CPU seconds (quoted, not measured here)"
    print(f"| graph | protection | CPU seconds | peak memory, MB | nodes | edges | {quoted_by} |")
    print("|---|---|---:|---:|---:|---:|---|")
    for path in paths:
        graph = path.name.removesuffix(".txt.gz")
        for name in protections or listed():
            quoted = QUOTED.get(name, "") if graph == QUOTED_GRAPH else ""
            print(f"| {graph} | {name} | {_line(_in_a_process(name, path))} | {quoted} |", flush=True)
    print()


def _line(found: dict[str, Any] | None) -> str:
    if found is None:
        return f"not finished after {PATIENCE} s | | |"
    seconds = f"{found['seconds']:.2f}"
    if "refused" in found:
        return f"{seconds} | | refused: {found['refused']} |"
    return f"{seconds} | {found['memory']:,} | {found['nodes']:,} | {found['edges']:,}"


def _in_a_process(name: str, path: Path) -> dict[str, Any] | None:
    """Return what ``protect`` prints in a process of its own, or None if that takes too long."""
    code = f"from benchmarks.graph_protections import protect; protect({name!r}, {str(path)!r})"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return None
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def protect(name: str, path: str) -> None:
    """Print as JSON what one protection makes of one graph and what that takes: the second time, when all is compiled.

    What takes long the first time is not done again: compiling is a small part of it.
    """
    make = PROTECTIONS[name].make
    graph = read_graph(path)
    for _ in range(2):
        start = process_time()
        try:
            released = make().apply(graph, rng=np.random.default_rng(1)).released
            outcome: dict[str, Any] = {"nodes": released.nodes, "edges": released.edges}
        except InputError as error:
            outcome = {"refused": str(error)}
        seconds = process_time() - start
        if seconds > LONG:
            break
    print(json.dumps({"seconds": seconds, "memory": peak_memory(), **outcome}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=(), metavar="NAME", help="such as facebook; all otherwise")
    parser.add_argument("--protections", nargs="+", default=(), choices=listed(), metavar="NAME", help="all otherwise")
    chosen = parser.parse_args()
    outcomes(chosen.graphs, chosen.protections)


if __name__ == "__main__":
    main()
