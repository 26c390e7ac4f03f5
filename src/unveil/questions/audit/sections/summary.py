"""First screen of the audit report: level, decision, chart, summary table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan, nan

import numpy as np

from unveil.metrics.verdict.effects import EffectSize
from unveil.metrics.verdict.levels import LEVEL_WORDS
from unveil.questions.audit.decision.findings import RISKS, AttackEffect, AuditDecision, ReleaseDecision, RiskRow
from unveil.questions.audit.decision.rule import height
from unveil.questions.audit.decision.templates import (
    DECISION_WORDS,
    INDIVIDUALS,
)
from unveil.questions.audit.decision.text import (
    effect_name,
    excess_text,
    is_hidden,
    leading_release,
    level_text,
    p_text,
    reached,
    threshold_source,
)
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.words import LONGEST_NAME, number_of, percent
from unveil.report.blocks import (
    Block,
    Chart,
    LevelStrip,
    RiskChartRow,
    RiskSummary,
    Series,
    Style,
    TableBlock,
    Threshold,
    sides,
)
from unveil.report.editions import people
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name

#: At most so many releases have a column; the others are in the JSON output.
MOST_RELEASES = 5
_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth")
_MARKS = "● significant, ○ not significant, – not tested."


def strip(decision: AuditDecision) -> LevelStrip:
    """Return the level and the decision of an audit."""
    leading, stated = leading_release(decision), decision.threshold
    source = ""
    if leading is not None and stated is not None:
        value = "limits on single risks" if stated.value is None else f"threshold {100 * stated.value:g} points"
        source = f"{value} ({threshold_source(leading, stated.source)})"
        several = sum(not each.is_reference for each in decision.releases)
        source = f"{source}; worst of {several} releases" if several > 1 else source
    return LevelStrip(
        level=decision.level,
        at_least=leading is not None and leading.at_least and leading.level == decision.level != "high",
        decision=decision.decision,
        threshold=source,
    )


def blocks(audit: Audit) -> tuple[Block, ...]:
    """Return the main chart and the summary table."""
    decision = audit.decision
    if len(decision.releases) == 1:
        return (_of_one(decision, audit),)
    chart = risk_and_utility(audit)
    return (*([] if chart is None else [chart]), _of_several(decision))


def facts(audit: Audit, *, date: str, version: str) -> Iterator[str]:
    """Yield what was audited: rows, people, control group, date, version."""
    yield people(audit.rows, "row", "rows", pattern="{} of original data")
    if audit.people and audit.people != audit.rows:
        yield people(audit.people, "person", "people")
    if audit.control_rows is None:
        yield "no control group"
    else:
        yield people(audit.control_rows, "row", "rows", pattern="{} in the control group")
    yield f"{count(len(audit.columns))} columns"
    if date:
        yield date
    yield f"unveil {version}"


def _of_one(decision: AuditDecision, audit: Audit) -> RiskSummary:
    release = decision.releases[0]
    exposed = (reached(release), LEVEL_WORDS[release.level]) if release.cause in INDIVIDUALS else None
    return RiskSummary(
        title="Attack success and excess risk",
        rows=tuple(_with_view(_chart_row(row), row, audit) for row in release.risks),
        threshold=audit.thresholds.threshold,
        caption=_caption(release),
        note=" ".join(_reading(decision)),
        individuals=exposed,
    )


def _with_view(chart_row: RiskChartRow, row: RiskRow, audit: Audit) -> RiskChartRow:
    """Return a row of the chart that names the table and the view of its attacker."""
    view = "" if audit.tables is None or row.effect is None else audit.tables.view_of(row.effect.attacker)
    if not view:
        return chart_row
    view = name(view, LONGEST_NAME)
    return replace(chart_row, attack=f"{chart_row.attack} ({view})" if chart_row.attack else view)


def _reading(decision: AuditDecision) -> Iterator[str]:
    """Yield how to read the chart and its table."""
    yield _sizes(decision)
    siblings = ", or with sibling releases" if decision.siblings else ""
    yield (
        f"Baseline: success on the control group (similar people outside the data), or by chance{siblings}. Excess: "
        "more people per 100 because of the release. Levels: very low up to 5 points, low up to 9, medium up to 33, "
        "then high; at most one level above that of the lower limit. "
        f"Adjusted p corrects for all tests. {_MARKS}"
    )
    rows = (row.effect for row in decision.releases[0].risks if row.effect is not None and row.level is not None)
    if any(each.is_significant and not is_hidden(each) and each.excess.low <= 0 for each in rows):
        yield "A significant excess can have a limit below 0, because limits are corrected for all attackers."


def _is_significant(row: RiskRow) -> bool:
    """Return whether a risk is significant; the level tells where its rates are withheld."""
    if row.effect is None or row.level is None:
        return False
    return row.level not in ("none_found", "inconclusive") if is_hidden(row.effect) else row.effect.is_significant


def _caption(release: ReleaseDecision) -> str:
    """Return which risk stands out, or that none is significant."""
    significant = [row for row in release.risks if _is_significant(row)]
    shown = [row for row in significant if row.effect is not None and not is_hidden(row.effect)]
    if not shown:
        why = " Exposed people set the level." if release.cause in ("copies", "members", "class") else ""
        return f"No excess is significant.{why}" if not significant else ""
    worst = max(shown, key=lambda row: row.effect.excess.value if row.effect is not None else nan)
    text = excess_text(worst.effect) if worst.effect is not None else ""
    return f"Largest excess: {worst.risk}, {text} points."


def _chart_row(row: RiskRow) -> RiskChartRow:
    risk, effect = row.risk[:1].upper() + row.risk[1:], row.effect
    if row.level is None or effect is None:
        rate = nan if effect is None or is_hidden(effect) else effect.excess.attack_rate
        why = row.why_not_tested if row.why_not_tested.startswith("not") else f"not tested: {row.why_not_tested}"
        return RiskChartRow(
            risk=risk,
            attack="" if effect is None or isnan(rate) else _attack_name(row, effect),
            success=_drawn(rate),
            tested=False,
            cells=("–" if isnan(rate) else percent(rate), "–", why, "–", "–"),
        )
    by = _attack_name(row, effect)
    if is_hidden(effect):
        cells = ("not shown", "not shown", "not shown", "–", _mark(row))
        return RiskChartRow(risk=risk, attack=by, cells=cells, significant=_is_significant(row), level=row.level)
    excess = effect.excess
    kind = "" if effect.baseline_kind == "control" else f" ({effect.baseline_kind})"
    bounded = isinstance(excess.high, SuppressedNumber) or isinstance(excess.low, SuppressedNumber)
    return RiskChartRow(
        risk=risk,
        attack=by,
        success=_drawn(excess.attack_rate),
        baseline=_drawn(excess.baseline),
        baseline_kind=effect.baseline_kind,
        excess=_drawn(excess.value),
        low=nan if bounded else float(excess.low),
        high=nan if bounded else float(excess.high),
        cells=(
            percent(excess.attack_rate),
            f"{percent(excess.baseline)}{kind}",
            excess_text(effect),
            "counted" if effect.counted else p_text(effect.p_adjusted),
            _mark(row),
        ),
        significant=effect.is_significant,
        level=row.level,
    )


def _attack_name(row: RiskRow, effect: AttackEffect) -> str:
    if effect.attack == row.risk and effect.sensitive:
        return name(effect.sensitive, LONGEST_NAME)
    return effect_name(effect) if effect.attack not in (row.risk, "membership") else ""


def _drawn(value: float) -> float:
    # A withheld number has no position.
    return nan if isinstance(value, SuppressedNumber) else float(value)


def _mark(row: RiskRow) -> str:
    if row.effect is None or row.level is None:
        return f"– {row.why_not_tested}"
    return f"{'●' if _is_significant(row) else '○'} {LEVEL_WORDS[row.level]}"


def _sizes(decision: AuditDecision) -> str:
    control = number_of(decision.control_people) if decision.control_people else "none"
    siblings = f" Sibling releases: {decision.siblings}." if decision.siblings else ""
    return f"Original data: {number_of(decision.people)}. Control group: {control}.{siblings}"


def _of_several(decision: AuditDecision) -> TableBlock:
    best = sorted(
        decision.releases, key=lambda each: (not each.is_reference, each.decision != "pass", height(each.level))
    )[:MOST_RELEASES]
    shown = [each for each in decision.releases if each in best]
    risks = [risk[:1].upper() + risk[1:] for risk in RISKS]
    rows = [(risk, *(_cell(each.risks[place]) for each in shown)) for place, risk in enumerate(risks)]
    if any(each.cause in INDIVIDUALS for each in shown):
        rows.append(("Individuals", *(reached(each) if each.cause in INDIVIDUALS else "–" for each in shown)))
    rows.append(("Level", *(level_text(each) for each in shown)))
    if any(not isnan(each.utility_loss) for each in shown):
        losses = ("–" if isnan(each.utility_loss) else percent(each.utility_loss) for each in shown)
        rows.append(("Utility loss", *losses))
    if decision.decision != "none":
        words = ("–" if each.is_reference else DECISION_WORDS[each.decision] for each in shown)
        rows.append(("Decision", *words))
    cut = len(decision.releases) - len(shown)
    more = f" {count(cut, 'more release is', 'more releases are')} in the JSON output." if cut else ""
    return TableBlock(
        caption="Risks by release",
        columns=("Risk", *(name(each.name, LONGEST_NAME) for each in shown)),
        rows=tuple(rows),
        align=sides("l" * (len(shown) + 1)),
        note=f"{_sizes(decision)} Level, and excess risk in points (at least, at most). {_MARKS}{more}",
        prose=True,
    )


def _cell(row: RiskRow) -> str:
    effect = row.effect
    return _mark(row) if effect is None or row.level is None else f"{_mark(row)}, {excess_text(effect)}"


def risk_and_utility(audit: Audit) -> Chart | None:
    """Return each release's worst excess and utility loss, or None."""
    points = [
        (each.name, each.worst.excess, each.utility_loss)
        for each in audit.decision.releases
        if each.worst is not None
        and each.worst.excess.is_tested
        and not isnan(each.utility_loss)
        and not any(isinstance(value, SuppressedNumber) for value in (each.worst.excess.value, each.utility_loss))
    ]
    if len(points) < 2:
        return None
    points, left_out = points[: len(_STYLES)], len(points) - len(_STYLES)
    threshold = audit.thresholds.threshold
    more = f" {count(left_out, 'more release is', 'more releases are')} not drawn." if left_out > 0 else ""
    return Chart(
        title="Risk and utility",
        x_label="utility loss",
        y_label="worst excess risk of all attacks",
        series=tuple(
            _point(label, excess, loss, style) for (label, excess, loss), style in zip(points, _STYLES, strict=False)
        ),
        caption=f"{_best(points)} Lower is safer, further left is more useful.{more}",
        x_range=(0.0, max(0.1, *(loss for _, _, loss in points)) * 1.1),
        x_kind="share",
        thresholds=()
        if threshold is None
        else (Threshold(name=f"threshold: {percent(threshold)}", value=threshold, across="y"),),
    )


def _point(label: str, excess: EffectSize, loss: float, style: Style) -> Series:
    low, value, high = (np.array([min(max(each, 0.0), 1.0)]) for each in (excess.low, excess.value, excess.high))
    return Series(name=name(label, 40), x=np.array([loss]), y=value, low=low, high=high, style=style, kind="points")


def _best(points: Sequence[tuple[str, EffectSize, float]]) -> str:
    label, excess, loss = min(points, key=lambda each: (each[1].value, each[2]))
    lowest = f"{100 * max(excess.value, 0):.1f} points at a utility loss of {percent(loss)}"
    return f"Lowest excess: {name(label, 40)}, {lowest}."
