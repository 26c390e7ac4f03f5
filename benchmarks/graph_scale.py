"""Every listed attack on a graph of 100,000 nodes and 1,000,000 edges: CPU time, memory, and how many nodes it finds.

The graph is made with a seed: each end of an edge is drawn in proportion to ``(rank + 10) ** -0.6``, loops and repeats
are drawn anew, so that degrees have a heavy tail. The release is by id removal; the adversary knows 85 % of the edges
and 300 nodes. Each attack runs once, in a process of its own, and is ended when it takes too long. Run it with

    nice -n 5 python -m benchmarks.graph_scale --attacks kl ns
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from benchmarks.timing import peak_memory
from unveil._kernels.graph.rows import distinct, edge_keys
from unveil.attacks import ATTACKS, graph_attack_from
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.errors import InputError
from unveil.protections import graph_protection_from

ROOT = Path(__file__).parent.parent
NODES, EDGES = 100_000, 1_000_000
#: Weights fall with the rank to this power, from this rank on: the largest degree is then about 2,000.
POWER, FIRST_RANK = 0.6, 10
OVERLAP, SEED_PAIRS = 0.85, 300


def heavy_tailed(nodes: int, edges: int, *, rng: np.random.Generator) -> Graph:
    """Return a graph with so many nodes and edges, whose degrees fall as a power of their rank."""
    chance = (np.arange(nodes) + FIRST_RANK) ** -POWER
    reach = np.cumsum(chance / chance.sum())
    keys = np.empty(0, np.int64)
    while keys.size < edges:
        one, other = np.searchsorted(reach, rng.random((2, edges - keys.size))).clip(max=nodes - 1)
        apart = one != other
        keys = distinct(np.concatenate([keys, edge_keys(one[apart], other[apart], nodes)]))
    return Graph.from_keys(keys, nodes, name="heavy-tailed graph")


def run(attack: str, nodes: int, edges: int, most_seconds: int) -> None:
    """Print as JSON what one attack finds, and what that takes; the process ends when it takes too much CPU time."""
    resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds))
    graph = heavy_tailed(nodes, edges, rng=np.random.default_rng(1))
    release = graph_protection_from("id-removal").apply(graph, rng=np.random.default_rng(2))
    knowledge = draw_knowledge(release, overlap=OVERLAP, seed_pairs=SEED_PAIRS, rng=np.random.default_rng(3))
    before, start, clock = peak_memory(), process_time(), perf_counter()
    try:
        guess = graph_attack_from(attack).run(
            released=release.released, knowledge=knowledge, rng=np.random.default_rng(4)
        )
    except InputError as refused:
        print(json.dumps({"refused": str(refused), "seconds": process_time() - start}))
        return
    chosen = np.full(guess.target_count, -1) if guess.chosen is None else guess.chosen
    found = {
        "right": int(((chosen == release.truth) & guess.attempted).sum()),
        "attempted": int(guess.attempted.sum()),
        "memory": peak_memory(),
        "before": before,
        "seconds": process_time() - start,
        "wall": perf_counter() - clock,
    }
    print(json.dumps(found))


def outcomes(attacks: Sequence[str], nodes: int, edges: int, most_seconds: int) -> None:
    """Print a line for each attack."""
    print("| attack | CPU seconds | wall seconds | memory, MB (before) | right | attempted |")
    print("|---|---:|---:|---:|---:|---:|")
    for attack in attacks or [name for name, each in ATTACKS.items() if each.on == "graph"]:
        code = f"from benchmarks.graph_scale import run; run({attack!r}, {nodes}, {edges}, {most_seconds})"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode < 0:
            print(f"| {attack} | not done after {most_seconds:,} CPU seconds |", flush=True)
            continue
        done.check_returncode()
        found = json.loads(done.stdout)
        if "refused" in found:
            print(f"| {attack} | refused after {found['seconds']:.1f} s: {found['refused']} |", flush=True)
            continue
        print(
            f"| {attack} | {found['seconds']:.1f} | {found['wall']:.1f} | {found['memory']:,} ({found['before']:,}) | "
            f"{found['right']:,} | {found['attempted']:,} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attacks", nargs="+", default=(), metavar="NAME[:SETTINGS]", help="all otherwise")
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--most-seconds", type=int, default=600)
    told = parser.parse_args()
    outcomes(told.attacks, told.nodes, told.edges, told.most_seconds)


if __name__ == "__main__":
    main()
