"""Every sentence of a decision: each template once, true of the numbers beside it, and short."""

import ast
import inspect
import re
from dataclasses import replace
from math import nan
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.questions.audit.test_decision import EMA, audit, classes, effect, rest
from unveil.metrics.verdict.effects import EffectSize
from unveil.metrics.verdict.levels import LEVEL_WORDS, Level
from unveil.questions.audit.decision import templates
from unveil.questions.audit.decision.findings import (
    EFFECTS,
    RISKS,
    AttackEffect,
    AuditDecision,
    AuditEvidence,
    Cause,
    DecisionWord,
    ExposedIndividuals,
    GroupEffect,
    Lack,
    Thresholds,
)
from unveil.questions.audit.decision.rule import decide
from unveil.questions.audit.decision.templates import (
    DECISION_WORDS,
    EFFECT_NAMES,
    INDIVIDUALS,
    NEXT,
    OPTIONS,
    PHRASES,
    REASONS,
    STEPS,
)
from unveil.questions.audit.decision.text import headline_of, tone, with_text
from unveil.questions.audit.findings import Audit, AuditedRelease, AuditVerdict
from unveil.questions.audit.sections import summary
from unveil.report.blocks import RiskSummary, TableBlock, risk_table

FORBIDDEN = (
    "proved", "gives away", "accuse", "clear", "luck", "kept", "may go out", "no risk found", "anonymous", "safe",
)  # fmt: skip
HOSTILE = 'a {0} {b} %s\n<"\r\u2028'
GROUP = GroupEffect(group="north", people=40, attack="membership", excess=EffectSize(1, 0.9, 1), p_adjusted=0.01)
COPIED = ExposedIndividuals(rare_copies=26, rare_copies_expected=3, rare_beyond_chance=True, copies_seen=30)
AUDIT = Audit(
    rows=1000, columns=(), sha256=None, control_rows=1000, control_sha256=None, releases=(), attacks=(),
    verdict=AuditVerdict(figures=59),
)  # fmt: skip
LINKED = effect("linkability", 64, 58, 66, 0.0003, rate=84)


def summary_table(decision: AuditDecision) -> TableBlock:
    """Return the summary table of the first screen as text."""
    block = summary.blocks(replace(AUDIT, decision=decision))[-1]
    return risk_table(block) if isinstance(block, RiskSummary) else block  # type: ignore[return-value]


def worded(evidence: AuditEvidence, held: Thresholds | None = None) -> AuditDecision:
    """Return a decision with its sentences."""
    return worded_audit(evidence, held).decision


def worded_audit(evidence: AuditEvidence, held: Thresholds | None = None) -> Audit:
    """Return an audit with this decision and its sentences."""
    releases = tuple(
        AuditedRelease(name=each.name, rows=1000, kind=each.kind, columns=("age",), sha256=None, findings=())
        for each in evidence.releases
    )
    findings = replace(AUDIT, releases=releases)
    return replace(findings, decision=with_text(decide(evidence, held), findings))


def several(*effects: AttackEffect, **losses: float) -> AuditEvidence:
    """Return an audit of releases with one effect each, and what each loses in utility."""
    whole = audit()
    one = whole.releases[0]
    return replace(
        whole,
        releases=tuple(
            replace(one, name=name, utility_loss=loss, effects=(each, *rest(5, each.attack)))
            for each, (name, loss) in zip(effects, losses.items(), strict=True)
        ),
    )


