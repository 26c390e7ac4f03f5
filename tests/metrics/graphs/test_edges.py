"""Claims about edges, measured: against looking at every pair, and with planted mappings."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.graph_attack_strategies import renumbered
from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.guesses.test_edge_claims import edges_of, pairs_of, rows
from tests.oracles.edge_claims import (
    adamic_adar,
    chances_of_edges,
    claimed_by_mapping,
    degree_products,
    right_by_lot,
    shared_node_variance,
)
from unveil._kernels.graph.rows import edge_keys
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge, original_among
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses import Candidates, EdgeClaims
from unveil.metrics import (
    edge_disclosure,
    edge_disclosure_lift,
    edge_disclosure_precision,
    edge_disclosure_recall,
    edge_guessing_precision,
    hidden_edges_disclosed,
)
from unveil.metrics.graphs.edges import rate_of_pairs
from unveil.metrics.trials.risk import clopper_pearson
from unveil.protections import Switch

PATH = Graph.from_edges([0, 1], [1, 2])
NO_PAIRS = np.empty((0, 2), np.int64)
NOBODY = GraphKnowledge(PATH, NO_PAIRS)


def sure(mapping: Any) -> Candidates:
    """Return the guess of a mapping, -1 for nobody."""
    chosen = np.asarray(mapping, np.int32)
    start = np.concatenate([[0], np.cumsum(chosen >= 0)])
    return Candidates(start, chosen[chosen >= 0], np.ones(int((chosen >= 0).sum())), chosen)


@given(
    graphs(min_nodes=3, max_nodes=9), st.sampled_from([1.0, 0.7]), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 999)
)
@settings(max_examples=80)
def test_everything_is_as_by_looking_at_every_pair(
    original: Graph, node_share: float, overlap: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    release = renumbered(original, seed)
    knowledge = draw_knowledge(release, overlap=overlap, seed_pairs=1, node_share=node_share, rng=rng)
    known, truth = knowledge.auxiliary, original_among(original, knowledge)
    names = np.arange(original.nodes) if knowledge.names is None else knowledge.names
    assert edges_of(truth) == {
        frozenset((one, other))
        for one in range(names.size)
        for other in range(one)
        if frozenset((int(names[one]), int(names[other]))) in edges_of(original)
    }
    chosen = rng.permutation(max(known.nodes, release.released.nodes))[: release.released.nodes]
    chosen = np.where(chosen < known.nodes, chosen, -1)
    guess = EdgeClaims.from_mapping(sure(chosen), released=release.released, knowledge=knowledge)
    chosen[knowledge.seeds[:, 0]] = knowledge.seeds[:, 1]
    wanted = claimed_by_mapping(edges_of(release.released), edges_of(known), chosen.tolist(), known.nodes)
    assert set(pairs_of(guess.keys, known.nodes)) == wanted
    hidden, found = edges_of(truth) - edges_of(known), edge_disclosure(guess, truth)
    right = wanted & hidden
    assert (found.claims, found.right, found.hidden) == (len(wanted), len(right), len(hidden))
    if wanted:
        assert edge_disclosure_precision(guess, truth) == found.precision.value == len(right) / len(wanted)
        scored = (adamic_adar(edges_of(known), known.nodes), degree_products(edges_of(known), known.nodes))
        guessed = [right_by_lot(scores, hidden, len(wanted)) / len(wanted) for scores in scored]
        assert edge_guessing_precision(guess, truth) == pytest.approx(max(guessed))
        assert (found.by_common_neighbors, found.by_degrees) == pytest.approx(tuple(guessed))
        if max(guessed):
            assert edge_disclosure_lift(guess, truth) == pytest.approx(len(right) / len(wanted) / max(guessed))
    else:
        assert all(math.isnan(each) for each in (found.precision.value, edge_disclosure_precision(guess, truth)))
        assert math.isnan(edge_guessing_precision(guess, truth))
    if hidden:
        assert edge_disclosure_recall(guess, truth) == found.recall.value == len(right) / len(hidden)
    else:
        assert math.isnan(edge_disclosure_recall(guess, truth))
    own = [sum(node in edge for edge in hidden) for node in range(known.nodes)]
    told = [sum(node in edge for edge in right) for node in range(known.nodes)]
    np.testing.assert_allclose(
        hidden_edges_disclosed(guess, truth),
        [mine / whole if whole else math.nan for mine, whole in zip(told, own, strict=True)],
    )
    assert found.worst == max(told)
    assert (found.people, found.some) == (sum(n > 0 for n in own), sum(n > 0 for n in told))
    assert found.all_of == sum(mine == whole > 0 for mine, whole in zip(told, own, strict=True))


@given(graphs(min_nodes=2, max_nodes=8), graphs(min_nodes=2, max_nodes=8), st.floats(0.3, 1), st.integers(0, 999))
@settings(max_examples=60)
def test_with_chances_whatever_is_more_likely_than_not_is_claimed(
    released: Graph, known: Graph, original_share: float, seed: int
) -> None:
    chances, _ = rows(np.random.default_rng(seed), released.nodes, known.nodes)
    total = np.add.reduceat(np.append(chances[2], 0), chances[0][:-1]) * (np.diff(chances[0]) > 0)
    guess = Candidates(chances[0], chances[1], chances[2] / np.repeat(total, np.diff(chances[0])))
    pairs = [[0, 1]] if seed % 2 else NO_PAIRS
    knowledge = GraphKnowledge(known, np.array(pairs))
    written = [
        dict(zip(guess.candidate[a:b].tolist(), guess.probability[a:b].tolist(), strict=True))
        for a, b in zip(guess.start[:-1], guess.start[1:], strict=True)
    ]
    if seed % 2:
        written[0] = {1: 1.0}
    # As many released edges are original and unknown, and of those that are unknown the share that is original.
    heard_of = released.edges * min(1, known.nodes / released.nodes) ** 2
    new, old = (1 - original_share) * heard_of, original_share * heard_of
    unknown = old * (1 - min(1, known.edges / heard_of)) if heard_of else 0
    fresh = 1.0 if original_share == 1 else unknown / (unknown + new) if heard_of else 0.0
    every = chances_of_edges(edges_of(released), edges_of(known), written, known.nodes, fresh, 1e-3)
    assume(all(abs(value - 0.5) > 1e-9 for value in every.values()))
    found = EdgeClaims.from_chances(guess, released=released, knowledge=knowledge, original_share=original_share)
    assert found.probability is not None
    stated = dict(zip(pairs_of(found.keys, known.nodes), found.probability.tolist(), strict=True))
    assert stated == pytest.approx({pair: value for pair, value in every.items() if value > 0.5})


@pytest.mark.unwatched
def test_stated_chances_of_edges_are_as_often_right_as_they_say() -> None:
    # All are found, and a tenth of the released edges are new: then most that the adversary did not know are.
    original = heavy_tail(600, 6, 1)
    stated, right = [], []
    for seed in range(5):
        release = Switch(share=0.05).apply(original, rng=np.random.default_rng(seed))
        knowledge = draw_knowledge(release, overlap=0.8, seed_pairs=0, rng=np.random.default_rng(seed))
        guess = EdgeClaims.from_chances(
            sure(release.truth), released=release.released, knowledge=knowledge, original_share=0.9
        )
        found = edge_disclosure(guess, original)
        stated.append(found.expected)
        right.append(found.precision.value)
    assert np.mean(right) == pytest.approx(np.mean(stated), abs=0.02)
    assert 0.6 < np.mean(stated) < 0.7


def test_a_mapping_without_a_choice_claims_only_where_one_candidate_is_likeliest() -> None:
    path, nothing = Graph.from_edges([0, 1], [1, 2]), Graph.from_edges([], [], nodes=3)
    guess = Candidates.from_matrix([[0.6, 0.4, 0.0], [0.2, 0.7, 0.1], [0.0, 0.5, 0.5]])
    knowledge = GraphKnowledge(nothing, NO_PAIRS)
    assert pairs_of(EdgeClaims.from_mapping(guess, released=path, knowledge=knowledge).keys, 3) == [frozenset((0, 1))]


def test_the_interval_allows_for_claims_that_share_a_node() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        graph = erdos_renyi(12, 0.4, int(rng.integers(1000)))
        hit = rng.random(graph.edges) < 0.6
        if hit.all() or not hit.any():
            continue
        wanted = shared_node_variance(pairs_of(graph.keys, 12), hit.tolist())
        found = rate_of_pairs(graph.keys, hit, 12, why="")
        assert found.worth <= graph.edges
        if wanted > 0 and 1 < found.worth < graph.edges:
            share = hit.mean()
            least = graph.edges**2 / ((graph.degrees**2).sum() - graph.edges)
            assert found.worth == pytest.approx(max(share * (1 - share) / wanted, least))
    apart = edge_keys(np.arange(0, 20, 2), np.arange(1, 20, 2), 20)
    alike, plain = rate_of_pairs(apart, np.ones(10, np.bool_), 20, why=""), clopper_pearson(10, 10)
    assert (alike.low, alike.high) == pytest.approx((plain.low, plain.high))


@pytest.mark.unwatched
def test_intervals_hold_the_truth_where_nodes_are_wrong_and_plain_ones_do_not() -> None:
    # Each node is mapped rightly with the same chance, and an edge is claimed rightly if both its ends are.
    graph, held, plainly = heavy_tail(400, 3, 1), [], []
    one, other = graph.ends
    for seed in range(300):
        good = np.random.default_rng(seed).random(graph.nodes) < 0.8
        hit = good[one] & good[other]
        found, plain = rate_of_pairs(graph.keys, hit, graph.nodes, why=""), clopper_pearson(hit.sum(), hit.size)
        held.append(found.low <= 0.64 <= found.high)
        plainly.append(plain.low <= 0.64 <= plain.high)
    assert np.mean(held) > 0.85
    assert np.mean(plainly) < 0.75


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: EdgeClaims(PATH, np.array([1])),
            "Some claims are edges of the auxiliary graph, repeated, or not ascending",
        ),
        (
            lambda: EdgeClaims(PATH, np.array([2, 2])),
            "Some claims are edges of the auxiliary graph, repeated, or not ascending",
        ),
        (
            lambda: EdgeClaims(PATH, np.array([9])),
            "Some claims are not pairs of the 3 auxiliary nodes, smaller number first",
        ),
        (
            lambda: EdgeClaims(PATH, np.array([3])),
            "Some claims are not pairs of the 3 auxiliary nodes, smaller number first",
        ),
        (
            lambda: EdgeClaims(PATH, np.array([2]), np.array([2.0])),
            "The number of probabilities differs from the 1 claims",
        ),
        (lambda: edge_disclosure_recall(EdgeClaims(PATH, np.array([2])), Graph.from_edges([0], [1])), "original_among"),
        (
            lambda: EdgeClaims.from_mapping(sure(np.array([0])), released=PATH, knowledge=NOBODY),
            "The guess has 1 targets for 3 released nodes",
        ),
        (lambda: EdgeClaims.from_mapping(sure(np.arange(2, 5)), released=PATH, knowledge=NOBODY), "3 auxiliary nodes"),
        (
            lambda: EdgeClaims.from_chances(sure(np.arange(3)), released=PATH, knowledge=NOBODY, original_share=2),
            "share of original edges",
        ),
    ],
)
def test_claims_that_cannot_be_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
