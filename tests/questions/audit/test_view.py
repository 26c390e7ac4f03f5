"""The report of an audit: its sentences, what it draws, and that it never says more than was measured."""

import math
from dataclasses import replace

import pytest
from unveil.questions.audit.charts import attack_chart, comparison_chart, weight_chart
from unveil.questions.audit.parts.candidates import candidate_table
from unveil.questions.audit.sentences import sentence
from unveil.questions.audit.tables import attack_table, comparison_table, weight_table
from unveil.questions.audit.terminal_view import plain_words

from tests.approved.sentences import Approved
from unveil.metrics.trials.risk import Rate, Risk
from unveil.metrics.verdict.control import ColumnDifference, ControlCheck
from unveil.metrics.verdict.effects import EffectSize
from unveil.questions.audit.attacks import ATTACKS, LEADING
from unveil.questions.audit.decision_evidence import decided
from unveil.questions.audit.decision_findings import AttackEffect, Thresholds
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
from unveil.questions.audit.ranking import worst_of
from unveil.questions.audit.view import page
from unveil.questions.audit.words import compact_rate, links_text, rate_text
from unveil.report.blocks import TableBlock
from unveil.report.page import render
from unveil.report.trust import mark, trust_note

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


def without_control(finding: AttackFinding) -> AttackFinding:
    risk = replace(finding.risk, control_rate=UNDEFINED, excess_over_control=UNDEFINED)
    return replace(finding, risk=risk)


# --- sentences --------------------------------------------------------------------------------------------------------


def test_zero_of_500_reads_as_nothing_with_its_limit() -> None:
    assert rate_text(Rate(0.0, 0.0, 0.00762)) == "0% (at most 0.8%)"
    assert compact_rate(Rate(0.0, 0.0, 0.00762)) == "0% (≤ 0.8%)"
    assert rate_text(UNDEFINED) == "undefined"
    assert compact_rate(Rate(-0.01, -0.03, 0.02)) == "-1.0% (-3.0% to 2.0%)"
    assert rate_text(Rate(0.9986, 0.992, 0.99996)) == ">99% (at least 99%)"


def test_the_sentence_on_linkability_names_who_beside_what_and_the_verdict(approved: Approved) -> None:
    approved(sentence(CLEAR))
    assert sentence(NOTHING).endswith("Not proved (adjusted p 1).")
    assert sentence(MEAN).startswith("On average over divisions of the columns")
    few = replace(CLEAR, proved=False, p_adjusted=math.nan, why_not_judged="too few tries to judge")
    assert sentence(few).endswith("Not judged: too few tries to judge.")
    wide = replace(CLEAR, risk=replace(CLEAR.risk, excess_over_control=Rate(0.3, 0.01, 0.6)))
    approved(sentence(wide))


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (COPIES, "0.4% of people in the data (0.1% to 1.3%) stand in the release word for word."),
        (NEAR, "the release keeps nearer to the data than such people do. A distance accuses and clears nobody."),
        (
            replace(NEAR, figures={**NEAR.figures, "median": 0.07, "low": 0.03}),
            "keeps no nearer to the data than such people do. A distance accuses",
        ),
        (
            replace(NEAR, figures={**NEAR.figures, "low": 0.03}),
            "keeps no nearer to the data than such people do. A distance accuses",
        ),
        (replace(NEAR, figures={"median": 0.07, "low": 0.03}), "Without a control table nobody can say"),
        (replace(NEAR, figures={"median": math.nan, "low": math.nan}), "No record has such a figure here"),
        (ORDER, "0.2% of released rows (0% to 1.1%) stand where the same person stands in the original."),
        (LEFT_OUT, "Left out: why."),
        (replace(LEFT_OUT, remark=""), "Record linkage could not be measured here."),
        (replace(LEFT_OUT, figures={"sure": 0.5}), "For 50% of released records a single person is nearest."),
        (replace(ORDER, attack="record_linkage"), "names the right person for 0.2% of released records"),
    ],
)
def test_every_attack_has_its_sentence(finding: AttackFinding, said: str) -> None:
    assert said in sentence(finding)


def test_hits_are_shown_with_what_ties_leave_open() -> None:
    assert links_text(CLEAR) == "156 (150–161) of 500"
    assert links_text(COPIES) == "3 of 700"
    assert links_text(NEAR) == ""


