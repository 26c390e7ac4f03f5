"""Singling out in an audit: its figures are those of the attack, and tables of other sizes raise no alarm."""

from math import isnan

import numpy as np
import polars as pl
import pytest

from tests.questions.audit.leaks import CONTROL, FOREIGN, LEAK, ORIGINAL, ask, found, generator, people, run, tables
from unveil.attacks.table.singling_out import PredicateMatches, SinglingOut
from unveil.data.table.release import Knowledge
from unveil.metrics.verdict.pool import Pool
from unveil.metrics.verdict.singling_out import singling_out
from unveil.report.suppressed_number import SuppressedNumber


@pytest.mark.parametrize("leak", [True, False])
def test_singling_out_is_that_of_the_attack_on_everybody(leak: bool) -> None:
    answer = ask(ORIGINAL, LEAK if leak else FOREIGN, CONTROL, attacks=["singling_out"], predicates=60, targets=10)
    one, several = found(answer)
    known = tuple(ORIGINAL.columns)
    rng = generator("singling_out")
    for finding, size in ((one, 1), (several, 3)):
        attack = SinglingOut(columns=known, size=size, guesses=60)
        fitted = run_fits(attack, leak, rng)
        guess = np.repeat(np.arange(fitted.starts.size - 1), np.diff(fitted.starts))
        alone = np.bincount(guess[fitted.rows < 120], minlength=fitted.starts.size - 1) == 1
        assert (finding.targets, finding.links.expected) == (alone.size, alone.sum())
        pool = Pool(is_member=np.arange(210) < 120, contents=np.arange(210))
        measured = singling_out(pool, fitted.starts, fitted.rows, rng=rng)
        assert finding.risk.attack_rate == measured.attack
        assert finding.risk.control_rate.high == pytest.approx(measured.strangers.high, abs=0.05)
        assert finding.risk.excess_over_control.value == pytest.approx(measured.excess.value, abs=0.1)
    assert (one.scenario.name, several.scenario.name) == ("one column", "3 columns")  # type: ignore[union-attr]
    assert several.proved == leak


def run_fits(attack: SinglingOut, leak: bool, rng: np.random.Generator) -> PredicateMatches:
    original, released, control = tables(leak)
    return attack.fitted(released=released, knowledge=Knowledge(original, control), rng=rng)


def test_a_full_leak_is_seen_with_any_control_and_with_none() -> None:
    for control in (None, CONTROL.head(30), CONTROL):
        several = found(ask(ORIGINAL, LEAK, control, attacks=["singling_out"], predicates=60))[1]
        assert several.risk.attack_rate.value == 1
        assert several.proved
        if control is not None:
            assert several.risk.excess_over_control.low > 0.9
            # What strangers would give is a number only where the control has half as many people.
            assert isinstance(several.risk.control_rate.value, SuppressedNumber) == (control.height < 60)


def test_singling_out_by_a_named_adversary_uses_its_columns_only() -> None:
    answer = ask(ORIGINAL, FOREIGN, attacks=["singling_out"], scenarios=["n=age,sex"], predicates=30)
    named = found(answer)[-1]
    assert named.scenario is not None
    assert (named.scenario.name, named.scenario.first) == ("n", ("age", "sex"))
    alone = SinglingOut(columns=("age", "sex"), size=2, guesses=10_000)
    assert named.targets <= run(alone).attack.tries


def test_groups_of_singling_out_raise_no_alarm_by_the_size_of_the_control() -> None:
    """Fewer rows are easier to be alone among; a table of other people must not look like a leak for that."""
    for rows, others in ((60, 400), (300, 70)):
        made = (people(each, 50 + at) for at, each in enumerate((rows, rows, others)))
        for finding in found(ask(*made, attacks=["singling_out"], group_by="sex")):
            assert finding.groups is not None
            everybody = finding.groups.overall.excess_over_control
            assert isnan(everybody.value) or everybody.low <= 0 <= everybody.high


def test_a_release_in_which_every_row_is_there_three_times_singles_nobody_out_and_says_so_plainly() -> None:
    """As in releases of a genetic algorithm that makes classes of three."""
    thrice = FOREIGN[:40]
    answer = ask(ORIGINAL, pl.concat([thrice] * 3), attacks=["singling_out"], predicates=60)
    for finding in found(answer):
        assert finding.remark.endswith("so it singles out no record.")
        assert "size" not in finding.remark
