"""The attack of Korula and Lattanzi in both variants against its definition, and planted cases."""

from typing import Literal

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
from tests.oracles.graph_attacks_local import Outcome, korula_lattanzi, korula_lattanzi_window
from unveil._kernels.graph import witnesses
from unveil.attacks.graph import korula_lattanzi as module
from unveil.attacks.graph.korula_lattanzi import KorulaLattanzi
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates

#: In the paper's variant and in windows that show few, some, and all nodes.
VARIANTS = (
    KorulaLattanzi(),
    KorulaLattanzi(theta=2, rounds=3),
    KorulaLattanzi(variant="window", chunk=3),
    KorulaLattanzi(variant="window", theta=0, chunk=10),
    KorulaLattanzi(variant="window", theta=2, chunk="all"),
)


def attacked(case: Case, attack: KorulaLattanzi | None = None, seed: int = 1) -> Candidates:
    return (attack or KorulaLattanzi()).run(
        released=case.released, knowledge=case.knowledge, rng=np.random.default_rng(seed)
    )


def by_definition(case: Case, attack: KorulaLattanzi, seed: int) -> Outcome:
    rng = np.random.default_rng(seed)
    if attack.variant == "window":
        return korula_lattanzi_window(*case, theta=attack.theta, chunk=attack.compared_at_a_time, rng=rng)
    return korula_lattanzi(*case, theta=attack.theta, rounds=attack.rounds, rng=rng)


def check(guess: Candidates, truth: Outcome) -> None:
    assert mapping(guess) == truth.mapping
    assert rows(guess) == {
        node: pytest.approx({other: score / sum(row.values()) for other, score in row.items()})
        for node, row in truth.scores.items()
    }


@given(case=cases(), theta=st.integers(0, 3), rounds=st.integers(1, 3), seed=st.integers(0, 100))
def test_it_does_what_the_definition_says(case: Case, theta: int, rounds: int, seed: int) -> None:
    attack = KorulaLattanzi(theta=theta, rounds=rounds)
    check(attacked(case, attack, seed), by_definition(case, attack, seed))


@given(case=cases(), theta=st.integers(0, 3), chunk=st.sampled_from([1, 2, 3, 5, 100, "all"]), seed=st.integers(0, 100))
def test_the_window_does_what_the_definition_says(
    case: Case, theta: int, chunk: int | Literal["all"], seed: int
) -> None:
    attack = KorulaLattanzi(variant="window", theta=theta, chunk=chunk)
    check(attacked(case, attack, seed), by_definition(case, attack, seed))


def test_the_window_moves_on_when_one_list_is_at_its_end() -> None:
    attack = KorulaLattanzi(variant="window", chunk=2)
    for seed in range(40):
        case = random_case(seed, nodes=14, probability=0.3, seeds=2)
        check(attacked(case, attack, seed), by_definition(case, attack, seed))


@pytest.mark.unwatched
@pytest.mark.parametrize("attack", VARIANTS, ids=str)
def test_larger_graphs_and_compiled_loops_do_so_too(attack: KorulaLattanzi, monkeypatch: pytest.MonkeyPatch) -> None:
    attempted = 0
    for seed in range(2):
        case = random_case(seed)
        plain = attacked(case, attack, seed)
        check(plain, by_definition(case, attack, seed))
        with monkeypatch.context() as patched:
            patched.setattr(witnesses, "_PLAIN_STEPS", -1)
            fast = attacked(case, attack, seed)
        check_same_guess(plain, fast)
        attempted += int(plain.attempted.sum())
    assert attempted > 10


def test_those_with_many_neighbours_come_first_and_those_with_one_never() -> None:
    # Nodes 1 and 2 know the seed. 1 has four neighbours and 2 has two, so at first 1 has no rival; 8 and 9 have one.
    graph = Graph.from_edges([0, 0, 1, 1, 1, 2], [1, 2, 5, 6, 7, 8], nodes=10)
    case = Case(graph, GraphKnowledge(graph, np.array([[0, 0]])))
    guess = attacked(case)
    assert mapping(guess) == {1: 1, 2: 2}
    assert rows(guess) == {1: {1: 1.0}, 2: {2: 1.0}}


