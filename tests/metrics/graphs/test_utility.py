"""What a released graph lost, against the definitions, and in cases where the loss is known."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles import graph_statistics as oracle
from unveil.data.graph import Graph
from unveil.data.graph.release import NOBODY, GraphRelease
from unveil.errors import InputError
from unveil.metrics import METRICS, _listing, metric
from unveil.metrics.graphs.utility import (
    assortativity_loss,
    average_path_loss,
    clustering_loss,
    degree_distance,
    edge_difference,
    graph_utility,
    joint_degree_distance,
    spectral_distance,
)


def hidden(original: Graph, after: Graph, seed: int) -> GraphRelease:
    """Return the release of ``after``, in which node i stands for node i of the original, under random numbers."""
    number = np.random.default_rng(seed).permutation(after.nodes)
    truth = np.full(after.nodes, NOBODY)
    truth[number[: original.nodes]] = np.arange(original.nodes)
    return GraphRelease(original, after.relabelled(number), truth)


@st.composite
def releases(draw: st.DrawFn, min_edges: int = 0) -> tuple[GraphRelease, Graph]:
    """Draw an original, any graph on its nodes and a few more, and the release of that."""
    original = draw(graphs(min_nodes=1, max_nodes=8, min_edges=min_edges))
    more = draw(st.integers(0, 3))
    after = draw(graphs(min_nodes=original.nodes + more, max_nodes=original.nodes + more, min_edges=min_edges))
    return hidden(original, after, draw(st.integers(0, 99))), after


@settings(deadline=None, max_examples=24)
@given(drawn=releases())
def test_every_figure_agrees_with_its_definition(drawn: tuple[GraphRelease, Graph]) -> None:
    release, after = drawn
    before = release.original
    one, two = oracle.edges(before), oracle.edges(after)
    assert release.changes == (len(two - one), len(one - two), len(one & two))
    both = len(one) + len(two)
    np.testing.assert_allclose(edge_difference(release), len(one ^ two) / both if both else math.nan, rtol=1e-12)
    degrees = [[len(row) for row in oracle.neighbours(graph)] for graph in (before, after)]
    moved = oracle.earth_movers(*degrees) / np.mean(degrees[0]) if one else math.nan
    np.testing.assert_allclose(degree_distance(release), moved, rtol=1e-9, atol=1e-12)
    pairs = [oracle.joint_degrees(graph) for graph in (before, after)]
    apart = math.nan
    if one and two:
        apart = sum(abs(pairs[0][pair] / len(one) - pairs[1][pair] / len(two)) for pair in {*pairs[0], *pairs[1]}) / 2
    np.testing.assert_allclose(joint_degree_distance(release), apart, rtol=1e-9, atol=1e-12)
    clustering = abs(oracle.clustering(before) - oracle.clustering(after))
    np.testing.assert_allclose(clustering_loss(release), clustering, rtol=1e-9, atol=1e-12)
    paths = [oracle.largest_component_paths(graph)[1] for graph in (before, after)]
    np.testing.assert_allclose(average_path_loss(release), abs(paths[1] - paths[0]) / paths[0], rtol=1e-9, atol=1e-12)
    mixing = abs(oracle.assortativity(before) - oracle.assortativity(after))
    np.testing.assert_allclose(assortativity_loss(release), mixing, rtol=1e-9, atol=1e-12)
    spectra = [np.linalg.eigvalsh(graph.to_sparse().toarray())[::-1][: before.nodes] for graph in (before, after)]
    change = np.abs(spectra[0] - spectra[1]).sum() / np.abs(spectra[0]).sum() if one else math.nan
    np.testing.assert_allclose(spectral_distance(release), change, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=22)
@given(drawn=releases())
def test_all_together_are_the_single_ones_within_their_bounds(drawn: tuple[GraphRelease, Graph]) -> None:
    release, _ = drawn
    found = graph_utility(release)
    assert [lost.metric for lost in found] == [
        each for each in METRICS.values() if (each.on, each.category) == ("GraphRelease", "utility")
    ]
    for lost in found:
        np.testing.assert_equal(lost.value, lost.metric.function(release))
        assert (lost.why != "") == math.isnan(lost.value)
        assert not lost.sampled
        if not math.isnan(lost.value):
            low, high = lost.metric.bounds
            assert low <= lost.value <= high
            assert lost.quantity != ""
            assert not math.isnan(lost.before + lost.after)


@pytest.mark.parametrize("graph", [heavy_tail(500, 3, 1), erdos_renyi(60, 0.1, 2), heavy_tail(5, 2, 1)])
def test_new_numbers_alone_lose_nothing(graph: Graph) -> None:
    release = hidden(graph, graph, 3)
    assert [lost.value for lost in graph_utility(release)] == [0.0] * 7
    assert [lost.value for lost in graph_utility(release, exact_up_to=2, sources=5)] == [0.0] * 7
    assert release.changes == (0, 0, graph.edges)


def test_a_sample_is_marked_and_near() -> None:
    graph, other = heavy_tail(300, 3, 1), heavy_tail(300, 2, 2)
    release = hidden(graph, other, 3)
    (exact,) = (lost for lost in graph_utility(release) if lost.quantity == "average path")
    found = graph_utility(release, exact_up_to=10, sources=200, seed=4)
    assert [lost.metric.name for lost in found if lost.sampled] == ["average_path_loss"]
    (lost,) = (each for each in found if each.sampled)
    assert lost.why == "the paths from 200 random nodes"
    assert lost.value == pytest.approx(exact.value, rel=0.1)
    assert lost.value == average_path_loss(release, exact_up_to=10, sources=200, seed=4)
    assert lost.value != average_path_loss(release, exact_up_to=10, sources=200, seed=5)


def test_pseudo_nodes_count_as_what_they_look_like() -> None:
    triangle = Graph.from_edges([0, 1, 2], [1, 2, 0])
    # A fourth node, connected to all: a clique again, but for the degrees and the number of edges.
    found = {lost.metric.name: lost for lost in graph_utility(hidden(triangle, Graph.from_edges(*PAIRS), 1))}
    assert found["edge_difference"].value == pytest.approx(3 / 9)
    assert (found["degree_distance"].value, found["degree_distance"].after) == (0.5, 3.0)
    assert found["joint_degree_distance"].value == 1.0
    assert (found["clustering_loss"].value, found["average_path_loss"].value) == (0.0, 0.0)
    assert math.isnan(found["assortativity_loss"].value)
    # 2, -1, -1 against 3, -1, -1.
    assert found["spectral_distance"].value == pytest.approx(1 / 4)


PAIRS = np.triu_indices(4, 1)


def test_a_graph_that_lost_all_edges() -> None:
    path, nothing = Graph.from_edges([0, 1], [1, 2]), Graph.from_edges([], [], nodes=3)
    found = {lost.metric.name: lost for lost in graph_utility(hidden(path, nothing, 1))}
    assert found["edge_difference"].value == 1.0
    assert found["degree_distance"].value == 1.0
    undefined = {"joint_degree_distance", "clustering_loss", "average_path_loss", "assortativity_loss"}
    assert {name for name, lost in found.items() if lost.why} == undefined
    assert found["average_path_loss"].before == pytest.approx(4 / 3)


def test_long_chains_have_approximate_eigenvalues() -> None:
    chain = Graph.from_edges(np.arange(2_999), np.arange(1, 3_000))
    ring = Graph.from_edges(np.arange(3_000), (np.arange(3_000) + 1) % 3_000)
    lost = graph_utility(hidden(chain, ring, 1), exact_up_to=10, sources=2)[-1]
    assert lost.sampled
    assert lost.why == "the iteration came within 0.1% of the eigenvalues"
    assert lost.value < 0.002


def test_settings_are_checked() -> None:
    path = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(InputError, match="eigenvalues must be a whole number of at least 1, but is 0"):
        spectral_distance(hidden(path, path, 1), eigenvalues=0)
    with pytest.raises(InputError, match="sources must be a whole number of at least 2"):
        average_path_loss(hidden(path, path, 1), sources=0)


@pytest.fixture
def only_for_this_test() -> Iterator[None]:
    """Leave the list as it was."""
    before = dict(METRICS)
    yield
    _listing._METRICS.clear()
    _listing._METRICS.update(before)


@pytest.mark.usefixtures("only_for_this_test")
@pytest.mark.parametrize(("value", "why"), [(0.5, ""), (math.nan, "undefined for this release")])
def test_a_metric_of_ones_own_is_among_them(value: float, why: str) -> None:
    @metric(category="utility", per="release", more_means="less useful", bounds=(0, 1), source="a blog")
    def mine(release: GraphRelease) -> float:
        """Return what I care for."""
        return value * release.original.nodes / 3

    path = Graph.from_edges([0, 1], [1, 2])
    lost = graph_utility(hidden(path, path, 1))[-1]
    assert lost.metric.name == "mine"
    np.testing.assert_equal(lost.value, value)
    assert (lost.quantity, lost.why) == ("", why)
