"""The figures of an audit as text: the same on the page and in the terminal."""

import math
from collections.abc import Sequence

from unveil.data.table import MarkerCount
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import AttackFinding, Audit, AuditedRelease, ColumnImportance
from unveil.questions.audit.ranking import clearest_over, remarks_on, worst_of
from unveil.questions.audit.sentences import p_text, sentence
from unveil.questions.audit.words import compact_excess, compact_rate, finer, kind_text, links_text, percent, row_name
from unveil.report.blocks import Side, TableBlock
from unveil.report.editions import people
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, decimal, name
from unveil.report.trust import order_note

_LEFT: Side = "left"
_RIGHT: Side = "right"
_NONE = "–"
_LONGEST_NAME = 60


def comparison_table(audit: Audit) -> TableBlock:
    """Return one column per release: what it is, and the worst of each attack beside control and chance."""
    lines = [("Rows", [count(release.rows) for release in audit.releases])]
    lines.append(("Kind", [kind_text(release) for release in audit.releases]))
    for attack in audit.attacks:
        lines += _attack_lines(audit, attack)
    return TableBlock(
        caption="The worst figure of each attack",
        columns=("", *(name(release.name, _LONGEST_NAME) for release in audit.releases)),
        rows=tuple((label, *cells) for label, cells in lines),
        align=(_LEFT, *(_RIGHT for _ in audit.releases)),
        note=_COMPARISON_NOTE if audit.has_control else _COMPARISON_NOTE_ALONE,
    )


_COMPARISON_NOTE = (
    "In brackets: where the true figure lies with a confidence of 95%. Excess = (people in the data − people not in "
    "it) / (100% − people not in it): what being in the data adds, of what was left to reach."
)
_COMPARISON_NOTE_ALONE = "In brackets: where the true figure lies with a confidence of 95%."
#: What stands below the name of an attack, whose own line is that of people in the data.
_LINES = {
    "attack_rate": "",
    "control_rate": "· people not in the data",
    "excess_over_control": "· excess",
    "naive_rate": "· blind chance",
}


def _attack_lines(audit: Audit, attack: str) -> list[tuple[str, list[str]]]:
    """Return the rates of an attack that exist on some release, or its median distance."""
    worst = [worst_of(release, attack) for release in audit.releases]
    if not any(worst):
        return _distance_lines(audit, attack)
    lines = []
    for figure, label in _LINES.items():
        rates = [None if finding is None else finding.rate(figure) for finding in worst]
        if any(rate is not None and rate.defined for rate in rates):
            cells = [_NONE if finding is None else _cell(finding, figure) for finding in worst]
            lines.append((label or ATTACKS[attack].title, cells))
    if any(finding is not None and has_p(finding) for finding in worst):
        lines.append(("· adjusted p", [_NONE if finding is None else _p(finding) for finding in worst]))
    return lines


def has_p(finding: AttackFinding) -> bool:
    """Return whether the verdict has a p for it."""
    return not math.isnan(finding.p_adjusted)


def _p(finding: AttackFinding) -> str:
    if has_p(finding):
        return f"{p_text(finding.p_adjusted)}{' (proved)' if finding.proved else ''}"
    return "proved" if finding.proved else finding.why_not_judged or _NONE


def _cell(finding: AttackFinding, figure: str) -> str:
    rate = finding.rate(figure)
    if not rate.defined:
        return _NONE
    if figure == "excess_over_control":
        return compact_excess(finding.risk)
    return percent(rate.value) if figure == "naive_rate" else compact_rate(rate, more=finer(finding.risk))


def _distance_lines(audit: Audit, attack: str) -> list[tuple[str, list[str]]]:
    found = [next(iter(release.of(attack)), None) for release in audit.releases]
    lines = []
    for figure, label in (("median", ATTACKS[attack].title), ("control_median", _LINES["control_rate"])):
        values = [math.nan if finding is None else finding.figures.get(figure, math.nan) for finding in found]
        if not all(map(math.isnan, values)):
            cells = [_NONE if math.isnan(value) else decimal(value) for value in values]
            lines.append((label, cells))
    return lines


