"""Mean-field matching next to other graph aligners, without seeds, on generated graphs: recall, calibration, CPU time.

    python -m benchmarks.graph_alignment

prints a table in Markdown. Each cell is the mean of ``--draws`` draws of a graph and of the edges that are removed, for
the other aligners of the first ``--baseline-draws`` of them. In the setting "one" the released graph is the full one
and the auxiliary graph has that share of its edges, drawn at random, which is the setting of the alignment literature;
in "both", each of the two graphs has such a share, drawn independently. Nodes of the release are numbered at random,
and no seed pair is known. Methods:

* ``features``: the attack as it is by default; ``degrees``: started from the degrees alone, as it was before;
* ``GRAMPA`` (Fan, Mao, Wu, Xu 2020): similarity of all eigenvectors with a Cauchy kernel, then an assignment;
* ``FAQ`` (Vogelstein et al. 2015): ``scipy.optimize.quadratic_assignment`` from the barycenter;
* ``FUGAL`` (after Bommakanti et al. 2024): four features of nodes in the objective, Frank-Wolfe steps by Sinkhorn, and
  a penalty that grows until the solution is nearly a permutation. This is code of its own, not that of the paper.

The last three have no posterior, so they have no calibration error. Settings of the attack were chosen on other draws
of such graphs. Draws from 2000 on (``--first``, the default) were used for the published table alone. With
``--folder`` and names it measures files NAME.txt.gz instead of generated graphs.
"""

import argparse
from collections.abc import Callable, Collection
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks import MeanField
from unveil.data.graph import Graph
from unveil.data.graph.read import read_graph
from unveil.data.graph.release import GraphKnowledge
from unveil.metrics import adversary_overall_success, expected_calibration_error
from unveil.metrics.graphs.symmetry import most_found

NO_SEEDS = np.empty((0, 2), np.int64)
SETTINGS = (("one", 0.85), ("one", 0.75), ("both", 0.85))


# Generated graphs.


def chung_lu(nodes: int, degree: float, exponent: float, rng: np.random.Generator) -> Graph:
    """Return a graph with expected degrees from a power law."""
    weight = (np.arange(nodes) + 5.0) ** (-1 / (exponent - 1))
    weight *= nodes * degree / weight.sum()
    one, other = np.triu_indices(nodes, 1)
    kept = rng.random(one.size) < np.minimum(1.0, weight[one] * weight[other] / weight.sum())
    return Graph.from_edges(one[kept], other[kept], nodes=nodes)


def with_triangles(nodes: int, per_node: int, closing: float, rng: np.random.Generator) -> Graph:
    """Return a graph grown by preferential attachment that closes triangles (Holme and Kim)."""
    near: list[set[int]] = [set(range(per_node)) - {node} for node in range(per_node)]
    ends = [node for node in range(per_node) for _ in near[node]] or [0]
    for node in range(per_node, nodes):
        near.append(set())
        last = -1
        while len(near[node]) < per_node:
            closers = sorted(near[last] - near[node] - {node}) if last >= 0 and rng.random() < closing else []
            other = int(rng.choice(closers)) if closers else ends[int(rng.integers(len(ends)))]
            if other == node or other in near[node]:
                continue
            near[node].add(other)
            near[other].add(node)
            ends += [node, other]
            last = other
    return _of_sets(near)


