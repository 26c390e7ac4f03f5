"""What releases keep of the original, as tables and plain sentences; nothing here measures anything."""

import math
from collections.abc import Sequence

from unveil.metrics.releases.utility import PairDistance, Utility
from unveil.questions.audit.words import percent
from unveil.report.blocks import Section, Side, TableBlock
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, fixed, name

#: How many columns and pairs of each release are named as those that changed most.
MOST_CHANGES = 5
_SHOWN_WIDTHS = 3

_LEFT: Side = "left"
_RIGHT: Side = "right"
_NONE = "–"
_LONGEST_NAME = 44

NamedUtilities = Sequence[tuple[str, Utility]]


def utility_table(releases: NamedUtilities) -> TableBlock:
    """Return a row for each release: rows and cells kept, the three parts of the loss, and the loss."""
    return TableBlock(
        caption="What the releases keep" if len(releases) > 1 else "What the release keeps",
        columns=(
            "Release",
            "Rows",
            "Cells suppressed",
            "Columns changed",
            "Associations changed",
            "Told apart",
            "Loss",
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
        "Rows: released rows for each original row. Cells suppressed: by how much the share of missing cells rose. "
        "Columns changed: mean distance of the columns' distributions, 0% the same, 100% nothing in common. "
        "Associations changed: mean difference of what columns have to do with one another, from 0 to 1. "
        "Told apart: 0% if a model only guesses which rows are released, 100% if it knows. Loss: the mean of the "
        "last three; 0% means that nothing was lost."
    ]
    for label, utility in releases:
        which = f"{name(label, _LONGEST_NAME)}: " if len(releases) > 1 else ""
        said += [f"{which}{text}" for text in _remarks(utility)]
    # What is said of every release alike is said once.
    return " ".join(dict.fromkeys(said))


def _remarks(utility: Utility) -> list[str]:
    said = []
    if utility.columns_left_out:
        many = count(utility.columns_left_out, "column that was", "columns that were")
        said.append(f"Columns changed counts {many} left out as fully changed.")
    if len(utility.pairs) < utility.pairs_total:
        said.append(f"{count(len(utility.pairs))} of {count(utility.pairs_total)} pairs of columns were drawn by lot.")
    widths = [(each.name, each.width) for each in utility.columns if not math.isnan(each.width)]
    for column, width in sorted(widths, key=lambda each: -each[1])[:_SHOWN_WIDTHS]:
        said.append(
            f"A released cell of {name(column, _LONGEST_NAME)} holds {percent(width)} of people on average; the "
            "original was put into these cells before it was compared."
        )
    drawn = utility.propensity
    if (drawn.rows_original, drawn.rows_released) != (utility.rows_original, utility.rows_released):
        said.append(
            f"The model saw {count(drawn.rows_original)} original and {count(drawn.rows_released)} released rows, "
            "drawn by lot."
        )
    if drawn.columns_used < drawn.columns:
        said.append(f"The model saw {count(drawn.columns_used)} of {count(drawn.columns)} columns, drawn by lot.")
    if drawn.why:
        said.append(f"Nobody can say how well rows are told apart: {drawn.why}.")
    return said


def changed_columns(releases: NamedUtilities, *, at_most: int = MOST_CHANGES) -> TableBlock | None:
    """Return the columns that changed most in each release, or None where none did."""
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
    heads = ("Column", "Distance", "Mean moved", "Spread changed", "Missing before", "Missing after")
    return TableBlock(
        caption="Columns that changed most",
        columns=(*(["Release"] if several else []), *heads),
        rows=tuple(rows),
        align=(*([_LEFT] if several else []), _LEFT, *(_RIGHT for _ in range(5))),
        note=(
            "Distance: 0% the same distribution, 100% nothing in common. The mean is said to have moved by so many "
            "standard deviations (sd) of the original."
        ),
    )


def changed_pairs(releases: NamedUtilities, *, at_most: int = MOST_CHANGES) -> TableBlock | None:
    """Return the pairs of columns whose association changed most in each release, or None where none did."""
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
        note="0 means that two columns have nothing to do with one another, 1 that one follows from the other.",
    )


def _most_changed(utility: Utility) -> list[PairDistance]:
    changed = [pair for pair in utility.pairs if pair.association_change > 0]
    return sorted(changed, key=lambda pair: -pair.association_change)


