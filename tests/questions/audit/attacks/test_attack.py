"""The listing of attacks: each file is in it under its own name, and its words load nothing that attacks."""

import subprocess
import sys
from pathlib import Path

import pytest

from unveil.questions.audit import attacks
from unveil.questions.audit.attacks import ATTACKS, GOALS
from unveil.questions.audit.decision.findings import EFFECTS
from unveil.report.sign_off import QUESTIONS


def test_each_file_is_one_attack_of_its_name() -> None:
    files = {path.stem for path in Path(attacks.__path__[0]).glob("[!_]*.py")}
    named = {name: {"memory": "memorization"}.get(name, name) for name in ATTACKS}
    assert files - {"attack"} == set(named.values())
    assert {name: attack.run.__module__ for name, attack in ATTACKS.items()} == {
        name: f"{attacks.__name__}.{file}" for name, file in named.items()
    }


def test_each_criterion_of_the_opinion_has_one_attack_and_each_goal_some() -> None:
    assert [attack.answers for attack in ATTACKS.values() if attack.answers is not None] == list(QUESTIONS)
    assert {attack.asks for attack in ATTACKS.values() if not attack.distances} == set(GOALS)


@pytest.mark.parametrize("name", ATTACKS)
def test_each_attack_has_its_words(name: str) -> None:
    """A rate has an effect that decides; what has no rates has distances."""
    attack = ATTACKS[name]
    assert (attack.effect in EFFECTS) != bool(attack.distances)
    assert attack.title
    assert (attack.about or ".").endswith(".")


def test_words_load_nothing_that_attacks() -> None:
    program = (
        "import sys, unveil.questions.audit.view\n"
        "heavy = {'polars', 'scipy', 'numba', 'unveil.attacks', 'unveil.questions.audit.run'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
