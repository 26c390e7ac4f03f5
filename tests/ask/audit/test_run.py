"""The attacks of an audit find planted leaks, and nothing where there is none."""

import numpy as np
import polars as pl
import pytest

from tests.ask.audit.leaks import CONTROL, GUESSES, LEAK, ORIGINAL, ask, found, people
from unveil.ask.answer import Answer
from unveil.ask.audit.findings import Audit, Finding, is_proved

NEW = ("singling_out", "inference", "attribute_disclosure", "membership")


def worst_of_each(answer: Answer[Audit]) -> dict[str, Finding]:
    """Return the finding of each attack that has people outside to compare with, the means left out."""
    single = [each for each in found(answer) if not each.is_mean]
    return {finding.attack: finding for finding in single if finding.risk.excess_over_control.defined}


@pytest.mark.parametrize("sensitive", [(), ("ill",)])
def test_people_who_are_released_as_they_are_are_found_out(sensitive: tuple[str, ...]) -> None:
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=NEW, targets=60, sensitive=sensitive)
    worst = worst_of_each(answer)
    assert set(worst) == set(NEW)
    assert all(is_proved(finding) for finding in worst.values())
    if sensitive:
        assert all(worst[attack].risk.excess_over_control.low > 0.7 for attack in GUESSES)


def test_a_leak_for_half_of_the_people_is_found_for_half_of_them() -> None:
    half = pl.concat([ORIGINAL.head(60), people(60, 20)])
    answer = ask(ORIGINAL, half, CONTROL, attacks=["attribute_disclosure", "membership"], sensitive=["ill"])
    for finding in worst_of_each(answer).values():
        excess = finding.risk.excess_over_control
        assert excess.low - 0.05 < 0.5 < excess.high + 0.05
        assert is_proved(finding)


@pytest.mark.unwatched
def test_a_table_of_other_people_gives_nobody_away() -> None:
    """Of 12 such audits no attack may raise more false alarms than an interval of 95% leaves room for."""
    alarms = dict.fromkeys(NEW, 0)
    excess: dict[str, list[float]] = {attack: [] for attack in NEW}
    for seed in range(12):
        made = (people(rows, 1000 + 10 * seed + at) for at, rows in enumerate((100, 100, 100)))
        answer = ask(*made, seed=seed, attacks=NEW, targets=50, guesses=100)
        for attack, finding in worst_of_each(answer).items():
            alarms[attack] += is_proved(finding)
            excess[attack].append(finding.risk.excess_over_control.value)
    assert max(alarms.values()) <= 2
    # Had the winner of the search not been measured again, the mean would be well above nothing.
    assert abs(np.mean(excess["inference"])) < 0.06
    assert abs(np.mean(excess["membership"])) < 0.03
