"""What nodes inherit is the mean score of the pairs of neighbours that are mapped on one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil._kernels.graph.inheritance as kernels
from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from unveil._kernels.graph.inheritance import AdjacencyRows, inherited
from unveil.data.graph import Graph


def expected(one: Graph, other: Graph, partner: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The definition, pair by pair."""
    values = np.zeros((one.nodes, other.nodes))
    for row in range(one.nodes):
        for column in range(other.nodes):
            near = set(other.neighbours_of(column).tolist())
            shared = [score[mate] for mate in one.neighbours_of(row) if partner[mate] in near]
            values[row, column] = np.mean(shared) if shared else 0
    return values


def drawn_partners(one: Graph, other: Graph, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    count = rng.integers(0, min(one.nodes, other.nodes) + 1)
    partner = np.full(one.nodes, -1)
    partner[rng.permutation(one.nodes)[:count]] = rng.permutation(other.nodes)[:count]
    # A pair may be trusted with 0, and still is a pair.
    return partner, np.where(rng.random(one.nodes) < 0.2, 0.0, rng.random(one.nodes))


def found(
    one: Graph, other: Graph, rows: np.ndarray, columns: np.ndarray, partner: np.ndarray, score: np.ndarray
) -> np.ndarray:
    first, second = (AdjacencyRows(graph.start, graph.neighbour) for graph in (one, other))
    return inherited(first, second, rows, columns, partner, score)


@given(graphs(max_nodes=8), graphs(max_nodes=8), st.integers(0, 2**32 - 1))
def test_it_is_the_mean_of_the_shared_mapped_neighbours(one: Graph, other: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    partner, score = drawn_partners(one, other, rng)
    every = expected(one, other, partner, score)
    # All columns at once, or few: the way back from columns is then longer or shorter than the way on.
    for share in (1.0, 0.3):
        rows = rng.permutation(one.nodes)[: max(1, int(share * one.nodes))]
        columns = rng.permutation(other.nodes)[: max(1, int(share * other.nodes))]
        values = found(one, other, rows, columns, partner, score)
        np.testing.assert_allclose(values, every[np.ix_(rows, columns)], atol=1e-12)


@pytest.mark.parametrize("columns", [3, 40])
def test_compiled_it_is_the_same(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = heavy_tail(50, 3, 1), erdos_renyi(40, 0.2, 2)
    rng = np.random.default_rng(3)
    partner, score = drawn_partners(one, other, rng)
    chosen = rng.permutation(other.nodes)[:columns]
    monkeypatch.setattr(kernels, "PLAIN_STEPS", 10**9)
    plain = found(one, other, np.arange(50), chosen, partner, score)
    monkeypatch.setattr(kernels, "PLAIN_STEPS", 0)
    np.testing.assert_array_equal(found(one, other, np.arange(50), chosen, partner, score), plain)
    np.testing.assert_allclose(plain, expected(one, other, partner, score)[:, chosen], atol=1e-12)
