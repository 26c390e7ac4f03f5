"""The listing of attacks: each file is in it under its own name, and its words load nothing that attacks."""

import subprocess
import sys
from pathlib import Path

import pytest

from unveil.questions.audit import attacks
from unveil.questions.audit.attacks import ASKED, ATTACKS
from unveil.report.sign_off import QUESTIONS


def test_each_file_is_one_attack_of_its_name() -> None:
    files = {path.stem for path in Path(attacks.__path__[0]).glob("[!_]*.py")}
    named = {name: {"memory": "memorization"}.get(name, name) for name in ATTACKS}
    assert files - {"attack"} == set(named.values())
    assert {name: attack.run.__module__ for name, attack in ATTACKS.items()} == {
        name: f"{attacks.__name__}.{file}" for name, file in named.items()
    }


def test_each_question_of_the_opinion_has_one_attack_and_one_attack_leads() -> None:
    assert [attack.answers for attack in ATTACKS.values() if attack.answers is not None] == list(QUESTIONS)
    (leading,) = (attack for attack in ATTACKS.values() if attack.leads)
    assert leading.answers
    assert {attack.asks for attack in ATTACKS.values() if not attack.distances} == set(ASKED)


@pytest.mark.parametrize("name", ATTACKS)
def test_each_attack_can_say_what_it_found(name: str) -> None:
    """A rate needs a meaning; what has no rates has distances, a sentence and a picture."""
    attack = ATTACKS[name]
    has_rates = attack.meaning is not None
    assert has_rates != bool(attack.distances)
    assert (attack.chart is not None) == bool(attack.distances)
    assert all(each.endswith((".", "?")) for each in (attack.question, attack.lead, attack.about or "."))


def test_words_load_nothing_that_attacks() -> None:
    program = (
        "import sys, unveil.questions.audit.view\n"
        "heavy = {'polars', 'scipy', 'numba', 'unveil.attacks', 'unveil.questions.audit.run'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
