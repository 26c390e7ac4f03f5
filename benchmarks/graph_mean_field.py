"""Mean-field matching beside the bound: how many are found, how far its chances are off, and what it takes.

Each cell is the mean of three draws, id removal, at an overlap of .60, .85 and .95 with 0, 10 and 50 seed pairs. With
``--node-share 0.8`` the adversary has heard of that share of the nodes, and false alarms are given too. Run it with a
folder of graphs (NAME.txt.gz):

    python -m benchmarks.graph_mean_field FOLDER irvine dnc
"""

import argparse
from pathlib import Path
from time import process_time

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.attacks import graph_attack_from
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.read import read_graph
from unveil.metrics import adversary_overall_success, expected_calibration_error
from unveil.metrics.candidates.matches import matches
from unveil.metrics.graphs.symmetry import most_found
from unveil.protections import graph_protection_from

LEVELS = (0.60, 0.85, 0.95)
PAIRS = (0, 10, 50)
DRAWS = 3


def cell(graph: Graph, attack: str, overlap: float, pairs: int, node_share: float, draws: int) -> FloatArray:
    """Return means over draws: found, bound, calibration error, CPU seconds, share of right attempts, false alarms."""
    rows = []
    for draw in range(draws):
        for_release, for_knowledge, rng = np.random.default_rng([draw, int(100 * overlap), pairs]).spawn(3)
        release = graph_protection_from("id-removal").apply(graph, rng=for_release)
        knowledge = draw_knowledge(release, overlap=overlap, seed_pairs=pairs, node_share=node_share, rng=for_knowledge)
        start = process_time()
        whole = graph_attack_from(attack).run(released=release.released, knowledge=knowledge, rng=rng)
        seconds = process_time() - start
        targets = knowledge.targets(release.released)
        truth = knowledge.in_auxiliary_numbers(release.truth)
        guess, found = whole.only(targets), matches(whole.only(targets), truth[targets])
        most = most_found(release.released, knowledge, truth).sum() / max(found.somebody, 1)
        rows.append(
            (
                adversary_overall_success(guess, truth[targets]),
                most,
                expected_calibration_error(guess, truth[targets]),
                seconds,
                found.correct / max(found.attempted, 1),
                found.nobody_attempted / found.nobody if found.nobody else np.nan,
            )
        )
    return np.asarray(np.mean(rows, axis=0), np.float64)


def main() -> None:
    """Print a line for each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--attack", default="mean-field")
    parser.add_argument("--node-share", type=float, default=1.0)
    parser.add_argument("--levels", type=float, nargs="+", default=LEVELS)
    parser.add_argument("--pairs", type=int, nargs="+", default=PAIRS)
    parser.add_argument("--draws", type=int, default=DRAWS)
    told = parser.parse_args()
    print("| graph | attack | overlap | pairs | found | bound | of it | error | CPU s | right | false alarms |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in told.names:
        graph = read_graph(told.folder / f"{name}.txt.gz")
        for overlap in told.levels:
            for pairs in told.pairs:
                found, bound, error, seconds, right, alarms = cell(
                    graph, told.attack, overlap, pairs, told.node_share, told.draws
                )
                print(
                    f"| {name} | {told.attack} | {overlap:.2f} | {pairs} | {found:.3f} | {bound:.3f} | "
                    f"{found / bound:.2f} | {error:.3f} | {seconds:.1f} | {right:.2f} | {alarms:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
