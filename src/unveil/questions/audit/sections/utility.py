"""Utility: what does the release preserve?"""

import math
from collections.abc import Collection, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from unveil.metrics.releases.utility import PairDistance, Utility
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.results import charted
from unveil.questions.audit.words import percent
from unveil.report.blocks import Section, Side, TableBlock
from unveil.report.blocks_spread import DistributionPanel, DistributionPanels, Triangle, Triangles
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.svg.panels import number_text
from unveil.report.text import count, fixed, name

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray
    from unveil.metrics.releases.distributions import ColumnDistribution


#: Columns that are always visible.
MOST_VISIBLE = 6
_OTHER = "other"


def distribution_charts(
    audit: Audit, *, only: Collection[str] = (), rest: bool = False
) -> tuple[DistributionPanels, ...]:
    """Return the distributions of the most changed columns of each release.

    ``only`` names releases; all unless given.
    """
    made = []
    for release in audit.releases:
        if release.utility is None or release.name not in (only or (release.name,)):
            continue
        found = release.utility.distributions
        found = found[MOST_VISIBLE:] if rest else found[:MOST_VISIBLE]
        if found:
            label = f": {name(release.name, _LONGEST_LABEL)}" if len(audit.releases) > 1 else ""
            made.append(
                DistributionPanels(
                    title=f"{'Other distributions' if rest else 'Original and released distributions'}{label}",
                    panels=tuple(_panel(each, audit.minimum_cell) for each in found),
                    names=("original records", "released records"),
                    caption="" if rest else _caption(release.utility),
                    hatched=f"about {audit.minimum_cell} records or fewer",
                )
            )
    return tuple(made)


def distribution_table(audit: Audit) -> TableBlock | None:
    """Return each column's distance between original and release."""
    rows = [
        (*([name(release.name, _LONGEST_LABEL)] if len(audit.releases) > 1 else []), *_distance_cells(each))
        for release in audit.releases
        if release.utility is not None
        for each in release.utility.distributions
    ]
    if not rows:
        return None
    heads = ["Release"] if len(audit.releases) > 1 else []
    return TableBlock(
        caption="Distances of distributions",
        columns=(*heads, "Column", "Type", "Measure", "Distance"),
        rows=tuple(rows),
        align=(*((_LEFT,) if heads else ()), _LEFT, _LEFT, _LEFT, "right"),
        note="KS: largest difference of the shares of records up to some value, or of the missing share. TV: half the "
        "sum of the differences of all shares. 0 is the same distribution, 1 nothing in common.",
    )


def _distance_cells(column: "ColumnDistribution") -> tuple[str, ...]:
    measure, distance = distance_text(column).split(" ", 1)
    return name(column.name, _LONGEST_LABEL), column.kind, measure, distance


def distance_text(column: "ColumnDistribution") -> str:
    """Return a column's distance with its measure, as in KS 0.12."""
    if isinstance(column.distance, SuppressedNumber):
        return f"{_measure(column)} at most {fixed(column.distance.most)}"
    return f"{_measure(column)} {fixed(column.distance)}"


def _measure(column: "ColumnDistribution") -> str:
    return "KS" if column.is_number else "TV"


def _panel(column: "ColumnDistribution", minimum: int) -> DistributionPanel:
    """Return a column's panel; rare values are drawn at the minimum."""
    column = column.merged(minimum)
    sides = []
    for counts, rows in zip((column.original, column.released), column.rows, strict=True):
        few = tuple(0 < number < minimum or (column.is_rounded and number == minimum) for number in counts)
        shares = tuple(
            (minimum if is_few else number) / max(rows, 1) for number, is_few in zip(counts, few, strict=True)
        )
        sides.append((shares, few))
    categories: tuple[str, ...] = ()
    if not column.is_number:
        # A report names no cell of the data.
        shown = tuple(f"value {place}" for place, _ in enumerate(column.labels, start=1))
        others = (_OTHER,) if column.original[-1] or column.released[-1] else ()
        categories = (*shown, *others)
        sides = [(shares[: len(categories)], few[: len(categories)]) for shares, few in sides]
    return DistributionPanel(
        name=name(column.name, _LONGEST_LABEL),
        distance=distance_text(column),
        first=sides[0][0],
        second=sides[1][0],
        first_hatched=sides[0][1],
        second_hatched=sides[1][1],
        categories=categories,
        ends=(column.labels[0], column.labels[1]) if column.is_number and len(column.labels) == 2 else ("", ""),
    )


