"""Membership inference: can an attacker tell who is in the data?"""

from collections.abc import Iterator, Sequence
from math import isnan, log10
from typing import TYPE_CHECKING

import numpy as np

from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.findings import Audit, ScoreArea, Separation
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.results import result_sentence, result_table
from unveil.questions.audit.words import LONGEST_NAME, compact_rate, number_of
from unveil.report.blocks import Chart, Section, Series, Side, Style, TableBlock, sides
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import about, count, fixed, name

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray


#: The scores that have a line of their own next to what was learned, by their names.
#: Scores with a ROC curve of their own, and all with a name of their own.
_FIXED = ("dcr", "density_ratio")
SCORES = {"dcr": "DCR score", "density_ratio": "density-ratio score", "dcr_difference": "DCR-difference score"}
_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth")
#: The smallest false-positive rate of the axis, as a power of ten.
_LOWEST = -3.0
#: The points of a line.
_POINTS = 120
_LONGEST_NAME = 30
_RIGHT: Side = "right"
_NONE = "–"


def roc_curve(audit: Audit, *, linear: bool = False) -> Chart | None:
    """Return the ROC curves, one per release or score, or None.

    The axis of false positives is logarithmic unless ``linear``. The band holds 95% of the curves of random labels.
    """
    lines = _curve_lines(audit)
    if not lines:
        return None
    first = _separations(audit)[0][1]
    dots = [(each.fpr, float(each.rate.value)) for each in first.tpr_at_fpr if _is_shown(each.rate)]
    lowest = max(-log10(max(others for _, _, others, _ in lines) + 1), _LOWEST)
    grid = np.log10(np.linspace(10.0**lowest, 1.0, _POINTS)) if linear else np.linspace(lowest, 0.0, _POINTS)
    at = np.unique([*grid, *(log10(x) for x, _ in dots if log10(x) >= lowest)])
    across = 10.0**at if linear else at
    low, high = chance_band(10.0**at, first.members, first.others)
    series = [
        Series(name="95% of random labels", x=across, y=high, low=low, high=high, style="fifth", kind="band"),
    ]
    series += [
        Series(
            name=f"{label}: AUC {auc_text(area)}",
            x=across,
            y=_rate_at(curve, others, at, () if place else dots),
            style=style,
        )
        for place, ((label, curve, others, area), style) in enumerate(zip(lines, _STYLES, strict=False))
    ]
    series.append(Series(name="guessing", x=across, y=10.0**at, style="first-reference"))
    if dots:
        x, y = (np.array(values) for values in zip(*dots, strict=True))
        labels = tuple(about(float(value)) for value in y)
        x = x if linear else np.log10(x)
        series.append(Series(name=lines[0][0], x=x, y=y, style="first", kind="points", labels=labels))
    return Chart(
        title="ROC curve of membership inference" + (", linear axis" if linear else ""),
        x_label="false-positive rate: non-members flagged",
        y_label="true-positive rate: members flagged",
        series=tuple(series),
        caption=_caption(_separations(audit)),
        x_range=(0.0, 1.0) if linear else (lowest, 0.0),
        x_kind="share" if linear else "power of share",
    )


def chance_band(
    false_positive_rate: "FloatArray", members: int, others: int, level: float = 0.95
) -> "tuple[FloatArray, FloatArray]":
    """Return the TPR limits of random scores, at each FPR.

    The number of members above the k-th of n non-members is then beta-binomial; a beta distribution of the same mean
    and variance stands for it.

    >>> low, high = chance_band(np.array([0.5]), 200, 200)
    >>> round(float(low[0]), 2), round(float(high[0]), 2)
    (0.4, 0.6)
    """
    from scipy.special import betaincinv

    size = max(members * (others + 2) / (others + 1 + members) - 1.0, 1.0)
    mean = np.clip(false_positive_rate, 1e-9, 1.0 - 1e-9)
    tail = (1.0 - level) / 2.0
    low, high = (betaincinv(mean * size, (1.0 - mean) * size, each) for each in (tail, 1.0 - tail))
    return low, high


