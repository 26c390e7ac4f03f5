"""The report of an audit: its order, its notes, and that it never says more than was measured."""

import math
from dataclasses import replace
from typing import Any

import pytest

from unveil.errors import InputError
from unveil.metrics.trials.risk import Rate, Risk
from unveil.metrics.verdict.control import ColumnDifference, ControlCheck
from unveil.metrics.verdict.effects import EffectSize
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.evidence import decided
from unveil.questions.audit.decision.findings import AttackEffect, Thresholds
from unveil.questions.audit.findings import (
    UNDEFINED,
    AttackFinding,
    AttackScenario,
    Audit,
    AuditedRelease,
    AuditVerdict,
    ColumnFact,
    ColumnImportance,
    CopyFindings,
    JudgedFigure,
    ReleaseVerdict,
    SuccessRange,
)
from unveil.questions.audit.report_context import AuditContext, ReportContext
from unveil.questions.audit.sections.linkability import importance_chart, importance_table, split_chart
from unveil.questions.audit.sections.results import MOST_ATTACKERS, result_table
from unveil.questions.audit.view import page
from unveil.questions.audit.words import compact_rate, rate_text
from unveil.report.blocks import TableBlock
from unveil.report.page import render

HOSTILE = "<script>alert(1)</script>"


def rates(attack: Rate, *, control: Rate = UNDEFINED, excess: Rate = UNDEFINED, naive: float = 0.02) -> Risk:
    return Risk(
        attack_rate=attack,
        control_rate=control,
        excess_over_control=excess,
        naive_rate=Rate(naive, naive, naive) if not math.isnan(naive) else UNDEFINED,
    )


WHO = AttackScenario(name="neighbour", first=("age", "sex"), second=("income",), reason="they talk")
CLEAR = AttackFinding(
    attack="linkability",
    targets=500,
    neighbours=10,
    scenario=WHO,
    risk=rates(Rate(0.312, 0.273, 0.354), control=Rate(0.04, 0.026, 0.061), excess=Rate(0.283, 0.241, 0.325)),
    links=SuccessRange(expected=156.0, low=150.0, high=161.0),
    p=0.0002,
    p_adjusted=0.003,
    proved=True,
)
MEAN = replace(
    CLEAR,
    scenario=AttackScenario(name="mean of 20 random splits", first=(), reason="", origin="mean"),
    risk=rates(Rate(0.9, 0.8, 0.95), control=Rate(0.1, 0.0, 0.2), excess=Rate(0.88, 0.7, 0.95)),
    p=math.nan,
    p_adjusted=math.nan,
    proved=False,
)
NOTHING = replace(
    CLEAR,
    risk=rates(Rate(0.03, 0.02, 0.05), control=Rate(0.04, 0.02, 0.06), excess=Rate(-0.01, -0.03, 0.012)),
    p=0.7,
    p_adjusted=1.0,
    proved=False,
)
COPIES = AttackFinding(
    attack="copies",
    targets=700,
    risk=rates(Rate(0.004, 0.001, 0.013), control=Rate(0.004, 0.0, 0.02), excess=Rate(0, -0.02, 0.01), naive=math.nan),
    links=SuccessRange(expected=3.0, low=3.0, high=3.0),
)
NEAR = AttackFinding(
    attack="closest_record",
    targets=500,
    risk=rates(UNDEFINED, naive=math.nan),
    figures={"median": 0.02, "low": 0.001, "control_median": 0.06, "control_low": 0.03},
)
ORDER = AttackFinding(
    attack="row_order", targets=500, risk=rates(Rate(0.002, 0.0, 0.011)), remark="Rows are far apart."
)
LEFT_OUT = AttackFinding(
    attack="record_linkage", targets=0, risk=rates(UNDEFINED, naive=math.nan), remark="Left out: why."
)


def release(*findings: AttackFinding, name: str = "masked.csv", **more: object) -> AuditedRelease:
    given = {"name": name, "rows": 700, "kind": None, "columns": ("age", "sex", "income"), "sha256": None}
    return AuditedRelease(findings=findings, **(given | more))  # type: ignore[arg-type]


def audit(*releases: AuditedRelease, control: bool = True, **more: object) -> Audit:
    fact = ColumnFact(
        name="age", kind="number", role="known", reason="every cell is a whole number", missing=0, confidence="sure"
    )
    attacks = tuple(dict.fromkeys(finding.attack for each in releases for finding in each.findings))
    given = {
        "rows": 700, "columns": (fact,), "sha256": "ab" * 32, "control_rows": 244 if control else None,
        "control_sha256": None, "releases": releases, "attacks": attacks,
    }  # fmt: skip
    return Audit(**(given | more))  # type: ignore[arg-type]


def effect(value: float, attacker: str = "neighbour", *, p: float = 0.003, **more: Any) -> AttackEffect:
    excess = EffectSize(value, value - 0.05, value + 0.05, value + 0.1, 0.1)
    return AttackEffect(attack="linkability", attacker=attacker, excess=excess, p_adjusted=p, **more)


