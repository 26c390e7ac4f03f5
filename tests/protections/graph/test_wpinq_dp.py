"""wPINQ: what it spends, what it keeps, and what it says when it cannot."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.wpinq import with_one_edge_more
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import InputError
from unveil.protections import graph_protection_from
from unveil.protections.graph._wpinq_steps import expected_cells
from unveil.protections.graph._wpinq_walk import DegreeCells, degree_distribution, degree_sequence
from unveil.protections.graph.wpinq_dp import WpinqDP

QUERIES = pytest.mark.parametrize("query", ["joint-degrees", "triangles"])


class Recording(np.random.Generator):
    """A generator that keeps the noise it gave."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: list[tuple[float, np.ndarray]] = []

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        noise = super().laplace(loc, scale, size)
        self.drawn.append((scale, noise))
        return noise


def applied(original: Graph, seed: int = 1, **setting: Any) -> GraphRelease:
    return WpinqDP(**setting).apply(original, rng=np.random.default_rng(seed))


def joint_degrees(graph: Graph) -> dict[tuple[int, int], int]:
    """Return how many edges join two degrees."""
    counts: dict[tuple[int, int], int] = {}
    for one, other in zip(*graph.ends, strict=True):
        low, high = sorted((int(graph.degrees[one]), int(graph.degrees[other])))
        counts[low, high] = counts.get((low, high), 0) + 1
    return counts


def distance(one: Graph, other: Graph) -> int:
    """Return in how many edges the joint degrees of two graphs differ."""
    a, b = joint_degrees(one), joint_degrees(other)
    return sum(abs(a.get(cell, 0) - b.get(cell, 0)) for cell in {*a, *b})


@QUERIES
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_the_noise_is_that_of_the_ledger_and_every_cell_gets_it_once(query: str, epsilon: float) -> None:
    original = heavy_tail(300, 3, 1)
    rng = Recording(2)
    shares = {"distribution_share": 0.2, "sequence_share": 0.3, "query_share": 0.5}
    setting: dict[str, Any] = {"epsilon": epsilon, "query": query, "classes": 12, "iterations": 5000, **shares}
    release = WpinqDP(**setting).apply(original, rng=rng)
    assert release.ledger is not None
    assert release.ledger.total == pytest.approx(epsilon)
    assert release.ledger.public == ("the number of nodes", "that there is an edge at all")
    sensitivities = [2.0, 2.0, 4.0 if query == "joint-degrees" else 3 / 2**0.5]
    assert len(rng.drawn) == 3
    for (scale, noise), asked, sensitivity, share in zip(
        rng.drawn, release.ledger.queries, sensitivities, shares.values(), strict=True
    ):
        assert asked.sensitivity == pytest.approx(sensitivity)
        assert asked.cost == pytest.approx(epsilon * share)
        assert asked.scale == scale == pytest.approx(sensitivity / (epsilon * share))
        assert noise.size == asked.answers
        if noise.size > 200:
            # The mean of the absolute value of Laplace noise is its scale.
            assert np.abs(noise).mean() == pytest.approx(scale, rel=5 / noise.size**0.5)
    assert release.facts["cells"] == release.ledger.queries[2].answers
    assert [asked.answers for asked in release.ledger.queries[:2]] == [299, 300]


