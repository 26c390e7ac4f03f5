"""Whether an auxiliary graph lies on the released one: counted by hand, quiet for true ones, heard for others."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.graph_attack_strategies import renumbered, right
from tests.graph_strategies import erdos_renyi, heavy_tail
from unveil._kernels.types import IntArray
from unveil.attacks import KorulaLattanzi, MeanField
from unveil.attacks.graph.calibration import calibrate
from unveil.attacks.graph.resemblance import Resemblance, resemblance
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses import Candidates
from unveil.protections import IdRemoval

NO_SEEDS = np.empty((0, 2), np.int64)


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """Maps as it was told, and keeps which auxiliary edges it was shown."""

    mapping: IntArray
    shown: list[Graph] = field(default_factory=list)

    def run(self, *, knowledge: GraphKnowledge, **_: Any) -> Candidates:
        self.shown.append(knowledge.auxiliary)
        there = self.mapping >= 0
        start = np.concatenate([[0], np.cumsum(there)])
        return Candidates(
            start, self.mapping[there].astype(np.int32), np.ones(there.sum()), self.mapping.astype(np.int32)
        )


@pytest.mark.parametrize("seed", range(4))
def test_edges_kept_back_are_counted_as_they_are_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    released, auxiliary = erdos_renyi(40, 0.2, seed), erdos_renyi(50, 0.2, seed + 50)
    attack = Mapped(mapping=np.where(rng.random(40) < 0.8, rng.permutation(50)[:40], -1))
    here = {int(other): node for node, other in enumerate(attack.mapping) if other >= 0}
    seen = resemblance(attack, released=released, knowledge=GraphKnowledge(auxiliary, NO_SEEDS), rng=rng)
    assert seen is not None
    every = set(auxiliary.keys.tolist())
    held = [sorted(every - set(shown.keys.tolist())) for shown in attack.shown]
    kept_back = [key for part in held for key in part]
    assert len(set(kept_back)) == len(kept_back) == seen.held >= min(200, auxiliary.edges // 3)
    edges = set(released.keys.tolist())
    hits, chance = 0, 0.0
    for key in kept_back:
        one, other = (here.get(end) for end in divmod(key, 50))
        if one is not None and other is not None:
            hits += min(one, other) * 40 + max(one, other) in edges
            chance += 1 - np.exp(-released.degrees[one] * released.degrees[other] / (2 * released.edges))
    assert seen.found == pytest.approx(hits / seen.held)
    assert seen.by_degree == pytest.approx(chance / seen.held)


@pytest.mark.parametrize("overlap", [0.7, 0.85])
def test_a_true_auxiliary_graph_is_believed(overlap: float) -> None:
    release = renumbered(heavy_tail(200, 5, 1), 1)
    knowledge = draw_knowledge(release, overlap=overlap, seed_pairs=0, rng=np.random.default_rng(1))
    seen = resemblance(None, released=release.released, knowledge=knowledge, rng=np.random.default_rng(2))
    assert seen is not None
    assert not seen.doubtful
    assert seen.share > 0.5


def test_graphs_of_others_are_not_believed_and_nobody_is_found() -> None:
    release = renumbered(heavy_tail(200, 5, 1), 1)
    for seed in (2, 3):
        foreign = GraphKnowledge(heavy_tail(200, 5, seed), NO_SEEDS)
        guess = MeanField().run(released=release.released, knowledge=foreign, rng=np.random.default_rng(seed))
        assert right(guess, release.truth) <= 10
        seen = resemblance(MeanField(), released=release.released, knowledge=foreign, rng=np.random.default_rng(seed))
        assert seen is not None
        assert seen.doubtful
        assert "posterior is unreliable: the auxiliary graph does not resemble the released graph" in seen.sentence
        assert f"Of {seen.held} held-out auxiliary edges" in seen.sentence


def test_a_share_within_what_chance_gives_is_doubtful_too() -> None:
    assert Resemblance(1000, 0.02, 0.02).doubtful
    assert Resemblance(1000, 0.15, 0.1).doubtful  # sure, but little
    assert Resemblance(30, 0.45, 0.3).doubtful  # much, but not sure
    assert not Resemblance(1000, 0.45, 0.3).doubtful
    assert Resemblance(40, 1.0, 1.0).doubtful


def test_what_cannot_be_told_is_not() -> None:
    small, large = erdos_renyi(10, 0.5, 1), Graph.from_edges(np.arange(30_000), np.arange(1, 30_001))
    for graph in (small, large):
        knowledge, rng = GraphKnowledge(graph, NO_SEEDS), np.random.default_rng(1)
        assert resemblance(None, released=graph, knowledge=knowledge, rng=rng) is None
    empty = Graph.from_edges([], [], nodes=9)
    knowledge = GraphKnowledge(heavy_tail(200, 5, 2), NO_SEEDS)
    assert resemblance(None, released=empty, knowledge=knowledge, rng=np.random.default_rng(1)) is None


def test_an_own_experiment_says_that_the_graph_is_of_others() -> None:
    release, rng = renumbered(heavy_tail(200, 5, 1), 1), np.random.default_rng(4)
    foreign = GraphKnowledge(heavy_tail(200, 5, 2), np.column_stack([np.arange(30), rng.permutation(200)[:30]]))
    true = draw_knowledge(release, overlap=0.8, seed_pairs=30, rng=rng)
    for knowledge, of_others in ((foreign, True), (true, False)):
        attack = KorulaLattanzi()
        guess = attack.run(released=release.released, knowledge=knowledge, rng=rng)
        made = calibrate(attack, IdRemoval(), released=release.released, knowledge=knowledge, guess=guess, rng=rng)
        assert any("posterior is unreliable" in note for note in made.notes) == of_others