def small_world(nodes: int, degree: int, rewired: float, rng: np.random.Generator) -> Graph:
    """Return a ring of nodes that know their nearest ones, with some edges moved at random (Watts and Strogatz)."""
    edges: set[tuple[int, int]] = set()
    for step in range(1, degree // 2 + 1):
        for node in range(nodes):
            other = (node + step) % nodes
            while rng.random() < rewired or other == node or _pair(node, other) in edges:
                other = int(rng.integers(nodes))
                if other != node and _pair(node, other) not in edges:
                    break
            edges.add(_pair(node, other))
    return Graph.from_edges(*zip(*sorted(edges), strict=True), nodes=nodes)


def geometric(nodes: int, degree: float, rng: np.random.Generator) -> Graph:
    """Return random points in a square, connected where they are near."""
    from scipy.spatial import cKDTree

    near = cKDTree(rng.random((nodes, 2))).query_pairs(np.sqrt(degree / (np.pi * nodes)), output_type="ndarray")
    return Graph.from_edges(near[:, 0], near[:, 1], nodes=nodes)


def road(nodes: int, rng: np.random.Generator) -> Graph:
    """Return the relative neighborhood graph of random points: sparse, planar, of a mean degree of about 2.5."""
    from scipy.spatial import Delaunay

    point = rng.random((nodes, 2))
    corners = Delaunay(point).simplices
    sides = np.unique(np.sort(corners[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2), axis=1), axis=0)
    away = ((point[:, None] - point[None]) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    kept = [np.maximum(away[one], away[other]).min() >= away[one, other] for one, other in sides]
    return Graph.from_edges(*sides[kept].T, nodes=nodes)


def coauthors(nodes: int, rng: np.random.Generator) -> Graph:
    """Return a graph of teams that grow around earlier members: many cliques, few hubs."""
    near: list[set[int]] = [set() for _ in range(nodes)]
    papers, seen = np.zeros(nodes), 1
    while seen < nodes:
        size = 2 + min(int(rng.geometric(0.45)) - 1, 5)
        lead = int(rng.choice(seen, p=(papers[:seen] + 0.5) / (papers[:seen] + 0.5).sum()))
        team = [lead]
        while len(team) < size and seen < nodes:
            earlier = sorted(near[lead] - set(team))
            if rng.random() < 0.62 or not earlier:
                team.append(seen)
                seen += 1
            else:
                team.append(int(rng.choice(earlier)))
        for each in team:
            near[each] |= set(team) - {each}
        papers[team] += 1
    return _of_sets(near)


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _of_sets(near: list[set[int]]) -> Graph:
    edges = sorted((one, other) for one, others in enumerate(near) for other in others if one < other)
    return Graph.from_edges(*zip(*edges, strict=True), nodes=len(near))


#: Sizes and degrees like those of an e-mail graph, a coauthorship graph and a road network, and others.
GRAPHS: dict[str, Callable[[np.random.Generator], Graph]] = {
    "Chung-Lu, e-mail size": lambda rng: chung_lu(1133, 9.6, 2.8, rng),
    "triangles, 5 per node": lambda rng: with_triangles(1133, 5, 0.6, rng),
    "small world": lambda rng: small_world(1000, 10, 0.2, rng),
    "geometric": lambda rng: geometric(1000, 9.0, rng),
    "Erdős-Rényi": lambda rng: chung_lu(1000, 6.0, 1e9, rng),
    "Chung-Lu, small": lambda rng: chung_lu(400, 4.8, 2.8, rng),
    "coauthors": lambda rng: coauthors(379, rng),
    "triangles, 2 per node": lambda rng: with_triangles(1000, 2, 0.3, rng),
    "road": lambda rng: road(1174, rng),
}


# Aligners without a posterior: the auxiliary node of each released one.


def grampa(released: Graph, auxiliary: Graph, rng: np.random.Generator, width: float = 0.2) -> IntArray:
    """Return the assignment of GRAMPA."""
    (here, left), (there, right) = (np.linalg.eigh(_scaled(each)) for each in (released, auxiliary))
    kernel = 1 / ((here[:, None] - there) ** 2 + width**2)
    sums = left.sum(axis=0)[:, None] * right.sum(axis=0)
    return _assigned(left @ (kernel * sums) @ right.T, rng)


def _scaled(graph: Graph) -> FloatArray:
    matrix = np.asarray(graph.to_sparse().toarray(), np.float64)
    share = max(matrix.mean(), 1e-9)
    return np.asarray(matrix / np.sqrt(graph.nodes * share * (1 - share)), np.float64)


def faq(released: Graph, auxiliary: Graph, rng: np.random.Generator) -> IntArray:
    """Return the assignment of FAQ."""
    from scipy.optimize import quadratic_assignment

    here, there = (each.to_sparse().toarray().astype(np.float64) for each in (released, auxiliary))
    return np.asarray(
        quadratic_assignment(here, there, method="faq", options={"maximize": True, "rng": rng}).col_ind, np.int64
    )


def fugal(released: Graph, auxiliary: Graph, rng: np.random.Generator, weight: float = 1.0) -> IntArray:
    """Return an assignment like that of FUGAL: features, Frank-Wolfe by Sinkhorn, and a growing penalty."""
    here, there = (each.to_sparse().astype(np.float64).tocsr() for each in (released, auxiliary))
    one, other = _four_features(here), _four_features(there)
    apart = np.sqrt(((one[:, None] - other[None]) ** 2).sum(axis=2))
    squares = (here @ here, there @ there)
    chances = np.full((released.nodes, auxiliary.nodes), 1 / auxiliary.nodes)
    for penalty in range(12):
        for step in range(6):
            common = (there @ (here @ chances).T).T
            slope = squares[0] @ chances + (squares[1] @ chances.T).T - 2 * common + weight * apart
            slope -= 2 * penalty * chances
            chances += 2 / (2 + step) * (_sinkhorn(-slope) - chances)
    return _assigned(chances, rng)


def _four_features(matrix: Any) -> FloatArray:
    """Return degree, clustering, and their means over neighbors."""
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    triangles = np.asarray(matrix.multiply(matrix @ matrix).sum(axis=1)).ravel()
    local = triangles / np.maximum(degree * (degree - 1), 1)
    mean = 1 / np.maximum(degree, 1)
    return np.column_stack([degree, local, mean * (matrix @ degree), mean * (matrix @ local)])


def _sinkhorn(logs: FloatArray, rounds: int = 15) -> FloatArray:
    weight: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
    for _ in range(rounds):
        weight /= np.maximum(weight.sum(axis=0), 1e-30)
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-30)
    return weight


def _assigned(score: FloatArray, rng: np.random.Generator) -> IntArray:
    from scipy.optimize import linear_sum_assignment

    rows, columns = (rng.permutation(size) for size in score.shape)
    one, other = linear_sum_assignment(-score[np.ix_(rows, columns)])
    chosen = np.full(len(score), -1)
    chosen[rows[one]] = columns[other]
    return chosen


BASELINES = {"GRAMPA": grampa, "FAQ": faq, "FUGAL": fugal}


# The measurement.


def thinned(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """Return the graph with a share of its edges, drawn at random."""
    kept = rng.choice(graph.edges, round(share * graph.edges), replace=False)
    return Graph.from_keys(np.sort(graph.keys[kept]), graph.nodes)


def measure(
    graph: Graph, which: str, share: float, methods: list[str], left_out: Collection[str], rng: np.random.Generator
) -> FloatArray:
    """Return for each method recall, calibration error and CPU seconds; the first row has degree and bound.

    Methods that are left out have no numbers.
    """
    released = graph if which == "one" else thinned(graph, share, rng)
    auxiliary = thinned(graph, share, rng)
    number = rng.permutation(graph.nodes)
    released, truth = released.relabelled(number), np.argsort(number)
    knowledge = GraphKnowledge(auxiliary, NO_SEEDS)
    bound = float(most_found(released, knowledge, truth).sum()) / graph.nodes
    rows = [(released.degrees.mean(), bound, 0.0)]
    for method, own in zip(methods, rng.spawn(len(methods)), strict=True):
        start = process_time()
        if method in left_out:
            rows.append((np.nan, np.nan, np.nan))
            continue
        if method in BASELINES:
            recall = float((BASELINES[method](released, auxiliary, own) == truth).mean())
            rows.append((recall, np.nan, process_time() - start))
            continue
        attack = MeanField(start="degrees" if method == "degrees" else "features")
        guess = attack.run(released=released, knowledge=knowledge, rng=own)
        seconds = process_time() - start
        error = expected_calibration_error(guess, truth)
        rows.append((adversary_overall_success(guess, truth), error, seconds))
    return np.array(rows)


def _setting(text: str) -> tuple[str, float]:
    which, _, share = text.partition(":")
    return which, float(share)


def _mean(cells: FloatArray) -> FloatArray:
    """Return the means over draws, of those that have a number."""
    number = np.maximum((~np.isnan(cells)).sum(axis=0), 1)
    return np.asarray(np.where(np.isnan(cells).all(axis=0), np.nan, np.nansum(cells, axis=0) / number), np.float64)


def main() -> None:
    """Print a line for each graph and setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="generated graphs, or files of the folder; all by default")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--baseline-draws", type=int, default=1, help="how many of them the other aligners attack")
    parser.add_argument("--first", type=int, default=2000, help="number of the first draw")
    parser.add_argument("--methods", nargs="+", default=["features", "degrees", *BASELINES])
    parser.add_argument("--settings", nargs="+", default=SETTINGS, type=_setting, help="such as one:0.75")
    options = parser.parse_args()
    print("| graph, setting, share of edges | degree | bound |", " | ".join(options.methods), "|")
    print("|---" * (3 + len(options.methods)) + "|")
    for name in options.names or GRAPHS:
        for which, share in options.settings:
            cells = []
            for draw in range(options.first, options.first + options.draws):
                rng = np.random.default_rng([draw, int(100 * share), which == "both", *name.encode()])
                graph = GRAPHS[name](rng) if options.folder is None else read_graph(options.folder / f"{name}.txt.gz")
                left_out = {} if draw - options.first < options.baseline_draws else BASELINES
                cells.append(measure(graph, which, share, options.methods, left_out, rng))
            mean = _mean(np.array(cells))
            shown = [f"{mean[0, 0]:.1f}", f"{mean[0, 1]:.3f}"]
            for recall, error, seconds in mean[1:]:
                shown.append(f"{recall:.3f}, {'-' if np.isnan(error) else f'{error:.3f}'}, {seconds:.1f}")
            print(f"| {name}, {which}, {share:.2f} |", " | ".join(shown), "|", flush=True)


if __name__ == "__main__":
    main()
