"""Unicity: how often a few known records of a person fit one person only."""

from math import isnan

import numpy as np

from unveil.questions.link.findings import LinkFindings, UnicityCell
from unveil.questions.link.words import lifetime_words
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, TableBlock, sides
from unveil.report.blocks_spread import HeatMap
from unveil.report.text import about, count, fixed, name, percent


def section(findings: LinkFindings, context: PageContext) -> Section | None:
    """Return unicity by known records and generalization."""
    del context
    cells = findings.unicity
    if not cells:
        return None
    most = max(each.unicity.points_known for each in cells)
    first = next(each for each in cells if each.unicity.points_known == most)
    known = count(most, "known record singles", "known records single")
    lead = (
        f"{known} out {about(first.unicity.unicity)} of people{_step(first)}; records exchanged at random "
        f"{about(first.unicity.by_chance)}.{_generalized(cells, most)}"
    )
    decay = "" if isnan(findings.decay) else f"Unicity falls with the power {fixed(findings.decay)} of the time step."
    return Section(
        heading="Known records",
        question="How many known records single out a person?",
        lead=lead,
        blocks=(_map(cells, decay),),
        data=(_table(cells),),
    )


def _step(cell: UnicityCell) -> str:
    return f" (times to {lifetime_words(cell.time_step)})" if cell.time_step else ""


def _generalized(cells: tuple[UnicityCell, ...], known: int) -> str:
    """Return the unicity after the strongest generalization."""
    last = [each for each in cells if each.unicity.points_known == known][-1]
    if last is cells[0] or (not last.time_step and not last.step):
        return ""
    by = [lifetime_words(last.time_step)] if last.time_step else []
    by += [f"{name(last.column, 30)} to {last.step}"] if last.step else []
    return f" With {' and '.join(by)}: {about(last.unicity.unicity)}."


def _map(cells: tuple[UnicityCell, ...], caption: str) -> HeatMap:
    times = list(dict.fromkeys(each.time_step for each in cells))
    known = sorted({each.unicity.points_known for each in cells})
    steps = list(dict.fromkeys(each.step for each in cells))
    columns = [(points, step) for points in known for step in steps]
    value = {(each.time_step, each.unicity.points_known, each.step): each.unicity.unicity for each in cells}
    label = cells[0].column
    heads = tuple(
        (count(points, "record", "records"), *((step or "as it is",) if label else ())) for points, step in columns
    )
    return HeatMap(
        title="Unicity by known records and generalization",
        rows=tuple(lifetime_words(time) if time else "values alone" for time in times),
        columns=heads,
        values=np.array([[value.get((time, *column), np.nan) for column in columns] for time in times]),
        levels=("known records", name(label, 30)) if label else ("known records",),
        value_label="share singled out",
        caption=caption or "Rows: time step. 1 means that the known records always fit one person only.",
    )


def _table(cells: tuple[UnicityCell, ...]) -> TableBlock:
    rows = []
    for each in cells:
        found = each.unicity
        rows.append(
            (
                lifetime_words(each.time_step) if each.time_step else "–",
                each.step or "as it is",
                count(found.points_known),
                f"{percent(found.unicity)} ± {percent(found.unicity_error)}",
                percent(found.right_guesses),
                percent(found.by_chance),
                count(found.people),
                count(found.too_few_points),
            )
        )
    return TableBlock(
        caption="Unicity",
        columns=("Time step", "Values", "Known", "Unicity", "Right guess", "By chance", "People", "Too few records"),
        rows=tuple(rows),
        align=sides("llrrrrrr"),
        note="Right guess: mean of 1 / people who fit. By chance: the same people with records exchanged at random.",
    )
