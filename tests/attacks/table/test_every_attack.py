"""What holds for every attack on tables that is listed, whatever it does."""

from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.randomness import shared_state
from unveil.attacks import ATTACKS, Attack, attack_from
from unveil.data.samples import audit_sample
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
from unveil.errors import InputError, MissingExtraError
from unveil.guesses import Candidates
from unveil.guesses.trials import Trials
from unveil.protections import Suppression

PEOPLE = 60
ON_TABLES = [one for one in ATTACKS.values() if one.on == "table"]
each = pytest.mark.parametrize("attack", ON_TABLES, ids=lambda one: one.name)


@cache
def case() -> tuple[Release, Knowledge]:
    """Return a release with some cells gone, which tells how it was masked, and people who are not in it."""
    original, control = (part.take(np.arange(PEOPLE)) for part in audit_sample())
    return Suppression(columns=("news",)).apply(original, rng=np.random.default_rng(1)), Knowledge(original, control)


def attacked(
    attack: Attack, release: Release, knowledge: Knowledge, *, released: Table | None = None, seed: int = 1
) -> Any:
    """Return the guess of the attack as its facts say it can be tried; None where its library is not there."""
    made: Any = attack_from(f"{attack.name}:{attack.example}")
    if any(field.name == "mechanism" for field in fields(made)):
        made = replace(made, mechanism=release.mechanism)
    try:
        return made.run(released=released or release.released, knowledge=knowledge, rng=np.random.default_rng(seed))
    except MissingExtraError as error:
        missing = str(error)
    assert attack.extra is not None
    assert f"unveil[{attack.extra}]" in missing
    return None


@cache
def guess_of(name: str) -> Any:
    """Return what the attack guesses about the case; several tests look at it, none changes it."""
    return attacked(ATTACKS[name], *case())


def figures(guess: Any) -> Any:
    """Return the numbers of a guess: those of trials, or a line of probabilities per target."""
    if isinstance(guess, Trials):
        return [
            (part.tries, part.expected, part.low, part.high)
            for part in (guess.attack, guess.naive, guess.control)
            if part is not None
        ]
    found: Candidates = guess if isinstance(guess, Candidates) else guess.to_candidates()
    matrix = np.zeros((found.target_count, PEOPLE))
    matrix[np.repeat(np.arange(found.target_count), found.considered), found.candidate] = found.probability
    return matrix


@each
def test_a_guess_is_of_its_kind_and_about_the_right_people(attack: Attack) -> None:
    guess = guess_of(attack.name)
    if guess is None:
        return
    assert type(guess).__name__ == attack.leaves
    found = figures(guess)
    if attack.leaves == "Trials":
        assert all(0 <= low <= expected <= high <= tries for tries, expected, low, high in found)
        assert guess.attack.tries > 0
        assert guess.what
        return
    assert found.shape == (PEOPLE, PEOPLE)
    assert (found >= 0).all()
    tried = guess.attempted if attack.leaves == "Candidates" else np.ones(PEOPLE, bool)
    np.testing.assert_allclose(found.sum(axis=1), tried, atol=1e-9)
    assert tried.any()


@each
def test_what_was_passed_and_other_generators_are_left_as_they_were(attack: Attack) -> None:
    release, knowledge = case()
    tables = [release.released, knowledge.records, knowledge.control]
    before, state = [(table.frame.clone(), table.columns) for table in tables if table], shared_state()
    attacked(attack, release, knowledge)
    assert shared_state() == state
    for (frame, columns), table in zip(before, tables, strict=True):
        assert table is not None
        assert table.frame.equals(frame)
        assert table.columns == columns


@each
def test_one_state_of_the_generator_gives_one_guess(attack: Attack) -> None:
    release, knowledge = case()
    one, same = guess_of(attack.name), attacked(attack, release, knowledge)
    if one is not None:
        np.testing.assert_array_equal(figures(one), figures(same))


@each
def test_the_order_of_rows_tells_nothing_unless_the_facts_say_so(attack: Attack) -> None:
    release, knowledge = case()
    assert knowledge.control is not None
    one = guess_of(attack.name)
    if one is None:
        return
    same = []
    # Where the order decides, one other order may give the same figures by chance, but not each of several.
    for seed in range(8 if attack.uses_row_order else 2):
        of_released, of_records, of_control = np.random.default_rng(seed).permuted(
            np.tile(np.arange(PEOPLE), (3, 1)), axis=1
        )
        other = Knowledge(knowledge.records.take(of_records), knowledge.control.take(of_control))
        moved = attacked(attack, release, other, released=release.released.take(of_released))
        before = figures(one)
        before = before if attack.leaves == "Trials" else before[of_released][:, of_records]
        same.append(np.allclose(before, figures(moved)))
    assert all(same) != attack.uses_row_order


@each
def test_an_attack_without_a_control_is_run_unless_it_needs_one(attack: Attack) -> None:
    release, knowledge = case()
    alone = Knowledge(knowledge.records)
    if attack.needs_control:
        with pytest.raises(InputError, match="control"):
            attacked(attack, release, alone)
        return
    guess = attacked(attack, release, alone)
    if attack.leaves == "Trials":
        assert guess.control is None


@each
def test_tables_without_a_column_in_common_are_refused_without_showing_a_cell(attack: Attack) -> None:
    release, knowledge = case()
    odd = Table.from_frame(pl.DataFrame({"zephyr": [f"Quagmire{row}" for row in range(PEOPLE)]}), name="released")
    if guess_of(attack.name) is None:
        return
    with pytest.raises(InputError) as caught:
        attacked(attack, release, knowledge, released=odd)
    assert "Quagmire" not in str(caught.value)
    assert "\n" not in str(caught.value)