def test_the_window_maps_everything_if_it_need_not_have_a_witness() -> None:
    released, auxiliary = erdos_renyi(20, 0.1, 1), erdos_renyi(25, 0.1, 2)
    case = Case(released, GraphKnowledge(auxiliary, np.array([[0, 0]])))
    guess = attacked(case, KorulaLattanzi(variant="window", theta=0, chunk=4))
    assert guess.attempted.sum() == 19
    some = attacked(case, KorulaLattanzi(variant="window", theta=1, chunk=4))
    assert some.attempted.sum() < 19


def test_a_window_on_all_nodes_is_refused_if_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    case = random_case(1, seeds=8)
    with pytest.raises(InputError, match=r"the window compares 34 with 32 nodes and needs 0\.0 GB, above the limit"):
        attacked(case, KorulaLattanzi(variant="window", chunk="all"))
    attacked(case, KorulaLattanzi(variant="window", chunk=15))


@pytest.mark.parametrize(
    "attack",
    [
        KorulaLattanzi(theta=2, rounds=20),
        KorulaLattanzi(variant="window"),
        KorulaLattanzi(variant="window", chunk="all"),
    ],
    ids=str,
)
def test_the_same_plane_is_re_identified_fully(attack: KorulaLattanzi) -> None:
    # Two different nodes share one neighbour at most, so that two witnesses never lie; six nodes generate the plane.
    graph = plane(7)
    for seed in range(3):
        release = renumbered(graph, seed)
        knowledge = draw_knowledge(release, overlap=1, seed_pairs=6, rng=np.random.default_rng(seed))
        guess = attacked(Case(release.released, knowledge), attack, seed)
        assert right(guess, release.truth) == graph.nodes - 6


def test_the_same_random_graph_is_re_identified_fully() -> None:
    # With half of the nodes known each of the others has about six witnesses with itself, and two with any other.
    for seed in range(3):
        release = renumbered(erdos_renyi(80, 0.15, seed), seed)
        knowledge = draw_knowledge(release, overlap=1, seed_pairs=40, rng=np.random.default_rng(seed))
        guess = attacked(Case(release.released, knowledge), KorulaLattanzi(rounds=5), seed)
        assert right(guess, release.truth) == 40


@pytest.mark.parametrize("variant", ["paper", "window"])
def test_a_threshold_that_nothing_reaches_leaves_an_empty_guess(variant: str) -> None:
    for theta in (30, 10**30):
        attack = KorulaLattanzi(theta=theta, variant=variant)  # type: ignore[arg-type]
        assert not attacked(random_case(1), attack).attempted.any()


def test_between_equals_the_lot_decides() -> None:
    # Nodes 1 and 2 know the same: 400 throws of a fair coin are 200 with a standard deviation of 10.
    diamond = Graph.from_edges([0, 0, 3, 3], [1, 2, 1, 2], nodes=4)
    case = Case(diamond, GraphKnowledge(diamond, np.array([[0, 0], [3, 3]])))
    for attack in (KorulaLattanzi(), KorulaLattanzi(variant="window")):
        swapped = sum(mapping(attacked(case, attack, seed)).get(1) == 2 for seed in range(400))
        assert abs(swapped - 200) < 45


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"theta": -1}, "theta must be a whole number of at least 0, but is -1"),
        ({"theta": 1.5}, "theta must be a whole number of at least 0, but is 1.5"),
        ({"rounds": 0}, "rounds must be a whole number of at least 1, but is 0"),
        ({"variant": "window", "chunk": 0}, "chunk must be a whole number of at least 1, but is 0"),
        ({"variant": "window", "chunk": True}, "chunk must be a whole number of at least 1, but is True"),
        ({"variant": "window", "chunk": "some"}, "chunk must be a whole number of at least 1, but is 'some'"),
        ({"chunk": 100}, "chunk only applies to variant=window, where it limits the nodes compared"),
        ({"chunk": "all"}, "chunk only applies to variant=window, where it limits the nodes compared"),
        ({"variant": "secgraph"}, "Unknown variant 'secgraph'"),
    ],
    ids=str,
)
def test_settings_are_checked(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        KorulaLattanzi(**settings)  # type: ignore[arg-type]


def test_a_window_shows_a_hundred_nodes_unless_told_otherwise() -> None:
    case = random_case(1, nodes=260, probability=0.05, seeds=8)
    usual, said, all_of_them = (
        attacked(case, KorulaLattanzi(variant="window", theta=0, chunk=chunk)) for chunk in (None, 100, "all")
    )
    assert np.array_equal(usual.candidate, said.candidate)
    assert usual.candidate.size < all_of_them.candidate.size
