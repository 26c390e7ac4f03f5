"""How the findings about a partition are shown: the first screen, the sections and the methods."""

import math
from collections.abc import Callable

import numpy as np

from unveil.metrics.partitions.distances import PartitionDistances
from unveil.metrics.partitions.guessing import Reference
from unveil.questions.result import QuestionView
from unveil.questions.unlinkability.findings import PartitionFindings
from unveil.questions.unlinkability.sections import forecast, merges, sensitivity, subjects
from unveil.questions.unlinkability.sections.subjects import UnlinkabilityContext
from unveil.report.blocks import Page, TableBlock, Tone
from unveil.report.text import about, count, decimal, fixed, percent, short_percent, significant, slope

_CONTEXT = UnlinkabilityContext()
_METHOD = (
    "Each cluster of the attacker costs α × miss errors + (1 − α) × include errors. The cheapest cluster is the "
    "subject's most relevant one; clusters of equal cost are averaged.",
    "Clusters are merged in the order of that cost; ties prefer fewer items of other subjects. Results that "
    "depend on the remaining order are averaged over all orders.",
    "The point where the linked graph reaches β is interpolated linearly. The risk slope adds two angles, as "
    "shares of 90°. The first is that of the vector to this point, with weight α. The second is that of the vector "
    "to the mixed graph below it, with weight 1 − α.",
    "The overall risk slope is that of the mean graphs. A subject breached without any merge has no risk slope.",
)
_LIMITATIONS = (
    "Only the given attack is measured; another attacker may link more.",
    "Linking items is not naming a subject: re-identification is not measured.",
    "The forecast uses true evidence only. Wrong evidence is not modeled.",
)
_KINDS = {
    "conservative": "The attacker is conservative: it makes more miss errors than include errors.",
    "liberal": "The attacker is liberal: it makes more include errors than miss errors.",
    "neutral": "The attacker is neutral: it makes as many miss errors as include errors.",
}


def headline(findings: PartitionFindings) -> str:
    """Return how many subjects are breached, in one sentence."""
    overall, beta = findings.result.overall, common_beta(findings)
    limit = "own β per subject" if beta is None else f"β = {short_percent(beta)}"
    share = findings.reference.breached_share
    baseline = "" if math.isnan(share) else f"; baseline {about(share)}"
    subjects = count(findings.subjects, "subject is", "subjects are")
    return f"{count(overall.breached_subjects)} of {subjects} breached ({limit}{baseline})."


def common_beta(findings: PartitionFindings) -> float | None:
    """Return the β of all subjects, or None where they differ."""
    return float(findings.result.beta[0]) if float(np.ptp(findings.result.beta)) == 0 else None


def explanation(findings: PartitionFindings) -> tuple[str, ...]:
    """Return the definition of a breach and the distance of the average subject from one."""
    overall, beta = findings.result.overall, common_beta(findings)
    share = "the share β" if beta is None else short_percent(beta)
    breach = f"A subject is breached if at least {share} of its items are in one cluster of the attacker."
    if overall.breached:
        return breach, "The average subject is breached without any merge of clusters."
    if not math.isfinite(overall.merges):
        return (breach,)
    often = "1 merge" if round(overall.merges, 1) == 1 else f"{decimal(overall.merges, places=1)} merges"
    return breach, f"The average subject would be breached after {often} of clusters."


def next_steps(findings: PartitionFindings) -> tuple[str, ...]:
    """Return the next steps."""
    first = "Repeat the measurement with the strongest attack that you know."
    if findings.result.overall.breached_subjects:
        first = "Find the data that let the attacker link these items, remove them, and measure again."
    return first, "Check that the result holds for other values of α and β."


def tone(findings: PartitionFindings) -> Tone:
    """Return the tone: bad if the average or every second subject is breached."""
    overall = findings.result.overall
    if overall.breached or 2 * overall.breached_subjects >= findings.subjects:
        return "bad"
    # No breach is neutral, not good: another attacker may link more.
    return "warning" if overall.breached_subjects else "neutral"


def summary_table(findings: PartitionFindings) -> TableBlock:
    """Return the main results with their baselines."""
    overall, reference = findings.result.overall, findings.reference
    breached = f"{count(overall.breached_subjects)} of {count(findings.subjects)} ({percent(overall.breached_share)})"
    rows = (
        ("Subjects breached", breached, _baseline(reference, "breached_share", percent)),
        ("Miss errors (items left out)", _two_places(overall.miss), _baseline(reference, "miss", _two_places)),
        (
            "Include errors (items of other subjects)",
            _two_places(overall.include),
            _baseline(reference, "include", _two_places),
        ),
        (
            "Risk slope of the average subject",
            "breached" if overall.breached else slope(overall.risk_slope),
            _baseline(reference, "risk_slope", slope),
        ),
    )
    return TableBlock(
        caption="Unlinkability",
        columns=("Result", "Attacker", _baseline_column(reference)),
        rows=rows,
        align=("left", "right", "right"),
        note=f"{_KINDS[overall.kind]} Risk slope: 0% is far from a breach, 100% is one step away.",
    )


