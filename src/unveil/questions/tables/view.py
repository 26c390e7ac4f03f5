"""How the findings about published counts are shown: JSON, limits, table, page and pictures."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil.errors import InputError
from unveil.questions.result import PageContext, QuestionView
from unveil.questions.tables import words
from unveil.questions.tables.findings import UNTESTED, GridFindings, TablesFindings
from unveil.questions.tables.repair_words import repair_sentences, undecided
from unveil.questions.tables.tables import (
    FEW_STEPS,
    groups_table,
    key_numbers,
    least_shared,
    precision_table,
    readings_table,
    records_table,
    repair_table,
    steps_table,
    sure_table,
    tables_table,
)
from unveil.report.blocks import Block, CellGrid, Page, Section
from unveil.report.editions import people, shareable
from unveil.report.limits import LimitEvidence, Quantity
from unveil.report.terminal import Figures, Part, opening
from unveil.report.text import count

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unveil.metrics.trials.risk import Rate

_MEANINGS = {
    "small_worked_out": "counts from 1 to minimum - 1 that can be worked out, whether a table lists them or not",
    "worked_out": "hidden, rounded or changed counts that can be worked out",
    "recovered_rate": "the share of these counts that can be worked out, from 0 to 1",
    "small_shown": "counts from 1 to minimum - 1 that tables show as they are",
    "narrow": "such counts with a few values left (--values), not counting those worked out",
    "known_small": "such counts that are known to lie from 1 to minimum - 1 though no symbol said so",
}
_SOURCE = (
    "bounds of cells by Zayatz (1992) and by Dobra and Fienberg (2000); when tables that agree come from one "
    "population by Atserias and Kolaitis (2021)"
)


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return dict(_MEANINGS)


def quantities(findings: TablesFindings) -> dict[str, Quantity]:
    """Return the figures that a limit can be set for; what was not settled leaves a limit open, which is no pass."""
    figures = findings.figures
    open_ones = undecided(figures)
    hidden = figures.hidden
    # Narrow ones among those not settled can only become more: worked out ones leave them.
    ends: dict[str, tuple[float, float]] = {
        "small_worked_out": (figures.small, figures.small + open_ones),
        "worked_out": (figures.worked_out, figures.worked_out + figures.undecided),
        "recovered_rate": (
            figures.recovered_rate,
            (figures.worked_out + figures.undecided) / hidden if hidden else 0.0,
        ),
        "small_shown": (findings.shown_small, findings.shown_small),
        "narrow": (figures.narrow - min(figures.narrow, figures.undecided), figures.narrow + figures.narrow_undecided),
        "known_small": (figures.known_small, figures.known_small + figures.narrow_undecided),
    }
    return {name: _quantity(name, low, high) for name, (low, high) in ends.items()}


def _quantity(name: str, low: float, high: float) -> Quantity:
    low = 0.0 if isnan(low) else low
    evidence = None if low == high else LimitEvidence(interval=lambda _: _between(low, high))
    return Quantity(
        name=name, value=float(low), meaning=_MEANINGS[name], exceeded_when_undefined=False, evidence=evidence
    )


def _between(low: float, high: float) -> "Rate":
    from unveil.metrics.trials.risk import Rate

    return Rate(float(low), float(low), float(high))


def frame(findings: TablesFindings) -> "pl.DataFrame":
    """Return the range of every hidden count, one row each: for internal use."""
    return findings.frame


def plot(findings: TablesFindings) -> "NDArray[Any]":
    """Return matplotlib axes with the table that gives most away."""
    from unveil.report.draw.lines import draw_all

    grid = grid_chart(findings)
    if grid is None:
        raise InputError("there is no table to draw. Ask about one with rows")
    return draw_all([grid])


@dataclass(frozen=True, kw_only=True)
class TablesContext(PageContext):
    """The choices of the report: which edition it is."""

    edition: Literal["internal", "shareable"] = "internal"


def page(findings: TablesFindings, context: TablesContext = TablesContext()) -> Page:  # noqa: B008 - never changed
    """Return one edition of the report: the internal one names counts that were worked out, the other one none."""
    if context.edition == "shareable":
        # What a limit was compared with may be a small number of counts, so the outcome stands on the internal page.
        return shareable(shared_page(findings, context), minimum_cell=least_shared(findings))
    grid = grid_chart(findings)
    return Page(
        title="What published counts give away",
        question="What can be worked out from the counts that we publish?",
        headline=words.headline(findings),
        explanation=words.explanation(findings),
        next_steps=words.next_steps(findings),
        picture=() if grid is None else (grid,),
        tone=words.tone(findings),
        sections=tuple(_sections(findings)),
        method=_method(findings),
        limitations=UNTESTED,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
        edition="internal",
    )


def _sections(findings: TablesFindings) -> Iterator[Section]:
    yield Section(
        heading="The figures",
        lead="Every hidden count has a range: the least and the greatest that it can be in any population that agrees "
        "with all that is shown.",
        blocks=key_numbers(findings),
    )
    if findings.steps:
        yield Section(
            heading="Which sums give them away",
            lead="What anybody with these tables can compute. Whoever reads this list knows the counts: it is for "
            "internal use.",
            blocks=(steps_table(findings),),
        )
    if findings.groups:
        yield Section(
            heading="Groups in which all have the same code",
            lead="Whoever is known to be in such a group is known to have the code, however many are in it. Some are "
            "so by what the codes mean (men are never pregnant), and say nothing: --structural leaves them out.",
            blocks=(groups_table(findings),),
        )
    if findings.records is not None:
        records = findings.records
        yield Section(
            heading="Records that exist",
            lead="Combinations of one code of every variable. Somebody must have some of them; the others are ranked "
            f"by how many of {records.worlds} populations that fit all counts have them. These are no draws from a "
            "distribution, so their share ranks, and is no probability.",
            blocks=(records_table(records), *((precision_table(records),) if records.precision else ())),
        )
    if findings.repair is not None:
        yield Section(
            heading="Hiding more",
            lead=" ".join(repair_sentences(findings)),
            blocks=(repair_table(findings.repair, findings),),
        )
    yield _by_table(findings)
    yield Section(heading="How sure that is", lead=_sure(findings), blocks=(sure_table(findings),))


def _by_table(findings: TablesFindings, *, shareable: bool = False) -> Section:
    blocks = _compared(findings, shareable=shareable)
    return Section(heading="By table and by reader", lead=_readers(findings), blocks=blocks)


def _readers(findings: TablesFindings) -> str:
    linked = " Tables that share a variable say more together than each by itself." if len(findings.tables) > 1 else ""
    return f"What each table gives away, and what follows for whoever reads the symbols in which way.{linked}"


def _compared(findings: TablesFindings, *, shareable: bool) -> tuple[Block, ...]:
    readings = (readings_table(findings, shareable=shareable),) if findings.symbols else ()
    return (tables_table(findings, shareable=shareable), *readings)


def _sure(findings: TablesFindings) -> str:
    figures = findings.figures
    if not figures.hidden:
        return "There was no hidden count to find the range of."
    if figures.proven == figures.ends:
        return (
            "Every range is exact: some population that fits everything attains each of its ends, and none goes beyond."
        )
    return (
        "No range is too narrow: no population goes beyond it. Where an end is not attained by a population that was "
        "found, the range may be wider than it need be; large parts are only searched for worked-out and narrow counts "
        "(--all-ranges finds all)."
    )


def _method(findings: TablesFindings) -> tuple[str, ...]:
    sentences = [
        "Each count is an unknown whole number of at least 0, each total the sum of its parts, and each shown figure "
        "fixes its count. Sums are followed until nothing more comes of them; what hangs together then is solved, by "
        "linear programs and searches for whole numbers.",
        "A range is proven when a population that was found, and checked in whole numbers, attains each of its ends.",
        "A count is small from 1 to one less than the minimum; 0 is not small.",
    ]
    if not findings.is_whole:
        sentences.append("Linked tables were taken with their shared margins only: see above.")
    sentences.append(f"Definitions: {_SOURCE}.")
    return tuple(sentences)


def shared_page(findings: TablesFindings, context: TablesContext) -> Page:
    """Return the page that may be passed on: how many counts there are of each kind, and no count itself."""
    figures, word = findings.figures, findings.treatment
    whole = page(findings, TablesContext(seed=context.seed))
    open_ones = undecided(figures)
    said: str = "No small count can be worked out from these tables alone."
    if figures.small:
        said = people(figures.small, pattern="{} small counts can be worked out from these tables.")
    elif open_ones:
        said = people(open_ones, pattern="Of {} counts it was not settled whether they can be worked out.")
    elif findings.shown_small:
        said = people(
            findings.shown_small, pattern="{} small counts are shown as they are, and none can be worked out."
        )
    section = Section(
        heading="The figures",
        lead=f"How many {word} counts there are of each kind; which they are, and what they are, is in the internal "
        "report alone.",
        blocks=key_numbers(findings, shareable=True),
    )
    return Page(
        title=whole.title,
        question=whole.question,
        headline=said,
        explanation=(*_outcome(findings), "This edition names no count."),
        tone=whole.tone,
        sections=(section, _by_table(findings, shareable=True)),
        method=whole.method,
        limitations=whole.limitations,
        seed=whole.seed,
    )


def _outcome(findings: TablesFindings) -> tuple[str, ...]:
    """Return whether the rule that was named is kept, without how many counts break it."""
    if not findings.profile:
        return ()
    broken, _ = words.profile_outcome(findings)
    outcome = "was not shown to be kept" if broken is None else "is not kept" if broken else "is kept"
    return (
        f"Profile {findings.profile} {outcome}: no count from 1 to {findings.minimum - 1} may be shown or worked out.",
    )


def brief(findings: TablesFindings) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, the figures, the table itself, and the shortest sums."""
    yield from opening(page(findings))
    yield ""
    yield Figures(key_numbers(findings))
    grid = grid_chart(findings)
    if grid is not None and len(grid.columns) <= 12 and len(grid.rows) <= 20:
        yield ""
        yield grid
    if findings.steps:
        yield ""
        yield steps_table(findings, at_most=FEW_STEPS)
    if len(findings.tables) > 1:
        yield ""
        yield tables_table(findings)
    if findings.records is not None and findings.records.first:
        yield ""
        yield records_table(findings.records)
    if findings.repair is not None:
        yield from ("", *repair_sentences(findings))


