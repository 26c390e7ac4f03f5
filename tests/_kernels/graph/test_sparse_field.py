"""A mean field with a few candidates is the whole one where all are kept, and near it where few are."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_attack_strategies import random_case, renumbered
from tests.graph_strategies import erdos_renyi, heavy_tail
from tests.oracles.mean_field import balanced_with_slack
from unveil._kernels.graph import mean_field as _mean
from unveil._kernels.graph import sparse_field as _sparse
from unveil._kernels.graph.mean_field import expected_witnesses, mean_field, pair_of
from unveil._kernels.graph.sparse_field import EMPTY, Graphs, _balance, _best, graphs_of, sparse_field
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge


def both(released: Graph, auxiliary: Graph, seeds: IntArray) -> Graphs:
    return graphs_of(released.start, released.neighbour, auxiliary.start, auxiliary.neighbour, seeds)


def written_out(candidate: IntArray, value: FloatArray, columns: int) -> FloatArray:
    whole = np.zeros((len(candidate), columns))
    row, place = np.nonzero(candidate != EMPTY)
    whole[row, candidate[row, place]] = value[row, place]
    return whole


@pytest.mark.parametrize(("nodes", "seed"), [(9, 1), (40, 2)])
def test_expected_witnesses_and_the_best_candidates_are_those_of_the_whole_matrix(nodes: int, seed: int) -> None:
    case = random_case(seed, nodes=nodes, probability=0.2, seeds=3)
    released, auxiliary, seeds = case.released, case.knowledge.auxiliary, case.knowledge.seeds
    graphs, rng = both(released, auxiliary, seeds), np.random.default_rng(seed)
    free = np.setdiff1d(np.arange(released.nodes), seeds[:, 0])
    columns = np.setdiff1d(np.arange(auxiliary.nodes), seeds[:, 1])
    candidate = np.full((released.nodes, 4), EMPTY)
    candidate[free] = [rng.choice(columns, 4, replace=False) for _ in free]
    candidate[seeds[:, 0], 0] = seeds[:, 1]
    chance = rng.dirichlet(np.ones(4), released.nodes)
    chance[seeds[:, 0]] = [1.0, 0.0, 0.0, 0.0]
    column = rng.standard_normal(auxiliary.nodes)
    pair = pair_of(released.to_sparse(), auxiliary.to_sparse(), seeds, free, columns)
    dense = written_out(candidate, np.where(chance >= 1e-3, chance, 0), auxiliary.nodes)[np.ix_(free, columns)]
    expected = expected_witnesses(pair, dense.astype(np.float32))
    value = 1.5 * expected + pair.prior[pair.kind[:, None], pair.other_kind] + column[columns]
    chosen, witnesses = _best(graphs, candidate, chance, column, 1.5, 3)
    for at, row in enumerate(free.tolist()):
        # Of those that have a witness, or were candidates before.
        looked_at = np.flatnonzero((expected[at] > 0) | np.isin(columns, candidate[row]))
        best = looked_at[np.argsort(-value[at, looked_at])[:3]]
        assert sorted(chosen[row][chosen[row] >= 0].tolist()) == sorted(columns[best].tolist())
        place = np.searchsorted(columns, chosen[row][chosen[row] >= 0])
        np.testing.assert_allclose(witnesses[row][chosen[row] >= 0], expected[at, place], rtol=1e-5)


def test_with_all_candidates_it_ends_where_the_whole_field_does() -> None:
    release = renumbered(erdos_renyi(24, 0.25, 3), 3)
    knowledge = draw_knowledge(release, overlap=0.75, seed_pairs=2, rng=np.random.default_rng(3))
    released, auxiliary, seeds = release.released, knowledge.auxiliary, knowledge.seeds
    free, columns = (np.setdiff1d(np.arange(24), seeds[:, side]) for side in (0, 1))
    pair = pair_of(released.to_sparse(), auxiliary.to_sparse(), seeds, free, columns)
    of_few = patch.multiple(_sparse, MOST_STEPS=40, SETTLED=0.0, ROUNDS=200, _LEAST_CHANCE=1e-9)
    with of_few, patch.multiple(_mean, LAST_STEPS=40, ROUNDS=200, LAST_ROUNDS=200):
        few, whole = sparse_field(both(released, auxiliary, seeds), 24, slack=-8.0), mean_field(pair, slack=-8.0)
    dense = written_out(few.candidate, few.chance, 24)[np.ix_(free, columns)]
    assert 0.5 < dense.max(axis=1).mean() < 0.999
    np.testing.assert_allclose(dense, whole.chances, atol=1e-4)
    np.testing.assert_allclose(few.nobody[free], whole.nobody, atol=1e-4)
    assert few.ratio == pytest.approx(whole.ratio, abs=1e-3)


@pytest.mark.parametrize("start", ["degrees", "mapping"])
def test_few_candidates_find_nearly_all_whom_a_large_graph_gives_away(start: str) -> None:
    release = renumbered(heavy_tail(400, 6, 5), 5)
    knowledge = draw_knowledge(release, overlap=0.95, seed_pairs=0, rng=np.random.default_rng(5))
    mapping = None
    if start == "mapping":
        # A third is known, another third is wrong, and of the rest nothing is.
        order = np.random.default_rng(6).permutation(400)
        mapping = np.full(400, EMPTY)
        mapping[order[:130]] = release.truth[order[:130]]
        mapping[order[130:260]] = np.roll(release.truth[order[130:260]], 1)
    field = sparse_field(both(release.released, knowledge.auxiliary, knowledge.seeds), 15, slack=-8.0, mapping=mapping)
    best = field.candidate[np.arange(400), field.chance.argmax(axis=1)]
    assert (best == release.truth).mean() > 0.95
    assert ((field.chance.sum(axis=1) + field.nobody) < 1 + 1e-9).all()
    assert field.moved < 5e-4


@given(
    seed=st.integers(0, 10**6),
    width=st.integers(1, 6),
    absent=st.sampled_from([0, 3]),
    rest=st.sampled_from([1.0, 0.1]),
)
@settings(max_examples=15, deadline=None)
def test_pairs_that_are_not_kept_weigh_what_degrees_say(seed: int, width: int, absent: int, rest: float) -> None:
    case = random_case(seed, nodes=12, probability=0.3, seeds=2)
    graphs, rng = both(case.released, case.knowledge.auxiliary, case.knowledge.seeds), np.random.default_rng(seed)
    free, columns = np.flatnonzero(graphs.partner < 0), np.flatnonzero(~graphs.taken)
    candidate, logs = np.full((graphs.partner.size, width), EMPTY), np.zeros((graphs.partner.size, width))
    candidate[graphs.partner >= 0, 0] = graphs.partner[graphs.partner >= 0]
    prior = graphs.prior[graphs.kind[:, None], graphs.other_kind]
    whole = prior + np.log(rest)
    for row in free:
        candidate[row] = rng.choice(columns, width, replace=False)
        logs[row] = prior[row, candidate[row]] + rng.exponential(3.0, width)
        whole[row, candidate[row]] = logs[row]
    column = rng.standard_normal(graphs.taken.size)
    found = _balance(graphs, candidate, logs, column, -4.0, absent, rest)
    chance, nobody = balanced_with_slack(
        whole[np.ix_(free, columns)].tolist(), column[columns].tolist(), -4.0, _mean.ROUNDS, absent
    )
    place = np.searchsorted(columns, candidate[free])
    expected = np.take_along_axis(np.array(chance), place, axis=1)
    np.testing.assert_allclose(found.chance[free], expected, rtol=1e-9)
    np.testing.assert_allclose(found.nobody[free], nobody, rtol=1e-9)