def with_effects(found: Audit, *effects: AttackEffect) -> Audit:
    """Return the audit with a decision on these effects of its first release."""
    first, *others = (judged(HIT, name=each.name) for each in found.releases)
    return decided(replace(found, verdict=verdict(replace(first, effects=effects), *others)), Thresholds())


def test_zero_of_500_reads_as_nothing_with_its_limit() -> None:
    assert rate_text(Rate(0.0, 0.0, 0.00762)) == "0% (at most 0.8%)"
    assert compact_rate(Rate(0.0, 0.0, 0.00762)) == "0% (≤ 0.8%)"
    assert rate_text(UNDEFINED) == "undefined"
    assert compact_rate(Rate(-0.01, -0.03, 0.02)) == "−1.0% (−3.0% to 2.0%)"
    assert rate_text(Rate(0.9986, 0.992, 0.99996)) == ">99% (at least 99%)"


# --- notes and cautions -----------------------------------------------------------------------------------------------


HIT = JudgedFigure(
    attack="linkability", adversary="neighbour", tries=500, control_tries=244, attack_rate=CLEAR.risk.attack_rate,
    control_rate=CLEAR.risk.control_rate, excess_over_control=CLEAR.risk.excess_over_control, p=0.0002,
    p_adjusted=0.003, proved=True,
)  # fmt: skip
MISSED = replace(HIT, p=0.7, p_adjusted=1.0, proved=False)
UNUSUAL = CopyFindings(
    people=700, people_unchanged=9, control_share=0.0, expected=0.0, unmistakable=4, coincidences=0.0021
)  # fmt: skip
USABLE = ControlCheck(outcome="usable", members=700, others=244)


def judged(*figures: JudgedFigure, name: str = "masked.csv", copies: CopyFindings | None = None) -> ReleaseVerdict:
    return ReleaseVerdict(name=name, findings=figures, copies=copies)


def verdict(*releases: ReleaseVerdict, **more: object) -> AuditVerdict:
    given = {
        "figures": 40, "draws": 10_000, "fewest_copies_provable": 17, "control": USABLE, "releases": releases,
    }  # fmt: skip
    return AuditVerdict(**(given | more))  # type: ignore[arg-type]


AGE = ColumnDifference(column="age", figure="mean", value=None, here=40.0, there=55.5, z=8.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"p_same": 0.004, "largest_difference": 4.1, "differences": (AGE,)}, "age is 40 in the data and 55.5 in"),
        ({"is_small": True}, "no fewer than 17 copies"),
        ({"outcome": "other_people", "differences": (AGE,)}, "from another population: mean of age is 40"),
        (
            {"outcome": "overlap", "p_overlap": 0.001, "p_near": 1.0, "overlap_estimate": 30.0},
            "About 30 of 244 control people have equal",
        ),
        ({"outcome": "too_small", "others": 15}, "has 15 people"),
        ({}, ""),
    ],
)
def test_what_limits_the_control_group_is_noted(change: dict[str, Any], said: str) -> None:
    notes = page(audit(release(NOTHING), verdict=verdict(judged(MISSED), control=replace(USABLE, **change)))).notes
    assert any(said in note for note in notes) if said else notes == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [({"rows": 12}, "There are only 12 people"), ({}, "There is only 1 released row")],
)
def test_too_few_for_any_conclusion_stands_first(change: dict[str, Any], said: str) -> None:
    (caution,) = page(audit(release(NOTHING, rows=1), **change)).cautions
    assert caution.startswith(said)
    assert page(audit(release(NOTHING))).cautions == ()


def test_where_nothing_was_measured_the_headline_says_so() -> None:
    found = decided(audit(release(LEFT_OUT), verdict=verdict(judged())), Thresholds())
    assert found.decision.level == "inconclusive"
    assert page(found).tone == "warning"
    assert found.releases[0].strongest("record_linkage") is None


# --- tables and charts ------------------------------------------------------------------------------------------------


def test_results_of_all_attackers_stand_in_one_table_the_strongest_first() -> None:
    untested = AttackEffect(
        attack="linkability", attacker="c", excess=EffectSize(math.nan, math.nan, math.nan, 0.2, math.nan, "why not")
    )
    found = with_effects(audit(release(CLEAR)), effect(0.1, "b", p=0.4), untested, effect(0.27))
    table = result_table(found, ("linkability",), "C")
    assert table is not None
    assert [row[0] for row in table.rows] == ["age and sex | income", "b", "c"]
    assert table.rows[0][1:] == ("37%", "10%", "27 (22, 32)", "0.003", "● medium")
    assert table.rows[1][4].startswith("0.4")
    assert table.rows[1][5].startswith("○ ")
    assert table.rows[2][3] == "not tested: why not"
    assert result_table(found, ("inference",), "C") is None


