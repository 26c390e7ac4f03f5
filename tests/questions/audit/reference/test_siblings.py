"""Sibling releases in an audit: planted truths, what they decide, and what they never do."""

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.questions.audit.reference.made_up import people, released, siblings
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.reference.findings import SiblingFinding
from unveil.questions.audit.runner import result_format

ORIGINAL = people(1)
HARMLESS, LEAKY = released(ORIGINAL, 2), released(ORIGINAL, 3, copied=0.05)
LEAKY_BY_FAR = released(ORIGINAL, 3, copied=0.3)
PLAIN: dict[str, Any] = {"release_type": "synthetic", "attacks": ["copies"], "sensitive": "none"}


def ask(release: pl.DataFrame, **settings: Any) -> AuditResult:
    return audit(ORIGINAL, release, **{**PLAIN, "identifiers": ["id"], **settings})


def found(answer: AuditResult) -> SiblingFinding:
    assert answer.findings.siblings is not None
    return answer.findings.siblings


@cache
def with_22(*, leaky: bool, copied: float = 0.05, older: int = 0) -> AuditResult:
    return ask(LEAKY if leaky else HARMLESS, sibling=siblings(22, copied=copied, older=older)[0], threshold=0.01)


def test_a_release_that_discloses_nothing_is_not_flagged() -> None:
    answer = with_22(leaky=False)
    finding = found(answer)
    assert (finding.test, finding.check, finding.is_evidence) == ("release", "usable", True)
    assert finding.p > 0.045
    assert answer.decided.basis == "siblings"
    # Nothing found by siblings is no pass.
    assert (answer.level, answer.decision) == ("none_found", "inconclusive")


def test_copies_are_found_with_their_size() -> None:
    answer = with_22(leaky=True)
    finding = found(answer)
    assert finding.p == finding.smallest_p == pytest.approx(1 / 23)
    assert 0.02 < finding.excess_risk.value < 0.1
    assert finding.excess_risk.value == pytest.approx(finding.attack_rate.value - finding.baseline_rate.value)
    assert answer.level in ("very_low", "low")
    assert answer.decision == "inconclusive"
    assert answer.with_limits({}).headline.startswith("Inconclusive (at least ")
    assert "your statement that the siblings have the same generator" in answer.decided.subline


def test_a_large_excess_fails() -> None:
    answer = ask(LEAKY_BY_FAR, sibling=siblings(22, copied=0.3)[0], threshold=0.09)
    assert (answer.level, answer.decision) == ("medium", "fail")
    assert answer.headline.startswith("Fail (at least medium risk): the release is nearest to ")


def test_fewer_than_22_describe() -> None:
    answer = ask(LEAKY, sibling=siblings(21, copied=0.05)[0], threshold=0.01)
    finding = found(answer)
    assert (finding.test, finding.check, finding.is_evidence) == ("none", "too_few", False)
    assert np.isnan(finding.p)
    assert np.isnan(finding.smallest_p)
    assert finding.attack_rate.value > 1 / 22
    assert answer.decision == "inconclusive"
    assert "With 1 more sibling this would be a test." in answer.to_html()


def test_one_sibling_is_no_error() -> None:
    finding = found(ask(LEAKY, sibling=siblings(1)[0]))
    assert (finding.number, finding.check) == (1, "too_few")
    assert finding.attack_rate.value > 0.5


def test_siblings_of_another_population_are_not_used() -> None:
    answer = with_22(leaky=True, older=30)
    finding = found(answer)
    assert (finding.check, finding.test) == ("siblings_differ", "none")
    assert finding.column in ("age", "income")
    assert answer.headline == "Inconclusive: the release is from another population than its siblings."
    assert finding.column in answer.to_html()