def _caption(utility: "Utility") -> str:
    worst = utility.distributions[0]
    if worst.distance == 0:
        return "The distributions of all columns are unchanged."
    many = len(utility.columns)
    return f"{name(worst.name, _LONGEST_LABEL)} changed most: {distance_text(worst)}, of {many} columns."


#: The most columns of a chart, and rows of the table.
MOST_COLUMNS, MOST_PAIRS = 20, 20
_LONGEST_LABEL = 24


def association_charts(audit: Audit, *, only: Collection[str] = ()) -> tuple[Triangles, ...]:
    """Return the associations of the most changed columns, by release."""
    return tuple(
        _association_chart(
            release.utility, f": {name(release.name, _LONGEST_LABEL)}" if len(audit.releases) > 1 else ""
        )
        for release in audit.releases
        if release.utility is not None and _known(release.utility.pairs) and release.name in (only or (release.name,))
    )


def association_table(audit: Audit, *, at_most: int = MOST_PAIRS) -> TableBlock | None:
    """Return the pairs of columns of each release whose association changed most."""
    several = len(audit.releases) > 1
    rows = [
        (
            *([name(release.name, _LONGEST_LABEL)] if several else []),
            name(pair.first, _LONGEST_LABEL),
            name(pair.second, _LONGEST_LABEL),
            pair.measure,
            number_text(pair.original),
            number_text(pair.released),
            number_text(_association_change(pair)),
        )
        for release in audit.releases
        if release.utility is not None
        for pair in _known(release.utility.pairs)[:at_most]
    ]
    if not rows:
        return None
    heads = ["Release"] if several else []
    return TableBlock(
        caption="Associations that changed most",
        columns=(*heads, "Column", "Column", "Measure", "Original", "Released", "Change"),
        rows=tuple(rows),
        align=(*((_LEFT,) if several else ()), _LEFT, _LEFT, _LEFT, _RIGHT, _RIGHT, _RIGHT),
        note="0: no association. 1 or −1: one column follows from the other.",
    )


def _known(pairs: "Sequence[PairDistance]") -> "list[PairDistance]":
    """Return associated pairs of columns, most changed first."""
    known = [pair for pair in pairs if not isnan(pair.association_change)]
    return sorted(known, key=lambda pair: -pair.association_change)


def _association_change(pair: "PairDistance") -> float:
    """Return the change in association; undefined counts as none."""
    if isnan(pair.original) and isnan(pair.released):
        return nan
    original, released = (0.0 if isnan(each) else each for each in (pair.original, pair.released))
    return released - original


def _association_chart(utility: "Utility", label: str) -> Triangles:
    pairs = _known(utility.pairs)
    chosen = list(dict.fromkeys(column for pair in pairs for column in (pair.first, pair.second)))[:MOST_COLUMNS]
    columns = [each.name for each in utility.columns if each.name in chosen]
    cut = f" The {len(columns)} columns that changed most are shown." if len(columns) < len(utility.columns) else ""
    worst = pairs[0]
    largest = (
        f"{name(worst.first, _LONGEST_LABEL)} and {name(worst.second, _LONGEST_LABEL)} changed most: from "
        f"{_said(worst.original)} to {_said(worst.released)} ({worst.measure}). "
        if worst.association_change > 0
        else ""
    )
    mean = (
        f"Associations changed by {fixed(utility.association_loss)} on average over {count(len(utility.pairs))} pairs."
    )
    return Triangles(
        title=f"Change in association{label}",
        columns=tuple(columns),
        triangles=(
            Triangle(name="original", values=_matrix(columns, {_key(each): each.original for each in pairs})),
            Triangle(name="released", values=_matrix(columns, {_key(each): each.released for each in pairs})),
            Triangle(
                name="difference",
                values=_matrix(columns, {_key(each): _association_change(each) for each in pairs}),
                limit=0.5,
            ),
        ),
        caption=f"{largest}{mean}{cut}",
    )


def _said(association: float) -> str:
    return "none" if isnan(association) else number_text(association)


