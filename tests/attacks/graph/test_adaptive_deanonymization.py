"""The adaptive attack: three features, the surest pairs first, and neighbours that inherit trust."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil.attacks.graph.adaptive_deanonymization as kernels
from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.graph_attacks_global import (
    adaptive,
    inheritance_scores,
    seed_scores,
    structure_scores,
    weighted,
)
from unveil._kernels.types import IntArray
from unveil.attacks.graph import _centralities
from unveil.attacks.graph._centralities import Centrality
from unveil.attacks.graph.adaptive_deanonymization import AdaptiveDeanonymization, AdjacencyRows, inherited
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses import Candidates

small = graphs(min_nodes=2, max_nodes=9, min_edges=1)


def drawn_seeds(released: Graph, auxiliary: Graph, count: int, rng: np.random.Generator) -> GraphKnowledge:
    count = min(count, released.nodes, auxiliary.nodes)
    pairs = [rng.permutation(graph.nodes)[:count] for graph in (released, auxiliary)]
    return GraphKnowledge(auxiliary, np.column_stack(pairs))


def run(attack: AdaptiveDeanonymization, released: Graph, knowledge: GraphKnowledge, seed: int = 1) -> Candidates:
    return attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(seed))


@given(small, small, st.integers(0, 2**32 - 1))
def test_scores_are_the_weighted_features_for_any_mapping(released: Graph, auxiliary: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    knowledge = drawn_seeds(released, auxiliary, 2, rng)
    mapped = drawn_seeds(released, auxiliary, 5, rng).seeds
    forth, trust = np.full(released.nodes, -1), np.zeros(released.nodes)
    forth[mapped[:, 0]], trust[mapped[:, 0]] = mapped[:, 1], rng.random(len(mapped))
    mapping = {int(one): int(other) for one, other in mapped}
    inheritance = inheritance_scores(released, auxiliary, mapping, {one: float(trust[one]) for one in mapping})
    expected = weighted(
        (0.6, seed_scores(released, knowledge)),
        (0.2, structure_scores(released, auxiliary)),
        (0.2, inheritance),
    )
    score = AdaptiveDeanonymization().score(released, knowledge, forth, trust)
    found = score(np.arange(released.nodes), np.arange(auxiliary.nodes))
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-12
    for pair, value in expected.items():
        assert found[pair] == pytest.approx(value, abs=1e-6)
    alone = AdaptiveDeanonymization(distance_weight=0, structure_weight=0, inheritance_weight=1)
    found = alone.score(released, knowledge, forth, trust)(np.arange(released.nodes), np.arange(auxiliary.nodes))
    for pair, value in inheritance.items():
        assert found[pair] == pytest.approx(value, abs=1e-12)


@pytest.mark.unwatched
@pytest.mark.parametrize("accept", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("theta", [0.0, 0.9])
def test_it_goes_the_rounds_of_the_definition(accept: float, theta: float) -> None:
    """Where no lot decides, mapping and beliefs are those of the literal attack; several rounds are gone."""
    certain = several = 0
    weights = (0.5, 0.2, 0.3)
    attack = AdaptiveDeanonymization(
        accept=accept, theta=theta, chunk=None, distance_weight=0.5, structure_weight=0.2, inheritance_weight=0.3
    )
    for seed in range(25):
        rng = np.random.default_rng(seed)
        released, auxiliary = erdos_renyi(9, 0.35, seed), erdos_renyi(10 - seed % 3, 0.35, seed + 100)
        knowledge = drawn_seeds(released, auxiliary, 3, rng)
        expected = adaptive(released, knowledge, accept=accept, theta=theta, weights=weights)
        if expected is None:
            continue
        certain += 1
        guess = run(attack, released, knowledge, seed)
        assert guess.chosen is not None
        chosen = {node: int(guess.chosen[node]) for node in np.flatnonzero(guess.attempted).tolist()}
        assert chosen == expected.mapping
        for node, row in expected.rows.items():
            entries = slice(guess.start[node], guess.start[node + 1])
            total = sum(row.values())
            beliefs = {other: score / total for other, score in row.items()}
            found = dict(zip(guess.candidate[entries].tolist(), guess.probability[entries].tolist(), strict=True))
            assert found == pytest.approx(beliefs, abs=1e-6)
        several += len({len(row) for row in expected.rows.values()}) > 1
    assert certain >= 5
    assert several >= 3 or accept == 1.0


def test_inheritance_decides_between_nodes_that_are_else_alike() -> None:
    # Two arms of a path, alike by structure; the ends of both, 3 and 4, are known.
    graph = Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 4])
    knowledge = GraphKnowledge(graph, np.array([[3, 3], [4, 4]]))
    with_it = AdaptiveDeanonymization(distance_weight=0.0, structure_weight=0.5, inheritance_weight=0.5)
    without = AdaptiveDeanonymization(distance_weight=0.0, structure_weight=1.0, inheritance_weight=0.0)
    hits = {}
    for name, attack in (("with", with_it), ("without", without)):
        guesses = [run(attack, graph, knowledge, seed) for seed in range(60)]
        hits[name] = sum(int(guess.chosen[1]) == 1 for guess in guesses if guess.chosen is not None)
    assert hits["with"] == 60
    assert 10 < hits["without"] < 50  # one in two, by lot


def test_inheritance_changes_what_is_found() -> None:
    graph = heavy_tail(120, 3, 1)
    auxiliary = Graph.from_keys(graph.keys[np.random.default_rng(2).random(graph.edges) < 0.85], graph.nodes)
    knowledge = GraphKnowledge(auxiliary, np.column_stack([np.arange(0, 120, 8)] * 2))
    chosen = [
        run(AdaptiveDeanonymization(distance_weight=0.8 - share, inheritance_weight=share), graph, knowledge).chosen
        for share in (0.0, 0.2)
    ]
    assert chosen[0] is not None
    assert chosen[1] is not None
    assert (chosen[0] != chosen[1]).sum() > 10


def test_a_chunk_of_all_nodes_is_no_chunk() -> None:
    graph = erdos_renyi(40, 0.15, 1)
    knowledge = drawn_seeds(graph, graph, 5, np.random.default_rng(2))
    one, other = (run(AdaptiveDeanonymization(chunk=chunk), graph, knowledge) for chunk in (None, 35))
    np.testing.assert_array_equal(one.chosen, other.chosen)
    np.testing.assert_array_equal(one.probability, other.probability)


def test_chunks_bound_what_is_considered_and_every_node_near_a_seed_is_mapped_once() -> None:
    graph, auxiliary = heavy_tail(150, 2, 1), heavy_tail(110, 2, 2)
    knowledge = drawn_seeds(graph, auxiliary, 10, np.random.default_rng(2))
    guess = run(AdaptiveDeanonymization(chunk=20), graph, knowledge)
    assert guess.chosen is not None
    chosen = guess.chosen[guess.attempted]
    assert guess.considered.max() <= 20
    assert sorted([*chosen.tolist(), *knowledge.seeds[:, 1].tolist()]) == list(range(110))


def test_what_no_path_connects_with_a_seed_is_not_attempted() -> None:
    graph = Graph.from_edges([0, 1, 2, 4, 5, 6], [1, 2, 3, 5, 6, 7], nodes=9)
    guess = run(AdaptiveDeanonymization(), graph, GraphKnowledge(graph, np.array([[0, 0], [1, 1]])))
    assert np.flatnonzero(guess.attempted).tolist() == [2, 3]


def test_a_threshold_ends_the_rounds() -> None:
    graph = heavy_tail(60, 2, 1)
    knowledge = drawn_seeds(graph, graph, 5, np.random.default_rng(1))
    assert not run(AdaptiveDeanonymization(theta=1.5), graph, knowledge).attempted.any()
    some = run(AdaptiveDeanonymization(theta=0.9), graph, knowledge).attempted.sum()
    assert 0 < some < run(AdaptiveDeanonymization(), graph, knowledge).attempted.sum()


def test_betweenness_is_sampled_above_two_thousand_nodes_unless_exact_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[int] = []

    def counting(start: IntArray, neighbour: IntArray, sources: IntArray | None = None) -> Centrality:
        searched.append(start.size - 1 if sources is None else sources.size)
        return Centrality(np.ones(start.size - 1), sources is None)

    monkeypatch.setattr(_centralities, "betweenness", counting)
    monkeypatch.setattr(_centralities, "closeness", counting)
    for nodes, exact_up_to, expected in ((2000, None, 2000), (2001, None, 256), (2001, 2001, 2001)):
        path = Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes))
        attack = AdaptiveDeanonymization() if exact_up_to is None else AdaptiveDeanonymization(exact_up_to=exact_up_to)
        attack.score(path, GraphKnowledge(path, np.array([[0, 0]])), np.full(nodes, -1), np.zeros(nodes))
        assert set(searched) == {expected}
        searched.clear()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"accept": 0.0}, "accept must lie between 0 and 1, 0 excluded"),
        ({"accept": 1.1}, "accept must lie between 0 and 1"),
        ({"accept": True}, "accept must lie between 0 and 1"),
        ({"accept": float("nan")}, "accept must lie between 0 and 1"),
        ({"distance_weight": 0.7}, r"distance_weight, structure_weight, inheritance_weight sum to 1\.1, not 1"),
        ({"inheritance_weight": -0.2, "distance_weight": 1.0}, "inheritance_weight must lie between 0 and 1"),
        ({"exact_up_to": -1}, "exact_up_to must be"),
        ({"pivots": 0}, "pivots must be"),
        ({"chunk": 0}, "chunk must be"),
        ({"theta": "x"}, "theta is 'x'; it must be a number, the least score to accept"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AdaptiveDeanonymization(**settings)  # type: ignore[arg-type]


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
