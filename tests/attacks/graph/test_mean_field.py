"""Mean-field matching: who is found without knowing anybody, what symmetry forbids, and what is refused."""

import numpy as np
import pytest

from tests.graph_attack_strategies import renumbered, right
from tests.graph_strategies import erdos_renyi, heavy_tail
from unveil.attacks.graph.mean_field import MeanField
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses import Candidates

NO_SEEDS = np.empty((0, 2), np.int64)
WAYS = pytest.mark.parametrize("attack", [MeanField(), MeanField(candidates=10)], ids=["all", "few"])


def run(attack: MeanField, released: Graph, knowledge: GraphKnowledge, seed: int = 1) -> Candidates:
    return attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(seed))


@WAYS
def test_all_nodes_of_a_copy_without_twins_are_found_without_knowing_anybody(attack: MeanField) -> None:
    release = renumbered(erdos_renyi(90, 0.1, 4), 4)
    guess = run(attack, release.released, GraphKnowledge(release.original, NO_SEEDS))
    assert right(guess, release.truth) == 90
    assert guess.probability.max() > 0.99


@WAYS
def test_leaves_of_a_star_are_found_by_chance_alone(attack: MeanField) -> None:
    star = Graph.from_edges([0] * 9, range(1, 10))
    found = []
    for seed in range(200):
        release = renumbered(star, seed)
        guess = run(attack, release.released, GraphKnowledge(star, NO_SEEDS), seed)
        found.append(right(guess, release.truth))
        np.testing.assert_allclose(np.sort(guess.probability), [*[1 / 9] * 81, 1.0], atol=2e-3)
    # The middle, and of nine leaves as many as of nine letters in nine envelopes: mean 1, deviation 1.
    assert abs(np.mean(found) - 2) < 3 / np.sqrt(200)


@WAYS
def test_what_is_believed_does_not_depend_on_numbers(attack: MeanField) -> None:
    release = renumbered(heavy_tail(70, 4, 2), 2)
    knowledge = draw_knowledge(release, overlap=0.9, seed_pairs=3, rng=np.random.default_rng(2))
    one = run(attack, release.released, knowledge)
    number = np.random.default_rng(9).permutation(70)
    moved = GraphKnowledge(knowledge.auxiliary, np.column_stack([number[knowledge.seeds[:, 0]], knowledge.seeds[:, 1]]))
    other = run(attack, release.released.relabelled(number), moved, 8)

    def written_out(guess: Candidates) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        whole = np.zeros((70, 70))
        whole[np.repeat(np.arange(70), guess.considered), guess.candidate] = guess.probability
        return whole

    np.testing.assert_allclose(written_out(other)[number], written_out(one), atol=5e-3)


@WAYS
def test_chances_are_probabilities(attack: MeanField) -> None:
    believed, hits, asked = 0.0, 0, 0
    for seed in range(6):
        release = renumbered(heavy_tail(150, 3, seed), seed)
        knowledge = draw_knowledge(release, overlap=0.6, seed_pairs=15, rng=np.random.default_rng(seed))
        guess = run(attack, release.released, knowledge, seed)
        believed += float(guess.probability[guess.entry_of(guess.chosen)[guess.attempted]].sum())  # type: ignore[arg-type]
        hits, asked = hits + right(guess, release.truth), asked + int(guess.attempted.sum())
    assert 0.5 < hits / asked < 0.97
    assert abs(believed - hits) / asked < 0.1


def test_a_node_that_fits_nobody_is_not_attempted() -> None:
    # A hub of forty leaves that nobody in the auxiliary graph resembles.
    original = erdos_renyi(60, 0.15, 7)
    one, other = original.ends
    grown = Graph.from_edges(np.append(one, [60] * 40), np.append(other, np.arange(40)), nodes=61)
    knowledge = GraphKnowledge(original, np.column_stack([np.arange(20)] * 2))
    for attack in (MeanField(), MeanField(candidates=20)):
        chosen = run(attack, grown, knowledge).chosen
        assert chosen is not None
        assert chosen[60] == -1
        # One of few connections may be given up where candidates are few, but nobody is taken for another.
        given_up = chosen[20:60] == -1
        assert given_up.sum() <= (attack.candidates == 20)
        assert (given_up | (chosen[20:60] == np.arange(20, 60))).all()


def test_what_takes_too_much_memory_is_refused_before_it_begins() -> None:
    large = Graph.from_edges([0], [1], nodes=20_000)
    nobody_known = GraphKnowledge(large, NO_SEEDS)
    with pytest.raises(InputError, match=r"needs about 25\.6 GB for comparing 20,000 with 20,000 nodes.*candidates=30"):
        run(MeanField(candidates="all"), large, nobody_known)
    with pytest.raises(InputError, match=r"keeping 20,000 candidates for each of 20,000 nodes.*Lower candidates"):
        run(MeanField(candidates=10**9), large, nobody_known)


def test_large_graphs_start_from_another_mapping_and_that_needs_seeds() -> None:
    large = Graph.from_edges(np.arange(30_000), np.arange(1, 30_001))
    with pytest.raises(InputError, match=r"above 30,000 nodes mean-field starts from the mapping of korula-lattanzi"):
        run(MeanField(), large, GraphKnowledge(large, NO_SEEDS))
    # Of a path with a known end, and every second node known, the others are found one after the other.
    known = np.arange(0, 30_001, 2)
    guess = run(MeanField(), large, GraphKnowledge(large, np.column_stack([known, known])))
    assert right(guess, np.arange(30_001)) == 15_000


@pytest.mark.parametrize("candidates", [0, -3, 2.5, "some", True])
def test_candidates_are_a_number_or_all(candidates: object) -> None:
    with pytest.raises(InputError, match="candidates must be a whole number of at least 1"):
        MeanField(candidates=candidates)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "8", True])
def test_slack_and_memory_are_numbers(value: object) -> None:
    with pytest.raises(InputError, match="it must be a finite number"):
        MeanField(slack=value)  # type: ignore[arg-type]
    for wrong in (value, 0, -1.0):
        with pytest.raises(InputError, match="it must be a number of GB above 0"):
            MeanField(memory=wrong)  # type: ignore[arg-type]