def roc_table(audit: Audit) -> TableBlock | None:
    """Return each curve's AUC, and its TPR at fixed FPRs."""
    found = _separations(audit)
    if not found:
        return None
    levels = sorted({each.fpr for _, separation in found for each in separation.tpr_at_fpr}, reverse=True)
    rows = []
    for label, separation in found:
        named = {each.fpr: each.rate for each in separation.tpr_at_fpr}
        own = (_rate_text(named[level]) if level in named else _NONE for level in levels)
        rows.append((label, auc_text(separation.area), *own))
        alone = [each for each in separation.scores if len(found) == 1 and each.name in _FIXED]
        rows += [(f"{SCORES[each.name]} alone", auc_text(each.area), *(_NONE for _ in levels)) for each in alone]
    head = "Release" if len(found) > 1 else "Score"
    return TableBlock(
        caption="Membership inference by score",
        columns=(head, "AUC (95% CI)", *(f"TPR at {100 * level:g}% FPR" for level in levels)),
        rows=tuple(rows),
        align=("left", *(_RIGHT for _ in range(1 + len(levels)))),
        note="TPR: members flagged. FPR: non-members flagged. AUC: 0.5 is guessing, 1 is perfect.",
    )


def auc_text(area: "Rate") -> str:
    """Return an AUC with its confidence interval, as in 0.81 (0.79–0.83)."""
    return f"{fixed(area.value)} ({fixed(area.low)}–{fixed(area.high)})" if area.defined else _NONE


def _separations(audit: Audit) -> "list[tuple[str, Separation]]":
    """Return the measured membership of each release, by release name."""
    found = [
        (release.name, finding)
        for release in audit.releases
        for finding in release.findings
        if finding.separation is not None
    ]
    several = len(found) > 1
    return [
        (name(label, _LONGEST_NAME) if several else _score(finding.separation), finding.separation)
        for label, finding in found
        if finding.separation is not None
    ]


def _score(separation: "Separation") -> str:
    return "learned score" if separation.learned_from[0] else "DCR-difference score"


def _curve_lines(audit: Audit) -> "list[tuple[str, tuple[FloatArray, FloatArray], int, Rate]]":
    """Return at most four lines: name, curve, number of non-members, and AUC."""
    found = _separations(audit)
    lines = [(label, each.curve, each.others, each.area) for label, each in found if each.curve is not None]
    if len(found) == 1 and lines:
        _, own = found[0]
        lines += [
            (SCORES[each.name], each.curve, own.others, each.area)
            for each in own.scores
            if each.name in _FIXED and each.curve is not None
        ]
    return lines[: len(_STYLES)]


def _rate_at(
    curve: "tuple[FloatArray, FloatArray]",
    others: int,
    power: "FloatArray",
    dots: "Sequence[tuple[float, float]]" = (),
) -> "FloatArray":
    """Return the TPR at these FPRs, powers of ten.

    A threshold that flags f of n non-members flags (f + 1) of n + 1 if one more of them comes, who is as good as any;
    between such rates it is drawn at random who is flagged. The line goes through the ``dots``, also where it is that
    of rounded numbers.
    """
    false, true = curve
    number = np.arange(others + 1)
    # Where the line goes straight up its upper end counts.
    last = np.searchsorted(false * others, number + 1e-6, side="right") - 1
    following = np.minimum(last + 1, false.size - 1)
    width = np.where(following > last, false[following] - false[last], 1.0)
    rate = true[last] + (number / others - false[last]) / width * (true[following] - true[last])
    at = (number + 1) / (others + 1)
    for x, y in dots:
        rate = np.where(at < x, np.minimum(rate, y), np.maximum(rate, y))
        rate, at = np.insert(rate, place := int(np.searchsorted(at, x)), y), np.insert(at, place, x)
    return np.interp(10.0**power, at, np.clip(rate, 0.0, 1.0))


def _caption(separations: "Sequence[tuple[str, Separation]]") -> str:
    if len(separations) > 1:
        label, best = max(separations, key=lambda each: (not isnan(each[1].area.value), each[1].area.value))
        return f"{label} discloses membership most: AUC {auc_text(best.area)}; guessing is 0.5."
    _, separation = separations[0]
    flagged = next(_flagged(separation), "")
    area = separation.area
    beyond = area.defined and area.low > 0.5
    found = "The attacker ranks members above non-members" if beyond else "The attacker does not beat guessing overall"
    return f"{flagged}{found}: AUC {auc_text(area)}; guessing is 0.5."


def _flagged(separation: "Separation") -> Iterator[str]:
    """Yield what is reached at few false positives, the fewest first."""
    for each in sorted(separation.tpr_at_fpr, key=lambda each: each.fpr):
        if _is_shown(each.rate):
            yield f"At {100 * each.fpr:g}% false positives {about(each.rate.value)} of members are flagged. "