def lost(utility: Utility) -> str:
    """Return in a few words what a release has lost: what was left out, and where the original says something else."""
    said = []
    if utility.columns_left_out:
        said.append(f"{count(utility.columns_left_out, 'column', 'columns')} left out")
    if utility.rows_kept < 0.995:
        said.append(f"{percent(1 - utility.rows_kept)} of rows")
    pairs, columns = _most_changed(utility), sorted(utility.columns, key=lambda each: -each.distance)
    if pairs and pairs[0].association_change >= columns[0].distance:
        worst = pairs[0]
        said.append(f"{_pair(worst, ' with ')} {_association(worst.original)} → {_association(worst.released)}")
    elif columns and columns[0].distance > 0:
        said.append(f"{percent(columns[0].distance)} of the distribution of {name(columns[0].name, 24)}")
    return ", ".join(said) or "nothing that was measured"


def plain_words(utility: Utility, *, who: str = "The release") -> str:
    """Return what a release keeps and what it loses, in plain sentences; ``who`` is how they begin."""
    said = [f"{who} {_columns_sentence(utility)}"]
    changed = _most_changed(utility)
    if changed:
        worst = changed[0]
        said.append(
            f"What columns have to do with one another changes by {_points(utility.association_loss)} on average, most "
            f"between {_pair(worst, ' and ')} ({_association(worst.original)} before, {_association(worst.released)} "
            "after)."
        )
    elif not math.isnan(utility.association_loss):
        said.append("What columns have to do with one another stays as it was.")
    said.append(_model_sentence(utility))
    return " ".join(sentence for sentence in said if sentence)


def _columns_sentence(utility: Utility) -> str:
    rows = f"has {percent(utility.rows_kept)} as many rows as the original and " if utility.rows_kept != 1 else ""
    worst = max(utility.columns, key=lambda column: column.distance)
    if not utility.columns_left_out and worst.distance == 0:
        return f"{rows}keeps the distribution of every column."
    least = (
        f" (the least in {name(worst.name, _LONGEST_NAME)}: {percent(_left(worst.distance))})" if worst.distance else ""
    )
    return f"{rows}keeps {percent(_left(utility.column_loss))} of the distribution of its columns on average{least}."


def _left(share: float) -> float:
    return share.complement if isinstance(share, SuppressedNumber) else 1 - share


def _model_sentence(utility: Utility) -> str:
    area = utility.propensity.area
    if math.isnan(area):
        return ""
    if area < 0.505:
        return "A model cannot tell released rows from original ones better than by guessing."
    return (
        f"Shown one original and one released row, a model names the released one in {percent(area)} of cases "
        "(50% is guessing)."
    )


def utility_section(releases: NamedUtilities) -> Section:
    """Return the part of the report on what the releases keep."""
    several = len(releases) > 1
    tables = (
        _words_table(releases) if several else None,
        utility_table(releases),
        changed_columns(releases),
        changed_pairs(releases),
    )
    lead = _LEAD if several else f"{plain_words(releases[0][1])} {_LEAD}"
    blocks = tuple(table for table in tables if table is not None)
    return Section(heading="Utility: what is the release still good for?", lead=lead, blocks=blocks)


_LEAD = (
    "A release that protects everybody by saying nothing helps nobody. These figures are for comparing releases of the "
    "same data; what the release is to be used for decides whether a loss matters."
)


def _words_table(releases: NamedUtilities) -> TableBlock:
    return TableBlock(
        caption="In plain words",
        columns=("Release", "What it keeps"),
        rows=tuple((name(label, _LONGEST_NAME), plain_words(utility, who="It")) for label, utility in releases),
        align=(_LEFT, _LEFT),
        prose=True,
    )


def _pair(pair: PairDistance, between: str = " × ") -> str:
    return f"{name(pair.first, 24)}{between}{name(pair.second, 24)}"


def _points(value: float) -> str:
    return fixed(value, places=3)


def _association(value: float) -> str:
    return _NONE if math.isnan(value) else fixed(value).replace("-", "−")


def _signed(share: float) -> str:
    return f"−{percent(-share)}" if share < 0 else percent(share)


def _deviations(value: float) -> str:
    return _NONE if math.isnan(value) else f"{_plus(value, places=2)} sd"


def _change(value: float) -> str:
    return _NONE if math.isnan(value) else f"{_plus(value * 100, places=1)}%"


def _plus(value: float, *, places: int) -> str:
    text = fixed(abs(value), places=places)
    return f"{'−' if value < 0 else '+'}{text}" if float(text) else text
