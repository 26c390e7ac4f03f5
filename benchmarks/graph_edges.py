"""What three attacks learn about the edges of a graph that they did not know, beside what guessing gives.

Run it with a folder of graphs (NAME.txt.gz): python benchmarks/graph_edges.py FOLDER irvine
"""

import argparse
from pathlib import Path

import numpy as np

from unveil.attacks import graph_attack_from
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge, original_among
from unveil.data.graph.read import read_graph
from unveil.guesses import EdgeClaims
from unveil.metrics import EdgeDisclosure, adversary_overall_success, edge_disclosure
from unveil.protections import graph_protection_from

ATTACKS = ("JLSB", "KL", "MF:candidates=30", "MF")
PROTECTIONS = ("id-removal", "switch:share=0.05")
DRAWS = 3


def disclosed(graph: Graph, protect: str, attack: str, draw: int) -> tuple[float, EdgeDisclosure]:
    """Return the share of nodes found in one draw, and what is learned about edges by the mapping."""
    for_release, for_knowledge, for_attack = np.random.default_rng(draw).spawn(3)
    release = graph_protection_from(protect).apply(graph, rng=for_release)
    knowledge = draw_knowledge(release, overlap=0.85, seed_pairs=50, rng=for_knowledge)
    guess = graph_attack_from(attack).run(released=release.released, knowledge=knowledge, rng=for_attack)
    targets = knowledge.targets(release.released)
    claims = EdgeClaims.from_mapping(guess, released=release.released, knowledge=knowledge)
    found = adversary_overall_success(guess.only(targets), release.truth[targets])
    return found, edge_disclosure(claims, original_among(graph, knowledge))


def main() -> None:
    """Print a row for each attack: means of the draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("graphs", nargs="+")
    told = parser.parse_args()
    print("| graph, release, attack | nodes | claims | right (each draw) | of hidden | degrees | common neighbours |")
    print("|---|---|---|---|---|---|---|")
    for name in told.graphs:
        graph = read_graph(told.folder / f"{name}.txt.gz")
        for protect in PROTECTIONS:
            for attack in ATTACKS:
                draws = [disclosed(graph, protect, attack, draw) for draw in range(DRAWS)]
                every = [each for _, each in draws]
                right = ", ".join(f"{each.precision.value:.3f}" for each in every)
                means = (
                    np.mean([each.recall.value for each in every]),
                    np.mean([each.by_degrees for each in every]),
                    np.mean([each.by_common_neighbors for each in every]),
                )
                nodes, claims = np.mean([found for found, _ in draws]), np.mean([each.claims for each in every])
                cells = [f"{nodes:.3f}", f"{claims:,.0f}", right, *(f"{mean:.3f}" for mean in means)]
                print(f"| {name}, {protect}, {attack} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
