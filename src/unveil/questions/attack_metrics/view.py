"""How the findings about candidates are shown: thresholds, first screen, sections and methods."""

import math
from typing import TYPE_CHECKING

from unveil.metrics.candidates.matches import Matches
from unveil.questions.attack_metrics.findings import CandidatesFindings
from unveil.questions.attack_metrics.sections import metrics
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import NextStep, Page, Section, TableBlock, Tone
from unveil.report.figures import frame_of
from unveil.report.limits import Quantity
from unveil.report.text import count, decimal, percent
from unveil.report.trust import quantity_meanings, summary_of, title_of, where_from

if TYPE_CHECKING:
    import polars as pl

_METHOD = (
    "The attacker's choice is its most likely candidate, unless it named another one. Tied candidates count by their "
    "probability, so correct matches need not be a whole number.",
    "A candidate with probability 0 is on the list of candidates; one that is not listed is not.",
    "A target without candidates is not attempted: metrics per target have no value for it.",
    "Mean, median and 5–95% are over the targets with a value. Metrics without a median have one value in total.",
)
_WITH_TRUTH = (
    "An attempt on a target without a true candidate is wrong.",
    "Surprise is capped at that of a probability of 1e-12 where the true candidate has no probability.",
    "Baseline: random guessing among the candidates of each attempted target.",
)
_LIMITATIONS = (
    "Only the given attack is measured; another attacker may succeed more often.",
    "Metrics of uncertainty take the attacker's probabilities as they are.",
    "The report does not say what a correct match reveals about a person.",
)


def quantities(findings: CandidatesFindings) -> dict[str, Quantity]:
    """Return the quantities that accept a threshold: metrics, or their means.

    A metric without a value exceeds no threshold.
    """
    meaning = quantity_meanings()
    return {
        each.metric.name: Quantity(
            name=each.metric.name,
            value=each.mean,
            meaning=meaning[each.metric.name],
            exceeded_when_undefined=False,
            more_is_worse=each.metric.more_means == "less private",
        )
        for each in findings.measured
    }


def frame(findings: CandidatesFindings) -> "pl.DataFrame":
    """Return one row per metric."""
    return frame_of(findings.rows)


def median_candidates(findings: CandidatesFindings) -> float:
    """Return the median number of equally likely candidates (inherent privacy); NaN if not measured."""
    return next((each.median for each in findings.measured if each.metric.name == "inherent_privacy"), math.nan)


def headline(findings: CandidatesFindings) -> str:
    """Return how many targets the attack identifies, in one sentence."""
    matches, median = findings.matches, median_candidates(findings)
    targets = count(matches.targets, "target", "targets")
    if matches.attempted == 0:
        return f"The attack attempts 0 of {targets}."
    if not matches.has_truth:
        if math.isnan(median):
            return f"The attack attempts {count(matches.attempted)} of {targets}."
        return f"The median target has {decimal(median, places=1)} equally likely candidates."
    if matches.somebody == 0:
        return f"0 of {targets} have a true candidate, so no match can be correct."
    baseline = "" if math.isnan(matches.by_chance) else f" (baseline {decimal(matches.by_chance, places=1)})"
    identified = decimal(matches.correct, places=1)
    return f"The attack identifies {identified} of {count(matches.somebody, 'target', 'targets')}{baseline}."


def explanation(findings: CandidatesFindings) -> tuple[str, ...]:
    """Return the uncertainty of the attacker and the targets that were not attempted."""
    matches, median = findings.matches, median_candidates(findings)
    if not matches.has_truth:
        return ("Accuracy needs the true matches.",)
    if not matches.attempted:
        return ()
    uncertainty = () if math.isnan(median) else (_uncertainty(median),)
    shares = []
    if matches.missed:
        shares.append(f"{count(matches.missed)} of {count(matches.targets, 'target', 'targets')} not attempted")
    if matches.nobody:
        shares.append(f"{count(matches.nobody)} without a true candidate")
    return (*uncertainty, *([f"{'; '.join(shares)}."] if shares else []))


def _uncertainty(median: float) -> str:
    if round(median, 1) <= 1:
        return "For the median target the attacker is certain, correctly or not."
    return f"The median target has {decimal(median, places=1)} equally likely candidates."


