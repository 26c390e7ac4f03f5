"""The report on a study of given releases: first screen, sections, methods, and data frame."""

from collections.abc import Iterator
from math import isnan

from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.questions.study.releases.findings import ReleasesFindings
from unveil.questions.study.releases.sections import epsilon, techniques
from unveil.questions.study.releases.sections.techniques import points, summary_table, trade_chart
from unveil.questions.study.status import computed, failed, joined, tone
from unveil.report.blocks import NextStep, Page, Section
from unveil.report.text import about, count, duration

_MOST_NAMED = 4
#: The share of leak-free releases that one audit flags: by tests 4.5%, by copies 0.5%.
ERRS = 0.05


def page(findings: ReleasesFindings, context: PageContext = PLAIN) -> Page:
    """Return the report as data."""
    trade = trade_chart(findings)
    sections = (
        techniques.section(findings, context),
        epsilon.section(findings, context),
        Section(heading="Failures", lead=" ".join(failed(findings.failures)), blocks=()) if findings.failures else None,
    )
    return Page(
        title="Study of given releases",
        question="Which releases keep most utility at the same risk?",
        headline=headline(findings),
        explanation=tuple(_explanation(findings)),
        next_steps=tuple(_next_steps(findings)),
        picture=(*((trade,) if trade else ()), summary_table(findings)) if findings.releases else (),
        facts=tuple(_facts(findings)),
        tone=tone(findings.counts),
        sections=tuple(each for each in sections if each is not None),
        method=(*_METHOD, *_false_alarms(findings)),
        limitations=_LIMITATIONS,
        seed=findings.study.seed if context.seed is None else context.seed,
        strip=context.strip,
        version=findings.version,
    )


def headline(findings: ReleasesFindings) -> str:
    """Return how many releases have a significant risk."""
    if not findings.releases:
        return computed(findings.counts)
    significant = sum(each.proved for each in findings.releases)
    verb = "has" if significant == 1 else "have"
    releases = count(len(findings.releases), "release", "releases")
    return f"{significant:,} of {releases} {verb} a significant disclosure risk."


def least_lost(findings: ReleasesFindings) -> Iterator[str]:
    """Yield which technique with an epsilon, and which without, keeps most utility at the same risk."""
    ranked = [each for each in findings.ranked() if each.proved <= each.releases / 2]
    private = {each.technique for each in findings.releases if not isnan(each.epsilon)}
    best = [
        f"{each.technique} {which} ({points(each.saves)} less utility loss)"
        for which, among in (
            ("with an epsilon", private),
            ("without one", {one.technique for one in ranked} - private),
        )
        for each in [one for one in ranked if one.technique in among][:1]
    ]
    if best:
        yield (
            "Among techniques with a significant risk in at most half of their releases, these keep most utility at "
            f"the same risk: {joined(best)}."
        )


def _explanation(findings: ReleasesFindings) -> Iterator[str]:
    if not findings.releases:
        return
    if findings.counts.left:
        yield computed(findings.counts)
    yield from least_lost(findings)
    risky = sorted((each for each in findings.families if each.proved), key=lambda each: -each.proved)
    if risky:
        named = [f"{each.technique} ({each.proved} of {each.releases})" for each in risky[:_MOST_NAMED]]
        more = len(risky) - _MOST_NAMED
        yield f"Significant risk: {joined([*named, *([f'{more} more'] if more > 0 else [])])}."


def _false_alarms(findings: ReleasesFindings) -> Iterator[str]:
    """Yield how many releases may be flagged by chance, since each audit is judged by itself."""
    flagged = len(findings.releases) * ERRS
    if flagged >= 1:
        yield (
            f"False alarms: an audit flags at most {about(ERRS)} of leak-free releases, so up to "
            f"{flagged:.0f} of these may be flagged by chance. A risk in most releases of a technique is not "
            "chance."
        )


def _next_steps(findings: ReleasesFindings) -> Iterator[NextStep]:
    yield NextStep("Audit a release of your own and compare it with these.", option="examples/atlas/place.py")
    if any(not each.compared for each in findings.releases):
        yield NextStep("Audit the generator of a release to get a control group.", option="unveil audit --generator")


def _facts(findings: ReleasesFindings) -> Iterator[str]:
    counts = findings.counts
    yield f"study {findings.study.name!r}"
    yield f"{counts.fine:,} of {count(counts.total, 'audit', 'audits')}"
    without = sum(not each.compared for each in findings.releases)
    if without:
        yield f"{without:,} without a control group"
    if findings.spent:
        yield f"CPU time {duration(findings.seconds)}"


_METHOD = (
    "Each release was audited with all attacks, against the columns of the original that it holds. People of the "
    "original who are not released are the control group; elsewhere there is none.",
    "Strongest risk: the largest lower limit of the excess over all attacks. Without a control group, only "
    "excesses over a theoretical baseline count. These are copies beyond chance, inference beyond models "
    "trained on held-out people, predicates beyond those made without the data, and row order.",
    "Linked: how often two records of a person are linked by the best column split, in the data or not. It orders "
    "releases with the same columns and is no evidence of a risk.",
    "95% CI: bootstrap over releases; for the order of releases, over groups of comparable releases. The seed "
    "determines all results, on any number of workers.",
)
_LIMITATIONS = (
    "Without a control group, the excess of linkability, inference, and membership is unknown.",
    "A release without a significant risk may still disclose.",
    "Most techniques have few settings; other releases of the same technique may differ.",
)


VIEW: QuestionView[ReleasesFindings] = QuestionView(
    schema="unveil.study-releases/1",
    findings=ReleasesFindings,
    about="Result of `unveil study report` for a study of existing releases.",
    frame=lambda findings: findings.frame,
    page=page,
)
