"""The mean field of all mappings: against all mappings one by one, and against its equations in plain loops."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.exchangeable import orbits
from tests.oracles.mean_field import (
    Edges,
    heated,
    log_likelihood_of_degrees,
    log_weights_of_mappings,
    posterior,
    worth,
)
from unveil._kernels.graph import mean_field as mean_field_module
from unveil._kernels.graph.mean_field import (
    HEATING,
    Chances,
    Field,
    _neighbor_evidence,
    balanced,
    bethe_start,
    edge_ratio,
    expected_witnesses,
    mean_field,
    pair_of,
)
from unveil._kernels.types import IntArray
from unveil.data.graph import Graph

#: So many rounds scale all rows and columns of a few nodes, unless two rows want the same column.
ENOUGH = 500
NO_SEEDS = np.empty((0, 2), np.int64)


def edges_of(graph: Graph) -> Edges:
    return set(zip(*(ends.tolist() for ends in graph.ends), strict=True))


def field_of(released: Graph, auxiliary: Graph, seeds: IntArray = NO_SEEDS, slack: float | None = None) -> Field:
    free = [np.setdiff1d(np.arange(g.nodes), seeds[:, i]) for i, g in enumerate((released, auxiliary))]
    return mean_field(pair_of(released.to_sparse(), auxiliary.to_sparse(), seeds, *free), slack=slack)


@st.composite
def related(draw: st.DrawFn) -> tuple[Graph, Graph]:
    """Draw a graph of five nodes, and the same without one of its edges or as it is."""
    released = draw(graphs(min_nodes=5, max_nodes=5, min_edges=2))
    left = released.edges - draw(st.integers(0, 1))
    return released, Graph.from_keys(released.keys[:left], released.nodes)


@given(related())
@settings(max_examples=8)
def test_it_is_what_its_equations_say_step_by_step(case: tuple[Graph, Graph]) -> None:
    released, auxiliary = case
    here, there, nodes = edges_of(released), edges_of(auxiliary), released.nodes
    prior = log_likelihood_of_degrees(nodes, here, there)
    expected = np.array(heated(nodes, here, there, HEATING, prior, ENOUGH))
    assume(np.abs(expected.sum(axis=0) - 1).max() < 1e-6)  # two rows that want the same column take for ever
    with patch.multiple(mean_field_module, ROUNDS=ENOUGH, LAST_ROUNDS=ENOUGH, LAST_STEPS=2):
        found = field_of(released, auxiliary)
    # 32 bits, and steps that multiply a small error.
    np.testing.assert_allclose(found.chances, expected, atol=2e-3)


@pytest.mark.unwatched
def test_it_is_near_the_exact_posterior_and_finds_the_likeliest_mapping() -> None:
    rng, gaps, blind, best = np.random.default_rng(0), [], [], 0
    for case in range(40):
        drawn = np.triu(rng.random((6, 6)) < 0.5, 1)
        released = Graph.from_edges(*np.nonzero(drawn), nodes=6)
        auxiliary = Graph.from_keys(released.keys[case % 2 :], 6)
        found, here, there = field_of(released, auxiliary), edges_of(released), edges_of(auxiliary)
        prior = log_likelihood_of_degrees(6, here, there)
        exact = np.array(posterior(6, here, there, found.ratio, prior))
        gaps.append(np.abs(found.chances - exact).mean())
        blind.append(np.abs(1 / 6 - exact).mean())
        logs = log_weights_of_mappings(6, here, there, found.ratio, prior)
        mapping = max(logs, key=lambda each: sum(found.logs[node, other] for node, other in enumerate(each)))
        best += logs[mapping] > max(logs.values()) - 1e-4
    assert best >= 30
    assert np.mean(gaps) < 0.25 * np.mean(blind)


def test_it_is_the_exact_posterior_of_two_copies_that_no_exchange_leaves_alike() -> None:
    rng, looked_at = np.random.default_rng(5), 0
    while looked_at < 4:
        graph = Graph.from_edges(*np.nonzero(np.triu(rng.random((6, 6)) < 0.5, 1)), nodes=6)
        edges = edges_of(graph)
        if max(orbits(6, {frozenset(edge) for edge in edges}, set(range(6)))) > 1:
            continue
        looked_at += 1
        found = field_of(graph, graph)
        exact = posterior(6, edges, edges, found.ratio, log_likelihood_of_degrees(6, edges, edges))
        assert np.diag(exact).min() > 0.999
        np.testing.assert_allclose(found.chances, exact, atol=0.02)


def test_as_many_rows_are_nobody_as_are_known_to_be() -> None:
    rng = np.random.default_rng(2)
    logs: Chances = rng.standard_normal((9, 6)).astype(np.float32)
    for slack in (-8.0, 3.0):
        chances, nobody, *_ = balanced(logs.copy(), np.zeros(6), slack=slack, rounds=ENOUGH, absent=3)
        assert nobody.sum() == pytest.approx(3, abs=0.02)
        np.testing.assert_allclose(chances.sum(axis=1) + nobody, 1, atol=1e-6)
        assert chances.sum(axis=0).max() < 1 + 1e-3


def test_what_an_edge_is_worth_comes_from_the_common_edges_expected() -> None:
    released, auxiliary = heavy_tail(12, 2, 1), heavy_tail(12, 2, 2)
    uniform = [[1 / 12] * 12 for _ in range(12)]
    pair = pair_of(released.to_sparse(), auxiliary.to_sparse(), NO_SEEDS, np.arange(12), np.arange(12))
    chances: Chances = np.full((12, 12), 1 / 12, np.float32)
    common = float((chances * expected_witnesses(pair, chances)).sum()) / 2
    expected = worth(12, edges_of(released), edges_of(auxiliary), uniform)
    assert edge_ratio(common, released.edges, auxiliary.edges, 72) == pytest.approx(expected, rel=1e-5)
    assert edge_ratio(0.0, 9, 9, 50) == 2.0
    assert edge_ratio(1e6, 10**6, 10**6, 1e12) == 14.0


def test_known_pairs_bear_witness_as_certain_ones_do() -> None:
    graph = heavy_tail(30, 2, 3)
    seeds = np.column_stack([np.arange(8), np.arange(8)])
    free = np.arange(8, 30)
    pair = pair_of(graph.to_sparse(), graph.to_sparse(), seeds, free, free)
    chances: Chances = np.random.default_rng(1).random((22, 22)).astype(np.float32)
    whole = np.zeros((30, 30))
    whole[8:, 8:], whole[:8, :8] = chances, np.eye(8)
    matrix = graph.to_sparse().toarray()
    np.testing.assert_allclose(expected_witnesses(pair, chances), (matrix @ whole @ matrix)[8:, 8:], rtol=1e-5)
    assert pair.known_edges == matrix[:8, :8].sum() / 2


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_rows_and_columns_sum_to_one_and_with_slack_to_at_most_one(rows: int, columns: int, seed: int) -> None:
    logs: Chances = np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)
    chances, nobody, row, column = balanced(logs.copy(), np.zeros(columns), slack=-2.0, rounds=ENOUGH)
    np.testing.assert_allclose(chances.sum(axis=1) + nobody, 1, atol=1e-6)
    assert chances.sum(axis=0).max() < 1 + 1e-4
    np.testing.assert_allclose(np.log(chances), logs + row[:, None] + column, atol=1e-4)
    if rows == columns:
        chances, nobody, *_ = balanced(logs.copy(), np.zeros(columns), slack=None, rounds=ENOUGH)
        assert (nobody == 0).all()
        np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(chances.sum(axis=0), 1, atol=1e-4)


def test_weights_beyond_the_range_of_floating_point_numbers_are_scaled() -> None:
    logs = np.array([[900.0, 0.0], [890.0, -900.0]], np.float32)
    chances, *_ = balanced(logs, np.zeros(2), slack=None, rounds=ENOUGH)
    assert np.isfinite(chances).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-6)


@given(graphs(min_nodes=3, max_nodes=7, min_edges=1), graphs(min_nodes=3, max_nodes=7, min_edges=1), st.integers(0, 99))
@settings(max_examples=30)
def test_evidence_of_neighbors_is_summed_one_by_one(one: Graph, other: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chances: Chances = rng.dirichlet(np.ones(other.nodes), one.nodes).astype(np.float32)
    pair = pair_of(one.to_sparse(), other.to_sparse(), NO_SEEDS, np.arange(one.nodes), np.arange(other.nodes))
    here, there = one.to_sparse().toarray(), other.to_sparse().toarray()
    gain = np.e**3 - 1
    for of_rows in (False, True):
        found = _neighbor_evidence(pair, chances, 3.0, of_rows=of_rows)
        expected = np.zeros(chances.shape)
        for u in range(one.nodes):
            for v in range(other.nodes):
                if of_rows:
                    near = [sum(chances[x][there[v] > 0]) for x in np.flatnonzero(here[u])]
                else:
                    near = [sum(chances[here[u] > 0, y]) for y in np.flatnonzero(there[v])]
                expected[u, v] = sum(np.log(1 + gain * float(each)) for each in near)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_the_objective_is_the_likelihood_of_edges_and_degrees_and_the_entropy() -> None:
    graph = heavy_tail(12, 2, 1)
    found = field_of(graph, heavy_tail(12, 2, 2))
    prior = np.array(log_likelihood_of_degrees(12, edges_of(graph), edges_of(heavy_tail(12, 2, 2))))
    chances, edges, pairs = found.chances.astype(np.float64), graph.edges, 72.0
    matrix, other = graph.to_sparse().toarray(), heavy_tail(12, 2, 2).to_sparse().toarray()
    common = float((chances * (matrix @ chances @ other)).sum()) / 2
    alone = edges - common + 0.01 * edges
    counts = (common, alone, alone, pairs - common - 2 * alone)
    likelihood = sum(each * np.log(each / pairs) for each in counts)
    entropy = -float((chances * np.log(np.maximum(chances, 1e-25))).sum())
    assert found.common == pytest.approx(common, rel=1e-4)
    assert found.objective == pytest.approx(likelihood + float((chances * prior).sum()) + entropy, rel=1e-4)


def test_a_start_at_the_truth_stays_there() -> None:
    graph = erdos_renyi(40, 0.2, 4)
    pair = pair_of(graph.to_sparse(), graph.to_sparse(), NO_SEEDS, np.arange(40), np.arange(40))
    truth: Chances = np.eye(40, dtype=np.float32)
    early = bethe_start(pair, truth, None, slack=None, chances=truth)
    found = mean_field(pair, slack=None, start=early)
    assert found.moved < 0.05
    assert found.chances.argmax(axis=1).tolist() == list(range(40))
    # A prior that knows the answer is enough to find it.
    known = bethe_start(pair, 20 * truth, 20 * truth, slack=None)
    assert known.argmax(axis=1).tolist() == list(range(40))