ONE = effect("linkability", 0.4, 0.1, 0.8, 0.01, rate=3)
TEMPLATES: dict[str, tuple[AuditEvidence, Thresholds | None, str]] = {
    "high": (audit(LINKED), None,
             "High risk: 64 more people per 100 can be linked than without the release (84%, control 20%)."),
    "medium": (audit(effect("inference", 20, 15, 25, 0.01, rate=50, sensitive="pay")), None,
               "Medium risk: pay can be inferred for 20 more people per 100 than without the release (50%, control "
               "30%)."),
    "low": (audit(effect("membership", 8, 6, 9, 0.01, rate=12)), None,
            "Low risk: membership is disclosed for 8 more people per 100 (12%, control 4.0%)."),
    "below one point": (audit(ONE), None,
                        "Very low risk: fewer than 1 more person per 100 can be linked than without the release (3.0%, "
                        "control 2.6%)."),
    "one person": (audit(effect("linkability", 1, 0.5, 2, 0.01, rate=3)), None,
                   "Very low risk: 1 more person per 100 can be linked than without the release (3.0%, control 2.0%)."),
    "singling out": (audit(effect("singling_out", 64, 58, 66, 0.01, rate=84)), None,
                     "High risk: 64 more of 100 predicates single out a person than without the release (84%, control "
                     "20%)."),
    "re-identification": (audit(effect("reidentification", 1.5, 1, 2, 0.002, rate=1.5)), None,
                          "Very low risk: 1.5% of records can be re-identified."),
    "counted": (audit(effect("reidentification", 4, 0, 4, rate=4, counted=True)), None,
                "Very low risk: at most 4.0% of records can be re-identified."),
    "row order": (audit(effect("row_order", 50, 45, 55, 0.01, rate=50)), None,
                  "High risk: 50% of records can be re-identified by their position in the file."),
    "exact copies": (audit(effect("copies", 7, 6, 8, 0.01, rate=9)), None,
                     "Low risk: the records of 7 more people per 100 are released unchanged than by chance (9.0%, "
                     "control 2.0%)."),
    "none found": (audit(*rest(21)), None,
                   "Nothing significant: an excess above 21 points is ruled out (at most medium)."),
    "none found, partial": (audit(*rest(21), not_run=("copies",)), None,
                            "Partial audit – nothing significant: an excess above 21 points is ruled out (at most "
                            "medium)."),
    "inconclusive": (audit(*rest(40)), None,
                     "Inconclusive: the excess in singling out could be up to 40 points."),
    "nothing tested": (audit(), None, "Inconclusive: not all risks could be tested."),
    "theoretical": (audit(effect("singling_out", 34, 27, 77, rate=71, baseline_kind="theoretical"), control="none"),
                    None, "High risk: 34 more of 100 predicates single out a person than the theoretical "
                    "baseline."),
    "partial": (audit(LINKED, not_run=("membership",)), None,
                "Partial audit – high risk: 64 more people per 100 can be linked than without the release (84%, "
                "control 20%)."),
    "copies": (audit(*rest(5), individuals=COPIED), None,
               "Medium risk: 26 people's rare records are released unchanged, 3 expected by chance."),
    "members": (audit(effect("membership", 3, 1, 4, 0.01, rate=8), individuals=ExposedIndividuals(flagged=12)), None,
                "Medium risk: 12 people can be recognized as members, at most 5% of them wrongly."),
    "class": (audit(*rest(5), individuals=classes(1, truthful=True)), None,
              "Medium risk: 9 people are in equivalence classes smaller than 3."),
    "group": (audit(*rest(5), individuals=ExposedIndividuals(groups=(GROUP,))), None,
              "Medium risk: membership is disclosed for 100 more people per 100 in the group north (40 people)."),
    "pass": (audit(*rest(5.5)), EMA, "Pass (nothing significant): every excess is below 5.5 points."),
    "fail": (audit(LINKED), EMA,
             "Fail (high risk): 64 more people per 100 can be linked than without the release (84%, control 20%)."),
    "too few people": (audit(*rest(21)), EMA,
                       "Inconclusive (nothing significant): the excess in singling out could be up to 21 points."),
    "no control": (audit(control="none"), EMA,
                   "Inconclusive: without a control group the excess risk cannot be estimated."),
    "bad control": (audit(*rest(5), control="overlap"), EMA,
                    "Inconclusive: the control group cannot be used."),
    "no type": (audit(*rest(5), kind=None), EMA,
                "Inconclusive (nothing significant): state the release type: masked or synthetic."),
    "not stated": (audit(*rest(5), sensitive=None), EMA,
                   "Inconclusive (nothing significant): state the sensitive columns."),
    "quasi-identifiers": (audit(*rest(5), quasi_identifiers_stated=False), replace(EMA, needs_quasi_identifiers=True),
                          "Inconclusive (nothing significant): state the quasi-identifiers."),
    "not tested": (audit(*rest(5, "membership")), EMA,
                   "Inconclusive (nothing significant): not all risks could be tested."),
    "not run": (audit(*rest(5, "membership"), not_run=("membership",)), EMA,
                "Partial audit – nothing significant: not all attacks were run."),
    "claim": (replace(audit(*rest(5)), refuted_claim=True), None,
              "Fail (nothing significant): the claimed epsilon is refuted."),
    "one passes": (several(LINKED, effect("linkability", 0, -3, 4), bad=0.1, fine=0.2), EMA,
                   "1 of 2 releases passes: fine."),
    "none passes": (several(LINKED, effect("linkability", 0, -3, 12), bad=0.1, fine=0.2), EMA,
                    "No release passes; closest: fine (excess at most 12 points)."),
    "several, no threshold": (several(LINKED, effect("linkability", 0, -3, 12), bad=0.1, fine=0.2), None,
                              "High risk in bad; lowest: fine (excess at most 12 points)."),
}  # fmt: skip


