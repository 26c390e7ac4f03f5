"""Calibrated guesses: what a choice is judged by, where its probability goes, and that an adversary learns from it."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from unveil._kernels.calibration import Calibrator
from unveil._kernels.types import IntArray
from unveil.attacks import GraphAttack, KorulaLattanzi, NarayananShmatikov
from unveil.attacks.graph.calibration import Calibration, CalibrationSource, calibrate, features_of
from unveil.data import samples
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics import entropy, expected_calibration_error
from unveil.protections import IdRemoval


def candidates(start: Any, candidate: Any, probability: Any, chosen: Any = None) -> Candidates:
    return Candidates(start, candidate, probability, chosen)


STAR = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 4], nodes=6)
#: Node 0 is a seed, node 2 was given up, node 4 has a single candidate.
GUESS = candidates([0, 0, 3, 3, 5, 6, 6], [1, 2, 5, 2, 3, 4], [0.5, 0.3, 0.2, 1.0, 0.0, 1.0], [-1, 1, -1, 3, 4, -1])


def constant(share: float) -> Calibrator:
    none = np.empty(0)
    return Calibrator(share, 0.0, none, none, none, none, none)


def calibration(share: float, listed: float) -> Calibration:
    knowledge = GraphKnowledge(STAR, np.array([[0, 0]]))
    return Calibration(released=STAR, knowledge=knowledge, learned=constant(share), listed=listed, facts={})


def test_features_are_those_that_are_said() -> None:
    found = features_of(GUESS, STAR, STAR)
    near, far, alone = math.log(2), math.log(3), 6.0
    np.testing.assert_allclose(found[0], [math.log(0.5), math.log(0.5 / 0.3), math.log(3), far, far, 0, 1.5])
    np.testing.assert_allclose(found[1], [math.log(1e-12), -6.0, math.log(2), near, near, 0, 0])
    np.testing.assert_allclose(found[2], [0, alone, 0, near, near, 0, 1])


def test_probability_goes_to_the_choice_to_others_and_elsewhere() -> None:
    found = calibration(0.6, 0.25)(GUESS)
    full = found.written_out()
    rows = np.zeros((6, 6))
    rows[np.repeat(np.arange(6), full.considered), full.candidate] = full.probability
    rest = 0.4 * 0.75
    wanted: list[list[float]] = [
        [0] * 6,
        [0, 0.6, 0.1 * 0.09 / 0.13, rest / 2, rest / 2, 0.1 * 0.04 / 0.13],
        [0] + [0.2] * 5,
        [0, rest / 3, 0.1, 0.6, rest / 3, rest / 3],
        [0, 0.1, 0.1, 0.1, 0.6, 0.1],
        [0] + [0.2] * 5,
    ]
    np.testing.assert_allclose(rows, wanted, atol=1e-15)
    assert found.chosen is not None
    assert found.chosen.tolist() == [-1, 1, -1, 3, 4, -1]
    assert found.attempted.tolist() == GUESS.attempted.tolist()
    assert found.believed.tolist() == [False] + [True] * 5


def test_where_nobody_else_is_free_all_goes_to_those_listed() -> None:
    pair = Graph.from_edges([0, 1], [1, 2])
    guess = candidates([0, 0, 2, 2], [1, 2], [0.25, 0.75], [-1, 2, -1])
    known = GraphKnowledge(pair, np.array([[0, 0]]))
    made = Calibration(released=pair, knowledge=known, learned=constant(0.9), listed=0.5, facts={})
    np.testing.assert_allclose(made(guess).probability, [0.1, 0.9])
    only = candidates([0, 0, 1, 1], [2], [1.0], [-1, 2, -1])
    alone = GraphKnowledge(pair, np.array([[0, 0], [2, 1]]))
    made = Calibration(released=pair, knowledge=alone, learned=constant(0.9), listed=0.5, facts={})
    np.testing.assert_allclose(made(only).probability, [1.0])


@pytest.fixture(scope="module")
def world() -> tuple[GraphRelease, GraphKnowledge]:
    release = IdRemoval().apply(samples.graph(), rng=np.random.default_rng(1))
    return release, draw_knowledge(release, overlap=0.85, seed_pairs=50, rng=np.random.default_rng(2))


@pytest.mark.parametrize("how", ["simulate", "seeds"])
@pytest.mark.parametrize("attack", [NarayananShmatikov(), KorulaLattanzi()], ids=["NS", "KL"])
def test_an_adversary_learns_what_its_scores_are_worth(
    world: tuple[GraphRelease, GraphKnowledge], attack: GraphAttack, how: CalibrationSource
) -> None:
    release, knowledge = world
    rng = np.random.default_rng(3)
    guess = attack.run(released=release.released, knowledge=knowledge, rng=rng)
    learned = calibrate(
        attack, IdRemoval(), released=release.released, knowledge=knowledge, guess=guess, how=how, check=False, rng=rng
    )
    raw, mended = (expected_calibration_error(each, release.truth) for each in (guess, learned(guess)))
    assert mended < raw / 2
    targets = knowledge.targets(release.released)
    assert not np.isnan(entropy(learned(guess))[targets]).any()
    assert np.isnan(entropy(learned(guess))[knowledge.seeds[:, 0]]).all()
    assert learned.facts["labels"] > (500 if how == "simulate" else 20)


@dataclass(frozen=True, kw_only=True)
class Bold:
    """An attack that attempts everybody in one release and few in any other, and is right about half of the former."""

    here: Graph
    truth: IntArray

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        nodes, free = released.nodes, np.setdiff1d(np.arange(knowledge.auxiliary.nodes), knowledge.seeds[:, 1])
        tried = np.setdiff1d(np.arange(nodes), knowledge.seeds[:, 0])
        tried = tried if released is self.here else tried[:30]
        chosen = np.full(nodes, -1)
        chosen[tried] = rng.choice(free, tried.size)
        if released is self.here:
            chosen[tried[::2]] = self.truth[tried[::2]]
        start = np.concatenate([[0], np.cumsum(chosen >= 0)])
        return candidates(start, chosen[chosen >= 0], np.ones(tried.size), chosen)


def test_an_experiment_unlike_the_attack_is_said_and_mended_by_seeds(
    world: tuple[GraphRelease, GraphKnowledge],
) -> None:
    release, knowledge = world
    attack, rng = Bold(here=release.released, truth=release.truth), np.random.default_rng(4)
    guess = attack.run(released=release.released, knowledge=knowledge, rng=rng)
    made = [
        calibrate(attack, IdRemoval(), released=release.released, knowledge=known, guess=guess, check=False, rng=rng)
        for known in (knowledge, GraphKnowledge(knowledge.auxiliary, knowledge.seeds[:5]))
    ]
    assert "adjusted to 50 held-out seed pairs" in made[0].notes[0]
    assert made[0].chance(guess)[guess.attempted].mean() == pytest.approx(0.5, abs=0.2)
    assert "Too few held-out seed pairs (5)" in made[1].notes[0]
    assert made[1].chance(guess)[guess.attempted].mean() < 0.1


class Fickle:
    """An attack that catches on, or dies out after a tenth of that."""

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        whole = KorulaLattanzi().run(released=released, knowledge=knowledge, rng=rng)
        assert whole.chosen is not None
        few = rng.random() < 0.5
        return replace(whole, chosen=np.where(few & (rng.random(released.nodes) < 0.9), -1, whole.chosen))


def test_it_learns_from_experiments_that_went_like_the_attack(world: tuple[GraphRelease, GraphKnowledge]) -> None:
    release, knowledge = world
    known: dict[str, Any] = {"released": release.released, "knowledge": knowledge}
    shares = set()
    for seed in range(4):
        guess = Fickle().run(**known, rng=np.random.default_rng(seed))
        rng = np.random.default_rng(seed)
        made = calibrate(Fickle(), IdRemoval(), **known, guess=guess, draws=6, check=False, rng=rng)
        assert made.facts["attempted_here"] == pytest.approx(made.facts["attempted"], rel=0.3)
        assert made.notes == ()
        shares.add(round(made.facts["attempted"], 1))
    assert len(shares) > 1  # it caught on, and died out


def test_too_few_choices_to_learn_from_are_said(world: tuple[GraphRelease, GraphKnowledge]) -> None:
    release, knowledge = world
    rng, attack = np.random.default_rng(5), NarayananShmatikov()
    few = GraphKnowledge(knowledge.auxiliary, knowledge.seeds[:6])
    guess = attack.run(released=release.released, knowledge=few, rng=rng)
    made = calibrate(attack, None, released=release.released, knowledge=few, guess=guess, how="seeds", rng=rng)
    assert made.facts["labels"] <= 6
    assert "choices only" in made.notes[0]
    assert np.unique(made.chance(guess)[guess.attempted]).size <= 1


def test_what_cannot_be_calibrated_is_refused(world: tuple[GraphRelease, GraphKnowledge]) -> None:
    release, knowledge = world
    rng = np.random.default_rng(1)
    open_choice = candidates([0, 1], [0], [1.0])
    with pytest.raises(InputError, match="calibration needs an attack that chooses one candidate, but this attack"):
        features_of(open_choice, STAR, STAR)
    for how, protection, message in (
        ("guess", IdRemoval(), "Unknown calibration 'guess'"),
        ("simulate", None, "needs the protection"),
    ):
        with pytest.raises(InputError, match=message):
            calibrate(
                NarayananShmatikov(),
                protection,
                released=release.released,
                knowledge=knowledge,
                guess=open_choice,
                how=how,  # type: ignore[arg-type]
                rng=rng,
            )
    one = GraphKnowledge(knowledge.auxiliary, knowledge.seeds[:1])
    with pytest.raises(InputError, match="at least 2, but there are 1"):
        calibrate(
            NarayananShmatikov(),
            None,
            released=release.released,
            knowledge=one,
            guess=open_choice,
            how="seeds",
            rng=rng,
        )
