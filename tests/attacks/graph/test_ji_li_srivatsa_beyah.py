"""Five features, each as it is defined, and their weighted sum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles.graph_attacks_global import (
    check_chunks,
    closeness_scores,
    degree_scores,
    distance_scores,
    neighbour_scores,
    seed_scores,
    weighted,
)
from unveil.attacks.graph import ji_li_srivatsa_beyah as module
from unveil.attacks.graph.ji_li_srivatsa_beyah import JiLiSrivatsaBeyah
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError

NONE = dict.fromkeys(("degree_weight", "neighbour_weight", "reference_weight", "top_weight", "closeness_weight"), 0.0)


def drawn_seeds(released: Graph, auxiliary: Graph, count: int, rng: np.random.Generator) -> GraphKnowledge:
    count = min(count, released.nodes, auxiliary.nodes)
    pairs = [rng.permutation(graph.nodes)[:count] for graph in (released, auxiliary)]
    return GraphKnowledge(auxiliary, np.column_stack(pairs))


def scores_of(attack: JiLiSrivatsaBeyah, released: Graph, knowledge: GraphKnowledge) -> dict[tuple[int, int], float]:
    score = attack.score(released, knowledge, rng=np.random.default_rng(1))
    values = score(np.arange(released.nodes), np.arange(knowledge.auxiliary.nodes))
    return {(int(i), int(j)): float(value) for (i, j), value in np.ndenumerate(values)}


small = graphs(min_nodes=2, max_nodes=9, min_edges=1)


@given(small, small, st.sampled_from([1, 3, 5, None]), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_it_is_the_best_assignment_of_weighted_features_in_chunks(
    released: Graph, auxiliary: Graph, chunk: int | None, neighbours: int, seed: int
) -> None:
    knowledge = drawn_seeds(released, auxiliary, 3, np.random.default_rng(seed))
    expected = weighted(
        (0.3, degree_scores(released, auxiliary)),
        (0.3, neighbour_scores(released, auxiliary, neighbours)),
        (0.4, seed_scores(released, knowledge)),
    )
    attack = JiLiSrivatsaBeyah(chunk=chunk, neighbours=neighbours)
    assert scores_of(attack, released, knowledge) == pytest.approx(expected, abs=1e-12)
    guess = attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(seed))
    check_chunks(guess, expected, released, knowledge, chunk)


@given(small, small, st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_each_feature_is_what_it_is_defined_as(released: Graph, auxiliary: Graph, most: int, seed: int) -> None:
    knowledge = drawn_seeds(released, auxiliary, 2, np.random.default_rng(seed))
    expected = {
        "degree_weight": degree_scores(released, auxiliary),
        "neighbour_weight": neighbour_scores(released, auxiliary, most),
        "reference_weight": seed_scores(released, knowledge),
        "closeness_weight": closeness_scores(released, auxiliary),
    }
    for name, scores in expected.items():
        attack = JiLiSrivatsaBeyah(**{**NONE, name: 1.0}, neighbours=most)  # type: ignore[arg-type]
        assert scores_of(attack, released, knowledge) == pytest.approx(scores, abs=1e-12)


def test_the_nodes_of_largest_degree_are_references_by_rank() -> None:
    # Degrees 4, 3, 2, and below: the three largest are certain. The other graph is the same in other numbers.
    graph = Graph.from_edges([0, 0, 0, 0, 1, 1, 5, 6], [1, 2, 3, 4, 5, 6, 7, 8], nodes=9)
    number = np.array([4, 2, 0, 8, 6, 1, 3, 5, 7])
    other = graph.relabelled(number)
    knowledge = GraphKnowledge(other, np.array([[7, 5]]))
    attack = JiLiSrivatsaBeyah(**{**NONE, "top_weight": 1.0}, tops=2)  # type: ignore[arg-type]
    expected = distance_scores(graph, other, [(0, 4), (1, 2)])
    assert scores_of(attack, graph, knowledge) == pytest.approx(expected, abs=1e-12)


def test_references_of_the_same_degree_are_drawn_by_lot() -> None:
    ring = Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    found = {
        tuple(map(tuple, module._top_pairs(ring, ring, 1, np.random.default_rng(seed)).tolist())) for seed in range(400)
    }
    assert len(found) == 36
    assert len(module._top_pairs(ring, Graph.from_edges([0], [1]), 9, np.random.default_rng(1))) == 2


def test_what_has_no_weight_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = heavy_tail(30, 2, 1)
    knowledge = drawn_seeds(graph, graph, 3, np.random.default_rng(1))

    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    for name in ("of_closeness", "_top_pairs"):
        monkeypatch.setattr(module, name, fail)
    JiLiSrivatsaBeyah().run(released=graph, knowledge=knowledge, rng=np.random.default_rng(1))
    with pytest.raises(AssertionError):
        JiLiSrivatsaBeyah(reference_weight=0.3, closeness_weight=0.1).run(
            released=graph, knowledge=knowledge, rng=np.random.default_rng(1)
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"degree_weight": 0.4}, "degree_weight, neighbour_weight, reference_weight, top_weight"),
        ({"degree_weight": -0.1, "reference_weight": 0.8}, "degree_weight must lie between 0 and 1"),
        ({"top_weight": float("nan")}, "top_weight must lie between 0 and 1"),
        ({"top_weight": "0"}, "top_weight must lie between 0 and 1"),
        ({"neighbours": 0}, "neighbours must be a whole number of at least 1"),
        ({"tops": 1.5}, "tops must be a whole number of at least 1"),
        ({"pivots": 0}, "pivots must be a whole number of at least 1"),
        ({"exact_up_to": -1}, "exact_up_to must be a whole number of at least 0"),
        ({"chunk": 0}, "chunk must be"),
        ({"theta": None}, "theta is None; it must be a number, the least score to accept"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        JiLiSrivatsaBeyah(**settings)  # type: ignore[arg-type]