@pytest.mark.parametrize("case", TEMPLATES)
def test_each_template_is_a_short_sentence_without_forbidden_words(case: str) -> None:
    evidence, held, expected = TEMPLATES[case]
    made = worded(evidence, held)
    assert made.headline == expected
    assert len(made.headline.split()) <= 20
    texts = " ".join((made.headline, made.subline, *made.next)).lower()
    assert [word for word in FORBIDDEN if re.search(rf"\b{word}\b", texts)] == []
    assert tone(made) in ("bad", "warning", "neutral")


def test_every_case_has_words() -> None:
    assert set(LEVEL_WORDS) == set(get_args(Level))
    assert set(DECISION_WORDS) == set(get_args(DecisionWord))
    assert set(INDIVIDUALS) - {"rare copies"} <= set(get_args(Cause))
    assert set(REASONS) == set(NEXT) == set(get_args(Lack))
    assert set(PHRASES) == set(EFFECT_NAMES) == set(EFFECTS)
    assert set(OPTIONS) <= {*NEXT.values(), STEPS["threshold"], STEPS["identifier"]}


def test_no_text_of_a_decision_has_a_forbidden_word() -> None:
    nodes = ast.walk(ast.parse(inspect.getsource(templates)))
    texts = " ".join(str(node.value) for node in nodes if isinstance(node, ast.Constant)).lower()
    assert "people per table needed" in texts
    assert [word for word in FORBIDDEN if re.search(rf"\b{word}\b", texts)] == []


rates = st.integers(0, 1000).map(lambda each: each / 1000)


def percents(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"([\d.]+)%", text)]


@given(st.sampled_from(["linkability", "membership", "inference", "singling_out", "copies"]), rates, rates)
def test_the_excess_in_a_headline_is_the_difference_of_the_rates_beside_it(
    attack: str, success: float, baseline: float
) -> None:
    value = success - baseline
    excess = EffectSize(value, value - 0.01, value + 0.01, attack_rate=success, baseline=baseline)
    one = AttackEffect(attack=attack, excess=excess, p_adjusted=0.001, sensitive="pay" if attack == "inference" else "")
    made = worded(audit(one))
    # A long headline leaves the rates to the line below it.
    shown = percents(made.headline) or percents(made.subline)[:2]
    if value > 0 and not re.search("[<>]", made.headline + made.subline.partition("adjusted")[0]):
        assert len(shown) == 2
        said = re.search(r"(\d+) more|fewer than 1 more", made.headline)
        assert said is not None
        points = float(said[1] or 0.5)
        # Two rates and an excess, each rounded to a whole number.
        assert abs(points - (shown[0] - shown[1])) <= 1.5
    (row,) = (each for each in summary_table(made).rows if len(each) == 6 and "●" in each[5])
    printed = float(row[3].partition(" ")[0].replace("−", "-"))
    assert printed == pytest.approx(100 * value, abs=0.051)
    assert f"excess {row[3].partition(' ')[0]} point" in made.subline


@given(st.floats(0.0001, 0.3), st.floats(0, 0.3))
def test_an_upper_limit_is_rounded_up_and_the_same_everywhere(high: float, other: float) -> None:
    effects = [replace(each, excess=EffectSize(0, -0.1, min(high, other))) for each in rest(0, "linkability")]
    linked = AttackEffect(attack="linkability", excess=EffectSize(0, -0.1, max(high, other)), p_adjusted=1)
    made = worded(audit(linked, *effects), Thresholds(threshold=0.5))
    said = re.search(r"below ([\d.]+) points", made.headline)
    assert said is not None
    assert float(said[1]) / 100 >= max(high, other) - 1e-9
    assert f"at most {said[1]})" in made.subline
    assert any(f", {said[1]})" in row[3] for row in summary_table(made).rows)