@QUERIES
@given(
    original=graphs(min_nodes=2, max_nodes=8, min_edges=1),
    epsilon=st.floats(0.01, 100),
    share=st.sampled_from([None, 0.5]),
)
@settings(max_examples=20)
def test_noise_hides_every_edge_as_well_as_epsilon_says(
    query: str, original: Graph, epsilon: float, share: float | None
) -> None:
    rng = Recording(1)
    setting: dict[str, Any] = {"query": query, "epsilon": epsilon, "query_share": share}
    WpinqDP(iterations=0, **setting).apply(original, rng=rng)
    scales = [scale for scale, _ in rng.drawn]
    # Single degrees are the finest classes: all others change less.
    cells = DegreeCells(query == "triangles", np.arange(0.5, original.nodes))

    def asked(graph: Graph) -> list[np.ndarray[Any, Any]]:
        degrees = degree_distribution(graph.degrees), degree_sequence(graph.degrees)
        return [*degrees, cells.answer(graph.start, graph.neighbour)]

    before = asked(original)
    for more in with_one_edge_more(original):
        changes = [np.abs(one - other).sum() for one, other in zip(before, asked(more), strict=True)]
        # The logarithm of a density of Laplace noise changes by at most the change divided by the scale.
        # Where the last question was not asked, there is no noise for it.
        assert len(scales) == 3 or (len(scales), query, share) == (2, "joint-degrees", None)
        loss = sum(change / scale for change, scale in zip(changes, scales, strict=False))
        assert 0.5 * epsilon * (1 - 1e-9) <= loss <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("original", [heavy_tail(80, 3, 1), erdos_renyi(60, 0.15, 2)], ids=["hubs", "alike"])
def test_a_huge_epsilon_gives_degrees_and_joint_degrees_back(original: Graph) -> None:
    start = applied(original, epsilon=1e9, iterations=0)
    release = applied(original, epsilon=1e9, power=np.inf, iterations=400 * original.edges)
    assert sorted(release.released.degrees) == sorted(original.degrees)
    assert release.facts["energy after the walk"] < 0.05 * release.facts["energy before the walk"]
    assert distance(release.released, original) <= 0.05 * original.edges
    assert distance(release.released, original) < 0.2 * distance(start.released, original)


def test_a_huge_epsilon_brings_triangles_back() -> None:
    rings = [[(i, (i + step) % 40) for step in (1, 2, 3)] for i in range(40)]
    original = Graph.from_edges(*np.array(rings).reshape(-1, 2).T)
    # The energy counts in scales of noise, which are tiny: this power still lets the walk leave places it is caught in.
    release = applied(original, epsilon=1e9, query="triangles", power=2e-6, iterations=60_000)
    assert (release.released.degrees == 6).all()
    before, after = release.facts["energy before the walk"], release.facts["energy after the walk"]
    assert after < 0.2 * before


@given(original=graphs(min_nodes=2, max_nodes=14, min_edges=1), seed=st.integers(0, 99))
@settings(max_examples=15)
def test_truth_pairs_nodes_of_the_same_rank(original: Graph, seed: int) -> None:
    release = applied(original, seed, iterations=20)
    assert (release.kind, release.pairing) == ("synthetic", "rank")
    assert "rank" in release.notes[0]
    paired = release.in_original_numbers().degrees
    for here in range(original.nodes):
        assert (paired[original.degrees < original.degrees[here]] <= paired[here]).all()


def test_nothing_but_the_answers_is_used() -> None:
    # Two graphs with the same degrees and the same weights in one class give the same release, node for node.
    ring = Graph.from_edges(range(12), [*range(1, 12), 0])
    rings = Graph.from_edges(range(12), [1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 6])
    one, other = (applied(graph, 3, classes=1) for graph in (ring, rings))
    assert (one.released.keys == other.released.keys).all()
    assert one.facts == other.facts


def test_what_buys_too_few_cells_is_not_bought() -> None:
    original = heavy_tail(300, 4, 3)
    rng = Recording(2)
    release = WpinqDP(epsilon=1).apply(original, rng=rng)
    assert release.ledger is not None
    assert [(query.name, query.cost) for query in release.ledger.queries] == [
        ("numbers of nodes above each degree", 0.25),
        ("sorted degrees", 0.75),
    ]
    assert release.ledger.total == 1.0
    assert [(scale, noise.size) for scale, noise in rng.drawn] == [(8.0, 299), (pytest.approx(2 / 0.75), 300)]
    assert release.facts["cells"] == 0
    assert release.notes[1] == (
        "epsilon = 1 is too small to measure joint degrees on a graph of this size: the release is a random graph "
        "with noisy degrees"
    )
    obeyed = applied(original, query_share=0.5)
    assert obeyed.ledger is not None
    assert [query.cost for query in obeyed.ledger.queries] == [0.25, 0.25, 0.5]
    assert obeyed.notes[1].endswith("query_share = 0.5 of epsilon yields about 1 cell. Leave it out to save it")
    asked = applied(original, epsilon=100)
    assert asked.ledger is not None
    assert [query.cost for query in asked.ledger.queries] == [25.0, 25.0, 50.0]
    assert asked.facts["cells"] >= 6
    assert not any("how degrees meet" in note for note in asked.notes)