VIEW = QuestionView(
    schema="unveil.tables/1",
    findings=TablesFindings,
    about="The answer of `unveil tables`: what can be worked out from the counts that are published. It holds no count "
    "that was worked out.",
    quantities=quantities,
    frame=frame,
    page=page,
    plot=plot,
    meanings=meanings,
    context=TablesContext,
)


# Charts of a solved table: its cells, and how narrow each hidden count has become.


def grid_chart(findings: TablesFindings) -> CellGrid | None:
    """Return the table that gives most away as a grid, None where there is none."""
    grid = findings.grid
    if grid is None or not grid.level.size:
        return None
    places = [[(row, column) for column in range(len(grid.columns))] for row in range(len(grid.rows))]
    left = f" {count(grid.left_out)} cells are left out here." if grid.left_out else ""
    cells = "White cells are shown. Of the others each holds what is left: one number is worked out."
    if not (grid.level > 0).any():
        cells = "Every cell is shown."
    return CellGrid(
        title=f"{grid.table}: what whoever reads it knows",
        rows=grid.rows,
        columns=grid.columns,
        row_label=grid.row_label,
        column_label=grid.column_label,
        level=grid.level,
        texts=tuple(tuple(_text(grid, *place) for place in row) for row in places),
        tips=tuple(tuple(_tip(grid, findings, *place) for place in row) for row in places),
        levels=(
            "shown",
            f"{findings.treatment} and kept",
            f"narrow: at most {findings.values} values left",
            "worked out",
        ),
        caption=f"{cells}{left}",
    )


def _text(grid: GridFindings, row: int, column: int) -> str:
    level, low, high = (int(each[row, column]) for each in (grid.level, grid.low, grid.high))
    if level < 0:
        return ""
    if low == high:
        return count(low)
    return f"{count(low)}+" if high >= NO_END else f"{count(low)}–{count(high)}"


def _tip(grid: GridFindings, findings: TablesFindings, row: int, column: int) -> str:
    level, low, high = (int(each[row, column]) for each in (grid.level, grid.low, grid.high))
    if level < 0:
        return ""
    name = f"{grid.rows[row]}, {grid.columns[column]}"
    if level == 0:
        return f"{name}: {count(low)}, shown"
    if low == high:
        return f"{name}: {count(low)}, worked out"
    left = f"{count(low)} or more" if high >= NO_END else f"{count(low)} to {count(high)}"
    return f"{name}: {findings.treatment}, {left} left"


def levels_of(grid: GridFindings) -> dict[int, int]:
    """Return how many cells of each level are in the picture."""
    levels, numbers = np.unique(grid.level, return_counts=True)
    return {int(level): int(number) for level, number in zip(levels, numbers, strict=True)}