def attack_table(audit: Audit, attack: str) -> TableBlock:
    """Return the clearest figures of one attack, a row for each release and adversary."""
    found = clearest_over(audit, attack)
    if ATTACKS[attack].distances:
        return _distance_table(audit, attack)
    if not any(finding.risk.attack_rate.defined for _, finding in found):
        return _meaning_table(audit, attack)
    left_out = sum(len(release.of(attack)) for release in audit.releases) - len(found)
    cut = f"{count(left_out, 'less clear figure is', 'less clear figures are')} in the JSON output."
    has_who = any(finding.scenario is not None for _, finding in found)
    shown = [figure for figure in _HEADS if any(finding.rate(figure).defined for _, finding in found)]
    has_links = any(links_text(finding) for _, finding in found)
    is_judged = any(has_p(finding) or finding.why_not_judged for _, finding in found)
    rows = []
    for release, finding in found:
        figures = [_cell(finding, figure) for figure in shown]
        links = [links_text(finding) or _NONE] if has_links else []
        judged = [_p(finding)] if is_judged else []
        rows.append((row_name(release, finding, several=len(audit.releases) > 1), *figures, *links, *judged))
    return TableBlock(
        caption=f"{ATTACKS[attack].title}: the clearest adversaries" if left_out else ATTACKS[attack].title,
        columns=(
            "Adversary" if has_who else "Release",
            *(_HEADS[figure] for figure in shown),
            *(["Hits"] if has_links else []),
            *(["Adjusted p"] if is_judged else []),
        ),
        rows=tuple(rows),
        align=(_LEFT, *(_RIGHT for _ in range(len(shown) + has_links + is_judged))),
        note=" ".join(filter(None, (*remarks_on(audit, attack), cut if left_out else "", _trust(attack)))),
    )


_HEADS = {
    "attack_rate": "Attack rate",
    "control_rate": "Control rate",
    "excess_over_control": "Excess over control",
    "naive_rate": "Naive rate",
}
EXCESS = "Excess = (attack − control) / (100% − control): what being in the data adds, of what was left to reach."


def _trust(attack: str) -> str:
    """Return how far the figures of an attack can be trusted to order releases."""
    return order_note([f"{attack}.{figure}" for figure in ATTACKS[attack].distances or ("attack_rate",)])


def _distance_table(audit: Audit, attack: str) -> TableBlock:
    """Return the quantiles of a distance for each release, beside those of people who are not in the data."""
    heads = {"median": "Median", "low": "Nearest 5%"}
    ends = [*heads, *(f"control_{end}" for end in heads if audit.has_control)]
    return TableBlock(
        caption=ATTACKS[attack].title,
        columns=("Release", *(heads.get(end) or f"{heads[end.removeprefix('control_')]}, others" for end in ends)),
        rows=tuple(
            (name(release.name, _LONGEST_NAME), *(_number(finding.figures.get(end, math.nan)) for end in ends))
            for release in audit.releases
            for finding in release.of(attack)
        ),
        align=(_LEFT, *(_RIGHT for _ in ends)),
        note=" ".join(filter(None, (*remarks_on(audit, attack), _trust(attack)))),
    )


def _number(value: float) -> str:
    return _NONE if math.isnan(value) else decimal(value)


def _meaning_table(audit: Audit, attack: str) -> TableBlock:
    """Return an attack without rates, in plain words."""
    return TableBlock(
        caption=f"{ATTACKS[attack].title} in plain words",
        columns=("Release", "What was found"),
        rows=tuple(
            (name(release.name, _LONGEST_NAME), sentence(finding))
            for release in audit.releases
            for finding in release.of(attack)
        ),
        align=(_LEFT, _LEFT),
        prose=True,
    )


def weight_table(releases: Sequence[AuditedRelease]) -> TableBlock:
    """Return for each release what the clearest adversary loses without each of its columns."""
    several = len(releases) > 1
    rows = [
        (
            *([name(release.name, _LONGEST_NAME)] if several else []),
            name(weight.column, _LONGEST_NAME),
            compact_rate(weight.whole),
            compact_rate(weight.without),
            _change(weight),
        )
        for release in releases
        for weight in release.weights
    ]
    heads = (*(["Release"] if several else []), "Column", "With all columns", "Without it", "Change")
    words = 2 if several else 1
    return TableBlock(
        caption="What the adversary loses without a column",
        columns=heads,
        rows=tuple(rows),
        align=(*(_LEFT for _ in range(words)), *(_RIGHT for _ in range(3))),
    )


def _change(weight: ColumnImportance) -> str:
    if any(isinstance(rate.value, SuppressedNumber) or not rate.defined for rate in (weight.whole, weight.without)):
        return _NONE
    if weight.loss >= 0:
        return f"{weight.loss * 100:+.1f} points".replace("+", "−")
    return f"{-weight.loss * 100:+.1f} points"


def column_table(audit: Audit) -> TableBlock:
    """Return how each column was read: its kind, its role, and why."""
    rows = (
        (
            name(column.name, _LONGEST_NAME),
            column.kind,
            column.confidence,
            column.role,
            people(column.missing),
            ", ".join(map(_marker, column.markers)),
            column.reason,
        )
        # Those first that somebody has to look at.
        for column in sorted(audit.columns, key=lambda each: not each.is_guessed)
    )
    return TableBlock(
        caption="Columns",
        columns=("Column", "Kind", "Confidence", "Role", "Missing", "Markers", "Why"),
        rows=tuple(rows),
        align=(_LEFT, _LEFT, _LEFT, _LEFT, _RIGHT, _LEFT, _LEFT),
        prose=True,
    )


def _marker(marker: MarkerCount) -> str:
    return f"{name(marker.text, _LONGEST_NAME)} ({marker.kind}): {people(marker.cells)}"
