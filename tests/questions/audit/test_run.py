"""The attacks of an audit find planted leaks, and nothing where there is none."""

import polars as pl
import pytest

from tests.questions.audit.leaks import CONTROL, GUESSES, LEAK, ORIGINAL, ask, found, people
from unveil.questions.audit.findings import AttackFinding, Audit
from unveil.questions.result import Result

NEW = ("singling_out", "inference", "attribute_disclosure", "membership")


def worst_of_each(answer: Result[Audit]) -> dict[str, AttackFinding]:
    """Return the clearest finding of each attack."""
    (release,) = answer.findings.releases
    found = {attack: release.strongest(attack) for attack in answer.findings.attacks}
    return {attack: finding for attack, finding in found.items() if finding is not None}


@pytest.mark.parametrize("sensitive", [(), ("ill",)])
def test_people_who_are_released_as_they_are_are_found_out(sensitive: tuple[str, ...]) -> None:
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=NEW, targets=60, sensitive=sensitive)
    worst = worst_of_each(answer)
    assert set(worst) == set(NEW)
    assert all(finding.proved for finding in worst.values())
    if sensitive:
        assert all(worst[attack].risk.excess_over_control.low > 0.7 for attack in GUESSES)


def test_a_leak_for_half_of_the_people_is_found_for_half_of_them() -> None:
    half = pl.concat([ORIGINAL.head(60), people(60, 20)])
    answer = ask(ORIGINAL, half, CONTROL, attacks=["attribute_disclosure", "membership"], sensitive=["ill"])
    worst = worst_of_each(answer)
    assert all(finding.proved for finding in worst.values())
    excess = worst["attribute_disclosure"].risk.excess_over_control
    assert excess.low - 0.05 < 0.5 < excess.high + 0.05


def test_too_few_tries_accuse_nobody() -> None:
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=["inference"], targets=10, sensitive=["ill"])
    (finding,) = found(answer)
    assert finding.risk.excess_over_control.low > 0
    assert (finding.proved, finding.why_not_judged) == (False, "too few attempts to test")
    assert (answer.level, answer.worst_excess) == ("inconclusive", None)
