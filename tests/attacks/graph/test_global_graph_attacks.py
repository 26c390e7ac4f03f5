"""What the attacks that compare all nodes of a graph have in common: chunks, lots, and what they can find."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from tests.graph_strategies import erdos_renyi, heavy_tail
from tests.oracles.graph_guess import candidates_of
from unveil.attacks import ATTACKS
from unveil.attacks.graph import _chunks
from unveil.attacks.graph._chunks import NodeChunk, chunk_pairs, guess_of
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.errors import InputError
from unveil.guesses import Candidates

ATTACKS_ON_ALL = [one.make for one in ATTACKS.values() if one.scope == "global" and "chunk=100" in one.settings]
each = pytest.mark.parametrize("attack", ATTACKS_ON_ALL, ids=lambda kind: kind.__name__)


def released_of(original: Graph, rng: np.random.Generator) -> GraphRelease:
    number = rng.permutation(original.nodes)
    return GraphRelease(original, original.relabelled(number), np.argsort(number))


def correct(guess: Candidates, truth: np.ndarray) -> int:
    assert guess.chosen is not None
    return int(((guess.chosen == truth) & guess.attempted).sum())


def found(attack: Any, original: Graph, seed: int, *, overlap: float = 0.85, seed_pairs: int = 20) -> int:
    """How many nodes an attack finds right in a graph whose numbers alone were drawn anew."""
    rng = np.random.default_rng(seed)
    release = released_of(original, rng)
    knowledge = draw_knowledge(release, overlap=overlap, seed_pairs=seed_pairs, rng=rng)
    return correct(attack.run(released=release.released, knowledge=knowledge, rng=rng), release.truth)


@each
@pytest.mark.parametrize("chunk", [None, 100])
def test_the_same_graph_with_enough_seeds_is_found_whole(attack: Any, chunk: int | None) -> None:
    original = erdos_renyi(90, 0.06, 3)
    # Where two nodes' steps to 40 seeds are in proportion, no such attack can tell them apart; here there are none.
    assert found(attack(chunk=chunk), original, 1, overlap=1.0, seed_pairs=40) == 50


@pytest.mark.unwatched
@each
def test_nothing_in_common_is_chance(attack: Any) -> None:
    """On unrelated graphs about one node in each assignment is right, as of any permutation."""
    hits = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        knowledge = GraphKnowledge(erdos_renyi(60, 0.1, 1000 + seed), np.column_stack([np.arange(5)] * 2))
        guess = attack(chunk=None).run(released=erdos_renyi(60, 0.1, seed), knowledge=knowledge, rng=rng)
        hits += correct(guess, np.arange(60))
    assert hits < 25 + 5 * 5  # Poisson with mean 25


@pytest.mark.unwatched
@each
@pytest.mark.parametrize("twins", [0, 10**6])
def test_the_numbers_of_nodes_give_nothing_away(attack: Any, twins: int) -> None:
    """Every node of a complete graph looks the same: keeping all numbers must not help."""
    complete = Graph.from_edges(*np.triu_indices(25, 1))
    knowledge = GraphKnowledge(complete, np.column_stack([np.arange(5)] * 2))
    hits = 0
    with patch.object(_chunks, "_PAIRS_FOR_TWINS", twins):
        for seed in range(60):
            guess = attack().run(released=complete, knowledge=knowledge, rng=np.random.default_rng(seed))
            hits += correct(guess, np.arange(25))
            even = np.repeat(1 / np.maximum(guess.considered, 1), guess.considered)
            np.testing.assert_allclose(guess.probability, even, rtol=1e-9)
    assert 25 < hits < 100  # mean 60, standard deviation 7.7


@pytest.mark.unwatched
@each
def test_more_seeds_and_more_overlap_help_on_average(attack: Any) -> None:
    original = heavy_tail(250, 4, 1)
    weak, seeds, overlap = (
        np.mean([found(attack(), original, seed, overlap=share, seed_pairs=count) for seed in range(6)])
        for share, count in ((0.7, 5), (0.7, 50), (0.99, 5))
    )
    # Seeds are no attempts, so that there is less to find with more of them.
    assert seeds / 200 > 1.3 * weak / 245
    assert overlap > 1.3 * weak


@each
def test_the_same_lots_give_the_same_guess(attack: Any) -> None:
    released, auxiliary = heavy_tail(60, 2, 1), heavy_tail(55, 3, 2)
    knowledge = GraphKnowledge(auxiliary, np.array([[0, 0], [5, 6], [9, 9]]))
    first, second, other = (
        attack(chunk=20).run(released=released, knowledge=knowledge, rng=np.random.default_rng(seed))
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.chosen, second.chosen)
    np.testing.assert_array_equal(first.candidate, second.candidate)
    np.testing.assert_array_equal(first.probability, second.probability)
    assert (first.chosen != other.chosen).any()


@each
def test_large_matrices_are_worked_on_in_parts(attack: Any) -> None:
    released, auxiliary = heavy_tail(60, 2, 1), heavy_tail(70, 3, 2)
    knowledge = GraphKnowledge(auxiliary, np.array([[0, 0], [5, 6], [9, 9]]))
    whole = attack(chunk=None).run(released=released, knowledge=knowledge, rng=np.random.default_rng(1))
    with patch.object(_chunks, "_PAIRS_AT_A_TIME", 150):
        parts = attack(chunk=None).run(released=released, knowledge=knowledge, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(whole.chosen, parts.chosen)
    np.testing.assert_array_equal(whole.probability, parts.probability)


@each
def test_pseudo_nodes_and_a_graph_that_is_larger(attack: Any) -> None:
    original = heavy_tail(60, 2, 1)
    one, other = original.ends
    released = Graph.from_edges([*one, *range(60, 90)], [*other, *range(30)], nodes=90)
    knowledge = GraphKnowledge(original, np.column_stack([np.arange(0, 60, 5)] * 2))
    guess = attack(chunk=30).run(released=released, knowledge=knowledge, rng=np.random.default_rng(1))
    assert guess.chosen is not None
    chosen = guess.chosen[guess.attempted]
    assert np.unique(chosen).size == chosen.size == 48
    assert (guess.chosen[knowledge.seeds[:, 0]] == -1).all()
    assert (guess.considered[knowledge.seeds[:, 0]] == 0).all()
    assert not np.isin(guess.candidate, knowledge.seeds[:, 1]).any()


@each
def test_where_every_node_is_a_seed_nothing_is_attempted(attack: Any) -> None:
    path = Graph.from_edges([0, 1], [1, 2])
    knowledge = GraphKnowledge(path, np.column_stack([np.arange(3)] * 2))
    guess = attack().run(released=path, knowledge=knowledge, rng=np.random.default_rng(1))
    assert not guess.attempted.any()


@each
def test_a_seed_that_nobody_can_reach_is_an_answer(attack: Any) -> None:
    released = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=6)
    knowledge = GraphKnowledge(released, np.array([[5, 5]]))
    guess = attack().run(released=released, knowledge=knowledge, rng=np.random.default_rng(1))
    assert guess.target_count == 6


@each
def test_too_many_pairs_are_refused_with_the_memory_they_need(attack: Any) -> None:
    graph = heavy_tail(60, 2, 1)
    knowledge = GraphKnowledge(graph, np.array([[0, 0]]))
    with patch.object(_chunks, "MOST_BYTES", 20 * 59 * 59 - 1):
        attack(chunk=30).run(released=graph, knowledge=knowledge, rng=np.random.default_rng(1))
        with pytest.raises(InputError, match=r"with chunk=None compares 3,481 pairs of nodes and needs about 0\.0 GB"):
            attack(chunk=None).run(released=graph, knowledge=knowledge, rng=np.random.default_rng(1))


@each
def test_no_seeds_and_no_edges_are_refused(attack: Any) -> None:
    graph, empty = heavy_tail(20, 2, 1), Graph.from_edges([], [], nodes=20)
    with pytest.raises(InputError, match="starts from seed pairs, but there are none"):
        attack().run(
            released=graph, knowledge=GraphKnowledge(graph, np.empty((0, 2), np.int64)), rng=np.random.default_rng(1)
        )
    with pytest.raises(InputError, match="the auxiliary graph has none"):
        attack().run(released=graph, knowledge=GraphKnowledge(empty, np.array([[0, 0]])), rng=np.random.default_rng(1))


@pytest.mark.parametrize(("rows", "columns", "chunk"), [(7, 7, 3), (10, 4, 3), (4, 10, 3), (2, 30, 5), (5, 5, None)])
def test_chunks_hold_every_node_once_unless_nobody_is_left_to_compare(
    rows: int, columns: int, chunk: int | None
) -> None:
    pairs = list(chunk_pairs(np.arange(rows), np.arange(columns), chunk))
    size = chunk or max(rows, columns)
    assert max(max(one.size, other.size) for one, other in pairs) <= size
    shorter = np.concatenate([pair[rows > columns] for pair in pairs])
    np.testing.assert_array_equal(shorter, np.arange(min(rows, columns)))
    for one, other in pairs:
        assert abs(one.size / rows - other.size / columns) < 1 / min(rows, columns)
    assert list(chunk_pairs(np.arange(0), np.arange(columns), chunk)) == []


@pytest.mark.parametrize("at_a_time", [1, 10**6])
def test_the_guess_is_the_one_all_graph_attacks_share(at_a_time: int) -> None:
    graph = heavy_tail(20, 2, 1)
    knowledge = GraphKnowledge(graph, np.array([[0, 0]]))
    rng = np.random.default_rng(1)
    blocks = []
    for rows, columns in ((np.array([5, 2, 9]), np.array([1, 4, 7])), (np.array([3, 4]), np.array([2, 3]))):
        scores = rng.random((rows.size, columns.size))
        scores[0] = 0
        blocks.append(NodeChunk(rows, columns, scores, rng.permutation(rows.size)))
    with patch.object(_chunks, "_PAIRS_AT_A_TIME", at_a_time):
        guess = guess_of(blocks, 20)
    target = np.concatenate([np.repeat(block.rows, block.columns.size) for block in blocks])
    candidate = np.concatenate([np.tile(block.columns, block.rows.size) for block in blocks])
    chosen = np.full(20, -1)
    for block in blocks:
        chosen[block.rows] = block.columns[block.chosen]
    scores = np.concatenate([block.scores.ravel() for block in blocks])
    expected = candidates_of(graph, knowledge, target, candidate, scores, chosen)
    for name in ("start", "candidate", "probability", "chosen"):
        np.testing.assert_allclose(getattr(guess, name), getattr(expected, name), atol=1e-15)