def _baseline_column(reference: Reference) -> str:
    who = merges.BASELINES[reference.guesser]
    return f"{who[0].upper()}{who[1:]}" + (" (5–95%)" if reference.draws > 1 else "")


def _baseline(reference: Reference, quantity: str, form: Callable[[float], str]) -> str:
    """Return the mean of the baseline, and the range of 90% of its partitions."""
    value = float(getattr(reference, quantity))
    if math.isnan(value):
        return ""
    ends = reference.range_of(quantity)
    low, high = ("breached" if math.isnan(end) else form(end) for end in (ends.low, ends.high))
    return form(value) if low == high == form(value) else f"{form(value)} ({low} to {high})"


def _two_places(value: float) -> str:
    return decimal(value, places=2)


def distance_table(findings: PartitionFindings) -> TableBlock:
    """Return the distances of the whole guess from the truth, with their baselines."""
    distances, reference = findings.distances, findings.reference

    def bits(of: PartitionDistances | Reference) -> str:
        return f"{decimal(of.voi)} bits ({decimal(of.voi_normalized)})"

    def items(of: PartitionDistances | Reference) -> str:
        return "" if math.isnan(of.mtd) else f"{decimal(of.mtd)} items ({decimal(of.mtd_normalized)})"

    forms: dict[str, tuple[str, Callable[[float], str]]] = {
        "rand": ("Rand index", percent),
        "adjusted_rand": ("Adjusted Rand index", lambda value: fixed(value, places=3)),
        "bcubed_precision": ("B-cubed precision", percent),
        "bcubed_recall": ("B-cubed recall", percent),
    }
    error = findings.result.overall.normalized_error
    rows = (
        ("Normalized error e*", significant(error), _baseline(reference, "normalized_error", significant)),
        ("Variation of information (over log2 n)", bits(distances), bits(reference)),
        ("Minimal transfer distance (over n − 1)", items(distances) or "not computed", items(reference)),
        *(
            (label, form(getattr(distances, key)), _baseline(reference, key, form))
            for key, (label, form) in forms.items()
        ),
    )
    return TableBlock(
        caption="Errors and distances of the whole partition",
        columns=("Measure", "Attacker", _baseline_column(reference)),
        rows=rows,
        align=("left", "right", "right"),
        note="e* and the transfer distance shrink as n grows: compare them only between data of the same size.",
    )


def _method(findings: PartitionFindings) -> tuple[str, ...]:
    result, reference = findings.result, findings.reference
    sentences = list(_METHOD)
    if common_beta(findings) is None or float(np.ptp(result.alpha)):
        sentences.append(
            f"Subjects have policies of their own. Overall results use α = {decimal(result.overall.alpha)} and "
            f"β = {short_percent(result.overall.beta)}."
        )
    if findings.views is not None:
        sentences.append("Errors and graphs are averaged over the attacker's partitions, by their probabilities.")
    if result.mixing != "items":
        sentences.append(f"The mixed graph differs from the paper: it is {merges.MIXED[result.mixing]}.")
    if findings.weighted:
        sentences.append("Items have weights: shares are of the weight of a subject's items, not of their number.")
    desired = int(result.contamination_desirable.sum())
    if desired:
        who = count(desired, "subject", "subjects")
        sentences.append(f"Include errors count as protection for {who}; the mixed graph is inverted there.")
    return (*sentences, _reference_method(reference), forecast.forecast_method(findings.forecast))


def _reference_method(reference: Reference) -> str:
    drawn = count(reference.draws, "random partition", "random partitions")
    return {
        "uniform": f"Baseline: {drawn} of the same items, each division equally likely.",
        "growing": f"Baseline: {drawn}; items come in random order, and each starts a cluster or joins one at random, "
        "with equal probability.",
        "sizes": f"Baseline: {drawn} with the cluster sizes of the attacker.",
        "prior": "Baseline: the partitions that the attacker held before, with their probabilities.",
    }[reference.guesser]


def page(findings: PartitionFindings, context: UnlinkabilityContext = _CONTEXT) -> Page:
    """Return the whole report as data."""
    return Page(
        title="Unlinkability",
        question=(
            f"How well do {count(findings.result.n, 'item', 'items')} of "
            f"{count(findings.subjects, 'subject', 'subjects')} stay unlinked?"
        ),
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(
            subjects.linked_chart(findings.result, show_names=context.show_names),
            summary_table(findings),
        ),
        tone=tone(findings),
        sections=(
            subjects.section(findings, context),
            forecast.section(findings, context),
            sensitivity.section(findings, context),
        ),
        method=_method(findings),
        limitations=_LIMITATIONS,
        method_data=(distance_table(findings),),
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


VIEW: QuestionView[PartitionFindings] = QuestionView(
    schema="unveil.unlinkability/2",
    findings=PartitionFindings,
    about="Result of `unveil unlinkability`: how well subjects' items stay unlinked in the attacker's partition.",
    frame=lambda findings: findings.per_subject,
    page=page,
    context=UnlinkabilityContext,
)