def test_degrees_that_are_alike_do_not_meet_in_more_than_one_way() -> None:
    ring = Graph.from_edges(range(40), [*range(1, 40), 0])
    release = applied(ring, epsilon=1e6)
    assert release.notes[1].startswith("the degrees are too similar to measure joint degrees: the release is")
    assert (release.released.degrees == 2).all()


def test_what_is_given_back_brings_degrees_nearer() -> None:
    original = heavy_tail(300, 4, 3)

    def error(share: float | None) -> float:
        releases = [applied(original, seed, query_share=share, iterations=0) for seed in range(12)]
        ranked = [np.sort(release.released.degrees) - np.sort(original.degrees) for release in releases]
        return float(np.abs(ranked).mean())

    assert error(None) < 0.9 * error(0.5)


@given(graphs(min_nodes=2, max_nodes=12, min_edges=1))
def test_cells_are_counted_as_those_that_a_random_graph_would_have(original: Graph) -> None:
    # With hardly any noise every degree is a class, and classes of the degrees are what the last question would have.
    above = degree_distribution(original.degrees)
    kinds = np.unique(original.degrees[original.degrees > 0]).size
    assert expected_cells(above, 1e-9)[0] == kinds * (kinds + 1) // 2
    assert expected_cells(above, 1e9) == (1, 1)


def test_a_walk_keeps_the_degrees_of_where_it_started() -> None:
    original = heavy_tail(120, 3, 2)
    start, end = (applied(original, 4, iterations=count, query_share=0.5) for count in (0, 20_000))
    assert sorted(start.released.degrees) == sorted(end.released.degrees)
    assert start.facts["exchanges"] == 0
    assert start.facts["energy before the walk"] == end.facts["energy before the walk"]


def test_fitting_noise_goes_on_after_the_noise_is_reached() -> None:
    original = heavy_tail(120, 3, 2)
    short, full = (applied(original, classes=5, iterations=20_000, fit_noise=fit) for fit in (False, True))
    assert full.facts["proposals"] == 20_000
    assert short.facts["proposals"] < 20_000
    assert full.facts["energy after the walk"] < short.facts["energy after the walk"]
    assert short.facts["energy after the walk"] <= short.facts["cells"]


def test_more_epsilon_allows_more_classes() -> None:
    original = heavy_tail(300, 4, 3)
    releases = [applied(original, epsilon=epsilon, iterations=0, query_share=0.5) for epsilon in (1, 50, 1e9)]
    classes = [release.facts["classes of degrees"] for release in releases]
    assert classes[0] < classes[1] < classes[2] == np.unique(original.degrees).size


def test_a_walk_that_has_not_settled_says_so() -> None:
    original = heavy_tail(120, 3, 2)
    few = applied(original, epsilon=1e6, iterations=30)
    assert any("has not converged after 30 proposals" in note for note in few.notes)
    assert any("has not converged" in note for note in applied(original, epsilon=1e6, iterations=0).notes)
    enough = applied(original, iterations=20_000, query_share=0.5)
    assert not any("settled" in note for note in enough.notes)


