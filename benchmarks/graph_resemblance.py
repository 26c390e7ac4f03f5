"""How often a true auxiliary graph is taken for one of others, and one of others for a true one.

True ones are drawn from the original at an overlap of .60, .50 and .40, without protection and with 5 % of the edges
switched. Those of others are 85 % of the edges of another graph, or of the same graph with its edges switched until
none stays (degrees are kept). Nobody is known. Run it with a folder of graphs (NAME.txt.gz):

    python -m benchmarks.graph_resemblance FOLDER manufacturing dnc irvine
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks import MeanField
from unveil.attacks.graph.resemblance import Resemblance, resemblance
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.read import read_graph
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.guesses import Candidates
from unveil.protections import graph_protection_from

LEVELS = (0.60, 0.50, 0.40)
PROTECTIONS = ("id-removal", "switch:share=0.05")
DRAWS = 3
OF_OTHERS = 0.85
NOBODY_KNOWN = np.empty((0, 2), np.int64)


class Row(NamedTuple):
    """One draw: what kind of auxiliary graph it is, what was seen, and how the whole attack goes."""

    graph: str
    kind: str
    seen: Resemblance
    claimed: float
    recall: float


def rows(folder: Path, name: str, others: list[str]) -> Iterator[Row]:
    """Yield every draw of one released graph."""
    graph = read_graph(folder / f"{name}.txt.gz")
    for draw in range(DRAWS):
        for protect in PROTECTIONS:
            release = _release(graph, protect, draw)
            for overlap in LEVELS:
                rng = np.random.default_rng([draw, int(100 * overlap)])
                knowledge = draw_knowledge(release, overlap=overlap, seed_pairs=0, rng=rng)
                yield _row(name, f"true, {overlap:.2f}, {protect}", release, knowledge, draw)
        release = _release(graph, PROTECTIONS[0], draw)
        shuffled = _release(graph, "switch:share=1", draw).in_original_numbers()
        yield _row(name, "its edges switched", release, _part(shuffled, draw), draw)
        for other in others:
            if other != name:
                foreign = read_graph(folder / f"{other}.txt.gz")
                yield _row(name, f"of {other}", release, _part(foreign, draw), draw)


def _release(graph: Graph, protect: str, draw: int) -> GraphRelease:
    return graph_protection_from(protect).apply(graph, rng=np.random.default_rng([draw, 1]))


def _part(graph: Graph, draw: int) -> GraphKnowledge:
    kept = np.random.default_rng([draw, 2]).choice(graph.keys, round(OF_OTHERS * graph.edges), replace=False)
    return GraphKnowledge(Graph.from_keys(np.sort(kept), graph.nodes), NOBODY_KNOWN)


def _row(name: str, kind: str, release: GraphRelease, knowledge: GraphKnowledge, draw: int) -> Row:
    attack, rng = MeanField(), np.random.default_rng([draw, 3])
    guess = attack.run(released=release.released, knowledge=knowledge, rng=rng)
    seen = resemblance(attack, released=release.released, knowledge=knowledge, rng=rng)
    if seen is None:
        raise SystemExit(f"{name} has too few edges")
    truth = release.truth if kind.startswith("true") else np.full(release.released.nodes, -1)
    return Row(name, kind, seen, *_success(guess, truth))


def _success(guess: Candidates, truth: IntArray) -> tuple[float, float]:
    """Return the share of nodes that the attack expects to have found, and the share that it has found."""
    chosen, tried = guess.chosen, guess.attempted
    if chosen is None:
        return np.nan, np.nan
    claimed = guess.probability[guess.entry_of(chosen)[tried]].sum()
    return float(claimed / truth.size), float(((chosen == truth) & tried).mean())


def main() -> None:
    """Print the table of the graphs that are named: each is attacked, and each is the auxiliary graph of the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    told = parser.parse_args()
    print("| released | auxiliary graph | alarms | share beyond degrees | expected to be found | found |")
    print("|---|---|---|---|---|---|")
    for name in told.names:
        cells: dict[str, list[Row]] = {}
        for row in rows(told.folder, name, told.names):
            cells.setdefault(row.kind, []).append(row)
        for kind, found in cells.items():
            shares = [row.seen.share for row in found]
            print(
                f"| {name} | {kind} | {sum(row.seen.doubtful for row in found)} of {len(found)} | "
                f"{min(shares):.2f} to {max(shares):.2f} | {np.mean([row.claimed for row in found]):.2f} | "
                f"{np.mean([row.recall for row in found]):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