def _key(pair: "PairDistance") -> frozenset[str]:
    return frozenset((pair.first, pair.second))


def _matrix(columns: Sequence[str], values: dict[frozenset[str], float]) -> "FloatArray":
    """Return the values below the diagonal."""
    found = np.full((len(columns), len(columns)), nan)
    for row, one in enumerate(columns):
        for column, other in enumerate(columns[:row]):
            found[row, column] = values.get(frozenset((one, other)), nan)
    return found


#: How many columns and pairs of each release are named as those that changed most.
MOST_CHANGES = 5
_SHOWN_WIDTHS = 3

_LEFT: Side = "left"
_RIGHT: Side = "right"
_NONE = "–"
_LONGEST_NAME = 44

NamedUtilities = Sequence[tuple[str, Utility]]


def utility_table(releases: NamedUtilities) -> TableBlock:
    """Return each release's kept rows and cells, and utility loss."""
    return TableBlock(
        caption="Utility",
        columns=(
            "Release",
            "Rows",
            "Cells suppressed",
            "Columns changed",
            "Associations changed",
            "Separability",
            "Utility loss",
        ),
        rows=tuple((name(label, _LONGEST_NAME), *_cells(utility)) for label, utility in releases),
        align=(_LEFT, *(_RIGHT for _ in range(6))),
        note=_table_note(releases),
    )


def _cells(utility: Utility) -> tuple[str, ...]:
    return (
        percent(utility.rows_kept),
        _signed(utility.cells_suppressed),
        percent(utility.column_loss),
        _points(utility.association_loss),
        percent(utility.discrimination),
        percent(utility.loss),
    )


def _table_note(releases: NamedUtilities) -> str:
    said = [
        "Rows: released rows per original row. Cells suppressed: increase in the share of missing cells. Columns "
        "changed: mean distance between distributions, 0% equal, 100% disjoint. Associations changed: mean change in "
        "association, 0 to 1. Separability: 0% if a model cannot tell released rows from original ones, 100% if it "
        "can. Utility loss: the mean of the last three."
    ]
    for label, utility in releases:
        which = f"{name(label, _LONGEST_NAME)}: " if len(releases) > 1 else ""
        said += [f"{which}{text}" for text in _remarks(utility)]
    # What is said of every release alike is said once.
    return " ".join(dict.fromkeys(said))


def _remarks(utility: Utility) -> list[str]:
    said = []
    if utility.columns_left_out:
        many = count(utility.columns_left_out, "missing column", "missing columns")
        said.append(f"Columns changed counts {many} as fully changed.")
    if len(utility.pairs) < utility.pairs_total:
        said.append(
            f"{count(len(utility.pairs))} of {count(utility.pairs_total)} pairs of columns were chosen at random."
        )
    widths = [(each.name, each.width) for each in utility.columns if not math.isnan(each.width)]
    for column, width in sorted(widths, key=lambda each: -each[1])[:_SHOWN_WIDTHS]:
        said.append(
            f"A released value of {name(column, _LONGEST_NAME)} covers {percent(width)} of people on average; the "
            "original was generalized in the same way before the comparison."
        )
    drawn = utility.propensity
    if (drawn.rows_original, drawn.rows_released) != (utility.rows_original, utility.rows_released):
        said.append(
            f"The model saw {count(drawn.rows_original)} original and {count(drawn.rows_released)} released rows, "
            "chosen at random."
        )
    if drawn.columns_used < drawn.columns:
        said.append(f"The model saw {count(drawn.columns_used)} of {count(drawn.columns)} columns, chosen at random.")
    if drawn.why:
        said.append(f"Separability was not measured: {drawn.why}.")
    return said


