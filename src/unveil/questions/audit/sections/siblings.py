"""Sibling releases: is the release nearer to its people than releases from other people?"""

from collections.abc import Iterator
from math import isnan

import numpy as np

from unveil.metrics.verdict.siblings import FEWEST_OF_TEST
from unveil.questions.audit.decision.templates import DECLARED
from unveil.questions.audit.decision.text import excess_of, p_text
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.reference.findings import SiblingFinding
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.words import LONGEST_NAME, number_of, percent, percent_of
from unveil.report.blocks import Chart, Section, Series, TableBlock, sides
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, decimal, name

#: What each test statistic is called.
_STATISTICS = {
    "mean_rank": "Average rank of the release by distance",
    "first_share": "People with the release as the nearest",
    "copies": "People copied unchanged",
}
_TESTS = {
    "release": "this release among its siblings",
    "assignment": "which release belongs to which people (about the generator)",
    "none": "none",
}
_CHECKS = {
    "usable": "usable",
    "siblings_differ": "from another population or with other settings",
    "siblings_overlap": "most people were used for a sibling too",
    "too_few": "too few for a test",
}


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the comparison with sibling releases, or None without any."""
    finding = audit.siblings
    if finding is None:
        return None
    return Section(
        heading="Sibling releases",
        question="Is the release nearer to its people than releases from other people?",
        lead=" ".join(_sentences(audit, finding)),
        blocks=() if (chart := _chart(finding)) is None else (chart,),
        data=(_facts(finding), *([_statistics(finding, audit.releases[0].kind)] if finding.statistics else [])),
    )


def _sentences(audit: Audit, finding: SiblingFinding) -> Iterator[str]:
    """Yield the result, what it rests on, and what it cannot show."""
    number, rate = count(finding.number, "sibling", "siblings"), finding.attack_rate
    if finding.check == "siblings_differ":
        by = f", most in {name(finding.column, LONGEST_NAME)}" if finding.column else ""
        yield f"The release differs from its {number}{by}: another population or other settings. Nothing was tested."
        return
    if finding.check == "siblings_overlap":
        shared = f"{number_of(finding.left_out)} of {number_of(finding.people)}"
        yield f"Nothing was tested: {shared} were used for a sibling too."
    elif rate.defined:
        yield _compared(finding, number)
    if finding.test != "none":
        yield from _tested(audit, finding)
        # The first screen says so where the test decides.
        if not finding.is_evidence:
            yield DECLARED
    elif finding.check == "too_few":
        more = FEWEST_OF_TEST - finding.number
        yield f"With {count(more, 'more sibling', 'more siblings')} this would be a test."
    if not isnan(finding.auc):
        yield (
            f"AUC of the DCR score against the control group: {finding.auc:.2f}, calibrated by siblings "
            f"{finding.auc_calibrated:.2f}."
        )


def _compared(finding: SiblingFinding, number: str) -> str:
    rate, expected = finding.attack_rate, percent(1 / (finding.number + 1))
    if finding.test == "assignment":
        return (
            f"{percent_of(rate, 'people')} are nearer to the release made from them than to the {number}; "
            f"{expected} would be expected."
        )
    which = "its sibling" if finding.number == 1 else f"all {number}"
    return f"{percent_of(rate, 'people')} are nearer to this release than to {which}; {expected} would be expected."


def _tested(audit: Audit, finding: SiblingFinding) -> Iterator[str]:
    if isnan(finding.p) or isinstance(finding.excess_risk.value, SuppressedNumber):
        return
    about = "This test is about the generator, not about one release. " if finding.test == "assignment" else ""
    state = "significant" if finding.p <= audit.verdict.alpha else "not significant"
    yield f"{about}Excess {excess_of(finding.excess_risk)} points, p {p_text(finding.p)} ({state})."
    if not finding.is_evidence:
        yield "The control group decides: this test does not affect the level."


def _chart(finding: SiblingFinding) -> Chart | None:
    """Return the share of people that each release is nearest to."""
    own, rates = finding.attack_rate.value, np.array(finding.sibling_rates)
    if not rates.size or isnan(own) or isinstance(own, SuppressedNumber) or finding.check == "siblings_differ":
        return None
    label = "own release" if finding.test == "assignment" else "this release"
    place, last = np.arange(rates.size, dtype=np.float64) + 0.1, np.array([rates.size + 0.1])
    beyond = int((rates >= own).sum())
    caption = "No sibling is nearest to as many people."
    if beyond:
        caption = f"{count(beyond, 'sibling is', 'siblings are')} nearest to as many people or more."
    return Chart(
        title="People nearest to each release",
        x_label="releases, siblings ascending",
        y_label="share of people",
        series=(
            Series(name="siblings", x=place, y=rates, style="second", kind="bars", width=0.8),
            Series(name=label, x=last, y=np.array([own]), style="first", kind="bars", width=0.8),
        ),
        caption=caption,
        x_range=(0.0, rates.size + 1.0),
        y_range=(0.0, min(1.0, 1.2 * max(float(rates.max()), own, 0.01))),
        x_names=((rates.size + 0.5, label),),
    )


def _facts(finding: SiblingFinding) -> TableBlock:
    rows = [
        ("Siblings", count(finding.number)),
        ("Check", _CHECKS[finding.check]),
        ("Test", _TESTS[finding.test]),
        ("People compared", number_of(finding.people, "", "")),
        ("Left out: used for a sibling too", number_of(finding.left_out, "", "")),
    ]
    if not isnan(finding.smallest_p):
        rows.append(("Smallest possible p", f"{finding.smallest_p:.2g}"))
    if finding.attack_rate.defined:
        rows += [
            ("Nearest to this release", percent_of(finding.attack_rate, "people")),
            ("Nearest to a sibling, on average", percent(finding.baseline_rate.value)),
        ]
    return TableBlock(
        caption="Comparison with siblings",
        columns=("", ""),
        rows=tuple(rows),
        align=sides("ll"),
        note="Limits are a bootstrap over people: how much releases of one generator differ is not in them.",
        prose=True,
    )


def _z(z: float) -> str:
    """Return a z; siblings that are all equal make any difference large."""
    return ">100" if z > 100 else decimal(z)


def _statistics(finding: SiblingFinding, kind: str | None) -> TableBlock:
    names = _STATISTICS | ({"copies": "People whose record fits a released row"} if kind == "masked" else {})
    return TableBlock(
        caption="Test statistics",
        columns=("Statistic", "z among siblings", "Adjusted p"),
        rows=tuple((names[each.name], _z(each.z), p_text(each.p_adjusted)) for each in finding.statistics),
        align=sides("lrr"),
        note=(
            "z: distance from the mean of the siblings in their standard deviations. p: the share of releases with as "
            "large a z."
        ),
    )
