"""Singling out in an audit: its figures are those of the attack, and tables of other sizes raise no alarm."""

from math import isnan

import pytest

from tests.ask.audit.leaks import CONTROL, FOREIGN, LEAK, ORIGINAL, ask, found, generator, people, run
from unveil.attack.table.singling_out import SinglingOut
from unveil.measure.trials.risk import risk


@pytest.mark.parametrize("leak", [True, False])
def test_singling_out_is_that_of_the_attack_on_everybody(leak: bool) -> None:
    answer = ask(ORIGINAL, LEAK if leak else FOREIGN, CONTROL, attacks=["singling_out"], guesses=60, targets=10)
    one, several = found(answer)
    rng = generator("singling_out")
    known = tuple(ORIGINAL.columns)
    for finding, size in ((one, 1), (several, 3)):
        trials = run(SinglingOut(columns=known, size=size, guesses=60), leak=leak, rng=rng)
        assert finding.risk == risk(trials)
        assert (finding.targets, finding.links.expected) == (trials.attack.tries, trials.attack.expected)
    assert (one.scenario.name, several.scenario.name) == ("one column", "3 columns")  # type: ignore[union-attr]


def test_singling_out_by_a_named_adversary_uses_its_columns_only() -> None:
    answer = ask(ORIGINAL, FOREIGN, attacks=["singling_out"], scenarios=["n=age,sex"], guesses=30)
    named = found(answer)[-1]
    assert named.scenario is not None
    assert (named.scenario.name, named.scenario.first) == ("n", ("age", "sex"))
    alone = SinglingOut(columns=("age", "sex"), size=2, guesses=10_000)
    assert named.targets <= run(alone).attack.tries


def test_groups_of_singling_out_raise_no_alarm_by_the_size_of_the_control() -> None:
    """Fewer rows are easier to be alone among; a table of other people must not look like a leak for that."""
    for rows, others in ((60, 400), (300, 70)):
        made = (people(each, 50 + at) for at, each in enumerate((rows, rows, others)))
        for finding in found(ask(*made, attacks=["singling_out"], by="sex")):
            assert finding.groups is not None
            everybody = finding.groups.overall.excess_over_control
            assert isnan(everybody.value) or everybody.low <= 0 <= everybody.high