def changed_columns(releases: NamedUtilities, *, at_most: int = MOST_CHANGES) -> TableBlock | None:
    """Return the most changed columns of each release, or None."""
    several = len(releases) > 1
    rows = []
    for label, utility in releases:
        changed = sorted((each for each in utility.columns if each.distance > 0), key=lambda each: -each.distance)
        rows += [
            (
                *([name(label, _LONGEST_NAME)] if several else []),
                name(column.name, _LONGEST_NAME),
                percent(column.distance),
                _deviations(column.mean_change),
                _change(column.deviation_change),
                percent(column.missing_original),
                percent(column.missing_released),
            )
            for column in changed[:at_most]
        ]
    if not rows:
        return None
    heads = ("Column", "Distance", "Change of mean", "Change of SD", "Missing, original", "Missing, released")
    return TableBlock(
        caption="Columns that changed most",
        columns=(*(["Release"] if several else []), *heads),
        rows=tuple(rows),
        align=(*([_LEFT] if several else []), _LEFT, *(_RIGHT for _ in range(5))),
        note=(
            "Distance: 0% the same distribution, 100% disjoint. The change of the mean is in standard deviations (SD) "
            "of the original."
        ),
    )


def changed_pairs(releases: NamedUtilities, *, at_most: int = MOST_CHANGES) -> TableBlock | None:
    """Return the most changed pairs of columns, or None."""
    several = len(releases) > 1
    rows = [
        (
            *([name(label, _LONGEST_NAME)] if several else []),
            _pair(pair),
            # With several releases there is no room for it, and the kinds of the columns say it already.
            *([] if several else [pair.measure]),
            _association(pair.original),
            _association(pair.released),
            _points(pair.association_change),
        )
        for label, utility in releases
        for pair in _most_changed(utility)[:at_most]
    ]
    if not rows:
        return None
    return TableBlock(
        caption="Pairs of columns whose association changed most",
        columns=(*(["Release", "Columns"] if several else ["Columns", "Measure"]), "Original", "Released", "Change"),
        rows=tuple(rows),
        align=(_LEFT, _LEFT, _RIGHT, _RIGHT, _RIGHT),
        note="Association: 0 independent, 1 (or −1) one column determines the other.",
    )


def _most_changed(utility: Utility) -> list[PairDistance]:
    changed = [pair for pair in utility.pairs if pair.association_change > 0]
    return sorted(changed, key=lambda pair: -pair.association_change)


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the utility of each release, or None."""
    found = [(release.name, release.utility) for release in audit.releases if release.utility is not None]
    if not found:
        return None
    only = charted(audit)
    tables = (
        utility_table(found),
        changed_columns(found),
        changed_pairs(found),
        distribution_table(audit),
        association_table(audit),
    )
    return Section(
        heading="Utility",
        question="What does the release preserve?",
        lead=" ".join(utility_sentence(label, each, several=len(found) > 1) for label, each in found[:3]),
        blocks=(*distribution_charts(audit, only=only), *association_charts(audit, only=only)),
        data=(
            *distribution_charts(audit, only=only, rest=True),
            *(table for table in tables if table is not None),
        ),
    )


def utility_sentence(label: str, utility: Utility, *, several: bool) -> str:
    """Return the utility loss in one sentence."""
    where = f"{name(label, _LONGEST_NAME)}: utility" if several else "Utility"
    said = f"{where} loss {percent(utility.loss)}"
    pairs = _most_changed(utility)
    column = max(utility.columns, key=lambda each: each.distance, default=None)
    if pairs and (column is None or pairs[0].association_change >= column.distance):
        worst = pairs[0]
        change = f"{_association(worst.original)} → {_association(worst.released)}"
        return f"{said}; largest change: association of {_pair(worst, ' and ')} ({change})."
    if column is not None and column.distance > 0:
        return f"{said}; largest change: distribution of {name(column.name, 24)} (distance {percent(column.distance)})."
    return f"{said}."


def _pair(pair: PairDistance, between: str = " × ") -> str:
    return f"{name(pair.first, 24)}{between}{name(pair.second, 24)}"


def _points(value: float) -> str:
    return fixed(value, places=3)


def _association(value: float) -> str:
    return _NONE if math.isnan(value) else fixed(value).replace("-", "−")


def _signed(share: float) -> str:
    return f"−{percent(-share)}" if share < 0 else percent(share)


def _deviations(value: float) -> str:
    return _NONE if math.isnan(value) else f"{_plus(value, places=2)} SD"


def _change(value: float) -> str:
    return _NONE if math.isnan(value) else f"{_plus(value * 100, places=1)}%"


def _plus(value: float, *, places: int) -> str:
    text = fixed(abs(value), places=places)
    return f"{'−' if value < 0 else '+'}{text}" if float(text) else text
