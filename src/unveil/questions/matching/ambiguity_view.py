"""How a matching attack is shown where the true pseudonyms are unknown."""

import math

from unveil.metrics.matchings.permanents import Ambiguity
from unveil.questions.matching.estimates import (
    CERTAIN,
    accuracy,
    amount,
    certainty,
    degree_text,
    lower,
    permanent_certainty,
)
from unveil.questions.matching.findings import AmbiguityFindings
from unveil.questions.matching.sections.items import MatchingContext, ambiguity_section, exposure_chart
from unveil.questions.matching.sections.sets import release_section
from unveil.questions.matching.view import (
    LIMITATIONS,
    as_quantities,
    end_of,
    flat_sentence,
    knowledge,
    meanings,
    permanent_rows,
)
from unveil.questions.result import QuestionView
from unveil.report.blocks import Chart, NextStep, Page, TableBlock, Tone
from unveil.report.limits import Quantity
from unveil.report.text import about, count, decimal

_CONTEXT = MatchingContext()


def sure_items(ambiguity: Ambiguity) -> int:
    """Return for how many items only one pseudonym is possible."""
    return int((ambiguity.best >= CERTAIN).sum())


def highest(ambiguity: Ambiguity) -> float:
    """Return the largest possible expectation; the upper end where that is a bracket."""
    most = ambiguity.most_cracks
    return most.value + (most.error if most.kind == "bracket" else 0.0)


def headline(ambiguity: Ambiguity) -> str:
    """Return how many matchings remain possible, in one sentence."""
    d = degree_text(ambiguity.d)
    if ambiguity.permanent is not None and ambiguity.flat:
        left = count(ambiguity.permanent, "matching remains", "matchings remain")
        return f"{left} possible; degree of anonymity {d}."
    return f"The possible matchings have a degree of anonymity of {d}."


def explanation(ambiguity: Ambiguity) -> tuple[str, ...]:
    """Return the expected number of resolved pseudonyms, and what is certain."""
    n, sure = count(ambiguity.n, "pseudonym", "pseudonyms"), sure_items(ambiguity)
    ends = [decimal(each, places=2) for each in (ambiguity.least_cracks.value, highest(ambiguity))]
    span = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    share = about(ambiguity.believed_cracks.value / ambiguity.n)
    expected = (
        f"{span} of {n} are expected to be resolved, depending on the truth ({share} by the attacker's own "
        "probabilities)."
    )
    which = f"For {count(sure, 'item', 'items')} only one pseudonym is possible."
    return expected, which if sure else "Each item has several possible pseudonyms."


def tone(ambiguity: Ambiguity) -> Tone:
    """Return how the headline should strike."""
    if ambiguity.n == 1:
        return "neutral"
    if ambiguity.believed_cracks.value >= ambiguity.n / 2:
        return "bad"
    return "warning" if sure_items(ambiguity) else "neutral"


def summary_table(ambiguity: Ambiguity) -> TableBlock:
    """Return the main results with their accuracy."""
    n = f"of {count(ambiguity.n)}"
    expected = (
        ("Expected resolved by the attacker's own probabilities", ambiguity.believed_cracks),
        ("Expected resolved, at least", ambiguity.least_cracks),
        ("Expected resolved, at most", ambiguity.most_cracks),
    )
    rows = (
        ("Degree of anonymity d", degree_text(ambiguity.d), accuracy(ambiguity.d)),
        *((label, value, exact) for label, value, _, exact in permanent_rows(ambiguity)),
        *((label, f"{amount(value)} {n}", accuracy(value)) for label, value in expected),
        ("Items with one possible pseudonym", f"{count(sure_items(ambiguity))} {n}", ""),
    )
    return TableBlock(
        caption="Possible matchings",
        columns=("Result", "Attack", "Accuracy"),
        rows=rows,
        align=("left", "right", "right"),
        note="d: 0 if one matching is left, 1 if all are equally likely.",
    )


def best_chart(ambiguity: Ambiguity) -> Chart:
    """Return the share of items by the probability of their likeliest pseudonym."""
    return exposure_chart(
        ambiguity.best,
        title="Certainty of the attacker",
        x_label="probability of an item's likeliest pseudonym",
    )


def quantities(findings: AmbiguityFindings) -> dict[str, Quantity]:
    """Return the values that a threshold can be set for."""
    inner = findings.ambiguity
    return as_quantities(
        {
            "d": inner.d.value,
            "d.low": end_of(inner.d, -2),
            "believed_share": inner.believed_cracks.value / inner.n,
            "most_cracked_share": highest(inner) / inner.n,
        }
    )


def page(findings: AmbiguityFindings, context: MatchingContext = _CONTEXT) -> Page:
    """Return the whole report as data."""
    inner = findings.ambiguity
    releases = release_section(findings.releases, None, inner.d)
    return Page(
        title="Matching attack",
        question="How many matchings remain possible?",
        headline=headline(inner),
        explanation=explanation(inner),
        next_steps=(
            NextStep("Give the true pseudonym of each item to learn how many are resolved.", option="--truth"),
            NextStep("Choose a threshold to get pass or fail.", option="--limit d=NUMBER"),
        ),
        picture=(best_chart(inner), summary_table(inner)),
        tone=tone(inner),
        sections=(
            ambiguity_section(inner, findings.items, context),
            *(() if releases is None else (releases,)),
        ),
        method=_method(findings),
        limitations=("Without the true pseudonyms it is unknown which are resolved.", *LIMITATIONS),
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
        edition="internal",
    )


def _method(findings: AmbiguityFindings) -> tuple[str, ...]:
    inner = findings.ambiguity
    sentences = [
        knowledge(findings),
        f"Probabilities of pairs: {lower(certainty(inner.believed_cracks))}",
        f"Degree of anonymity: {lower(certainty(inner.d))}",
        "Bounds: the possible matchings with the largest and the smallest sum of probabilities (assignment problem).",
        flat_sentence(inner),
    ]
    if not math.isnan(inner.log_permanent.value):
        sentences.append(f"Permanent: {lower(permanent_certainty(inner.log_permanent))}")
    return (*sentences, "Definitions: degree of anonymity by Edman, Sivrikaya and Yener (2007).")


AMBIGUITY_VIEW: QuestionView[AmbiguityFindings] = QuestionView(
    schema="unveil.matching-without-truth/2",
    findings=AmbiguityFindings,
    about="Result of `unveil matching` without the truth: bounds on the resolved pseudonyms.",
    quantities=quantities,
    frame=lambda findings: findings.item_frame,
    page=page,
    meanings=meanings,
    context=MatchingContext,
)
