"""Another attack's mapping, refined: errors are corrected, and what was left out is found."""

import numpy as np
import pytest

from tests.graph_attack_strategies import renumbered, right
from tests.graph_strategies import heavy_tail
from unveil.attacks import Refine, graph_attack_from
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError


@pytest.mark.parametrize("name", ["kl", "yg:theta=3", "dv"])
def test_it_finds_more_than_the_attack_that_it_refines(name: str) -> None:
    alone, refined = 0, 0
    for seed in range(4):
        release = renumbered(heavy_tail(150, 4, seed), seed)
        knowledge = draw_knowledge(release, overlap=0.8, seed_pairs=20, rng=np.random.default_rng(seed))
        for attack in (graph_attack_from(name), graph_attack_from(f"refine:attack={name}")):
            guess = attack.run(released=release.released, knowledge=knowledge, rng=np.random.default_rng(seed))
            hits = right(guess, release.truth)
            alone, refined = (alone, refined + hits) if isinstance(attack, Refine) else (alone + hits, refined)
    assert refined > alone + 20
    assert refined > 0.9 * 4 * 130


def test_it_needs_what_the_other_attack_needs() -> None:
    release = renumbered(heavy_tail(60, 4, 1), 1)
    nobody_known = GraphKnowledge(release.original, np.empty((0, 2), np.int64))
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="Narayanan-Shmatikov starts from seed pairs, but there are none"):
        Refine(attack="ns").run(released=release.released, knowledge=nobody_known, rng=rng)
    guess = Refine(attack="mf").run(released=release.released, knowledge=nobody_known, rng=rng)
    assert right(guess, release.truth) >= 55


def test_several_settings_of_the_other_attack_need_quotes() -> None:
    made = graph_attack_from('refine:"attack=kl:theta=2,rounds=3",candidates=5')
    assert made == Refine(attack="kl:theta=2,rounds=3", candidates=5)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"attack": "refine"}, "refine needs another attack, whose mapping it refines"),
        ({"attack": 3}, "refine needs another attack, whose mapping it refines"),
        ({"attack": "no-such"}, "there is no attack 'no-such'"),
        ({"candidates": "all"}, "candidates must be a whole number"),
        ({"slack": float("nan")}, "slack is nan; it must be a finite number"),
        ({"memory": 0}, "memory is 0; it must be a number of GB above 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Refine(**settings)  # type: ignore[arg-type]
