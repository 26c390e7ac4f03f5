"""Random walk: edges lead to where walks end, as often as the procedure says."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.random_walks import walk_outcomes
from unveil._kernels._compile import PLAIN_UP_TO
from unveil._kernels.graph.rows import among
from unveil._kernels.random import fresh_state
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import InputError
from unveil.protections._listing import PROTECTIONS
from unveil.protections.graph import random_walk
from unveil.protections.graph.random_walk import RandomWalk, walked_edges

PAW = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
PATH = Graph.from_edges([0, 1, 2], [1, 2, 3])
STAR = Graph.from_edges([0, 0, 0], [1, 2, 3], nodes=5)


def walked(graph: Graph, distance: int = 2, retries: int = 10, seed: int = 1) -> GraphRelease:
    return RandomWalk(distance=distance, retries=retries).apply(graph, rng=np.random.default_rng(seed))


def outcomes(graph: Graph, distance: int, retries: int) -> dict[frozenset[frozenset[int]], float]:
    neighbours = {node: tuple(graph.neighbours_of(node).tolist()) for node in range(graph.nodes)}
    chances = walk_outcomes(neighbours, distance, retries)
    assert sum(chances.values()) == 1
    return {edges: float(chance) for edges, chance in chances.items()}


@pytest.mark.unwatched
@pytest.mark.parametrize("graph", [PAW, PATH, STAR], ids=["paw", "path", "star"])
@pytest.mark.parametrize(("distance", "retries"), [(1, 3), (2, 1), (2, 3), (3, 2)])
def test_every_outcome_is_as_likely_as_the_procedure_makes_it(graph: Graph, distance: int, retries: int) -> None:
    expected, runs = outcomes(graph, distance, retries), 1500
    rng = np.random.default_rng(distance * 10 + retries)
    found: Counter[frozenset[frozenset[int]]] = Counter()
    for _ in range(runs):
        made = walked_edges(
            graph.start, graph.neighbour, rng.permutation(graph.nodes), distance - 1, retries, fresh_state(rng)
        )
        found[frozenset(frozenset(divmod(int(key), graph.nodes)) for key in made.keys)] += 1
    assert set(found) <= set(expected)
    chi_square = sum((found[each] - runs * chance) ** 2 / (runs * chance) for each, chance in expected.items())
    freedom = len(expected) - 1
    assert chi_square <= freedom + 5 * (2 * freedom) ** 0.5


@given(graphs(min_nodes=2, max_nodes=9, min_edges=1), st.integers(0, 2**32 - 1))
def test_walks_of_one_step_only_keep_edges(graph: Graph, seed: int) -> None:
    release = walked(graph, distance=1, seed=seed)
    released = release.in_original_numbers()
    assert among(released.keys, graph.keys).all()
    assert release.changes.kept == released.edges


@given(graphs(min_nodes=2, max_nodes=9, min_edges=1), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_every_edge_joins_the_ends_of_a_walk(graph: Graph, distance: int, seed: int) -> None:
    release = walked(graph, distance=distance, seed=seed)
    released = release.in_original_numbers()
    adjacency = graph.to_sparse().toarray()
    reached = np.linalg.matrix_power(adjacency, distance) > 0
    one, other = released.ends
    assert reached[one, other].all()
    lost = (graph.degrees > 0) & (released.degrees == 0)
    assert release.facts["nodes that lost all edges"] == lost.sum()
    assert release.changes.kept == np.intersect1d(graph.keys, released.keys).size
    assert bool(release.notes) == bool(lost.any())


def test_about_as_many_edges_come_as_go() -> None:
    graph = erdos_renyi(500, 0.05, seed=3)  # compiled
    made = [walked(graph, seed=seed).released.edges for seed in range(40)]
    # Each node of degree d adds d/2 edges in the mean, one of degree 1 adds one; here next to no walk is given up.
    expected = np.where(graph.degrees > 1, graph.degrees / 2, graph.degrees).sum()
    error = np.std(made) / len(made) ** 0.5
    assert abs(np.mean(made) - expected) < 4 * error + 0.005 * expected


def test_on_a_heavy_tail_about_as_many_edges_come_as_go() -> None:
    graph = heavy_tail(1500, 8, seed=1)  # long enough for the compiled loop
    assert graph.neighbour.size > PLAIN_UP_TO
    release = walked(graph)
    assert 0.95 * graph.edges < release.released.edges < 1.02 * graph.edges
    assert release.changes.kept < 0.2 * graph.edges
    # Who has many connections keeps many.
    degrees = release.in_original_numbers().degrees
    assert np.corrcoef(degrees, graph.degrees)[0, 1] > 0.9


def test_longer_walks_keep_fewer_edges_of_a_graph_of_cliques() -> None:
    cliques = [erdos_renyi(8, 1, 0).ends for _ in range(20)]
    one = np.concatenate([ends[0] + 8 * at for at, ends in enumerate(cliques)] + [np.arange(0, 152, 8)])
    other = np.concatenate([ends[1] + 8 * at for at, ends in enumerate(cliques)] + [np.arange(8, 160, 8)])
    graph = Graph.from_edges(one, other)
    kept = [walked(graph, distance=distance).changes.kept for distance in (2, 10, 100)]
    assert kept[0] > kept[1] > kept[2]


def test_both_ends_of_a_single_edge_only_find_themselves() -> None:
    release = walked(Graph.from_edges([0], [1], nodes=3))
    assert release.released.edges == 0
    assert dict(release.facts) == {"walks given up": 2, "nodes that lost all edges": 2}
    assert release.notes == ("2 nodes lost all edges",)


def test_the_middle_of_a_star_is_never_reached_in_two_steps() -> None:
    star = Graph.from_edges([0] * 9, range(1, 10))
    release = walked(star)
    assert release.in_original_numbers().degrees[0] == 0
    assert release.facts["walks given up"] >= 9
    assert release.notes == ("1 node lost all edges",)


def test_the_compiled_loop_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = heavy_tail(200, 3, seed=2)
    plain = walked(graph, distance=3)
    monkeypatch.setattr(random_walk, "PLAIN_UP_TO", 0)
    fast = walked(graph, distance=3)
    assert (plain.released.keys == fast.released.keys).all()
    assert plain.facts == fast.facts


@pytest.mark.parametrize(("distance", "loops"), [(1, []), (2, []), (1000, ["_walk_all"])])
def test_long_walks_are_compiled_on_small_graphs_too(
    monkeypatch: pytest.MonkeyPatch, distance: int, loops: list[str]
) -> None:
    names: list[str] = []

    def note(function: Callable[..., Any], *helpers: object) -> Callable[..., Any]:
        names.append(function.__name__)
        return function

    monkeypatch.setattr(random_walk, "compiled", note)
    walked(Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0]), distance=distance)
    assert names == loops


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "2", 1001, None])
@pytest.mark.parametrize("what", ["distance", "retries"])
def test_settings_that_are_no_whole_number_in_range_are_refused(what: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{what} must be a whole number from 1 to 1,000"):
        RandomWalk(**{what: value})  # type: ignore[arg-type]


def test_a_graph_without_an_edge_is_refused() -> None:
    with pytest.raises(InputError, match="random walk needs a graph with edges"):
        walked(Graph.from_edges([], [], nodes=3))


def test_it_is_listed() -> None:
    assert PROTECTIONS["random-walk"].aka == ("RW",)
    assert PROTECTIONS["random-walk"].settings == ("distance=2", "retries=10")
