"""Every listed attack on graphs with its usual settings: CPU time, memory, and how many nodes it finds.

Needs the edge lists in the folder ``graphs`` below the one that UNVEIL_DATA names. The release is by id removal (on
caida also that of k-symmetry, which is three times as large); the adversary knows 85 % of the edges and 50 nodes.
Each attack runs in a process of its own, twice, and the second time counts: the first compiles. Graphs are made anew
inside the timer, because what an attack finds out about a graph object (how central nodes are) is kept with it.
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
from unveil.attacks import ATTACKS, graph_attack_from
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.read import read_graph
from unveil.data.graph.release import GraphKnowledge
from unveil.protections import graph_protection_from

ROOT = Path(__file__).parent.parent
#: What is attacked unless others are named.
USUAL = ("facebook id-removal", "caida id-removal", "caida k-symmetry")
#: CPU seconds of SecGraph's Java on facebook and what it found, seeds included; measured once, on another day, on a
#: busy machine, with its own auxiliary graph. Some of its counts gain from ties taken in node order.
QUOTED = {
    "narayanan-shmatikov": "12.5 (2141 of 2225)",
    "korula-lattanzi": "21.9 (1012 of 4039, window)",
    "yartseva-grossglauser": "7.4 (635 of 3086)",
    "distance-vector": "5.3 (453 of 4039)",
    "ji-li-srivatsa-beyah": "9.6 (520 of 4039)",
    "adaptive-deanonymization": "7.5 and 5 for centralities (506 of 4039)",
}


def outcomes(cases: Sequence[str] = USUAL, attacks: Sequence[str] = ()) -> None:
    """Print a line for each case (a graph and a protection) and attack."""
    folder = Path(os.environ.get("UNVEIL_DATA", "")) / "graphs"
    print(
        "| graph | release | attack | CPU seconds | first time | memory, MB | right | attempted | SecGraph (quoted) |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    for case in cases:
        graph, protect = case.split()
        path = folder / f"{graph}.txt.gz"
        if not path.exists():
            print(f"| {graph} | {protect} | left out: UNVEIL_DATA names no folder with graphs/{graph}.txt.gz |")
            continue
        for attack in attacks or [name for name, each in ATTACKS.items() if each.on == "graph"]:
            found = _in_a_process(attack, protect, path)
            quoted = QUOTED.get(attack, "") if case == USUAL[0] else ""
            print(
                f"| {graph} | {protect} | {attack} | {found['seconds']:.2f} | {found['first']:.2f} | "
                f"{found['memory']:,} | {found['right']:,} | {found['attempted']:,} | {quoted} |",
                flush=True,
            )
    print()


def _in_a_process(attack: str, protect: str, path: Path) -> dict[str, Any]:
    """Return what ``run`` prints in a process of its own."""
    code = f"from benchmarks.graph_attacks import run; run({attack!r}, {protect!r}, {str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def run(attack: str, protect: str, path: str) -> None:
    """Print as JSON what one attack finds in one release, and what that takes."""
    release = graph_protection_from(protect).apply(read_graph(path), rng=np.random.default_rng(1))
    knowledge = draw_knowledge(release, overlap=0.85, seed_pairs=50, rng=np.random.default_rng(2))
    seconds = []
    for _ in range(2):
        start = process_time()
        guess = graph_attack_from(attack).run(
            released=_anew(release.released),
            knowledge=GraphKnowledge(_anew(knowledge.auxiliary), knowledge.seeds),
            rng=np.random.default_rng(3),
        )
        seconds.append(process_time() - start)
    chosen = np.full(guess.target_count, -1) if guess.chosen is None else guess.chosen
    right = int(((chosen == release.truth) & guess.attempted).sum())
    found = {"right": right, "attempted": int(guess.attempted.sum()), "memory": peak_memory()}
    print(json.dumps({"first": seconds[0], "seconds": seconds[1], **found}))


def _anew(graph: Graph) -> Graph:
    return Graph.from_keys(graph.keys, graph.nodes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", default=USUAL, metavar="'GRAPH PROTECTION'", help="what is attacked")
    parser.add_argument("--attacks", nargs="+", default=(), metavar="NAME[:SETTINGS]", help="all otherwise")
    chosen = parser.parse_args()
    outcomes(chosen.cases, chosen.attacks)


if __name__ == "__main__":
    main()