def test_of_many_attackers_the_first_are_in_the_table_and_the_others_are_counted() -> None:
    many = [effect(0.3 - at / 500, f"who {at}", p=0.01) for at in range(MOST_ATTACKERS + 7)]
    table = result_table(with_effects(audit(release(CLEAR)), *many), ("linkability",), "C")
    assert table is not None
    assert [row[0] for row in table.rows] == [f"who {at}" for at in range(MOST_ATTACKERS)]
    assert table.note.startswith("7 more attackers are in the JSON output")


def test_the_chart_of_column_splits_has_the_strongest_of_them_with_their_limits() -> None:
    own = [effect(0.05 * at, f"split {at}") for at in range(1, 8)]
    chart = split_chart(with_effects(audit(release(CLEAR)), *own))
    assert chart is not None
    assert chart.rows == tuple(f"split {at}" for at in range(7, 2, -1))
    assert chart.series[0].x == pytest.approx([0.35, 0.3, 0.25, 0.2, 0.15])
    assert chart.series[0].low == pytest.approx([0.3, 0.25, 0.2, 0.15, 0.1])
    assert split_chart(with_effects(audit(release(CLEAR)), own[0])) is None


def test_columns_are_weighed_by_what_is_lost() -> None:
    whole = Rate(0.312, 0.273, 0.354)
    weights = (
        ColumnImportance(column="age", without=Rate(0.1, 0.08, 0.13), whole=whole),
        ColumnImportance(column="sex", without=Rate(0.332, 0.3, 0.37), whole=whole),
    )
    weighed = with_effects(audit(release(replace(CLEAR, weights=weights))), effect(0.27))
    chart, table = importance_chart(weighed), importance_table(weighed)
    assert chart is not None
    assert table is not None
    assert chart.series[0].x.tolist() == [0.1, 0.332]
    assert chart.thresholds[0].value == 0.312
    assert [row[-1] for row in table.rows] == ["−21.2 points", "+2.0 points"]
    assert any("Generalize age" in step for step in weighed.decision.next)
    bare = with_effects(audit(release(CLEAR)), effect(0.27))
    assert (importance_chart(bare), importance_table(bare)) == (None, None)


def test_the_page_says_what_it_does_not_cover_and_what_it_rests_on() -> None:
    first = release(replace(CLEAR, scenario=replace(WHO, origin="random")), MEAN, name="a", sha256="cd" * 32)
    second = release(NOTHING, COPIES, NEAR, ORDER, LEFT_OUT, name="b")
    both = verdict(judged(HIT, name="a"), judged(MISSED, name="b"))
    made = page(audit(first, second, verdict=both), AuditContext(seed=4))
    text = render(made)
    assert "not a legal determination of anonymity" in made.limitations[0]
    assert any("Inference" in each or "inference" in each for each in made.limitations)
    assert any("10,000 permutations" in each and "40 tests" in each for each in made.method)
    assert ", seed 4." in text
    assert len(text) < 1_000_000
    again = [render(page(audit(release(CLEAR)), AuditContext(seed=1))) for _ in range(2)]
    assert again[0] == again[1]


def test_remarks_of_attacks_are_notes() -> None:
    notes = page(audit(release(ORDER, LEFT_OUT))).notes
    assert {f"{ATTACKS[each.attack].title}: {each.remark}" for each in (ORDER, LEFT_OUT)} <= set(notes)


def test_distances_are_descriptive() -> None:
    (section,) = (each for each in page(audit(release(NEAR))).sections if each.heading == "Copies and distances")
    (table,) = (each for each in section.data if isinstance(each, TableBlock) and "Distances" in each.caption)
    assert table.rows[0][1:] == ("0.02", "0.001", "0.06", "0.03")


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (AuditContext(redacted=True, show_records=True), "holds no records"),
        (AuditContext(show_records=True), "no records to show"),
        (AuditContext(report=ReportContext(techniques={"agee": "rounded"})), "Did you mean 'age'"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(context: AuditContext, said: str) -> None:
    with pytest.raises(InputError, match=said):
        page(audit(release(CLEAR)), context)


def test_names_from_the_data_are_escaped_everywhere() -> None:
    who = replace(WHO, name=HOSTILE, first=(HOSTILE,), reason=HOSTILE)
    fact = ColumnFact(name=HOSTILE, kind="number", role="known", reason=HOSTILE, missing=0, confidence="sure")
    weights = (ColumnImportance(column=HOSTILE, without=Rate(0.1, 0.08, 0.13), whole=Rate(0.3, 0.2, 0.4)),)
    found = audit(
        release(replace(CLEAR, scenario=who, weights=weights), COPIES, name=HOSTILE),
        release(NEAR, name="b"),
        columns=(fact,),
        notes=(HOSTILE,),
    )
    text = render(page(with_effects(found, effect(0.27, HOSTILE, sensitive=HOSTILE), effect(0.2, HOSTILE))))
    assert "<script>alert" not in text
    assert text.count("&lt;script&gt;alert") >= 7
