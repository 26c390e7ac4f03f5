"""The three criteria of WP216 on the sheet: the strongest result on each and its rates, or why there is none."""

from dataclasses import replace
from math import nan
from typing import Any

import pytest

from tests.questions.audit.test_decision import audit, effect, rest
from tests.questions.audit.test_decision_text import LINKED, several, worded_audit
from unveil.metrics.verdict.effects import EffectSize
from unveil.questions.audit.decision.findings import AttackEffect
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.sign_off import sign_off
from unveil.report.sign_off import QUESTIONS, BoxFact, three_boxes
from unveil.report.suppressed_number import SuppressedNumber


def facts(*effects: AttackEffect, **more: Any) -> dict[str, BoxFact]:
    return dict(sign_off(worded_audit(audit(*effects, **more)), AuditContext()).boxes)


def test_each_criterion_has_its_excess_and_the_rates_behind_it() -> None:
    found = facts(LINKED, effect("inference", 2, -3, 5, rate=31, sensitive="pay"), *rest(5, "linkability", "inference"))
    assert list(found) == list(QUESTIONS)
    assert found["linkability"].rate == "64 (58, 66) points"
    assert found["linkability"].beside == "linkability: attack success 84%, control 20%; high."
    assert found["inference"].beside.startswith("inference of pay: attack success 31%, control 29%")
    assert all(fact.tested for fact in found.values())


def test_the_tone_follows_what_is_significant_and_never_clears() -> None:
    low = effect("singling_out", 8, 6, 8.5, 0.01, rate=20)
    found = facts(LINKED, low, *rest(5, "linkability", "singling_out"))
    assert [found[each].tone for each in ("linkability", "singling_out", "inference")] == ["bad", "warning", "neutral"]


def test_of_several_releases_the_strongest_result_is_named() -> None:
    evidence = several(effect("linkability", 0, -3, 4), LINKED, fine=0.1, bad=0.2)
    found = sign_off(worded_audit(evidence), AuditContext()).boxes["linkability"]
    assert found.beside.startswith("bad: linkability")
    assert found.rate.startswith("64 ")


def test_a_withheld_excess_has_its_level_alone() -> None:
    value = SuppressedNumber(0.1, 0.2)
    hidden = replace(LINKED, excess=replace(LINKED.excess, value=value, attack_rate=value, baseline=value))
    found = facts(hidden, *rest(5, "linkability"))["linkability"]
    assert (found.rate, found.beside) == ("medium", "linkability.")


UNTESTED = AttackEffect(attack="linkability", excess=EffectSize(nan, nan, nan, 0.7, nan, "too few people"))


@pytest.mark.parametrize(
    ("effects", "more", "why"),
    [
        ((UNTESTED,), {}, "too few people"),
        ((), {"not_run": ("linkability",)}, "not run"),
    ],
)
def test_a_criterion_without_a_result_says_why(effects: Any, more: Any, why: str) -> None:
    fact = facts(*effects, *rest(5, "linkability"), **more)["linkability"]
    assert not fact.tested
    assert why in fact.why_not
    box = three_boxes({"linkability": fact}).boxes[1]
    assert (box.value, box.tested) == ("Not tested", False)
    assert why in box.beside