def test_what_no_simple_graph_has_is_left_out_and_counted() -> None:
    # Three nodes and so much noise that fitted degrees are often odd in sum.
    original = Graph.from_edges([0, 1], [1, 2])
    releases = [applied(original, seed, epsilon=0.5, iterations=0) for seed in range(20)]
    lost = [release.facts["neighbours left out"] for release in releases]
    assert any(lost)
    for release, count in zip(releases, lost, strict=True):
        assert any("no simple graph" in note for note in release.notes) == (count > 0)


@QUERIES
def test_secgraph_takes_its_noise_and_is_marked(query: str) -> None:
    original = heavy_tail(100, 3, 1)
    rng = Recording(1)
    setting: dict[str, Any] = {"query": query, "compat": "secgraph"}
    release = WpinqDP(epsilon=2.0, iterations=100, **setting).apply(original, rng=rng)
    assert release.ledger is None
    assert any("NOT differentially private at epsilon = 2" in note for note in release.notes)
    assert [scale for scale, _ in rng.drawn] == [0.5, 0.5, 10.0]
    assert [noise.shape for _, noise in rng.drawn[:2]] == [(2, 99), (2, 100)]
    assert release.facts["proposals"] == 100
    assert release.facts["classes of degrees"] == np.unique(release.released.degrees[release.released.degrees > 0]).size


@QUERIES
@pytest.mark.parametrize(
    "original",
    [
        Graph.from_edges([0], [1]),
        Graph.from_edges([0], [1], nodes=30),
        Graph.from_edges(*np.triu_indices(12, 1)),
        Graph.from_edges([0] * 9, range(1, 10)),
        Graph.from_edges([0, 1, 2, 5, 6, 7], [1, 2, 0, 6, 7, 5], nodes=9),
    ],
    ids=["one edge", "mostly alone", "complete", "star", "two parts"],
)
def test_awkward_graphs_are_released(query: str, original: Graph) -> None:
    for epsilon in (0.01, 1.0, 1e9):
        release = applied(original, epsilon=epsilon, query=query, iterations=150, query_share=0.5)
        assert release.released.nodes == original.nodes
        assert np.isfinite(release.facts["energy after the walk"])
    assert sorted(release.released.degrees) == sorted(original.degrees)


@pytest.mark.parametrize("nodes", [0, 1, 8])
def test_a_graph_without_edges_is_refused(nodes: int) -> None:
    with pytest.raises(InputError, match="needs a graph with edges"):
        applied(Graph.from_edges([], [], nodes=nodes))


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"epsilon": np.nan}, "epsilon must be"),
        ({"epsilon": np.inf}, "epsilon must be"),
        ({"epsilon": 1e-13}, "budget of at least"),
        ({"query_share": 0.6}, "distribution_share, sequence_share, query_share must each be above 0 and"),
        ({"query_share": 1.0, "sequence_share": 0.0, "distribution_share": 0.0}, "above 0"),
        ({"query_share": 1.5}, "query_share must lie between 0 and 1"),
        ({"query": "squares"}, "Unknown query 'squares'"),
        ({"compat": "other"}, "Unknown compat 'other'"),
        ({"iterations": -1}, "iterations must be"),
        ({"iterations": 2.5}, "iterations must be"),
        ({"iterations": True}, "iterations must be"),
        ({"classes": 0}, "classes must be"),
        ({"classes": 5000, "query": "triangles"}, "classes is 5,000, above the maximum of 464"),
        ({"power": -1}, "it must be a number from 0, or infinity"),
        ({"power": np.nan}, "it must be a number from 0, or infinity"),
        ({"power": "high"}, "it must be a number from 0, or infinity"),
    ],
)
def test_wrong_settings_are_refused(setting: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        WpinqDP(**setting)


def test_it_is_written_by_name() -> None:
    wanted = WpinqDP(epsilon=2.0, query="triangles", power=np.inf)
    assert graph_protection_from("wpinq-dp:epsilon=2,query=triangles,power=inf") == wanted
    assert graph_protection_from("WPINQ-DP") == WpinqDP()
    assert replace(wanted, iterations=5).iterations == 5
