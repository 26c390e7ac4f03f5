from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from scipy.stats import chisquare

from tests.data.refusals import refusal
from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.errors import InputError


def released(original: Graph, *, pseudo: int = 0, seed: int = 0) -> GraphRelease:
    """Return a release with nodes numbered anew, and some that stand for nobody."""
    nodes = original.nodes + pseudo
    number = np.random.default_rng(seed).permutation(nodes)
    one, other = original.ends
    truth = np.full(nodes, -1)
    truth[number[: original.nodes]] = np.arange(original.nodes)
    return GraphRelease(original, Graph.from_edges(number[one], number[other], nodes=nodes), truth)


def parts(graph: Graph) -> list[int]:
    return [int(part) for part in connected_components(graph.to_sparse())[1]]


@pytest.mark.parametrize("number", [float, np.float32, np.float64])
def test_the_overlap_is_taken_as_it_is_written(number: Any) -> None:
    ring = Graph.from_edges(range(100), [*range(1, 100), 0])
    part = Graph.from_edges(range(50), [*range(1, 50), 0])
    for graph in (ring, part):
        release = released(graph)
        for percent in range(101):
            kept = draw_knowledge(
                release,
                overlap=number(f"0.{percent:02}" if percent < 100 else "1"),
                seed_pairs=0,
                rng=np.random.default_rng(1),
            ).auxiliary.edges
            assert kept == (percent * graph.edges + 50) // 100


@given(
    graph=graphs(min_nodes=1, max_nodes=9),
    overlap=st.floats(0, 1),
    connected=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
@settings(deadline=None, max_examples=24)
def test_the_auxiliary_graph_is_a_part_of_the_original(
    graph: Graph, overlap: float, connected: bool, seed: int, data: st.DataObject
) -> None:
    graph = Graph.from_keys(graph.keys, graph.nodes, names=[f"n{node}" for node in range(graph.nodes)])
    release = released(graph, pseudo=data.draw(st.integers(0, 3)), seed=seed)
    pairs = data.draw(st.integers(0, graph.nodes))

    def draw() -> Any:
        return draw_knowledge(
            release, overlap=overlap, seed_pairs=pairs, connected=connected, rng=np.random.default_rng(seed)
        )

    knowledge, again = draw(), draw()
    auxiliary = knowledge.auxiliary
    assert auxiliary.nodes == graph.nodes
    assert list(auxiliary.names) == list(graph.names if graph.names is not None else [])
    assert set(auxiliary.keys.tolist()) <= set(graph.keys.tolist())
    assert auxiliary.edges == int(Decimal(repr(overlap)) * graph.edges + Decimal("0.5"))
    assert (np.diff(auxiliary.keys) > 0).all()
    assert knowledge.seeds.shape == (pairs, 2)
    assert len(set(knowledge.seeds[:, 1].tolist())) == pairs
    assert (release.truth[knowledge.seeds[:, 0]] == knowledge.seeds[:, 1]).all()
    assert again.auxiliary.keys.tolist() == auxiliary.keys.tolist()
    assert again.seeds.tolist() == knowledge.seeds.tolist()
    forest = graph.nodes - len(set(parts(graph)))
    if connected and forest <= auxiliary.edges:
        assert parts(auxiliary) == parts(graph)
    assert len(knowledge.notes) == (connected and forest > auxiliary.edges)


def test_every_set_of_edges_is_as_likely_as_any_other() -> None:
    ring = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    release, rng = released(ring), np.random.default_rng(17)
    counts = dict.fromkeys(combinations(ring.keys.tolist(), 3), 0)
    for _ in range(2000):
        keys = draw_knowledge(release, overlap=0.6, seed_pairs=0, rng=rng).auxiliary.keys
        counts[tuple(keys.tolist())] += 1
    assert len(counts) == 10
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_each_edge_of_a_graph_with_hubs_has_the_same_chance() -> None:
    graph = heavy_tail(60, 3, 2)
    release, rng = released(graph), np.random.default_rng(3)
    seen, seeds = np.zeros(graph.edges), np.zeros(graph.nodes)
    draws = 2000
    for _ in range(draws):
        knowledge = draw_knowledge(release, overlap=0.85, seed_pairs=6, rng=rng)
        seen += np.isin(graph.keys, knowledge.auxiliary.keys)
        seeds[knowledge.seeds[:, 1]] += 1
    share = np.floor(0.85 * graph.edges + 0.5) / graph.edges
    # Draws without replacement vary less than independent ones: this makes the sum of squares a chi-square again.
    for counts, chance in ((seen, share), (seeds, 6 / graph.nodes)):
        squares = ((counts - draws * chance) ** 2 / (draws * chance * (1 - chance))).sum() * (1 - 1 / counts.size)
        freedom = counts.size - 1
        assert abs(squares - freedom) < 4 * np.sqrt(2 * freedom)


def test_a_connected_part_leaves_every_edge_a_chance() -> None:
    square = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    release, rng = released(square), np.random.default_rng(5)
    seen = np.zeros(5)
    for _ in range(300):
        knowledge = draw_knowledge(release, overlap=0.6, seed_pairs=0, connected=True, rng=rng)
        assert len(set(parts(knowledge.auxiliary))) == 1
        seen += np.isin(square.keys, knowledge.auxiliary.keys)
    assert (seen > 100).all()
    assert (seen < 240).all()


def test_a_forest_that_does_not_fit_is_said() -> None:
    star = Graph.from_edges([0] * 10, range(1, 11))
    rng = np.random.default_rng(1)
    knowledge = draw_knowledge(released(star), overlap=0.6, seed_pairs=2, connected=True, rng=rng)
    assert knowledge.auxiliary.edges == 6
    assert knowledge.notes == (
        "the auxiliary graph does not connect all that the original connects: 10 edges are needed for that, and the "
        "overlap leaves 6",
    )
    assert draw_knowledge(released(star), overlap=1, connected=True, seed_pairs=11, rng=rng).notes == ()


@pytest.mark.parametrize(("overlap", "edges"), [(0, 0), (0.05, 1), (0.25, 3), (0.5, 5), (0.949, 9), (1, 10)])
def test_halves_are_rounded_up(overlap: float, edges: int) -> None:
    star = Graph.from_edges([0] * 10, range(1, 11))
    rng = np.random.default_rng(1)
    assert draw_knowledge(released(star), overlap=overlap, seed_pairs=0, rng=rng).auxiliary.edges == edges


@pytest.mark.parametrize("nodes", [0, 1, 4])
@pytest.mark.parametrize("connected", [False, True])
def test_a_graph_without_an_edge_leaves_the_seeds(nodes: int, connected: bool) -> None:
    release = released(Graph.from_edges([], [], nodes=nodes), pseudo=2)
    knowledge = draw_knowledge(release, seed_pairs=nodes, connected=connected, rng=np.random.default_rng(1))
    assert (knowledge.auxiliary.nodes, knowledge.auxiliary.edges) == (nodes, 0)
    assert sorted(knowledge.seeds[:, 1].tolist()) == list(range(nodes))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"overlap": 1.1}, "overlap must lie between 0 and 1"),
        ({"overlap": -0.1}, "overlap"),
        ({"overlap": float("nan")}, "overlap"),
        ({"overlap": True}, "overlap"),
        ({"overlap": "0.5"}, "overlap"),
        ({"seed_pairs": 51}, "51 and the graph has 50 nodes"),
        ({"seed_pairs": -1}, "seed pairs"),
        ({"seed_pairs": 2.5}, "seed pairs"),
        ({"seed_pairs": True}, "seed pairs"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting: dict[str, Any], words: str) -> None:
    release = released(erdos_renyi(50, 0.1, 1))
    assert words in refusal(lambda: draw_knowledge(release, rng=np.random.default_rng(1), **setting))


