"""Membership in an audit: its figures are those of the attack, and without control it says why there is none."""

from typing import Any

import numpy as np
import pytest

from tests.ask.audit.leaks import CONTROL, LEAK, ORIGINAL, SEED, ask, found, generator, people, tables
from unveil.ask.audit.people import draw_people
from unveil.attack.table.membership import Membership
from unveil.data.table.release import Knowledge
from unveil.measure.trials.risk import risk


@pytest.mark.parametrize("method", ["distance", "density"])
@pytest.mark.parametrize("targets", [30, None])
def test_membership_is_that_of_the_attack_on_those_who_were_drawn(method: Any, targets: int | None) -> None:
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=["membership"], targets=targets)
    rng = generator("membership")
    original, released, control = tables(True)
    inside = np.random.default_rng(SEED).integers(2**63, size=3)[0]
    drawn = draw_people(original, targets, rng=np.random.default_rng([inside, 0])).told
    knowledge = Knowledge(original.take(drawn), control, scale=original.extremes())
    by_method = {}
    for each in ("distance", "density"):
        by_method[each] = Membership(columns=tuple(ORIGINAL.columns), method=each, targets=None).run(
            released=released, knowledge=knowledge, rng=rng
        )
    (finding,) = (each for each in found(answer) if each.scenario and each.scenario.name == f"by {method}")
    assert finding.risk == risk(by_method[method])
    assert finding.targets == (30 if targets else 120)


def test_membership_attacks_everybody_who_was_asked_for() -> None:
    many, others = people(620, 7), people(60, 8)
    answer = ask(many, people(50, 9), others, attacks=["membership"], targets=None)
    assert {finding.targets for finding in found(answer)} == {620}
    few = ask(ORIGINAL, LEAK, CONTROL, attacks=["membership"], targets=20)
    assert not any("were asked for" in finding.remark for finding in found(few))


def test_without_control_membership_says_why_there_is_none() -> None:
    (finding,) = found(ask(ORIGINAL, LEAK, attacks=["membership"]))
    assert (finding.targets, finding.risk.attack_rate.defined) == (0, False)
    assert "there is no control table" in finding.remark
    small = found(ask(ORIGINAL, LEAK, CONTROL.head(45), attacks=["membership"]))
    assert [each.risk.attack_rate.defined for each in small] == [True, False]
    assert "at least 60 people" in small[1].remark
