"""Switch: every node keeps its degree, and exactly two edges go with every switch."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.switching import switch_outcomes
from unveil._kernels._compile import PLAIN_UP_TO
from unveil._kernels.random import fresh_state
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import InputError
from unveil.protections._listing import PROTECTIONS
from unveil.protections.graph import switch
from unveil.protections.graph.switch import Switch, switched_edges


def switched(graph: Graph, share: float, seed: int = 1) -> GraphRelease:
    return Switch(share=share).apply(graph, rng=np.random.default_rng(seed))


def pairs(keys: np.ndarray, nodes: int) -> frozenset[frozenset[int]]:
    return frozenset(frozenset(divmod(int(key), nodes)) for key in keys)


def check_invariants(release: GraphRelease) -> None:
    original, released = release.original, release.in_original_numbers()
    done = release.facts["switches done"]
    assert (released.degrees == original.degrees).all()
    assert released.nodes == original.nodes
    assert np.intersect1d(original.keys, released.keys).size == original.edges - 2 * done
    assert release.facts["edges changed"] == 2 * done
    assert done <= release.facts["switches asked for"]
    assert bool(release.notes) == (
        done < release.facts["switches asked for"] or release.facts["switches asked for"] == 0
    )


@given(graphs(max_nodes=9, min_edges=1, min_nodes=2), st.floats(0.01, 1), st.integers(0, 2**32 - 1))
def test_degrees_stay_and_two_edges_go_with_each_switch(graph: Graph, share: float, seed: int) -> None:
    check_invariants(switched(graph, share, seed))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.5])
def test_a_sparse_graph_gets_all_switches(share: float) -> None:
    graph = heavy_tail(1500, 8, seed=1)  # long enough for the compiled loop
    assert graph.edges > PLAIN_UP_TO
    release = switched(graph, share)
    assert release.facts["switches asked for"] == int(share * graph.edges)
    assert release.facts["switches done"] >= 0.99 * release.facts["switches asked for"]
    if share:
        check_invariants(release)


HOUSE_AND_TAIL = Graph.from_edges([0, 1, 2, 3, 0, 4, 5], [1, 2, 3, 0, 4, 5, 6])


@pytest.mark.unwatched
@pytest.mark.parametrize("switches", [1, 2, 3])
def test_every_outcome_is_as_likely_as_the_definition_makes_it(switches: int) -> None:
    graph, runs = HOUSE_AND_TAIL, 4000
    expected = switch_outcomes(pairs(graph.keys, graph.nodes), switches)
    rng = np.random.default_rng(switches)
    found = Counter(
        pairs(switched_edges(graph.start, graph.neighbour, graph.keys, switches, fresh_state(rng)).keys, graph.nodes)
        for _ in range(runs)
    )
    assert set(found) <= set(expected)
    chi_square = sum((found[each] - runs * chance) ** 2 / (runs * chance) for each, chance in expected.items())
    freedom = len(expected) - 1
    assert freedom > 5
    assert float(chi_square) < freedom + 4 * (2 * freedom) ** 0.5


def star(nodes: int) -> Graph:
    return Graph.from_edges([0] * (nodes - 1), range(1, nodes))


@pytest.mark.parametrize(
    "graph",
    [star(30), erdos_renyi(30, 1, 1), Graph.from_edges([0], [1]), Graph.from_edges([0, 1, 2], [1, 2, 0]), star(3)],
    ids=["star", "complete", "edge", "triangle", "path"],
)
def test_where_no_two_edges_fit_nothing_is_switched_and_a_note_says_why(graph: Graph) -> None:
    release = switched(graph, 0.5)
    assert release.facts["switches done"] == 0
    assert (release.in_original_numbers().keys == graph.keys).all()
    said = "less than one switch" if graph.edges == 1 else "no two edges could exchange"
    assert len(release.notes) == 1
    assert said in release.notes[0]


def test_a_large_complete_graph_ends_too() -> None:
    release = switched(erdos_renyi(200, 1, 1), 0.5)
    assert release.facts["switches done"] == 0


def test_more_switches_than_edges_allow_use_all_of_them_up() -> None:
    apart = Graph.from_edges(range(0, 40, 2), range(1, 40, 2))
    release = switched(apart, 1)
    assert dict(release.facts) == {"switches asked for": 20, "switches done": 10, "edges changed": 20}
    assert release.notes == ("10 of 20 switches were done: each uses up two edges, and none was left",)


def test_notes_count_what_was_done_and_why_the_rest_was_not() -> None:
    assert switched(star(5), 0.25).notes[0].startswith("0 of 1 switch was done: it was given up after")
    assert switched(star(5), 0.5).notes[0].startswith("0 of 2 switches were done: all were given up after")
    one_edge = Graph.from_edges([0], [1])
    assert switched(one_edge, 1).notes == ("0 of 1 switch was done: each uses up two edges, and only 1 was left",)
    assert "a share of 0.05 of 1 edge is less than one switch" in switched(one_edge, 0.05).notes[0]
    path = Graph.from_edges(range(4), range(1, 5))
    said = {switched(path, 0.5, seed).notes for seed in range(20)}
    assert any(notes and notes[0].startswith("1 of 2 switches was done: the rest was given up") for notes in said)


def test_a_share_is_taken_as_it_is_written() -> None:
    ring = Graph.from_edges(range(100), [*range(1, 100), 0])
    assert 0.29 * 100 < 29  # as a binary number
    assert switched(ring, 0.29).facts["switches done"] == 29


def test_nothing_asked_for_is_no_note() -> None:
    assert switched(star(5), 0).notes == ()


def test_no_switch_undoes_another() -> None:
    ring = Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    for seed in range(50):
        release = switched(ring, 0.5, seed)
        kept = np.intersect1d(release.in_original_numbers().keys, ring.keys).size
        assert kept == 6 - 2 * release.facts["switches done"]


def test_the_compiled_loop_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = heavy_tail(200, 3, seed=2)
    plain = switched(graph, 0.4)
    monkeypatch.setattr(switch, "PLAIN_UP_TO", 0)
    fast = switched(graph, 0.4)
    assert (plain.released.keys == fast.released.keys).all()
    assert plain.facts == fast.facts


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "0.1", True, None])
def test_a_share_outside_0_to_1_is_refused(share: object) -> None:
    with pytest.raises(InputError, match="share must lie between 0 and 1"):
        Switch(share=share)  # type: ignore[arg-type]


def test_a_graph_without_an_edge_is_refused() -> None:
    with pytest.raises(InputError, match="switch needs a graph with edges"):
        switched(Graph.from_edges([], [], nodes=3), 0.1)


def test_it_is_listed() -> None:
    assert PROTECTIONS["switch"].aka == ("Rand Switch", "rewiring")
    assert PROTECTIONS["switch"].settings == ("share=0.05",)