def test_a_group_leads_only_where_no_result_on_everybody_has_as_high_a_level() -> None:
    groups = ExposedIndividuals(groups=(GROUP,))
    for held in (None, EMA):
        everybody = worded(audit(effect("linkability", 20, 15, 25, 0.01, rate=30), individuals=groups), held)
        assert "group" not in everybody.headline
        assert "20 more people" in everybody.headline
        few = worded(audit(effect("linkability", 3, 1, 4, 0.01, rate=30), individuals=groups), held)
        assert "in the group north (40 people)" in few.headline
        assert "at least 90, at most 100" in few.subline


@pytest.mark.parametrize("held", [None, EMA])
def test_names_with_braces_and_line_breaks_break_no_sentence(held: Thresholds | None) -> None:
    one = audit(effect("inference", 64, 58, 66, 0.01, rate=84, sensitive=HOSTILE), sensitive=(HOSTILE,))
    group = audit(*rest(5), individuals=ExposedIndividuals(groups=(replace(GROUP, group=HOSTILE),)))
    many = several(LINKED, effect("linkability", 0, -3, 4), **{HOSTILE: 0.1, f"{HOSTILE}2": 0.2})
    for evidence in (one, group, many):
        made = worded(evidence, held)
        assert "{0} {b}" in made.headline
        table = summary_table(made)
        for text in (
            made.headline,
            made.subline,
            *made.next,
            *table.columns,
            *(each for row in table.rows for each in row),
        ):
            assert not re.search(r"[\n\r\u2028]", text)


def test_the_table_has_four_risks_and_why_one_was_not_tested() -> None:
    untested = AttackEffect(attack="membership", excess=EffectSize(nan, nan, nan, 0.7, nan, "too few people"))
    made = worded(audit(LINKED, untested, not_run=("singling_out", "reidentification", "row_order", "copies")))
    rows = {row[0]: row[1:] for row in summary_table(made).rows}
    assert [each.partition(":")[0].lower() for each in rows] == list(RISKS)
    assert rows["Linkability"] == ("84%", "20%", "64 (58, 66)", "<0.001", "● high")
    assert rows["Membership"] == ("70%", "–", "not tested: too few people", "–", "–")
    assert rows["Singling out and re-identification"][2] == "not run"
    exposed = summary_table(worded(audit(*rest(5), individuals=COPIED))).rows[-1]
    assert exposed[0] == "Individuals: 26 people's rare records are released unchanged, 3 expected by chance"


def test_several_releases_stand_in_columns_with_their_decision() -> None:
    evidence = several(LINKED, effect("linkability", 0, -3, 4), bad=0.1, fine=0.2)
    table = summary_table(worded(evidence, EMA))
    assert table.columns == ("Risk", "bad", "fine")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["Linkability"] == ("● high, 64 (58, 66)", "○ none found, 0 (−3, 4)")
    assert rows["Decision"] == ("Fail", "Pass")
    assert rows["Utility loss"] == ("10%", "20%")


def test_the_next_step_is_what_a_pass_lacks() -> None:
    steps: dict[Lack, Any] = {
        "control": {"control": "none"}, "type": {"kind": None}, "sensitive": {"sensitive": None},
        "not run": {"not_run": ("membership",)},
    }  # fmt: skip
    for lack, change in steps.items():
        assert NEXT[lack] in worded(audit(*rest(5), **change), EMA).next
    assert worded(audit(*rest(5)), EMA).next == ("Record the threshold and this report, then release.",)
    assert STEPS["threshold"] in worded(audit(*rest(5))).next


def test_an_inconclusive_result_says_how_many_people_would_do() -> None:
    made = worded(audit(effect("linkability", 2, -3, 12, rate=30), *rest(5, "linkability")), EMA)
    assert re.search(r"about [\d,]+ people per table needed", made.subline)
    assert headline_of(made.releases[0], made) == made.headline