@pytest.mark.parametrize("copied", [0.0, 0.3])
def test_four_releases_with_their_people(copied: float) -> None:
    releases, behind = siblings(3, copied=copied)
    answer = ask(released(ORIGINAL, 3, copied=copied), sibling=releases, sibling_people=behind)
    finding = found(answer)
    assert finding.test == "assignment"
    assert finding.smallest_p == pytest.approx(1 / 24)
    assert (finding.p <= 0.045) == (copied > 0)
    # The people of the siblings are the control group, which decides alone.
    assert answer.findings.control_rows == 3 * 120
    assert answer.decided.basis == "control"
    assert not finding.is_evidence
    assert finding.auc == pytest.approx(0.5, abs=0.1) if not copied else finding.auc > 0.55
    assert finding.auc_calibrated > 0.55 or not copied


def test_the_test_with_people_decides_without_a_control_group() -> None:
    releases, behind = siblings(3, copied=0.3)
    few = people(5, 10)
    answer = audit(ORIGINAL, LEAKY_BY_FAR, few, **PLAIN, sibling=releases, sibling_people=behind, threshold=0.01)
    finding = found(answer)
    assert (finding.test, finding.is_evidence, answer.decided.basis) == ("assignment", True, "siblings")
    assert answer.decision == "fail"
    assert "releases are nearest to" in answer.headline


def test_people_whom_a_sibling_saw_are_left_out() -> None:
    releases, behind = siblings(3)
    shared = [pl.concat([each.head(100), ORIGINAL.head(20)]) for each in behind]
    finding = found(ask(HARMLESS, sibling=releases, sibling_people=shared))
    assert finding.left_out == 20
    mostly = [pl.concat([each.head(20), ORIGINAL.head(100)]) for each in behind]
    finding = found(ask(HARMLESS, sibling=releases, sibling_people=mostly))
    assert (finding.check, finding.test) == ("siblings_overlap", "none")


def test_order_and_names_play_no_part() -> None:
    releases = siblings(22, copied=0.05)[0]
    names = {"age": "z", "sex": "y", "region": "x", "job": "w", "income": "v"}
    turned = [each.sample(fraction=1.0, shuffle=True, seed=9).rename(names) for each in reversed(releases)]
    other = audit(
        ORIGINAL.rename(names).reverse(), LEAKY.rename(names).reverse(), **PLAIN, identifiers=["id"], sibling=turned
    )
    one, two = found(ask(LEAKY, sibling=releases)), found(other)
    assert (one.p, one.attack_rate, one.baseline_rate) == (two.p, two.attack_rate, two.baseline_rate)


def test_threads_change_no_byte() -> None:
    releases = siblings(22, copied=0.05)[0]
    one, two = (ask(LEAKY, sibling=releases, threads=number).to_json() for number in (1, 2))
    assert one == two


def test_a_limit_is_never_met_by_siblings_alone() -> None:
    assert with_22(leaky=False).with_limits({"siblings": 0.5}).decision == "inconclusive"
    answer = ask(HARMLESS, sibling=siblings(22, copied=0.05)[0], limits={"siblings": 0.5})
    assert answer.decision == "inconclusive"
    answer = ask(LEAKY_BY_FAR, sibling=siblings(22, copied=0.3)[0], limits={"siblings": 0.1})
    assert answer.decision == "fail"
    answer = audit(ORIGINAL, HARMLESS, people(5), **PLAIN, sibling=siblings(2)[0], limits={"siblings": 0.9})
    assert answer.decision == "pass"


def test_the_redacted_report_holds_no_small_number() -> None:
    answer = with_22(leaky=True)
    html = answer.to_html(redacted=True)
    # 5% of 120 people are fewer than 11.
    assert "points (at least" not in html.partition("Sibling releases")[2].partition("<h2")[0]
    assert "People nearest to each release" not in html
    assert "People nearest to each release" in answer.to_html()


def test_a_stored_result_is_read_again() -> None:
    finding = found(with_22(leaky=True))
    kept = result_format()
    assert repr(kept.read(kept.write(finding))) == repr(finding)
