"""The numbers of a study in rows: means with intervals by level, failures, and time."""

import math
from itertools import product

from unveil.questions.study.findings import StudyFindings, is_share, words_of
from unveil.report.blocks import Side, TableBlock
from unveil.report.scale import value_text
from unveil.report.text import AXES, UNDEFINED, count, duration, labels, percent, together
from unveil.studies import Axis

#: All tables of means on one page have no more rows than these together, so that it stays below 1 MB.
MOST_ROWS_OF_MEANS = 600

#: Stands where a scenario failed or was not computed.
NOTHING = "–"
_LARGE = 100


def mean_tables(findings: StudyFindings, *, at_most: int = MOST_ROWS_OF_MEANS) -> tuple[tuple[TableBlock, ...], int]:
    """Return the means of each metric by level, a table per metric, axis and data set, and how many are left out.

    Tables are left out once those before have as many rows as a page may hold.
    """
    shown: list[TableBlock] = []
    rows = left_out = 0
    for metric, axis, data in product(findings.metrics, findings.study.axes, findings.study.data):
        table = mean_table(findings, metric, axis, data.name)
        if rows + len(table.rows) > at_most and shown:
            left_out += 1
            continue
        rows += len(table.rows)
        shown.append(table)
    return tuple(shown), left_out


def mean_table(findings: StudyFindings, metric: str, axis: Axis, data: str) -> TableBlock:
    """Return one row per protection and attack, one column per level: the mean and half the width of its interval."""
    study = findings.study
    means = findings.means(metric, axis.name)
    protections, attacks = labels(study.protections), labels(study.attacks)
    rows = tuple(
        (
            protections[protect],
            attacks[attack],
            *(mean_text(means.get((data, protect, attack, level)), metric) for level in axis.levels),
        )
        for protect in study.protections
        for attack in study.attacks
    )
    words, kind = AXES[axis.name]
    where = f" of {data}" if len(study.data) > 1 else ""
    return TableBlock(
        caption=f"{words_of(metric).capitalize()}{where}, by {words}",
        columns=("protection", "attack", *(value_text(level, kind) for level in axis.levels)),
        rows=rows,
        align=_sides(2, len(axis.levels)),
    )


def mean_text(mean: tuple[float, float] | None, metric: str) -> str:
    """Return a mean and half the width of its 95 % interval; what was not computed is a dash.

    >>> mean_text((0.25, 0.03), "adversary_overall_success"), mean_text((3.25, float("nan")), "entropy")
    ('25.0% ± 3.0', '3.250')
    """
    if mean is None:
        return NOTHING
    value, half = mean
    if not math.isfinite(value):
        return UNDEFINED
    if is_share(metric):
        return percent(value) + (f" ± {100 * half:.1f}" if math.isfinite(half) else "")
    # As many decimals in both, so that they can be compared at a glance.
    places = 3 if abs(value) < _LARGE else 1
    return f"{value:,.{places}f}" + (f" ± {half:,.{places}f}" if math.isfinite(half) else "")


def effect_table(findings: StudyFindings) -> TableBlock:
    """Return what each attack reaches after each protection: one row per protection, for the strongest adversary."""
    study, metric = findings.study, findings.metrics[0]
    protections, attacks = labels(study.protections), labels(study.attacks)
    cells = {
        (each.protect, each.attack): mean_text((each.mean, each.half), metric)
        for each in findings.effects
        if not math.isnan(each.mean)
    }
    words, kind = AXES[study.axes[0].name]
    return TableBlock(
        caption=f"{words_of(metric).capitalize()} at {value_text(study.axes[0].levels[-1], kind)} {words}",
        columns=("protection", *(attacks[attack] for attack in study.attacks)),
        rows=tuple(
            (protections[protect], *(cells.get((protect, attack), NOTHING) for attack in study.attacks))
            for protect in study.protections
        ),
        align=_sides(1, len(study.attacks)),
    )


def failure_table(findings: StudyFindings) -> TableBlock | None:
    """Return the errors by kind, how many scenarios each befell and where; None where nothing failed."""
    if not findings.failures:
        return None
    rows = tuple(
        (
            count(each.scenarios),
            each.error,
            together(each.data),
            together(each.protections),
            together(each.attacks),
        )
        for each in findings.failures
    )
    return TableBlock(
        caption="Errors, the most frequent first",
        columns=("scenarios", "error", "data", "protections", "attacks"),
        rows=rows,
        align=("right", "left", "left", "left", "left"),
        note="Errors that differ in numbers only are counted together, and the first of them is shown.",
        prose=True,
    )


def time_table(findings: StudyFindings) -> TableBlock | None:
    """Return the CPU seconds per replication of each attack on each data set; None where no time was noted."""
    if not findings.spent:
        return None
    study = findings.study
    called = labels(study.attacks)
    each = {(one.data, one.attack): one for one in findings.spent}
    total = {data.name: sum(one.seconds for one in findings.spent if one.data == data.name) for data in study.data}
    rows = tuple(
        (
            data.name,
            *(
                duration(each[data.name, attack].each) if (data.name, attack) in each else NOTHING
                for attack in study.attacks
            ),
            duration(total[data.name]),
        )
        for data in study.data
    )
    return TableBlock(
        caption="CPU time per replication, and in all",
        columns=("data", *(called[attack] for attack in study.attacks), "in all"),
        rows=rows,
        align=_sides(1, len(study.attacks) + 1),
        note="Drawing what the adversary knows, the attack and all metrics, added up over all workers.",
    )


def _sides(names: int, numbers: int) -> tuple[Side, ...]:
    return tuple("left" if place < names else "right" for place in range(names + numbers))
