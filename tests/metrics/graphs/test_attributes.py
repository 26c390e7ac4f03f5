"""Claims about values of people, measured: against adding up by hand, and with planted values."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import graphs
from tests.guesses.test_edge_claims import edges_of, rows
from tests.oracles.edge_claims import own_values, value_chances
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses import Candidates, ValueClaims
from unveil.metrics import (
    attribute_disclosure,
    attribute_disclosure_accuracy,
    attribute_disclosure_gain,
    attribute_guessing_accuracy,
)

STAR = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])


@given(graphs(min_nodes=3, max_nodes=8), graphs(min_nodes=3, max_nodes=8), st.integers(1, 3), st.integers(0, 9999))
@settings(max_examples=80)
def test_claims_and_guesses_are_those_of_adding_up(released: Graph, known: Graph, many: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chances, _ = rows(rng, released.nodes, known.nodes)
    # Round chances, so that ties between values happen and are the same in any order.
    parts = rng.integers(1, 4, chances[2].size).astype(float)
    total = np.add.reduceat(np.append(parts, 0), chances[0][:-1]) * (np.diff(chances[0]) > 0)
    guess = Candidates(chances[0], chances[1], parts / np.repeat(total, np.diff(chances[0])))
    pairs = np.array([[0, 1], [1, 0]])[: int(rng.integers(0, 3))]
    values = rng.integers(-1, many, released.nodes)
    values[2] = 0
    truth = rng.integers(-1, many, known.nodes)
    knowledge = GraphKnowledge(known, pairs)
    found = ValueClaims.from_chances(guess, values, released=released, knowledge=knowledge)
    written = [
        dict(zip(guess.candidate[a:b].tolist(), guess.probability[a:b].tolist(), strict=True))
        for a, b in zip(guess.start[:-1], guess.start[1:], strict=True)
    ]
    for one, other in pairs.tolist():
        written[one] = {other: 1.0}
    sums = value_chances(written, values.tolist(), known.nodes, many)
    held = {other: int(values[one]) for one, other in pairs.tolist() if values[one] >= 0}
    own = own_values(edges_of(known), held, values.tolist(), known.nodes, many)
    right, guessed = [], []
    for person in range(known.nodes):
        if person in pairs[:, 1].tolist() or truth[person] < 0:
            continue
        best = {v for v in range(many) if sums[person][v] > 0 and sums[person][v] >= max(sums[person]) - 1e-9}
        likely = best or own[person]
        right.append((truth[person] in likely) / len(likely))
        guessed.append((truth[person] in own[person]) / len(own[person]))
    if not right:
        assert math.isnan(attribute_disclosure_accuracy(found, truth))
        assert attribute_disclosure(found, truth).rarest is None
        return
    # A sum of thirds may miss its twin by its last bit, and then is no tie: those cases are not compared.
    if all(len({round(x, 9) for x in row}) == len(set(row)) for row in sums):
        assert attribute_disclosure_accuracy(found, truth) == pytest.approx(np.mean(right))
    assert attribute_guessing_accuracy(found, truth) == pytest.approx(np.mean(guessed))
    assert attribute_disclosure_gain(found, truth) == pytest.approx(
        attribute_disclosure_accuracy(found, truth) - attribute_guessing_accuracy(found, truth)
    )


def test_a_value_that_all_of_a_class_share_is_learned_although_nobody_is_found() -> None:
    # Four leaves that nobody can tell apart, and all of them have the rare value.
    guess = Candidates.from_scores(np.where(np.arange(5)[:, None] == 0, [1, 0, 0, 0, 0], [0, 1, 1, 1, 1]))
    knowledge = GraphKnowledge(STAR, np.array([[0, 0]]))
    found = ValueClaims.from_chances(guess, [0, 1, 1, 1, 1], released=STAR, knowledge=knowledge)
    assert attribute_disclosure_accuracy(found, [0, 1, 1, 1, 1]) == 1.0
    assert attribute_guessing_accuracy(found, [0, 1, 1, 1, 1]) == 0.0  # they are joined to somebody who has the other
    # A mapping that takes every leaf for another one tells their values all the same.
    wrong = Candidates(np.arange(6), np.array([0, 2, 1, 4, 3], np.int32), np.ones(5))
    mapped = ValueClaims.from_mapping(wrong, [0, 1, 1, 2, 2], released=STAR, knowledge=knowledge)
    assert attribute_disclosure_accuracy(mapped, [0, 1, 1, 2, 2]) == 1.0


def test_what_is_planted_is_told_by_value_the_rarest_last() -> None:
    nothing = Graph.from_edges([], [], nodes=6)
    knowledge = GraphKnowledge(nothing, np.empty((0, 2), np.int64))
    chosen = np.array([0, 1, 2, 3, 5, -1], np.int32)
    guess = Candidates(np.array([0, 1, 2, 3, 4, 5, 5]), chosen[:5], np.ones(5), chosen)
    values = np.array([0, 0, 0, 1, 1, 2])
    found = attribute_disclosure(ValueClaims.from_mapping(guess, values, released=nothing, knowledge=knowledge), values)
    # Node 4 is mapped to nobody and guessed, 5 is taken for one with value 1.
    assert (found.people, found.read, found.accuracy.value, found.guessing.value) == (6, 5, 4 / 6, 3 / 6)
    assert [(each.value, each.people, each.accuracy, each.guessing) for each in found.by_value] == [
        (0, 3, 1.0, 1.0),
        (1, 2, 0.5, 0.0),
        (2, 1, 0.0, 0.0),
    ]
    assert found.rarest is not None
    assert (found.rarest.value, math.isnan(found.rarest.gain.low)) == (2, True)
    assert found.gain.low < found.gain.value < found.gain.high


def test_values_that_do_not_fit_are_refused() -> None:
    guess = Candidates(np.arange(6), np.arange(5, dtype=np.int32), np.ones(5))
    knowledge = GraphKnowledge(STAR, np.array([[0, 0]]))
    with pytest.raises(InputError, match="the values differ in number from the 5 released nodes"):
        ValueClaims.from_mapping(guess, [0, 1], released=STAR, knowledge=knowledge)
    found = ValueClaims.from_mapping(guess, [0, 1, 1, 1, 1], released=STAR, knowledge=knowledge)
    with pytest.raises(InputError, match="the truth does not have one whole number per auxiliary node"):
        attribute_disclosure_gain(found, [0, 1])
