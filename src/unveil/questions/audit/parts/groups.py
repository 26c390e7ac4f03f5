"""Whom the attacks hit: rates per group of people, with the worst group in plain words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from unveil.metrics.trials.groups import GroupRates, RatesByGroup
from unveil.metrics.trials.risk import Rate, Risk
from unveil.questions.audit.charts import MOST_ROWS, line_at, rate_chart
from unveil.questions.audit.findings import UNDEFINED, AttackFinding
from unveil.questions.audit.words import compact_rate, percent, rate_text
from unveil.report.blocks import Block, Chart, Number, Section, Side, TableBlock
from unveil.report.text import count, name, short_percent

HEADING = "Groups: is anybody hit more often than others?"
_LEFT: Side = "left"
_RIGHT: Side = "right"
_NONE = "–"
_LONGEST_NAME = 44


@dataclass(frozen=True, kw_only=True)
class GroupTable:
    """The rates of one attack on one release by the groups of one column."""

    column: str
    attack: str
    groups: RatesByGroup
    release: str = ""

    @property
    def title(self) -> str:
        """What is compared, in a few words."""
        where = f" ({name(self.release, 30)})" if self.release else ""
        return f"{self.attack} by {name(self.column, 30)}{where}"


#: So many divisions are shown with a picture and a table each; of more, the worst, and the others in one line each.
MOST_DETAILS = 3


def group_section(group_tables: Sequence[GroupTable]) -> Section:
    """Return the section on groups: the worst of each division in words, a picture, and all rates in a table.

    Nothing is measured here. Groups of fewer than the minimum of people are not in it, nor can they be computed.
    """
    worst_first = sorted(group_tables, key=_severity, reverse=True)
    shown = group_tables if len(group_tables) <= MOST_DETAILS else worst_first[:MOST_DETAILS]
    blocks: list[Block] = [_number(each) for each in shown]
    if len(group_tables) > MOST_DETAILS:
        blocks.append(overview_table(group_tables))
    for each in shown:
        if each.groups.groups:
            drawn = any(group.attack_rate.defined for group in each.groups.groups)
            blocks += [*([group_chart(each)] if drawn else []), group_table(each)]
    return Section(heading=HEADING, lead=_LEAD, blocks=tuple(blocks))


def _severity(group_table: GroupTable) -> tuple[bool, float]:
    """Return what divisions are ranked by: whether a group is measurably worse off, and by how much the worst is."""
    groups = group_table.groups
    if groups.worst is None:
        return False, -math.inf
    gap = groups.worst.rate(groups.ranked_by).value - groups.overall.rate(groups.ranked_by).value
    return bool(groups.worse), gap if math.isfinite(gap) else -math.inf


def overview_table(group_tables: Sequence[GroupTable]) -> TableBlock:
    """Return the worst group of each division in one line."""
    rows = []
    for each in group_tables:
        groups = each.groups
        worst = groups.worst
        if worst is None:
            rows.append((each.title, _NONE, _NONE, _NONE, "cannot be compared"))
            continue
        figure = groups.ranked_by
        measured = "measurably worse" if groups.worse else "not measurably worse"
        rows.append(
            (each.title, _quoted(worst), _cell(worst.rate(figure)), _cell(groups.overall.rate(figure)), measured)
        )
    return TableBlock(
        caption="The highest group of each attack",
        columns=("Attack", "Highest group", "Its figure", "Everybody", "Outcome"),
        rows=tuple(rows),
        align=(_LEFT, _LEFT, _RIGHT, _RIGHT, _LEFT),
        note=f"Pictures and tables follow for the {MOST_DETAILS} that stand out most. {_note(group_tables[0].groups)}",
    )


_LEAD = (
    "A rate over everybody can hide a group that is hit much more often. Each group stands beside people of the same "
    "group who are not in the data, and all intervals of a picture hold together, whatever the number of groups."
)


def worst_sentence(groups: RatesByGroup) -> str:
    """Return who is worst off and whether that can be luck."""
    worst, figure = groups.worst, groups.ranked_by
    if worst is None:
        return (
            f"There are no two groups of at least {groups.minimum} people that could be compared, so nothing can be "
            "said about groups."
        )
    share, whole = worst.rate(figure), groups.overall.rate(figure)
    what = "an excess over control of" if figure == "excess_over_control" else "an attack rate of"
    compared = sum(group.rate(figure).defined for group in groups.groups)
    said = [
        f"Of {compared} groups, {_quoted(worst)} has the highest figure: {what} {rate_text(share)}, while over "
        f"everybody it is {percent(whole.value)}."
    ]
    if worst in groups.worse:
        said.append("That group is measurably worse off, also after having looked at all groups.")
    elif groups.worse:
        said.append(f"For {_quoted(worst)} that can be luck; measurably worse off are: {_several(groups.worse)}.")
    else:
        said.append("That can be luck: one of the groups always comes out highest.")
    if groups.worse[1:] and worst in groups.worse:
        said.append(f"Likewise: {_several([group for group in groups.worse if group is not worst])}.")
    left = len(groups.groups) - compared
    if left:
        said.append(f"{count(left, 'group has', 'groups have')} no such figure and could be worse.")
    return " ".join(said)


def _quoted(group: GroupRates) -> str:
    return repr(name(group.name, _LONGEST_NAME)) if group.kind == "named" else name(group.name)


def _several(groups: Sequence[GroupRates]) -> str:
    shown = [_quoted(group) for group in groups[:3]]
    if len(groups) > 3:
        shown = [*shown[:2], f"{len(groups) - 2} more groups"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _number(group_table: GroupTable) -> Number:
    groups = group_table.groups
    worst = groups.worst
    return Number(
        label=f"{group_table.title}: the highest group",
        value=_NONE if worst is None else percent(worst.rate(groups.ranked_by).value),
        meaning=worst_sentence(groups),
        tone="warning" if groups.worse else "neutral",
    )


def group_chart(group_table: GroupTable) -> Chart:
    """Return the rates of each group, the worst first, with a line where everybody stands."""
    groups = group_table.groups
    rows = [
        (_label(group), _finding(group_table.attack, group)) for group in groups.groups if group.attack_rate.defined
    ]
    cut = f" The first {MOST_ROWS} of {len(rows)} are drawn; the table has all." if len(rows) > MOST_ROWS else ""
    together = short_percent(groups.confidence)
    beside = _BESIDE if any(group.control_rate.defined for group in groups.groups) else _ALONE
    chart = rate_chart(
        rows[:MOST_ROWS],
        title=group_table.title,
        x_label="share of the group's people on whom it succeeds",
        caption=(
            f"The worst group comes first. All bars of one colour hold together with a confidence of {together}: each "
            f"is wider than it would be alone. {beside}{cut}"
        ),
    )
    return replace(chart, thresholds=line_at("everybody", groups.overall.attack_rate))


_BESIDE = "What matters is how far people in the data lie to the right of people of the same group who are not in it."
_ALONE = "Without people of the same group who are not in the data nobody can say what comes from being in it."


def _label(group: GroupRates) -> str:
    return f"{name(group.name, 26)} ({count(group.people)} people)"


def _finding(attack: str, group: GroupRates) -> AttackFinding:
    risk = Risk(
        attack_rate=group.attack_rate,
        naive_rate=UNDEFINED,
        control_rate=group.control_rate,
        excess_over_control=group.excess_over_control,
    )
    return AttackFinding(attack=attack, targets=group.tries, risk=risk)


def group_table(group_table: GroupTable) -> TableBlock:
    """Return the people, tries and rates of each group, the worst first, and of everybody."""
    groups = group_table.groups
    every = [*groups.groups, groups.overall]
    has_control = any(group.control_rate.defined for group in every)
    figures = ["excess_over_control", "attack_rate", "control_rate"] if has_control else ["attack_rate"]
    rows = [
        (
            name(group.name, _LONGEST_NAME),
            f"{count(group.people)} ({count(group.tries)})",
            *(_cell(group.rate(figure)) for figure in figures),
        )
        for group in every
    ]
    heads = ("Group", "People (attacked)", *(_HEADS[figure] for figure in figures))
    return TableBlock(
        caption=f"{group_table.title}: all groups",
        columns=heads,
        rows=tuple(rows),
        align=(_LEFT, *(_RIGHT for _ in heads[1:])),
        note=_note(groups),
    )


_HEADS = {"excess_over_control": "Excess", "attack_rate": "In the data", "control_rate": "Not in the data"}


def _cell(rate: Rate) -> str:
    return compact_rate(rate) if rate.defined else _NONE


def _note(groups: RatesByGroup) -> str:
    among = f", as {groups.looks} such tables are read together" if groups.looks > 1 else ""
    said = [
        f"In brackets: where the true figures of all groups lie together with a confidence of "
        f"{short_percent(groups.confidence)} (exact intervals, corrected after Bonferroni: each has a confidence of "
        f"{short_percent(groups.each_confidence)}{among}); for everybody the usual interval."
    ]
    if groups.pooled:
        said.append(
            f"{count(groups.pooled, 'group stands', 'groups stand')} together: no group of fewer than {groups.minimum} "
            "people is shown by itself, nor can it be computed from the others and the total."
        )
    every = [rate for group in groups.groups for rate in (group.attack_rate, group.control_rate)]
    undefined = {rate.why for rate in every if not rate.defined}
    said += [f"{_NONE}: {why}." for why in sorted(undefined) if why]
    return " ".join(said)
