"""The three questions of opinion WP216: the worst on each, what stands beside it, and why one has no answer."""

import math
from dataclasses import replace

import pytest

from unveil.metrics.trials.risk import Rate, Risk
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, AttackScenario, Audit, AuditedRelease
from unveil.questions.audit.report_context import box_facts
from unveil.report.sign_off import QUESTIONS, three_boxes


def risk(value: float, *, control: float = math.nan, low: float = math.nan, naive: float = 0.1) -> Risk:
    """Return rates with intervals of 0.05 to both sides, and an excess from ``low`` where there is a control."""
    around = Rate(value, max(value - 0.05, 0), min(value + 0.05, 1))
    if math.isnan(control):
        return Risk(
            attack_rate=around,
            naive_rate=Rate(naive, naive, naive),
            control_rate=UNDEFINED,
            excess_over_control=UNDEFINED,
        )
    return Risk(
        attack_rate=around,
        naive_rate=Rate(naive, naive, naive),
        control_rate=Rate(control, control, control),
        excess_over_control=Rate((value - control) / (1 - control), low, 1.0),
    )


ILL = "ill"
WHO = AttackScenario(name="neighbour", first=("age", "sex"), second=("income",), reason="they talk")
LINKED = AttackFinding(
    attack="linkability", targets=500, scenario=WHO, risk=risk(0.7, control=0.1, low=0.6), proved=True
)
GUESSED = AttackFinding(
    attack="inference", targets=500, scenario=WHO, secret=ILL, risk=risk(0.4, control=0.35, low=-0.1)
)
ALONE = AttackFinding(
    attack="singling_out", targets=60, scenario=WHO, risk=risk(0.3, control=0.2, low=0.05), proved=True
)
MEAN = replace(
    LINKED, scenario=AttackScenario(name="mean", first=(), origin="mean"), risk=risk(0.99, control=0.01, low=0.9)
)


def release(*findings: AttackFinding, name: str = "masked.csv") -> AuditedRelease:
    return AuditedRelease(name=name, rows=700, kind=None, columns=("age",), sha256=None, findings=findings)


def audit(*releases: AuditedRelease, attacks: tuple[str, ...] | None = None) -> Audit:
    every = tuple(dict.fromkeys(finding.attack for each in releases for finding in each.findings))
    return Audit(
        rows=700, columns=(), sha256=None, control_rows=200, control_sha256=None, releases=releases,
        attacks=every if attacks is None else attacks,
    )  # fmt: skip


def test_each_question_has_its_figure_and_what_stands_beside_it() -> None:
    facts = box_facts(audit(release(LINKED, GUESSED, ALONE)))
    assert list(facts) == list(QUESTIONS)
    assert facts["linkability"].rate == "70% (65% to 75%)"
    assert facts["linkability"].beside.startswith("10% (10% to 10%) for people who are not in the data; 10%")
    assert facts["inference"].beside.startswith("ill: ")
    assert all(fact.tested for fact in facts.values())


def test_the_tone_follows_what_is_proved_and_never_clears() -> None:
    facts = box_facts(audit(release(LINKED, GUESSED, ALONE)))
    tones = [facts[each].tone for each in ("linkability", "singling_out", "inference")]
    assert tones == ["bad", "warning", "neutral"]
    # An interval that misses 0 accuses nobody by itself.
    nothing = replace(LINKED, proved=False)
    assert box_facts(audit(release(nothing)))["linkability"].tone == "neutral"


def test_the_mean_over_many_is_nobody_and_never_the_worst() -> None:
    facts = box_facts(audit(release(LINKED, MEAN)))
    assert facts["linkability"].rate == "70% (65% to 75%)"


def test_of_several_releases_the_worst_is_named() -> None:
    mild = replace(LINKED, risk=risk(0.2, control=0.1, low=0.05))
    facts = box_facts(audit(release(mild, name="good.csv"), release(LINKED, name="bad.csv")))
    assert facts["linkability"].beside.startswith("On 'bad.csv'. ")
    assert facts["linkability"].rate.startswith("70%")


def test_without_control_there_is_chance_and_without_chance_nothing() -> None:
    bare = replace(LINKED, risk=risk(0.7))
    assert box_facts(audit(release(bare)))["linkability"].beside == "10% by blind chance."
    nothing = replace(bare, risk=replace(bare.risk, naive_rate=UNDEFINED))
    assert box_facts(audit(release(nothing)))["linkability"].beside == "nothing to compare with."


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (audit(release(LINKED)), "was not asked for (--attacks)"),
        (
            audit(release(LINKED, replace(ALONE, risk=replace(ALONE.risk, attack_rate=UNDEFINED, naive_rate=UNDEFINED,
            control_rate=UNDEFINED, excess_over_control=UNDEFINED), remark="No guess holds."))),
            "No guess holds.",
        ),
        (audit(release(LINKED), attacks=("linkability", "singling_out")), "could not be measured"),
    ],
)  # fmt: skip
def test_a_question_without_an_answer_says_why(found: Audit, why: str) -> None:
    fact = box_facts(found)["singling_out"]
    assert not fact.tested
    assert why in fact.why_not
    box = three_boxes({"singling_out": fact}).boxes[0]
    assert (box.value, box.tested) == ("Not tested", False)
    assert why in box.beside
