"""Subgroups: rates by subgroup, and significant differences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.metrics.trials.groups import GroupRates, RatesByGroup
from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.words import compact_rate, percent
from unveil.report.blocks import Chart, Section, Series, Style, TableBlock, Threshold, sides
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name, short_percent

_LONGEST_NAME = 44
#: At most so many subgroups are drawn; the tables have all.
MOST_ROWS = 12
_NONE = "–"
_STYLES: tuple[Style, Style] = ("second", "fifth")


@dataclass(frozen=True, kw_only=True)
class GroupTable:
    """One attack's rates on one release, by subgroup."""

    column: str
    attack: str
    groups: RatesByGroup
    release: str = ""

    @property
    def title(self) -> str:
        """The attack and the column."""
        where = f" ({name(self.release, 30)})" if self.release else ""
        return f"{self.attack} by {name(self.column, 30)}{where}"


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return subgroup rates under each attack's strongest attacker, or None."""
    several = len(audit.releases) > 1
    found = [
        GroupTable(
            column=audit.by,
            attack=ATTACKS[attack].title,
            groups=finding.groups,
            release=release.name if several else "",
        )
        for release in audit.releases
        for attack in audit.attacks
        if audit.by is not None and (finding := release.strongest(attack)) is not None and finding.groups
    ]
    if not found:
        return None
    worst = max(found, key=_severity)
    chart = group_chart(worst) if any(group.attack_rate.defined for group in worst.groups.groups) else None
    return Section(
        heading="Subgroups",
        question="Is the risk of one subgroup higher than that of the rest?",
        lead=worst_sentence(worst),
        blocks=() if chart is None else (chart,),
        data=(overview_table(found), *(group_table(each) for each in found if each.groups.groups)),
    )


def _severity(table: GroupTable) -> tuple[bool, float]:
    """Return the sort key of tables: significance, then difference."""
    groups = table.groups
    if groups.worst is None:
        return False, -math.inf
    gap = groups.worst.rate(groups.ranked_by).value - groups.overall.rate(groups.ranked_by).value
    return bool(groups.worse), gap if math.isfinite(gap) else -math.inf


def worst_sentence(table: GroupTable) -> str:
    """Return which subgroup has the highest rate, and whether chance explains it."""
    groups = table.groups
    worst, rate = groups.worst, groups.ranked_by
    if worst is None:
        return f"No two subgroups of at least {groups.minimum} people can be compared."
    what = "normalized excess" if rate == "excess_over_control" else "attack success"
    here, whole = compact_rate(worst.rate(rate)), percent(groups.overall.rate(rate).value)
    state = "significant" if worst in groups.worse else "not significant"
    others = [group for group in groups.worse if group is not worst]
    more = f" Also significantly above the rest: {', '.join(map(_called, others[:3]))}." if others else ""
    return f"{table.title}: {what} is highest for {_called(worst)}, {here}; overall {whole}; {state}.{more}"


def _called(group: GroupRates) -> str:
    return repr(name(group.name, _LONGEST_NAME)) if group.kind == "named" else name(group.name)


def overview_table(tables: Sequence[GroupTable]) -> TableBlock:
    """Return the subgroup with the highest rate under each attack."""
    rows = []
    for each in tables:
        groups = each.groups
        if groups.worst is None:
            rows.append((each.title, _NONE, _NONE, _NONE, "not compared"))
            continue
        state = "significant" if groups.worse else "not significant"
        here, whole = (_cell(own.rate(groups.ranked_by)) for own in (groups.worst, groups.overall))
        rows.append((each.title, _called(groups.worst), here, whole, state))
    return TableBlock(
        caption="Highest subgroup of each attack",
        columns=("Attack", "Highest subgroup", "Rate", "Overall", "Difference"),
        rows=tuple(rows),
        align=("left", "left", "right", "right", "left"),
    )


def group_chart(table: GroupTable) -> Chart:
    """Return each subgroup's success and control rate, highest first."""
    groups = table.groups
    shown = [group for group in groups.groups if group.attack_rate.defined][:MOST_ROWS]
    rates = {"attack success": [each.attack_rate for each in shown], "control": [each.control_rate for each in shown]}
    whole = groups.overall.attack_rate
    highs = [rate.high for each in rates.values() for rate in each if rate.defined]
    return Chart(
        title=table.title,
        x_label="attack success",
        y_label="",
        series=tuple(
            _points(label, own, style)
            for (label, own), style in zip(rates.items(), _STYLES, strict=True)
            if any(rate.defined for rate in own)
        ),
        caption=f"Intervals hold for all subgroups together at {short_percent(groups.confidence)}.",
        x_range=(0.0, min(1.0, max(0.05, *highs)) if highs else 1.0),
        x_kind="share",
        thresholds=(Threshold(name=f"overall: {percent(whole.value)}", value=whole.value, across="x"),)
        if _is_drawn(whole)
        else (),
        rows=tuple(f"{name(group.name, 26)} ({count(group.people)} people)" for group in shown),
    )


def _is_drawn(rate: Rate) -> bool:
    return rate.defined and not isinstance(rate.value, SuppressedNumber)


def _points(label: str, rates: Sequence[Rate], style: Style) -> Series:
    return Series(
        name=label,
        x=np.array([float(rate.value) if _is_drawn(rate) else math.nan for rate in rates]),
        y=np.arange(len(rates), dtype=np.float64),
        style=style,
        kind="points",
        low=np.array([rate.low for rate in rates]),
        high=np.array([rate.high for rate in rates]),
    )


def group_table(table: GroupTable) -> TableBlock:
    """Return each subgroup's people, attempts, and rates, highest first."""
    groups = table.groups
    every = [*groups.groups, groups.overall]
    has_control = any(group.control_rate.defined for group in every)
    rates = ["excess_over_control", "attack_rate", "control_rate"] if has_control else ["attack_rate"]
    heads = ("Subgroup", "People (attacked)", *(_HEADS[rate] for rate in rates))
    return TableBlock(
        caption=f"{table.title}: all subgroups",
        columns=heads,
        rows=tuple(
            (
                name(group.name, _LONGEST_NAME),
                f"{count(group.people)} ({count(group.tries)})",
                *(_cell(group.rate(rate)) for rate in rates),
            )
            for group in every
        ),
        align=sides("l" + "r" * (len(heads) - 1)),
        note=_note(groups),
    )


_HEADS = {"excess_over_control": "Normalized excess", "attack_rate": "Attack success", "control_rate": "Control"}


def _cell(rate: Rate) -> str:
    return compact_rate(rate) if rate.defined else _NONE


def _note(groups: RatesByGroup) -> str:
    said = [
        f"Intervals hold for all subgroups together at {short_percent(groups.confidence)} (exact, Bonferroni: "
        f"{short_percent(groups.each_confidence)} each)."
    ]
    if groups.pooled:
        pooled = count(groups.pooled, "subgroup is", "subgroups are")
        said.append(f"{pooled} pooled: none of fewer than {groups.minimum} people is shown or can be computed.")
    every = [rate for group in groups.groups for rate in (group.attack_rate, group.control_rate)]
    said += [f"{_NONE}: {why}." for why in sorted({rate.why for rate in every if not rate.defined}) if why]
    return " ".join(said)
