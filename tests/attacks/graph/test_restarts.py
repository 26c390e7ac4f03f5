"""Starts of mean-field matching: features as their definitions say, the best of several, and what a failure states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_attack_strategies import renumbered, right
from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from unveil._kernels.graph.mean_field import Field, pair_of
from unveil.attacks import MeanField
from unveil.attacks.graph._features import feature_prior, node_features, thinned_copies
from unveil.attacks.graph._restarts import FieldSolution, explained_share, noisy_copy, starts_of
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses import Candidates

NO_SEEDS = np.empty((0, 2), np.int64)


def small_world(nodes: int, seed: int) -> Graph:
    """Return a ring in which each node knows the next four on either side, and some of them a random one instead."""
    rng = np.random.default_rng(seed)
    one = np.repeat(np.arange(nodes), 4)
    other = (one + np.tile(np.arange(1, 5), nodes)) % nodes
    other = np.where(rng.random(one.size) < 0.15, rng.integers(0, nodes, one.size), other)
    kept = one != other
    return Graph.from_edges(one[kept], other[kept], nodes=nodes)


def stated(guess: Candidates) -> float:
    """Return the mean probability of the choices."""
    assert guess.chosen is not None
    return float(guess.probability[guess.entry_of(guess.chosen)[guess.attempted]].mean())


def features_by_definition(graph: Graph) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    near: list[set[int]] = [set() for _ in range(graph.nodes)]
    for one, other in zip(*(ends.tolist() for ends in graph.ends), strict=True):
        near[one].add(other)
        near[other].add(one)
    degree = [len(each) for each in near]

    def mean(value: list[float], node: int) -> float:
        return sum(value[each] for each in near[node]) / max(degree[node], 1)

    walks, columns = [[float(each) for each in degree]], []
    for _ in range(4):
        walks.append([sum(walks[-1][other] for other in near[node]) for node in range(graph.nodes)])
    logs, inverse = [np.log1p(each) for each in degree], [1 / max(each, 1) for each in degree]
    triangles = [sum(b in near[a] for a in each for b in each) / 2 for each in near]
    for node in range(graph.nodes):
        row = [2 * np.sqrt(degree[node] + 0.25), 2 * np.sqrt(triangles[node] + 0.25)]
        row += [np.log1p(each[node]) for each in walks[1:]]
        for value in (logs, inverse):
            row += [mean(value, node), mean([mean(value, each) for each in range(graph.nodes)], node)]
        variance = mean([each**2 for each in logs], node) - mean(logs, node) ** 2
        row.append(np.sqrt(variance) if variance > 1e-10 else 0.0)
        row.append(max((logs[each] for each in near[node]), default=0.0))
        columns.append(row)
    core = [float(each) for each in degree]
    for _ in range(3):
        core = [
            max((h for h in range(graph.nodes) if sum(core[each] >= h for each in near[node]) >= h), default=0)
            for node in range(graph.nodes)
        ]
        columns = [[*row, np.log1p(each)] for row, each in zip(columns, core, strict=True)]
    reached = [{node} | near[node] for node in range(graph.nodes)]
    for _ in range(3):
        reached = [set().union(*({other} | near[other] for other in each)) for each in reached]
        columns = [[*row, np.log(len(each))] for row, each in zip(columns, reached, strict=True)]
    table = np.array(columns)
    return np.asarray((table - table.mean(axis=0)) / (table.std(axis=0) + 1e-9), np.float64)


@given(graphs(min_nodes=2, max_nodes=9))
@settings(max_examples=40)
def test_features_are_what_their_definitions_say(graph: Graph) -> None:
    found, expected = node_features(graph), features_by_definition(graph)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@given(graphs(min_nodes=2, max_nodes=12), st.integers(0, 99))
def test_features_do_not_depend_on_numbers(graph: Graph, seed: int) -> None:
    number = np.random.default_rng(seed).permutation(graph.nodes)
    np.testing.assert_allclose(node_features(graph.relabelled(number))[number], node_features(graph), atol=1e-4)


def test_features_tell_nodes_of_a_small_world_better_apart_than_degrees() -> None:
    graph = small_world(200, 1)
    release = renumbered(graph, 1)
    knowledge = draw_knowledge(release, overlap=0.85, seed_pairs=0, rng=np.random.default_rng(1))
    nodes = np.arange(200), np.arange(200)
    surroundings = node_features(release.released), node_features(knowledge.auxiliary)
    rng = np.random.default_rng(1)
    prior = feature_prior(release.released, knowledge.auxiliary, surroundings, 0.9, nodes, rng)
    true = prior[np.arange(200), release.truth]
    better = (prior > true[:, None]).mean(axis=1)
    assert np.median(better) < 0.25


@pytest.mark.unwatched
def test_a_small_world_is_found_without_knowing_anybody_where_degrees_fail() -> None:
    release = renumbered(small_world(250, 3), 3)
    knowledge = draw_knowledge(release, overlap=0.9, seed_pairs=0, rng=np.random.default_rng(3))
    found = {}
    for start in ("features", "degrees"):
        attack = MeanField(start=start)
        guess = attack.run(released=release.released, knowledge=knowledge, rng=np.random.default_rng(3))
        found[start] = right(guess, release.truth)
    assert found["features"] > 220 > 125 > found["degrees"]


@pytest.mark.unwatched
def test_a_failed_attack_states_small_chances() -> None:
    """Nobody of a graph of others is found, and next to nothing is claimed."""
    for nodes, degree, seed in ((200, 6.0, 2), (400, 10.0, 5)):
        released = erdos_renyi(nodes, degree / nodes, seed)
        others = erdos_renyi(nodes, degree / nodes, 100 + seed)
        knowledge = GraphKnowledge(others, NO_SEEDS)
        guess = MeanField().run(released=released, knowledge=knowledge, rng=np.random.default_rng(seed))
        assert stated(guess) < 0.1
        assert "No two starts" in (MeanField().doubt(guess, released, knowledge) or "")
        assert MeanField(candidates=9).doubt(guess, released, knowledge) is None
        assert guess.elsewhere is not None
        sums = np.bincount(np.repeat(np.arange(nodes), guess.considered), guess.probability, nodes) + guess.elsewhere
        np.testing.assert_allclose(sums[guess.attempted], 1, atol=1e-6)


def test_small_graphs_and_one_start_from_degrees_are_not_checked() -> None:
    release = renumbered(heavy_tail(45, 2, 1), 1)
    knowledge = draw_knowledge(release, overlap=0.7, seed_pairs=0, rng=np.random.default_rng(1))
    guess = MeanField().run(released=release.released, knowledge=knowledge, rng=np.random.default_rng(1))
    assert guess.elsewhere is None
    assert MeanField().doubt(guess, release.released, knowledge) is None
    assert [each.overlap for each in starts_of("degrees", 3)] == [None]


@given(st.sampled_from([0.4, 0.8, 1.0]), st.integers(20, 40), st.integers(0, 99))
def test_a_copy_is_as_large_as_the_auxiliary_graph_and_shares_so_many_edges(
    overlap: float, others: int, seed: int
) -> None:
    released = erdos_renyi(40, 0.2, seed)
    auxiliary = erdos_renyi(others, 0.15, seed + 1000)
    rng = np.random.default_rng(seed)
    copy, own = noisy_copy(released, auxiliary, overlap, rng)
    assert copy.nodes == own.size == others
    assert copy.edges <= auxiliary.edges
    common = set(zip(*(own[ends].tolist() for ends in copy.ends), strict=True)) & set(
        zip(*(ends.tolist() for ends in released.ends), strict=True)
    )
    # Random edges may be released ones, too, or be drawn twice; and at most 98 % of the edges of the release are kept.
    assert len(common) >= np.floor(overlap * 0.97 * copy.edges) - 1
    one, other, kept = thinned_copies(released, auxiliary, overlap, rng)
    assert (one.nodes, other.nodes, kept.size) == (40, others, others)


def test_the_better_of_two_solutions_is_kept_and_a_flat_one_is_none() -> None:
    sure = np.eye(4, dtype=np.float32)
    even = np.full((4, 4), 0.25, np.float32)

    def field(chances: np.ndarray, objective: float, common: float) -> Field:
        return Field(chances, np.zeros(4), np.log(chances + 1e-9), 2.0, objective, common, 0.0)

    one = FieldSolution(field(sure, -5.0, 9.0))
    assert not one.converged
    both = one.or_better(field(sure, -4.0, 9.0))
    assert both.converged
    assert both.field.objective == -4.0
    # Even chances have the better free energy here, and nothing in common.
    assert one.or_better(field(even, -1.0, 2.0)).field.objective == -5.0
    np.testing.assert_allclose(one.or_better(field(even, -9.0, 8.0)).support(np.arange(4), np.arange(4)), 0.25)


def test_all_edges_are_explained_by_the_true_mapping() -> None:
    graph = erdos_renyi(60, 0.15, 2)
    every = np.arange(60)
    pair = pair_of(graph.to_sparse(), graph.to_sparse(), NO_SEEDS, every, every)
    field = Field(np.eye(60, dtype=np.float32), np.zeros(60), np.eye(60, dtype=np.float32), 2.0, 0.0, 1.0, 0.0)
    solution = FieldSolution(field).or_better(field)
    assert explained_share(solution, pair, every, every) == 1.0
    shifted = np.roll(every, 1)
    assert explained_share(solution, pair, every, shifted) < 0.5


@pytest.mark.parametrize(("setting", "value"), [("start", "core"), ("start", 2), ("restarts", 0), ("restarts", 1.5)])
def test_starts_are_named_and_restarts_counted(setting: str, value: object) -> None:
    with pytest.raises(InputError, match=setting):
        MeanField(**{setting: value})  # type: ignore[arg-type]


@pytest.mark.unwatched
@pytest.mark.parametrize("seed_pairs", [0, 5])
def test_graphs_of_different_size_are_attacked_and_the_experiment_has_as_few_nodes(seed_pairs: int) -> None:
    release = renumbered(erdos_renyi(140, 0.04, 5), 5)
    knowledge = draw_knowledge(
        release, overlap=0.95, seed_pairs=seed_pairs, node_share=0.9, rng=np.random.default_rng(5)
    )
    guess = MeanField().run(released=release.released, knowledge=knowledge, rng=np.random.default_rng(5))
    assert guess.chosen is not None
    assert (guess.chosen[guess.attempted] < knowledge.auxiliary.nodes).all()
    assert not guess.attempted[knowledge.seeds[:, 0]].any()
    truth = knowledge.in_auxiliary_numbers(release.truth)
    found = (guess.chosen == truth)[guess.attempted].mean()
    assert abs(stated(guess) - found) < 0.15
