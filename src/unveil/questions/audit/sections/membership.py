"""Membership inference: can an attacker tell who is in the data?"""

from collections.abc import Iterator, Sequence

from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.findings import Audit, ScoreArea, Separation
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.results import result_sentence, result_table
from unveil.questions.audit.sections.roc_curve import auc_text, roc_curve, roc_table
from unveil.questions.audit.words import LONGEST_NAME, compact_rate, number_of
from unveil.report.blocks import Section, TableBlock, sides
from unveil.report.text import count, name


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the results on membership inference: AUC, TPR at low FPR, outliers, and all scores."""
    table = result_table(audit, ("membership",), "Membership inference: all scores")
    if table is None:
        return None
    found, curve, points = separations(audit), roc_curve(audit), roc_table(audit)
    lead = result_sentence(audit, "membership")
    if found:
        best = max((each for _, each in found), key=lambda each: float(each.area.value))
        lead = f"{lead} AUC of the learned score: {auc_text(best.area)}; 0.5 is guessing."
    return Section(
        heading="Membership inference",
        question="Can an attacker tell who is in the data?",
        lead=lead,
        blocks=() if curve is None else (curve,),
        data=(*([separation_table(found)] if found else []), *([] if points is None else [points]), table),
    )


def separations(audit: Audit) -> list[tuple[str, Separation]]:
    """Return how well members are told apart in each release where a score was learned or fixed."""
    return [
        (release.name, finding.separation)
        for release in audit.releases
        for finding in release.findings
        if finding.separation is not None
    ]


def separation_table(measured: Sequence[tuple[str, Separation]]) -> TableBlock:
    """Return AUC, TPR at fixed FPR, flagged people and outliers, one column per release."""
    labels = [name(label, LONGEST_NAME) for label, _ in measured] if len(measured) > 1 else ["Value"]
    each_of = [dict(_lines(each)) for _, each in measured]
    rows = dict.fromkeys(line for lines in each_of for line in lines)
    return TableBlock(
        caption="Members and non-members",
        columns=("Measure", *labels),
        rows=tuple((line, *(lines.get(line, "–") for lines in each_of)) for line in rows),
        align=sides("l" + "r" * len(labels)),
        note=" ".join(dict.fromkeys(_note(each) for _, each in measured)),
    )


def _lines(separation: Separation) -> Iterator[tuple[str, str]]:
    yield "AUC", auc_text(separation.area)
    for each in separation.named:
        yield f"TPR at {100 * each.wrongly:g}% FPR", _rate(each.rate)
    yield "Flagged at ≤ 5% FDR", f"{number_of(separation.pointed_out, '', '')} of {count(separation.members)}"
    for group in separation.unusual:
        yield (
            f"Outliers (top {100 * group.share:g}%): TPR at {100 * group.named.wrongly:g}% FPR",
            _rate(group.named.rate),
        )
    if separation.epsilon is not None:
        shown = separation.epsilon
        text = f"{shown.bound:.2g} (largest bound possible here: {shown.most:.2g})"
        yield "Empirical lower bound on ε (replace one record, random split)", text
    for kind, score in best_by_kind(separation).items():
        yield f"AUC of the best single score, {kind}", f"{auc_text(score.area)}, {score.name}"


def best_by_kind(separation: Separation) -> dict[str, ScoreArea]:
    """Return the score with the highest AUC of each kind, the highest first."""
    best: dict[str, ScoreArea] = {}
    for each in sorted(separation.scores, key=lambda each: -each.area.value):
        best.setdefault(each.sees, each)
    return best


def _rate(rate: Rate) -> str:
    return compact_rate(rate) if rate.defined else "too few people"


def _note(separation: Separation) -> str:
    measured = f"Measured on {count(separation.members)} members and {count(separation.others)} non-members"
    reference = f"{count(separation.population)} more control people are the reference set"
    if not separation.learned_from[0]:
        return f"Too few people to learn from: one fixed score is used. {measured}; {reference}."
    trained = f"trained on {count(separation.learned_from[0])} and {count(separation.learned_from[1])} other people"
    return f"{measured}; {trained}; {reference}. Single scores are descriptive; they do not affect the level."
