"""The section on tables and people, and the table that the first screen names."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.questions.audit.children.made_up import (
    CONTROL,
    CONTROL_VISITS,
    KEY,
    ORIGINAL,
    RELEASE,
    RELEASED_VISITS,
    VISITS,
    write_files,
)
from unveil.data.files.digest import keyed_digest
from unveil.metrics.verdict.effects import EffectSize
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.decision.findings import AttackEffect
from unveil.questions.audit.decision.text import with_text
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext, ReportContext
from unveil.questions.audit.scenarios import table_scenarios
from unveil.questions.audit.sections import people_tables, summary
from unveil.report.blocks import RiskSummary, TableBlock


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit(
        ORIGINAL, RELEASE, CONTROL, tables={"visits": (VISITS, RELEASED_VISITS, CONTROL_VISITS)}, identifiers=KEY,
        release_type="synthetic", attacks=["linkability", "closest_record", "utility"],
    )  # fmt: skip


def leaking(findings: Audit) -> Audit:
    """Return findings in which an attacker on the rows of visits succeeds."""
    effect = AttackEffect(
        attack="membership", attacker="visits, set of rows", excess=EffectSize(0.4, 0.3, 0.5, 0.45, 0.05),
        p_adjusted=0.001, level="high", attempts=150,
    )  # fmt: skip
    release = findings.decision.releases[0]
    risks = tuple(
        replace(row, effect=effect, level="high") if row.risk == "membership" else row for row in release.risks
    )
    release = replace(
        release, effects=(effect, *release.effects), risks=risks, worst=effect, level="high", cause="effect"
    )
    return replace(findings, decision=replace(findings.decision, releases=(release,), level="high"))


def test_the_matrix_has_the_strongest_result_of_each_table(result: AuditResult) -> None:
    made = people_tables.section(leaking(result.findings), AuditContext(seed=0))
    assert made is not None
    assert made.lead.startswith("Significant: visits (membership inference).")
    (matrix,) = made.blocks
    assert isinstance(matrix, TableBlock)
    assert matrix.columns == ("Attack", "one row per person", "visits", "people | visits")
    rows = {row[0]: row[1:] for row in matrix.rows}
    assert rows["membership inference"] == ("", "● high, 40 (30, 50) (set of rows)", "")
    assert rows["linkability"][0].startswith("○ none found")
    assert rows["linkability"][2].startswith("○ none found")
    tables = made.data[0]
    assert isinstance(tables, TableBlock)
    assert [row[0] for row in tables.rows] == ["people", "visits"]
    assert len(made.data) == 2


def test_the_first_screen_names_the_table_and_the_view(result: AuditResult) -> None:
    findings = leaking(result.findings)
    (chart,) = summary.blocks(findings)
    assert isinstance(chart, RiskSummary)
    assert [row.attack for row in chart.rows if row.risk == "Membership"] == ["visits, set of rows"]
    assert "(visits, set of rows)" in with_text(findings.decision, findings).subline
    assert any("of visits" in each or "Protect" in each for each in with_text(findings.decision, findings).next)


def test_one_row_each_has_no_such_section() -> None:
    plain = audit(ORIGINAL.drop(KEY), RELEASE.drop(KEY), release_type="synthetic", attacks=["closest_record"])
    assert people_tables.section(plain.findings, AuditContext(seed=0)) is None
    assert "tables" not in plain.to_dict()


def test_a_redacted_report_bounds_the_people_of_a_table(result: AuditResult) -> None:
    found = result.findings.tables
    assert found is not None
    few = replace(result.findings, tables=replace(found, tables=(replace(found.tables[0], people=3),)))
    text = replace(result, findings=few).to_html(redacted=True)
    assert "fewer than 11" in text
    assert "Tables and people" in text


def test_linkability_links_each_two_tables_and_random_columns() -> None:
    known = ["age", "sex", "visits: number of rows", "drugs: number of rows", "drugs: mean dose"]
    found = table_scenarios(["visits", "drugs"], known, rng=np.random.default_rng(1))
    assert [each.name for each in found[:3]] == ["people | visits", "people | drugs", "visits | drugs"]
    assert found[1].first == ("age", "sex")
    assert found[1].second == ("drugs: number of rows", "drugs: mean dose")
    assert {each.origin for each in found[3:]} == {"random"}
    assert len(found) <= 10
    assert len({frozenset((each.first, each.second)) for each in found}) == len(found)


def test_the_sign_off_sheet_lists_the_files_of_child_tables(tmp_path: Path) -> None:
    home = write_files(tmp_path)
    tables = [f"visits={home / 'visits.csv'}:{home / 'synthetic-visits.csv'}"]
    made = audit(
        home / "patients.csv", home / "synthetic.csv", tables=tables, identifiers=KEY, attacks=["closest_record"],
        release_type="synthetic",
    )  # fmt: skip
    own = hashlib.sha256((home / "visits.csv").read_bytes()).hexdigest()
    key = bytes(16)
    for redacted, digest in ((False, own), (True, keyed_digest(own, key))):
        page = made.to_html(redacted=redacted, report=ReportContext(digest_key=key))
        assert (digest in page, own in page) == (True, not redacted)
