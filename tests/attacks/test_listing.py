"""An attack is a dataclass of settings: listing it changes nothing about it, and shows it everywhere."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import signature
from typing import get_args, get_type_hints

import numpy as np
import pytest
from click.testing import CliRunner

from unveil._registry import InputKind
from unveil.attacks import ATTACKS, Attack, _listing, attack
from unveil.attacks._listing import Leaves
from unveil.cli import main
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.guesses.trials import Trials


@pytest.fixture
def only_for_this_test() -> Iterator[None]:
    """Leave the list as it was."""
    before = dict(ATTACKS)
    yield
    _listing._ATTACKS.clear()
    _listing._ATTACKS.update(before)


def add_lucky_guess(name: str = "") -> type:
    @attack(source="a blog", name=name)
    @dataclass(frozen=True, kw_only=True)
    class LuckyGuess:
        """An adversary who bets.

        And some more.
        """

        columns: tuple[str, ...]
        tries: int = 3
        stakes: tuple[int, ...] = field(default_factory=lambda: (1, 2))

        def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Trials:
            """Return nothing."""
            raise NotImplementedError

    return LuckyGuess


@pytest.mark.usefixtures("only_for_this_test")
def test_the_facts_are_listed() -> None:
    kind = add_lucky_guess()
    assert ATTACKS["lucky-guess"] == Attack(name="lucky-guess", make=kind, source="a blog")
    assert (ATTACKS["lucky-guess"].on, ATTACKS["lucky-guess"].leaves) == ("table", "Trials")
    assert ATTACKS["lucky-guess"].summary == "An adversary who bets."
    assert ATTACKS["lucky-guess"].settings == ("columns", "tries=3", "stakes=(1, 2)")


@pytest.mark.usefixtures("only_for_this_test")
def test_it_may_have_a_name_of_its_own() -> None:
    add_lucky_guess(name="luck")
    assert "luck" in ATTACKS
    assert "lucky-guess" not in ATTACKS


@pytest.mark.usefixtures("only_for_this_test")
def test_the_command_line_shows_it() -> None:
    add_lucky_guess()
    run = CliRunner().invoke(main, ["list", "attacks", "--json"])
    assert (run.exit_code, run.stderr) == (0, "")
    assert json.loads(run.stdout)[-1] == {
        "name": "lucky-guess",
        "on": "table",
        "leaves": "Trials",
        "scope": None,
        "without_seeds": False,
        "posterior": False,
        "example": "",
        "needs_control": False,
        "uses_row_order": False,
        "knows": "",
        "uses": "",
        "extra": None,
        "settings": "columns, tries=3, stakes=(1, 2)",
        "aka": "",
        "summary": "An adversary who bets.",
        "source": "a blog",
    }
    lines = CliRunner().invoke(main, ["list", "attacks"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["name", *ATTACKS]
    assert all(fact in lines[-1] for fact in ("lucky-guess", "table", "Trials", "An adversary who bets.", "a blog"))


def test_the_list_cannot_be_changed_from_outside() -> None:
    with pytest.raises(TypeError):
        ATTACKS["mine"] = ATTACKS["linkability"]  # type: ignore[index]


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_is_settings_and_one_method(name: str) -> None:
    facts = ATTACKS[name]
    assert is_dataclass(facts.make)
    assert facts.make.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert all(setting.kw_only for setting in fields(facts.make))
    run = signature(facts.make.run)  # type: ignore[attr-defined]
    assert list(run.parameters) == ["self", "released", "knowledge", "rng"]
    assert {run.parameters[name].kind.name for name in ("released", "knowledge", "rng")} == {"KEYWORD_ONLY"}
    assert facts.leaves in get_args(Leaves)
    assert facts.on in get_args(InputKind)
    assert facts.summary.endswith(".")
    assert facts.source


@pytest.mark.parametrize("name", ATTACKS)
def test_what_a_study_fills_in_are_settings_that_take_columns_and_their_number(name: str) -> None:
    hints = get_type_hints(ATTACKS[name].make)
    for knows in ATTACKS[name].knows:
        assert "tuple[str, ...]" in str(hints[knows])
    assert not ATTACKS[name].uses or hints[ATTACKS[name].uses] is int