def _is_shown(rate: "Rate") -> bool:
    return rate.defined and not isinstance(rate.value, SuppressedNumber)


def _rate_text(rate: "Rate") -> str:
    from unveil.questions.audit.words import compact_rate

    return compact_rate(rate) if rate.defined else _NONE


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the membership section: AUC, TPR, outliers, and scores."""
    table = result_table(audit, ("membership",), "Membership inference: all scores")
    if table is None:
        return None
    of_file = audit.population is not None and audit.population.reference_people > 0
    found, curve, points = separations(audit), roc_curve(audit), roc_table(audit)
    linear = roc_curve(audit, linear=True)
    lead = result_sentence(audit, "membership")
    if found:
        best = max((each for _, each in found), key=lambda each: float(each.area.value))
        lead = f"{lead} AUC of the {_score(best)}: {auc_text(best.area)}; 0.5 is guessing."
    return Section(
        heading="Membership inference",
        question="Can an attacker tell who is in the data?",
        lead=lead,
        blocks=() if curve is None else (curve,),
        data=(
            *([separation_table(found, of_file=of_file)] if found else []),
            *(each for each in (linear, points) if each is not None),
            table,
        ),
    )


def separations(audit: Audit) -> list[tuple[str, Separation]]:
    """Return membership results of releases with a scored attack."""
    return [
        (release.name, finding.separation)
        for release in audit.releases
        for finding in release.findings
        if finding.separation is not None
    ]


def separation_table(measured: Sequence[tuple[str, Separation]], *, of_file: bool = False) -> TableBlock:
    """Return AUC, TPR, flagged people, and outliers, by release."""
    labels = [name(label, LONGEST_NAME) for label, _ in measured] if len(measured) > 1 else ["Value"]
    each_of = [dict(_lines(each)) for _, each in measured]
    rows = dict.fromkeys(line for lines in each_of for line in lines)
    return TableBlock(
        caption="Members and non-members",
        columns=("Measure", *labels),
        rows=tuple((line, *(lines.get(line, "–") for lines in each_of)) for line in rows),
        align=sides("l" + "r" * len(labels)),
        note=" ".join(dict.fromkeys(_note(each, of_file=of_file) for _, each in measured)),
    )


def _lines(separation: Separation) -> Iterator[tuple[str, str]]:
    yield "AUC", auc_text(separation.area)
    for each in separation.tpr_at_fpr:
        yield f"TPR at {100 * each.fpr:g}% FPR", _rate(each.rate)
    known = not isinstance(separation.flagged, SuppressedNumber)
    flagged = f"{number_of(separation.flagged, '', '')} of {count(separation.members)}"
    yield "Flagged at ≤ 5% FDR", flagged if known else "not shown"
    for group in separation.outliers:
        yield (
            f"Outliers (top {100 * group.share:g}%): TPR at {100 * group.tpr_at_fpr.fpr:g}% FPR",
            _rate(group.tpr_at_fpr.rate),
        )
    if separation.epsilon is not None:
        shown = separation.epsilon
        text = f"{shown.bound:.2g} (largest bound possible here: {shown.most:.2g})"
        yield "Empirical lower bound on ε (replace one record, random split)", text
    for kind, score in best_by_kind(separation).items():
        yield f"AUC of the best single score, {kind}", f"{auc_text(score.area)}, {SCORES.get(score.name, score.name)}"


def best_by_kind(separation: Separation) -> dict[str, ScoreArea]:
    """Return each score type's best score, highest AUC first."""
    best: dict[str, ScoreArea] = {}
    for each in sorted(separation.scores, key=lambda each: -each.area.value):
        best.setdefault(each.sees, each)
    return best


def _rate(rate: Rate) -> str:
    return compact_rate(rate) if rate.defined else "too few people"


def _note(separation: Separation, *, of_file: bool) -> str:
    measured = f"Measured on {count(separation.members)} members and {count(separation.others)} non-members"
    whose = "people of the population file" if of_file else "more control people"
    reference = f"{count(separation.population)} {whose} are the reference set"
    if not separation.learned_from[0]:
        return f"Too few people to train a score, so one fixed score is used. {measured}; {reference}."
    trained = f"trained on {count(separation.learned_from[0])} and {count(separation.learned_from[1])} other people"
    return f"{measured}; {trained}; {reference}. Single scores are descriptive; they do not affect the level."
