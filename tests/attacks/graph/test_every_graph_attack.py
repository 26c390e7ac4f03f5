"""What holds for every attack on graphs that is listed, whatever it does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_attack_strategies import Case, cases, renumbered, right
from tests.graph_strategies import erdos_renyi, heavy_tail
from tests.randomness import shared_state
from unveil.attacks import ATTACKS, Attack
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates

ON_GRAPHS = [one for one in ATTACKS.values() if one.on == "graph"]
each = pytest.mark.parametrize("attack", ON_GRAPHS, ids=lambda one: one.name)

STAR = Graph.from_edges([0] * 6, range(1, 7), nodes=9)
PATH = Graph.from_edges(range(7), range(1, 8))
ONE_EDGE = Graph.from_edges([0], [1], nodes=2)
COMPLETE = Graph.from_edges(*np.triu_indices(7, 1))
TWO_PARTS = Graph.from_edges([0, 1, 2, 4, 5, 6], [1, 2, 0, 5, 6, 4], nodes=9)
#: Both graphs, and the seeds: released node, auxiliary node.
AWKWARD = {
    "two nodes": (ONE_EDGE, ONE_EDGE, [[0, 0]]),
    "everybody known": (ONE_EDGE, ONE_EDGE, [[0, 1], [1, 0]]),
    "a star and a path": (STAR, PATH, [[0, 3], [1, 2]]),
    "seeds without edges": (STAR, STAR, [[7, 7], [8, 8]]),
    "seeds without edges there": (STAR, TWO_PARTS, [[0, 8], [1, 3]]),
    "complete": (COMPLETE, COMPLETE, [[0, 0], [1, 1], [2, 2]]),
    "disconnected from the seeds": (TWO_PARTS, TWO_PARTS, [[0, 0]]),
    "one part known": (TWO_PARTS, Graph.from_edges([0, 1, 2], [1, 2, 0]), [[0, 0]]),
    "one part released": (Graph.from_edges([0, 1, 2], [1, 2, 0]), TWO_PARTS, [[1, 4]]),
    "mostly without edges": (Graph.from_edges([0], [1], nodes=9), Graph.from_edges([3], [4], nodes=7), [[0, 3]]),
    "more released": (COMPLETE, ONE_EDGE, [[3, 1]]),
    "more known": (ONE_EDGE, COMPLETE, [[1, 3]]),
}


def attacked(attack: Attack, released: Graph, knowledge: GraphKnowledge, seed: int = 1) -> Candidates:
    guess = attack.make().run(released=released, knowledge=knowledge, rng=np.random.default_rng(seed))
    assert isinstance(guess, Candidates)
    return guess


def check(guess: Candidates, released: Graph, knowledge: GraphKnowledge) -> None:
    """Check what every guess must be: an injective mapping of nodes that were not known, each with a distribution."""
    assert guess.target_count == released.nodes
    assert guess.chosen is not None
    mapped = guess.chosen >= 0
    seeds = knowledge.seeds
    assert not mapped[seeds[:, 0]].any()
    assert np.array_equal(guess.attempted, mapped)
    assert not guess.considered[~mapped].any()
    partners = guess.chosen[mapped]
    assert np.unique(partners).size == partners.size
    assert not np.isin(partners, seeds[:, 1]).any()
    assert not np.isin(guess.candidate, seeds[:, 1]).any()
    assert guess.candidate.max(initial=0) < knowledge.auxiliary.nodes
    assert (guess.probability >= 0).all()
    rows = np.repeat(np.arange(released.nodes), guess.considered)
    away = 0.0 if guess.elsewhere is None else guess.elsewhere
    assert np.allclose(np.bincount(rows, guess.probability, released.nodes) + away, mapped)
    assert (guess.entry_of(guess.chosen)[mapped] >= 0).all()


def test_the_attacks_of_the_paper_are_listed() -> None:
    assert {aka for one in ON_GRAPHS for aka in one.aka} >= {"NS", "KL", "YG", "DV", "JLSB", "ADA"}
    assert {one.scope for one in ON_GRAPHS} <= {"local", "global"}


@each
@given(case=cases(max_nodes=9), seed=st.integers(0, 1000))
@settings(max_examples=15)
def test_a_guess_is_an_injective_mapping_with_distributions(attack: Attack, case: Case, seed: int) -> None:
    check(attacked(attack, *case, seed), *case)


@each
@pytest.mark.parametrize("case", AWKWARD.values(), ids=AWKWARD)
def test_awkward_graphs_are_attacked(attack: Attack, case: tuple[Graph, Graph, list[list[int]]]) -> None:
    released, auxiliary, seeds = case
    knowledge = GraphKnowledge(auxiliary, np.array(seeds))
    check(attacked(attack, released, knowledge), released, knowledge)


@each
def test_graphs_of_many_nodes_are_attacked(attack: Attack) -> None:
    for original, extra in ((heavy_tail(150, 3, 1), 0), (erdos_renyi(110, 0.06, 2), 9)):
        release = renumbered(original, 3, extra=extra)
        knowledge = draw_knowledge(release, seed_pairs=15, rng=np.random.default_rng(4))
        guess = attacked(attack, release.released, knowledge)
        check(guess, release.released, knowledge)
        assert guess.attempted.any()


@each
def test_a_release_with_fewer_nodes_than_known_is_attacked(attack: Attack) -> None:
    released, auxiliary = erdos_renyi(60, 0.1, 5), erdos_renyi(130, 0.05, 6)
    knowledge = GraphKnowledge(auxiliary, np.column_stack([np.arange(12), np.arange(12)]))
    check(attacked(attack, released, knowledge), released, knowledge)


@each
def test_one_seed_gives_one_guess(attack: Attack) -> None:
    release = renumbered(heavy_tail(80, 3, 3), 3)
    knowledge = draw_knowledge(release, seed_pairs=10, rng=np.random.default_rng(4))
    one, same = (attacked(attack, release.released, knowledge, 7) for _ in range(2))
    assert np.array_equal(one.chosen, same.chosen)  # type: ignore[arg-type]
    assert np.array_equal(one.candidate, same.candidate)
    assert np.array_equal(one.probability, same.probability)


@each
def test_what_was_passed_and_other_generators_are_left_as_they_were(attack: Attack) -> None:
    release = renumbered(heavy_tail(80, 3, 3), 3)
    knowledge = draw_knowledge(release, seed_pairs=10, rng=np.random.default_rng(4))
    graphs = (release.released, knowledge.auxiliary)
    before = [array.copy() for graph in graphs for array in (graph.start, graph.neighbour)]
    seeds, state = knowledge.seeds.copy(), shared_state()
    attacked(attack, release.released, knowledge)
    assert shared_state() == state
    after = [array for graph in graphs for array in (graph.start, graph.neighbour)]
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))
    assert np.array_equal(knowledge.seeds, seeds)


@each
def test_a_release_without_edges_is_an_answer(attack: Attack) -> None:
    for nodes in (1, 9):
        released = Graph.from_edges([], [], nodes=nodes)
        guess = attacked(attack, released, GraphKnowledge(PATH, np.array([[0, 0]])))
        assert guess.target_count == nodes
        assert not guess.attempted[0]


@each
def test_knowledge_without_edges_seeds_outside_and_no_seeds_are_refused(attack: Attack) -> None:
    one_node = Graph.from_edges([], [], nodes=1)
    with pytest.raises(InputError, match="but the auxiliary graph has none"):
        attacked(attack, PATH, GraphKnowledge(one_node, np.array([[0, 0]])))
    with pytest.raises(InputError, match="Some seed pairs name no released node: there are 2, numbered from 0"):
        attacked(attack, ONE_EDGE, GraphKnowledge(PATH, np.array([[2, 0]])))
    nobody_known = GraphKnowledge(PATH, np.empty((0, 2), np.int64))
    if attack.without_seeds:
        check(attacked(attack, PATH, nobody_known), PATH, nobody_known)
    else:
        with pytest.raises(InputError, match="starts from seed pairs, but there are none"):
            attacked(attack, PATH, nobody_known)


def share_right(attack: Attack, *, overlap: float, seed_pairs: int, repetitions: int = 5) -> float:
    """Return the share of nodes not known that are mapped rightly, over several random graphs."""
    found, asked = 0, 0
    for seed in range(repetitions):
        release = renumbered(erdos_renyi(80, 0.08, seed), seed)
        rng = np.random.default_rng(seed)
        knowledge = draw_knowledge(release, overlap=overlap, seed_pairs=seed_pairs, rng=rng)
        found += right(attacked(attack, release.released, knowledge, seed), release.truth)
        asked += 80 - seed_pairs
    return found / asked


@pytest.mark.unwatched
@each
def test_more_known_nodes_and_a_larger_overlap_help(attack: Attack) -> None:
    much = share_right(attack, overlap=0.9, seed_pairs=25)
    if attack.posterior:
        # What finds nearly all with two cannot find more; it must be seen to do so, and with little overlap to gain.
        assert share_right(attack, overlap=0.9, seed_pairs=2) > 0.99
        few, many = (share_right(attack, overlap=0.4, seed_pairs=pairs, repetitions=3) for pairs in (2, 40))
        assert many > few + 0.15
        assert much > few + 0.15
        return
    few = share_right(attack, overlap=0.9, seed_pairs=2)
    assert much > few + 0.15
    assert much > share_right(attack, overlap=0.5, seed_pairs=25) + 0.15


@each
def test_against_an_unrelated_graph_it_is_right_by_chance_alone(attack: Attack) -> None:
    hits, expected = 0, 0.0
    for seed in range(25):
        released, auxiliary = erdos_renyi(30, 0.2, 2 * seed), erdos_renyi(30, 0.2, 2 * seed + 1)
        truth = np.random.default_rng(seed).permutation(30)
        knowledge = GraphKnowledge(auxiliary, np.column_stack([np.arange(10), truth[:10]]))
        guess = attacked(attack, released, knowledge, seed)
        hits += right(guess, truth)
        # Whom a node that is not known stands for was drawn from the 20 others.
        expected += guess.attempted.sum() / 20
    assert expected > 0
    assert abs(hits - expected) < 5 * np.sqrt(expected) + 1