# --- what stands around the headline --------------------------------------------------------------------------------


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


def test_a_control_that_differs_a_little_or_is_small_is_noted() -> None:
    differs = replace(USABLE, p_same=0.004, largest_difference=4.1, differences=(AGE,), is_small=True)
    notes = page(audit(release(NOTHING), verdict=verdict(judged(MISSED), control=differs))).explanation
    assert any("age is 40 here and 55.5 there. Figures stay" in note for note in notes)
    assert any("no fewer than 17 copied people" in note for note in notes)


def test_where_nothing_was_measured_the_headline_says_so() -> None:
    found = decided(audit(release(LEFT_OUT), verdict=verdict(judged())), Thresholds())
    assert found.decision.level == "inconclusive"
    assert page(found).tone == "warning"
    assert worst_of(found.releases[0], "record_linkage") is None


# --- pictures and tables ----------------------------------------------------------------------------------------------


def test_the_comparison_draws_the_worst_of_each_release_without_the_mean() -> None:
    chart = comparison_chart(audit(release(CLEAR, MEAN, name="a"), release(NOTHING, name="b")), LEADING)
    assert chart is not None
    attack, control, chance = chart.series
    assert (attack.name, control.name, chance.name) == ("people in the data", "people not in the data", "blind chance")
    assert attack.x.tolist() == [0.312, 0.03]
    assert attack.low is not None
    assert attack.low.tolist() == [0.273, 0.02]
    assert control.x.tolist() == [0.04, 0.04]
    assert chart.rows == ("a", "b")
    assert comparison_chart(audit(release(COPIES)), LEADING) is None


def test_an_attack_is_drawn_with_every_adversary() -> None:
    found = audit(release(CLEAR, MEAN, NEAR, name="a"))
    chart = attack_chart(found, ATTACKS["linkability"])
    assert chart is not None
    assert chart.rows == ("neighbour", "mean of 20 random splits")
    distances = attack_chart(found, ATTACKS["closest_record"])
    assert distances is not None
    assert [series.x.tolist() for series in distances.series] == [[0.02], [0.06]]
    assert attack_chart(audit(release(LEFT_OUT)), ATTACKS["record_linkage"]) is None


LINKED = replace(
    ORDER,
    attack="record_linkage",
    figures={"entropy": 0.25, "adversary_success_rate": 0.875, "incorrectness": math.nan, "sure": 0.5},
)


def test_metrics_of_candidates_stand_beside_their_trust_in_tables() -> None:
    table = candidate_table(audit(release(LINKED, COPIES)), "record_linkage")
    assert table is not None
    assert table.columns == ("Metric", "Value", "Private", "Trust in tables")
    assert table.rows == (
        ("Entropy", "0.25", "if high", mark("entropy", "tables")),
        ("Adversary success rate", "0.875", "if low", mark("adversary_success_rate", "tables")),
        ("Incorrectness", "undefined", "if high", mark("incorrectness", "tables")),
    )
    assert table.note.endswith(trust_note(["tables"]))


def test_each_release_has_its_column_of_metrics_and_a_dash_where_there_are_none() -> None:
    blind = replace(LINKED, figures={"entropy": 1.5, "sure": 0.1})
    found = audit(release(LINKED, name="a"), release(blind, name="b"), release(LEFT_OUT, name=HOSTILE))
    table = candidate_table(found, "record_linkage")
    assert table is not None
    assert table.columns[1:4] == ("a", "b", HOSTILE)
    assert len(table.align) == len(table.columns)
    assert [row[1:4] for row in table.rows] == [("0.25", "1.5", "–"), ("0.875", "–", "–"), ("undefined", "–", "–")]
    (section,) = [each for each in page(found).sections if "ecord linkage" in each.heading]
    assert table in section.blocks
    assert "<script>alert" not in render(page(found))


def test_without_candidates_there_is_no_such_table() -> None:
    found = audit(release(CLEAR, NEAR, LEFT_OUT))
    assert [candidate_table(found, attack) for attack in found.attacks] == [None, None, None]
    captions = [
        block.caption for each in page(found).sections for block in each.blocks if isinstance(block, TableBlock)
    ]
    assert not any("knows about each" in caption for caption in captions)


