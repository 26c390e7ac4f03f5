"""What an attack on a graph is given, for tests: a released graph, and what the adversary knows."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.guesses.candidates import Candidates


class Case(NamedTuple):
    """A released graph and what is known."""

    released: Graph
    knowledge: GraphKnowledge


@st.composite
def cases(draw: st.DrawFn, *, max_nodes: int = 10) -> Case:
    """Draw graphs with an edge each, related or not, of the same size or not, and at least one pair of seeds."""
    auxiliary = draw(graphs(min_nodes=2, max_nodes=max_nodes, min_edges=1))
    released = auxiliary
    if draw(st.booleans()):
        released = draw(graphs(min_nodes=2, max_nodes=max_nodes, min_edges=1))
    elif draw(st.booleans()):
        # One edge fewer, and nodes that stand for nobody.
        keys = auxiliary.ends[0][: max(auxiliary.edges - 1, 1)], auxiliary.ends[1][: max(auxiliary.edges - 1, 1)]
        released = Graph.from_edges(*keys, nodes=auxiliary.nodes + draw(st.integers(0, 2)))
    released = released.relabelled(draw(st.permutations(range(released.nodes))))
    count = draw(st.integers(1, min(released.nodes, auxiliary.nodes, 5)))
    ones = draw(st.permutations(range(released.nodes)))[:count]
    others = draw(st.permutations(range(auxiliary.nodes)))[:count]
    return Case(released, GraphKnowledge(auxiliary, np.column_stack([ones, others])))


def random_case(seed: int, *, nodes: int = 40, probability: float = 0.15, seeds: int = 8) -> Case:
    """Return a released graph with two nodes that stand for nobody, and an auxiliary graph with most of its edges."""
    release = renumbered(erdos_renyi(nodes, probability, seed), seed, extra=2)
    return Case(release.released, draw_knowledge(release, seed_pairs=seeds, rng=np.random.default_rng(seed)))


def renumbered(original: Graph, seed: int, *, extra: int = 0) -> GraphRelease:
    """Return a release that changes nothing but the numbers, with extra nodes connected to two others each."""
    rng = np.random.default_rng(seed)
    nodes = original.nodes + extra
    number = rng.permutation(nodes)
    one, other = original.ends
    made_up = np.repeat(np.arange(original.nodes, nodes), 2)
    ends = rng.integers(0, original.nodes, made_up.size)
    grown = Graph.from_edges(np.concatenate([one, made_up]), np.concatenate([other, ends]), nodes=nodes)
    truth = np.empty(nodes, np.int64)
    truth[number] = np.where(np.arange(nodes) < original.nodes, np.arange(nodes), -1)
    return GraphRelease(original, grown.relabelled(number), truth)


def plane(order: int) -> Graph:
    """Return a graph in which any two nodes have at most one neighbour in common: lines of a plane, and their poles.

    ``order`` is a prime number; there are ``order**2 + order + 1`` nodes with about ``order`` neighbours each.
    """
    whole = np.arange(order)
    points = np.array(
        [(1, a, b) for a in whole for b in whole] + [(0, 1, b) for b in whole] + [(0, 0, 1)],
    )
    one, other = np.nonzero(np.triu((points @ points.T) % order == 0, 1))
    return Graph.from_edges(one, other, nodes=len(points))


def right(guess: Candidates, truth: np.ndarray) -> int:
    """Return how many targets were attempted and mapped rightly."""
    assert guess.chosen is not None
    return int((guess.attempted & (guess.chosen == truth)).sum())


def rows(guess: Candidates) -> dict[int, dict[int, float]]:
    """Return the probabilities of the candidates of each target that has some."""
    found: dict[int, dict[int, float]] = {}
    for target in np.flatnonzero(np.diff(guess.start)).tolist():
        entries = slice(guess.start[target], guess.start[target + 1])
        found[target] = dict(zip(guess.candidate[entries].tolist(), guess.probability[entries].tolist(), strict=True))
    return found


def mapping(guess: Candidates) -> dict[int, int]:
    """Return whom each attempted target was mapped to."""
    assert guess.chosen is not None
    return {target: int(guess.chosen[target]) for target in np.flatnonzero(guess.attempted).tolist()}


def check_same_guess(one: Candidates, other: Candidates) -> None:
    """Check that two guesses choose the same nodes from the same candidates."""
    assert one.chosen is not None
    assert other.chosen is not None
    assert np.array_equal(one.chosen, other.chosen)
    assert np.array_equal(one.candidate, other.candidate)
    assert np.allclose(one.probability, other.probability)