@pytest.mark.parametrize("connected", [False, True])
def test_an_adversary_may_have_heard_of_some_nodes_alone(connected: bool) -> None:
    original = erdos_renyi(41, 0.3, 1)
    release = GraphRelease(original, original.relabelled(range(40, -1, -1)), np.arange(40, -1, -1))
    edges = set(zip(*(ends.tolist() for ends in original.ends), strict=True))
    heard = np.zeros(41, np.int64)
    for seed in range(60):
        settings: dict[str, Any] = {"overlap": 0.5, "seed_pairs": 5, "connected": connected, "node_share": 0.6}
        knowledge = draw_knowledge(release, **settings, rng=np.random.default_rng(seed))
        assert knowledge.names is not None
        names = knowledge.names.tolist()
        assert len(names) == len(set(names)) == knowledge.auxiliary.nodes == 25  # 24.6, rounded
        heard[names] += 1
        among = {edge for edge in edges if set(edge) <= set(names)}
        found = {(names[one], names[other]) for one, other in zip(*knowledge.auxiliary.ends, strict=True)}
        assert found <= among
        assert len(found) == (len(among) + 1) // 2
        for here, there in knowledge.seeds.tolist():
            assert release.truth[here] == names[there]
        truth = knowledge.in_auxiliary_numbers(release.truth)
        for node, known in zip(release.truth.tolist(), truth.tolist(), strict=True):
            assert known == (names.index(node) if node in names else -1)
    # Each is heard of in 25 of 41 draws: 60 draws are 36.6 with a standard deviation of 3.8.
    assert abs(heard - 60 * 25 / 41).max() < 5 * 3.8


def test_all_nodes_are_drawn_as_before() -> None:
    original = erdos_renyi(30, 0.3, 1)
    release = GraphRelease(original, original, np.arange(30))
    one = draw_knowledge(release, seed_pairs=4, rng=np.random.default_rng(3))
    other = draw_knowledge(release, seed_pairs=4, node_share=1, rng=np.random.default_rng(3))
    assert one.names is other.names is None
    assert (one.auxiliary.keys == other.auxiliary.keys).all()
    assert (one.seeds == other.seeds).all()
    assert one.in_auxiliary_numbers(release.truth) is release.truth


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"node_share": 0}, "the share of nodes must lie between 0 and 1, 0 excluded"),
        ({"node_share": 1.2}, "the share of nodes must lie between 0 and 1"),
        ({"node_share": 0.01}, r"must leave at least one node to the attacker, but 0\.01 of 30 leaves none"),
        ({"node_share": 0.1, "seed_pairs": 4}, "from 0 to the number of nodes, but is 4 and the part of the graph"),
    ],
    ids=str,
)
def test_a_share_of_nodes_is_checked(settings: dict[str, Any], said: str) -> None:
    original = erdos_renyi(30, 0.3, 1)
    release = GraphRelease(original, original, np.arange(30))
    with pytest.raises(InputError, match=said):
        draw_knowledge(release, **{"seed_pairs": 0} | settings, rng=np.random.default_rng(3))


def test_names_are_checked() -> None:
    edge = erdos_renyi(3, 1, 1)
    for names in ([0, 1], [0, 1, 1], [0, 1, -1]):
        with pytest.raises(InputError, match="an original node for each of the 3 nodes of the auxiliary graph"):
            GraphKnowledge(edge, np.empty((0, 2), np.int64), names=np.array(names))
