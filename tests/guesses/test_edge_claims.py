"""Claims about edges and what guessing from a graph alone gives, against looking at every pair."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles.edge_claims import (
    Edges,
    adamic_adar,
    chances_of_edges,
    claimed_by_mapping,
    degree_products,
    right_by_lot,
)
from unveil._kernels.graph.rows import ends_of
from unveil.data.graph import Graph
from unveil.guesses.edge_claims import likely_edges, mapped_edges
from unveil.metrics.graphs.edges import right_by_adamic_adar, right_by_degrees


def edges_of(graph: Graph) -> Edges:
    return {frozenset(edge) for edge in zip(*(ends.tolist() for ends in graph.ends), strict=True)}


def pairs_of(keys: Any, nodes: int) -> list[frozenset[int]]:
    return [frozenset(pair) for pair in zip(*(ends.tolist() for ends in ends_of(keys, nodes)), strict=True)]


@given(graphs(max_nodes=9), graphs(max_nodes=9), st.integers(0, 10**6))
def test_a_mapping_claims_the_pairs_whose_partners_are_joined(released: Graph, known: Graph, seed: int) -> None:
    # Two released nodes may have one partner: no attack here does that, but somebody's own may.
    partner = np.random.default_rng(seed).integers(-1, known.nodes, released.nodes)
    found = mapped_edges(released.keys, partner, known.keys, known.nodes)
    assert (np.diff(found) > 0).all()
    wanted = claimed_by_mapping(edges_of(released), edges_of(known), partner.tolist(), known.nodes)
    assert set(pairs_of(found, known.nodes)) == wanted


def rows(rng: np.random.Generator, targets: int, nodes: int) -> tuple[Any, list[dict[int, float]]]:
    """Return chances of auxiliary nodes for each released one, some without any, in both forms."""
    start, candidate, chance, written = [0], [], [], []
    for _ in range(targets):
        chosen = np.sort(rng.permutation(nodes)[: rng.integers(0, min(nodes, 4) + 1)])
        weight = rng.random(chosen.size) ** 4 + 0.01
        row = weight / weight.sum() * rng.choice([1.0, 0.8])
        start.append(start[-1] + chosen.size)
        candidate += chosen.tolist()
        chance += row.tolist()
        written.append(dict(zip(chosen.tolist(), row.tolist(), strict=True)))
    return (np.array(start), np.array(candidate, np.int64), np.array(chance)), written


@given(graphs(max_nodes=9), graphs(max_nodes=9), st.floats(0.05, 0.99), st.integers(0, 10**6))
def test_likely_edges_are_those_of_the_product_of_chances(
    released: Graph, known: Graph, least: float, seed: int
) -> None:
    chances, written = rows(np.random.default_rng(seed), released.nodes, known.nodes)
    keys, expected = likely_edges((released.start, released.neighbour), chances, (known.start, known.neighbour), least)
    every = chances_of_edges(edges_of(released), edges_of(known), written, known.nodes, 1.0, 0.0)
    found = dict(zip(pairs_of(keys, known.nodes), np.minimum(expected, 1).tolist(), strict=True))
    assert all(found[pair] == pytest.approx(every[pair]) for pair in found)
    assert all(value > least - 1e-9 or value == 1 for value in found.values())
    assert set(found) >= {pair for pair, value in every.items() if value > least + 1e-9}


@given(graphs(min_nodes=2, max_nodes=10), st.integers(0, 10**6), st.integers(0, 50))
@settings(max_examples=150)
def test_guessing_from_a_graph_alone_is_right_as_often_as_by_looking_at_every_pair(
    original: Graph, seed: int, number: int
) -> None:
    rng = np.random.default_rng(seed)
    known_keys = np.sort(original.keys[rng.permutation(original.edges)[: rng.integers(0, original.edges + 1)]])
    known = Graph.from_keys(known_keys, original.nodes)
    hidden = Graph.from_keys(np.setdiff1d(original.keys, known_keys), original.nodes)
    args = edges_of(hidden), number
    by_neighbours = right_by_adamic_adar(known.start, known.neighbour, hidden.start, hidden.neighbour, number)
    assert by_neighbours == pytest.approx(right_by_lot(adamic_adar(edges_of(known), known.nodes), *args))
    by_degrees = right_by_degrees(known.degrees, known.keys, hidden.keys, number)
    assert by_degrees == pytest.approx(right_by_lot(degree_products(edges_of(known), known.nodes), *args))


@pytest.mark.unwatched
def test_compiled_loops_count_the_same_as_sparse_products() -> None:
    original = heavy_tail(4000, 5, 1)
    rng = np.random.default_rng(2)
    known_keys = np.sort(original.keys[rng.permutation(original.edges)[: original.edges * 4 // 5]])
    known = Graph.from_keys(known_keys, original.nodes)
    hidden = Graph.from_keys(np.setdiff1d(original.keys, known_keys), original.nodes)
    adjacency, weight = known.to_sparse(), np.zeros(known.nodes)
    weight[known.degrees > 1] = 1 / np.log(known.degrees[known.degrees > 1])
    scores = np.triu((adjacency.multiply(weight) @ adjacency).toarray().round(4), 1)
    scores[known.ends] = 0
    wanted = hidden.to_sparse().toarray()
    for number in (100, 3000):
        limit = np.sort(scores, axis=None)[-number]
        above, at = scores > limit, (scores == limit) & (scores > 0)
        right = wanted[above].sum() + (number - above.sum()) * wanted[at].mean()
        found = right_by_adamic_adar(known.start, known.neighbour, hidden.start, hidden.neighbour, number)
        assert found == pytest.approx(right, rel=0.01)
    chances, _ = rows(rng, original.nodes, known.nodes)
    from scipy.sparse import csr_array

    matrix = csr_array((chances[2], chances[1], chances[0]), shape=(original.nodes, known.nodes))
    expected = np.triu((matrix.T @ original.to_sparse() @ matrix).toarray(), 1)
    expected[known.ends] = 0
    keys, values = likely_edges((original.start, original.neighbour), chances, (known.start, known.neighbour), 0.5)
    assert keys.size > 100
    assert keys.tolist() == np.flatnonzero(expected > 0.5).tolist()
    np.testing.assert_allclose(values, expected.ravel()[keys])
