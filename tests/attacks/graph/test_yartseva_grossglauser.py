"""The attack of Yartseva and Grossglauser against its definition, with marks kept and with marks counted."""

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
from tests.oracles.graph_attacks_local import yartseva_grossglauser
from unveil._kernels.graph import witnesses
from unveil.attacks.graph import yartseva_grossglauser as attack_module
from unveil.attacks.graph.yartseva_grossglauser import YartsevaGrossglauser
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates


def attacked(case: Case, attack: YartsevaGrossglauser | None = None, seed: int = 1) -> Candidates:
    return (attack or YartsevaGrossglauser()).run(
        released=case.released, knowledge=case.knowledge, rng=np.random.default_rng(seed)
    )


@given(case=cases(), theta=st.integers(1, 4), strict=st.booleans(), seed=st.integers(0, 100))
def test_it_does_what_the_definition_says(case: Case, theta: int, strict: bool, seed: int) -> None:
    guess = attacked(case, YartsevaGrossglauser(theta=theta, strict=strict), seed)
    truth = yartseva_grossglauser(*case, theta=theta, strict=strict, rng=np.random.default_rng(seed))
    assert mapping(guess) == truth.mapping
    assert rows(guess) == {
        node: pytest.approx({other: score / sum(row.values()) for other, score in row.items()})
        for node, row in truth.scores.items()
    }


@pytest.mark.unwatched
@pytest.mark.parametrize("theta", [1, 2, 3])
def test_larger_graphs_compiled_loops_and_marks_that_are_not_kept(theta: int, monkeypatch: pytest.MonkeyPatch) -> None:
    attempted = 0
    for seed in range(4):
        case = random_case(seed)
        attack = YartsevaGrossglauser(theta=theta)
        plain = attacked(case, attack, seed)
        truth = yartseva_grossglauser(*case, theta=theta, strict=False, rng=np.random.default_rng(seed))
        assert mapping(plain) == truth.mapping
        for steps, kept in ((-1, 10**6), (10**9, 0), (-1, 0)):
            with monkeypatch.context() as patched:
                patched.setattr(witnesses, "_PLAIN_STEPS", steps)
                patched.setattr(attack_module, "_KEPT_UP_TO", kept)
                other = attacked(case, attack, seed)
            check_same_guess(plain, other)
        attempted += int(plain.attempted.sum())
    assert attempted > 20


def test_enough_marks_map_and_the_guess_is_in_proportion_to_them() -> None:
    # Node 3 gets a mark with itself from each of three seeds, and with 4 from two of them; 4 is never mapped.
    released = Graph.from_edges([0, 1, 2], [3, 3, 3], nodes=5)
    auxiliary = Graph.from_edges([0, 1, 2, 0, 1], [3, 3, 3, 4, 4], nodes=5)
    knowledge = GraphKnowledge(auxiliary, np.array([[0, 0], [1, 1], [2, 2]]))
    guess = attacked(Case(released, knowledge), YartsevaGrossglauser(theta=2, strict=True))
    assert mapping(guess) == {3: 3}
    assert rows(guess) == {3: pytest.approx({3: 0.6, 4: 0.4})}


def test_one_mark_is_enough_for_everybody_among_equals() -> None:
    complete = Graph.from_edges(*np.triu_indices(12, 1))
    guess = attacked(Case(complete, GraphKnowledge(complete, np.array([[0, 0]]))), YartsevaGrossglauser(theta=1))
    assert sorted(mapping(guess)) == sorted(mapping(guess).values()) == list(range(1, 12))
    # Who is mapped first has all others to choose from, who is mapped last has no choice.
    assert sorted(map(len, rows(guess).values())) == list(range(1, 12))


def test_strict_asks_for_one_mark_more() -> None:
    case = random_case(2)
    strict = attacked(case, YartsevaGrossglauser(theta=2, strict=True), 5)
    more = attacked(case, YartsevaGrossglauser(theta=3), 5)
    assert np.array_equal(strict.chosen, more.chosen)  # type: ignore[arg-type]
    assert strict.attempted.sum() < attacked(case, YartsevaGrossglauser(theta=2), 5).attempted.sum()


def test_the_same_plane_is_re_identified_fully() -> None:
    # Two different nodes share one neighbour at most, so that two marks never lie; six nodes generate the plane.
    graph = plane(7)
    for seed in range(5):
        release = renumbered(graph, seed)
        knowledge = draw_knowledge(release, overlap=1, seed_pairs=6, rng=np.random.default_rng(seed))
        assert right(attacked(Case(release.released, knowledge), seed=seed), release.truth) == graph.nodes - 6


def test_the_same_random_graph_is_re_identified_fully_where_marks_do_not_lie() -> None:
    # Each node has about 24 known neighbours and shares about seven of them with any other: 15 marks part both.
    graph = erdos_renyi(100, 0.3, 1)
    release = renumbered(graph, 1)
    knowledge = draw_knowledge(release, overlap=1, seed_pairs=80, rng=np.random.default_rng(1))
    guess = attacked(Case(release.released, knowledge), YartsevaGrossglauser(theta=15))
    assert right(guess, release.truth) == 20


def test_between_equals_the_lot_decides() -> None:
    diamond = Graph.from_edges([0, 0, 3, 3], [1, 2, 1, 2], nodes=4)
    case = Case(diamond, GraphKnowledge(diamond, np.array([[0, 0], [3, 3]])))
    swapped = sum(mapping(attacked(case, seed=seed)) == {1: 2, 2: 1} for seed in range(400))
    # 400 throws of a fair coin: 200 with a standard deviation of 10.
    assert abs(swapped - 200) < 45


def test_a_threshold_that_nothing_reaches_leaves_an_empty_guess() -> None:
    for theta in (30, 10**30):
        assert not attacked(random_case(1), YartsevaGrossglauser(theta=theta)).attempted.any()


@pytest.mark.parametrize("theta", [0, -1, 1.5, np.inf, True, "2"])
def test_a_threshold_is_a_whole_number_from_1(theta: object) -> None:
    with pytest.raises(InputError, match="theta must be a whole number of at least 1"):
        YartsevaGrossglauser(theta=theta)  # type: ignore[arg-type]