def next_steps(findings: CandidatesFindings) -> tuple[str, ...]:
    """Return the next steps."""
    if not findings.matches.has_truth:
        return (NextStep("Give the true candidates to measure accuracy.", option="--truth"),)
    if tone(findings.matches) == "bad":
        return ("Protect the data further, and run the same attack again.",)
    return (
        "Repeat the measurement with the strongest attack that you know.",
        NextStep("Choose a threshold to get pass or fail.", option="--limit adversary_overall_success=SHARE"),
    )


def tone(matches: Matches) -> Tone:
    """Return the tone: bad if every second attempt or target is correct.

    No match is neutral, not good: another attacker may succeed.

    >>> tone(Matches(targets=9, attempted=3, has_truth=True, correct=2, success_rate=2 / 3))
    'bad'
    """
    if not matches.has_truth or matches.correct == 0:
        return "neutral"
    return "bad" if max(matches.success_rate, matches.overall_success) >= 0.5 else "warning"


def summary_table(findings: CandidatesFindings) -> TableBlock:
    """Return success, attempted targets and the median number of candidates."""
    matches, median = findings.matches, median_candidates(findings)
    rows: list[tuple[str, str, str]] = []
    if matches.has_truth:
        for label, share, of in (
            ("Success of attempted targets (precision)", matches.success_rate, matches.attempted),
            ("Success of all targets (recall)", matches.overall_success, matches.somebody),
        ):
            correct = f" ({decimal(matches.correct, places=1)} of {count(of)})" if of else ""
            rows.append((label, f"{percent(share)}{correct}", percent(matches.by_chance / of) if of else ""))
    rows.append(("Targets attempted", f"{count(matches.attempted)} of {count(matches.targets)}", ""))
    if not math.isnan(median):
        rows.append(("Median of equally likely candidates", decimal(median, places=1), ""))
    if matches.not_considered:
        rows.append(("Attempts without the true candidate", count(matches.not_considered), ""))
    if matches.nobody:
        rows.append(("Targets without a true candidate", count(matches.nobody), ""))
    return TableBlock(
        caption="Accuracy" if matches.has_truth else "Attempts",
        columns=("Result", "Attack", "Baseline"),
        rows=tuple(rows),
        align=("left", "right", "right"),
        note="Precision counts attempted targets only; recall counts all targets with a true candidate."
        if matches.has_truth
        else "",
    )


def _missing_section(findings: CandidatesFindings) -> Section | None:
    """Return the metrics that need the true matches; None where they were measured."""
    if not findings.left_out:
        return None
    table = TableBlock(
        caption="Metrics that need the true matches",
        columns=("Metric", "Meaning"),
        rows=tuple((title_of(metric), summary_of(metric)) for metric in findings.left_out),
        align=("left", "left"),
        prose=True,
    )
    return Section(
        heading="Accuracy",
        question="Which results need the true matches?",
        lead=f"{count(len(findings.left_out), 'metric needs', 'metrics need')} the true matches.",
        blocks=(),
        data=(table,),
    )


def page(findings: CandidatesFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; it names no target and no candidate."""
    sections = (metrics.section(findings, context), _missing_section(findings))
    sources = dict.fromkeys(each.metric.source for each in findings.shown)
    return Page(
        title="Metrics of an attack",
        question="How much does the attacker know, and how often is it correct?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(*metrics.overviews(findings)[:1], summary_table(findings)),
        tone=tone(findings.matches),
        sections=tuple(each for each in sections if each is not None),
        method=(
            *_METHOD,
            *(_WITH_TRUTH if findings.matches.has_truth else ()),
            where_from(),
            *((f"Definitions: {'; '.join(sources)}.",) if sources else ()),
        ),
        limitations=_LIMITATIONS,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


VIEW = QuestionView(
    schema="unveil.attack-metrics/2",
    findings=CandidatesFindings,
    about="Result of `unveil attack-metrics`: privacy metrics of an attack's output.",
    quantities=quantities,
    frame=frame,
    page=page,
    meanings=quantity_meanings,
)