def test_of_many_adversaries_the_clearest_and_the_mean_are_shown() -> None:
    many = [
        replace(CLEAR, scenario=replace(WHO, name=f"who {at}"), p_adjusted=0.001 * (1 + (7 * at) % 20))
        for at in range(20)
    ]
    found = audit(release(*many, MEAN))
    clearest = {each.scenario.name for each in sorted(many, key=lambda each: each.p_adjusted)[:9] if each.scenario}
    chart, table = attack_chart(found, ATTACKS["linkability"]), attack_table(found, "linkability")
    assert chart is not None
    assert {row[0] for row in table.rows} == set(chart.rows) == {*clearest, "mean of 20 random splits"}
    assert table.note.startswith(
        "11 less clear figures are in the JSON output. Trust to order releases (docs/atlas.md): "
    )


def test_tables_leave_out_what_no_release_has() -> None:
    table = attack_table(audit(release(ORDER)), "row_order")
    assert table.columns == ("Release", "Attack rate", "Naive rate")
    assert attack_table(audit(release(CLEAR, NOTHING)), "linkability").rows[0][-1] == "0.003 (proved)"
    assert "Rows are far apart." in table.note
    compared = comparison_table(audit(release(CLEAR, COPIES, name="a"), release(LEFT_OUT, NEAR, name="b")))
    assert compared.columns == ("", "a", "b")
    assert {row[0]: row[1:] for row in compared.rows}["Linkability"] == ("31% (27–35%)", "–")


def test_columns_are_weighed_by_what_is_lost() -> None:
    whole = Rate(0.312, 0.273, 0.354)
    weights = (
        ColumnImportance(column="age", without=Rate(0.1, 0.08, 0.13), whole=whole),
        ColumnImportance(column="sex", without=Rate(0.332, 0.3, 0.37), whole=whole),
    )
    weighed = release(replace(CLEAR, weights=weights))
    chart = weight_chart(weighed, LEADING)
    assert chart is not None
    assert chart.series[0].x.tolist() == [0.1, 0.332]
    assert chart.thresholds[0].value == 0.312
    assert [row[-1] for row in weight_table([weighed]).rows] == ["−21.2 points", "+2.0 points"]
    assert weight_chart(release(CLEAR), LEADING) is None
    effect = AttackEffect(attack="linkability", excess=EffectSize(0.27, 0.2, 0.3), p_adjusted=0.003)
    tests = verdict(replace(judged(HIT), effects=(effect,)))
    said = plain_words(decided(audit(weighed, verdict=tests), Thresholds()))
    assert said[0].endswith("Most telling columns: age.")


def test_the_page_says_what_was_not_tested_and_what_the_verdict_rests_on() -> None:
    first = release(replace(CLEAR, scenario=replace(WHO, origin="tried")), MEAN, name="a", sha256="cd" * 32)
    second = release(NOTHING, COPIES, NEAR, ORDER, LEFT_OUT, name="b")
    both = verdict(judged(HIT, name="a"), judged(MISSED, name="b"))
    text = render(page(audit(first, second, verdict=both), seed=4))
    assert "no finding of anonymity" in text
    assert "What was not tested" in text
    assert "Permutations of who is in the data" in text
    assert "10,000" in text
    assert ", seed 4." in text
    assert len(text) < 1_000_000
    assert render(page(audit(release(CLEAR)), seed=1)) == render(page(audit(release(CLEAR)), seed=1))


def test_names_from_the_data_are_escaped_everywhere() -> None:
    who = replace(WHO, name=HOSTILE, first=(HOSTILE,), reason=HOSTILE)
    fact = ColumnFact(name=HOSTILE, kind="number", role="known", reason=HOSTILE, missing=0, confidence="sure")
    weights = (ColumnImportance(column=HOSTILE, without=Rate(0.1, 0.08, 0.13), whole=Rate(0.3, 0.2, 0.4)),)
    built = audit(
        release(replace(CLEAR, scenario=who, weights=weights), COPIES, name=HOSTILE),
        release(NEAR, name="b"),
        columns=(fact,),
        notes=(HOSTILE,),
    )
    text = render(page(built))
    assert "<script>alert" not in text
    assert text.count("&lt;script&gt;alert") >= 7
