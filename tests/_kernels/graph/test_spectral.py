"""The largest eigenvalues of graphs whose spectrum is known, from the full matrix and by iteration."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from unveil._kernels.graph import spectral
from unveil._kernels.graph.spectral import largest_eigenvalues, spectral_norm
from unveil.data.graph import Graph


def cycle(nodes: int) -> Graph:
    return Graph.from_edges(np.arange(nodes), (np.arange(nodes) + 1) % nodes)


def complete(nodes: int) -> Graph:
    return Graph.from_edges(*np.triu_indices(nodes, 1), nodes=nodes)


def star(nodes: int) -> Graph:
    return Graph.from_edges(np.zeros(nodes - 1, np.int64), np.arange(1, nodes))


PETERSEN = Graph.from_edges(
    [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 0, 5, 6, 7, 8, 9, 7, 8, 9, 5, 6]
)
WAVES = np.sort(2 * np.cos(2 * np.pi * np.arange(7) / 7))[::-1]


@pytest.mark.parametrize(
    ("graph", "known"),
    [
        (complete(6), [5, -1, -1, -1, -1, -1]),
        (star(10), [3, 0, 0]),
        (cycle(7), WAVES),
        (PETERSEN, [3, 1, 1, 1, 1, 1, -2, -2, -2, -2]),
        (star(901), [30, 0, 0]),
        (complete(500), [499, -1]),
        (Graph.from_edges([0], [1], nodes=600), [1, 0, 0]),
        (Graph.from_edges([], [], nodes=3), [0, 0]),
    ],
)
def test_known_spectra(graph: Graph, known: list[float]) -> None:
    found = largest_eigenvalues(graph.start, graph.neighbour, len(known))
    np.testing.assert_allclose(found.values, known, atol=1e-9)
    assert found.tolerance <= 1e-9
    norm = spectral_norm(graph.start, graph.neighbour)
    assert norm.values.tolist() == pytest.approx([known[0]], abs=1e-9)


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=1))
def test_the_norm_is_between_average_and_highest_degree(graph: Graph) -> None:
    norm = float(spectral_norm(graph.start, graph.neighbour).values[0])
    assert graph.degrees.mean() - 1e-9 <= norm <= graph.degrees.max() + 1e-9
    all_of_them = largest_eigenvalues(graph.start, graph.neighbour, graph.nodes).values
    assert norm == pytest.approx(np.abs(all_of_them).max(), abs=1e-9)
    assert (all_of_them**2).sum() == pytest.approx(2 * graph.edges, abs=1e-8)


@pytest.mark.parametrize("graph", [heavy_tail(450, 3, 1), erdos_renyi(450, 0.02, 2), star(450)])
def test_iteration_agrees_with_the_full_matrix(graph: Graph) -> None:
    matrix = graph.to_sparse().toarray()
    found = largest_eigenvalues(graph.start, graph.neighbour, 10)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(matrix)[::-1][:10], atol=1e-7)
    again = largest_eigenvalues(graph.start, graph.neighbour, 10)
    assert (found.values == again.values).all()


def test_several_equal_eigenvalues_are_all_found() -> None:
    # Four cliques of 120 nodes: the largest eigenvalue four times.
    one, other = np.triu_indices(120, 1)
    four = Graph.from_edges(*(np.concatenate([ends + 120 * part for part in range(4)]) for ends in (one, other)))
    np.testing.assert_allclose(largest_eigenvalues(four.start, four.neighbour, 5).values, [119] * 4 + [-1], atol=1e-8)


def test_a_long_chain_is_approximate_and_says_so() -> None:
    nodes = 5_000
    chain = Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes))
    found = spectral_norm(chain.start, chain.neighbour)
    assert 1e-9 < found.tolerance < 0.01
    assert abs(float(found.values[0]) - 2 * np.cos(np.pi / (nodes + 1))) <= found.tolerance * 2


def test_an_iteration_without_an_end_has_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectral, "_TOLERANCES", ((1e-14, 1),))
    graph = cycle(3000)
    found = largest_eigenvalues(graph.start, graph.neighbour, 3)
    assert np.isnan(found.values).all()
    assert np.isnan(found.tolerance)


def test_no_node_has_no_eigenvalue_but_a_norm_of_nothing() -> None:
    nothing = Graph.from_edges([], [])
    assert largest_eigenvalues(nothing.start, nothing.neighbour, 3).values.size == 0
    assert spectral_norm(nothing.start, nothing.neighbour).values.tolist() == [0.0]
