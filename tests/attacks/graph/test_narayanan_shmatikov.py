"""The attack of Narayanan and Shmatikov against its definition, and planted cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph_attack_strategies import (
    Case,
    cases,
    check_same_guess,
    mapping,
    plane,
    random_case,
    renumbered,
    right,
    rows,
)
from tests.graph_strategies import erdos_renyi
from tests.oracles.graph_attacks_local import narayanan_shmatikov
from unveil._kernels.graph import witnesses
from unveil.attacks.graph.narayanan_shmatikov import NarayananShmatikov
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates


def attacked(case: Case, attack: NarayananShmatikov | None = None, seed: int = 1) -> Candidates:
    return (attack or NarayananShmatikov()).run(
        released=case.released, knowledge=case.knowledge, rng=np.random.default_rng(seed)
    )


@given(
    case=cases(),
    theta=st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 3.0]),
    order=st.sampled_from(["random", "natural"]),
    seed=st.integers(0, 100),
)
def test_it_does_what_the_definition_says(case: Case, theta: float, order: str, seed: int) -> None:
    guess = attacked(case, NarayananShmatikov(theta=theta, order=order), seed)  # type: ignore[arg-type]
    truth = narayanan_shmatikov(*case, theta=theta, order=order, rng=np.random.default_rng(seed))
    assert mapping(guess) == truth.mapping
    assert rows(guess) == {
        node: pytest.approx({other: score / sum(row.values()) for other, score in row.items()})
        for node, row in truth.scores.items()
    }


@pytest.mark.parametrize("theta", [0.3, 0.5])
def test_nodes_are_looked_at_again_whenever_that_can_change_something(theta: float) -> None:
    # These are graphs in which nodes that were turned down are mapped later, because others have left.
    for seed in range(60):
        case = random_case(seed, nodes=20, probability=0.2, seeds=4)
        truth = narayanan_shmatikov(*case, theta=theta, order="random", rng=np.random.default_rng(seed))
        assert mapping(attacked(case, NarayananShmatikov(theta=theta), seed)) == truth.mapping


@pytest.mark.parametrize("theta", [0.0, 0.3, 0.5])
def test_larger_graphs_and_compiled_loops_do_so_too(theta: float, monkeypatch: pytest.MonkeyPatch) -> None:
    attempted = 0
    for seed in range(4):
        case = random_case(seed)
        attack = NarayananShmatikov(theta=theta)
        plain = attacked(case, attack, seed)
        truth = narayanan_shmatikov(*case, theta=theta, order="random", rng=np.random.default_rng(seed))
        assert mapping(plain) == truth.mapping
        with monkeypatch.context() as patched:
            patched.setattr(witnesses, "_PLAIN_STEPS", -1)
            fast = attacked(case, attack, seed)
        check_same_guess(plain, fast)
        attempted += int(plain.attempted.sum())
    assert attempted > 20


def test_what_stands_out_is_mapped_and_what_does_not_is_left_alone() -> None:
    # Node 2 is the only one that knows both seeds; 3 and 4 know one and the same, and nobody else knows anybody.
    graph = Graph.from_edges([0, 1, 0, 0], [2, 2, 3, 4], nodes=8)
    case = Case(graph, GraphKnowledge(graph, np.array([[0, 0], [1, 1]])))
    guess = attacked(case)
    assert mapping(guess) == {2: 2}
    # The scores are 2/sqrt(2), 1 and 1.
    root = np.sqrt(2)
    assert rows(guess)[2] == pytest.approx({2: root / (root + 2), 3: 1 / (root + 2), 4: 1 / (root + 2)})


def test_the_eccentricity_counts_all_nodes_and_divides_by_one_less() -> None:
    # One score of 1 among n nodes has a standard deviation of 1/sqrt(n), so the eccentricity is sqrt(n): here 3.
    graph = Graph.from_edges([0], [1], nodes=9)
    case = Case(graph, GraphKnowledge(graph, np.array([[0, 0]])))
    assert mapping(attacked(case, NarayananShmatikov(theta=3))) == {1: 1}
    assert mapping(attacked(case, NarayananShmatikov(theta=3.0001))) == {}


def test_the_candidate_must_agree() -> None:
    # Released nodes 1 and 2 both know the seed; in the auxiliary graph it is 1 alone, who cannot tell them apart.
    released = Graph.from_edges([0, 0], [1, 2], nodes=6)
    auxiliary = Graph.from_edges([0], [1], nodes=6)
    seeds = np.array([[0, 0]])
    assert mapping(attacked(Case(released, GraphKnowledge(auxiliary, seeds)))) == {}
    assert len(mapping(attacked(Case(released, GraphKnowledge(auxiliary, seeds)), NarayananShmatikov(theta=0)))) == 1


def test_with_threshold_0_the_lot_decides_between_equals() -> None:
    star = Graph.from_edges([0, 0], [1, 2], nodes=3)
    case = Case(star, GraphKnowledge(star, np.array([[0, 0]])))
    swapped = sum(mapping(attacked(case, NarayananShmatikov(theta=0), seed)) == {1: 2, 2: 1} for seed in range(400))
    # 400 throws of a fair coin: 200 with a standard deviation of 10.
    assert abs(swapped - 200) < 45


@pytest.mark.parametrize("graph", [plane(7), erdos_renyi(70, 0.15, 5)], ids=["plane", "random"])
def test_the_same_graph_is_re_identified_fully(graph: Graph) -> None:
    # Six known nodes generate the plane; a fifth of them gives each node of the random graph two known neighbours.
    for seed in range(3):
        release = renumbered(graph, seed)
        known = 6 if graph.nodes < 60 else 14
        knowledge = draw_knowledge(release, overlap=1, seed_pairs=known, rng=np.random.default_rng(seed))
        guess = attacked(Case(release.released, knowledge), seed=seed)
        assert right(guess, release.truth) == graph.nodes - known


def test_a_threshold_that_nothing_reaches_leaves_an_empty_guess() -> None:
    for theta in (1e9, np.inf):
        assert not attacked(random_case(1), NarayananShmatikov(theta=theta)).attempted.any()


def test_the_natural_order_leaves_nothing_to_chance() -> None:
    attack = NarayananShmatikov(order="natural")
    one, other = (attacked(random_case(3), attack, seed) for seed in (1, 2))
    assert one.attempted.any()
    assert np.array_equal(one.chosen, other.chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize("theta", [-0.1, np.nan, "high", True])
def test_a_threshold_is_a_number_from_0(theta: object) -> None:
    with pytest.raises(InputError, match="it must be a number of at least 0"):
        NarayananShmatikov(theta=theta)  # type: ignore[arg-type]


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(InputError, match="Unknown order 'sorted'"):
        NarayananShmatikov(order="sorted")  # type: ignore[arg-type]
