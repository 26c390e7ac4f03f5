"""Report of published tables: thresholds, first screen, sections, and redaction."""

from dataclasses import dataclass
from math import isnan, nan

from unveil._kernels.counts.rows import NO_END
from unveil.questions.result import PageContext, QuestionView
from unveil.questions.tables.findings import LIMITATIONS, GridFindings, TablesFindings
from unveil.questions.tables.sections import by_table, derivations, intervals, reconstruction, suppression
from unveil.questions.tables.sections.by_table import is_few, is_rest_many, least_shared
from unveil.questions.tables.sections.suppression import undecided
from unveil.report.blocks import CellGrid, NextStep, Page, TableBlock, Tone
from unveil.report.editions import people, shareable
from unveil.report.limits import Quantity
from unveil.report.text import count, decimal, percent

_MEANINGS = {
    "small_cells_recovered": "small cells recovered, from 1 to minimum − 1, published or by differencing",
    "recovered": "suppressed, rounded or perturbed cells that can be recovered",
    "recovered_rate": "share of these cells that can be recovered, from 0 to 1",
    "small_cells_shown": "counts from 1 to minimum - 1 that tables show as they are",
    "approximate": "such cells with a few possible values, not recovered (approximate disclosure)",
    "known_small": "such counts that are known to lie from 1 to minimum - 1 though no symbol said so",
}
_METHOD = (
    "Each cell is an unknown whole number of at least 0, each total the sum of its parts, and each published count "
    "fixes its cell. What simple sums leave open is solved by linear programs and integer searches.",
    "A feasibility interval holds every count that some population agreeing with all tables can have. Its ends are "
    "exact if a population that was found attains them.",
    "Bounds of cells: Zayatz (1992), Dobra and Fienberg (2000). Consistency of tables: Atserias and Kolaitis (2021).",
)


def quantities(findings: TablesFindings) -> dict[str, Quantity]:
    """Return the quantities that accept a threshold; unsettled cells leave it open."""
    figures = findings.figures
    open_ones = undecided(figures)
    hidden = figures.suppressed
    # Narrow ones among those not settled can only become more: worked out ones leave them.
    ends: dict[str, tuple[float, float]] = {
        "small_cells_recovered": (figures.small, figures.small + open_ones),
        "recovered": (figures.recovered, figures.recovered + figures.undecided),
        "recovered_rate": (
            figures.recovered_rate,
            (figures.recovered + figures.undecided) / hidden if hidden else 0.0,
        ),
        "small_cells_shown": (findings.small_cells_shown, findings.small_cells_shown),
        "approximate": (
            figures.approximate - min(figures.approximate, figures.undecided),
            figures.approximate + figures.approximate_undecided,
        ),
        "known_small": (figures.known_small, figures.known_small + figures.approximate_undecided),
    }
    return {name: _quantity(name, low, high) for name, (low, high) in ends.items()}


def _quantity(name: str, low: float, high: float) -> Quantity:
    low = 0.0 if isnan(low) else low
    return Quantity(
        name=name,
        value=float(low),
        meaning=_MEANINGS[name],
        exceeded_when_undefined=False,
        high=nan if low == high else float(high),
    )


def _word(findings: TablesFindings) -> str:
    return "suppressed" if findings.treatment == "suppressed" else findings.treatment


def _small(number: int) -> str:
    return count(number, "small cell", "small cells")


def headline(findings: TablesFindings) -> str:
    """Return how many suppressed cells can be recovered, in one sentence."""
    figures, word = findings.figures, _word(findings)
    further = figures.small_by_differencing
    more = f"{_small(further)} {'follows' if further == 1 else 'follow'} by differencing"
    shown = f"{_small(findings.small_cells_shown)} {'is' if findings.small_cells_shown == 1 else 'are'} shown"
    if figures.recovered:
        cells = f"{count(figures.recovered)} of {count(figures.suppressed, f'{word} cell', f'{word} cells')}"
        least = "At least " if figures.undecided else ""
        return f"{least}{cells} can be recovered exactly{f'; {more}' if figures.small_by_differencing else ''}."
    nothing = f"No {word} cell can be recovered exactly"
    if not figures.suppressed:
        nothing = f"No cell of {count(sum(each.cells for each in findings.tables))} is {word}"
    if figures.small_by_differencing:
        return f"{nothing}, but {more}."
    if findings.small_cells_shown:
        return f"{nothing}, but {shown}."
    width = narrowest(findings)
    if figures.undecided:
        return f"{nothing}; {count(undecided(figures), 'cell is', 'cells are')} not settled."
    if width:
        return f"{nothing}; the narrowest interval has {count(width)} values."
    return (
        f"0 of {count(figures.suppressed)} {word} cells can be recovered exactly."
        if figures.suppressed
        else f"{nothing}."
    )


def narrowest(findings: TablesFindings) -> int:
    """Return the number of values of the narrowest feasibility interval; 0 where none has both ends."""
    import polars as pl

    widths = findings.frame.filter(pl.col("listed")).select(pl.col("high") - pl.col("low") + 1).to_series().drop_nulls()
    return int(widths.min() or 0)  # type: ignore[arg-type]


def tone(findings: TablesFindings) -> Tone:
    """Return how the headline should strike: bad where a small cell is recovered.

    A small cell that is shown is a warning: only a profile forbids to show it.
    """
    figures = findings.figures
    if figures.small or (findings.profile and findings.small_cells_shown):
        return "bad"
    if (
        figures.recovered
        or figures.approximate
        or figures.known_small
        or undecided(figures)
        or findings.small_cells_shown
    ):
        return "warning"
    return "good" if figures.suppressed else "neutral"


def explanation(findings: TablesFindings) -> tuple[str, ...]:
    """Return the two most important sentences on the headline."""
    figures, other = findings.figures, findings.other
    sentences = []
    if findings.profile:
        outcome = profile_outcome(findings)[1]
        sentences.append(f"{outcome[0].upper()}{outcome[1:]}.")
    if figures.small:
        least = "" if figures.people == 1 else "at least "
        people_of = count(figures.people, "person", "people")
        sentences.append(
            f"{_small(figures.small)} (1 to {findings.minimum - 1}) {'is' if figures.small == 1 else 'are'} revealed, "
            f"with {least}{people_of}."
        )
    if open_ones := undecided(figures):
        sentences.append(f"{count(open_ones, 'cell is', 'cells are')} not settled and may be recovered, too.")
    if not findings.is_whole:
        needed = count(findings.needed)
        sentences.append(
            f"The joint detail of the tables needs {needed} cells and was left out: intervals may be too wide."
        )
    if other is not None and other.figures.recovered != figures.recovered:
        without = f"{'at least ' if other.figures.undecided else ''}{count(other.figures.recovered)}"
        sentences.append(f"An attacker who does not know the suppression rule recovers {without}.")
    if figures.approximate:
        sentences.append(
            f"{count(figures.approximate, 'more cell has', 'more cells have')} "
            f"at most {findings.values} possible values."
        )
    if not figures.small:
        sentences.append("Other tables of the same people may reveal more.")
    return tuple(sentences[:2])


def profile_outcome(findings: TablesFindings) -> tuple[bool | None, str]:
    """Return whether small cells break the profile, None if that is not settled, and the sentence."""
    figures, name = findings.figures, findings.profile
    rule = f"no cell from 1 to {findings.minimum - 1} may be shown or recovered"
    ways = [(figures.small, "recovered"), (findings.small_cells_shown, "shown")]
    if broken := [f"{count(number)} {'is' if number == 1 else 'are'} {how}" for number, how in ways if number]:
        return True, f"profile {name} fails: {rule}, but {' and '.join(broken)}"
    if undecided(figures) or not findings.is_whole:
        return None, f"profile {name} is inconclusive: not every cell is settled"
    return False, f"profile {name} passes: {rule}, and none is"


def next_steps(findings: TablesFindings) -> tuple[str, ...]:
    """Return at most three next steps."""
    figures = findings.figures
    steps = suppression.repair_steps(findings)
    if findings.repair is None and (figures.small or findings.small_cells_shown):
        steps.append(NextStep("Suppress further cells, or round, before you publish.", option="--suppress FILE"))
    if figures.small_by_differencing:
        steps.append("Publish one set of categories and one population only, to prevent differencing.")
    if undecided(figures):
        steps.append(
            NextStep("Allow more solver steps to settle every cell.", option="solver_steps in the settings file")
        )
    if not figures.small and (figures.suppressed or figures.unlisted_recovered):
        steps.append("Check the tables again together with every other table of the same people.")
    if not findings.profile:
        steps.append(NextStep("Choose a threshold to get pass or fail.", option="--profile cell-11"))
    return tuple(steps[:3])


def summary_table(findings: TablesFindings, *, shareable: bool = False) -> TableBlock:
    """Return the numbers of cells; the redacted report omits small ones."""
    figures, word = findings.figures, _word(findings)
    rows: list[tuple[str, str]] = [
        (word.capitalize(), people(figures.suppressed)),
        ("Recovered exactly", people(figures.recovered)),
    ]
    if shareable:
        rows[0] = (
            word.capitalize(),
            "not shown" if is_few(findings, figures.suppressed) else count(figures.suppressed),
        )
    else:
        rows.insert(0, ("Published", count(sum(each.cells for each in findings.tables))))
    if not shareable or is_rest_many(findings, figures):
        rows.append((f"Approximate (2 to {findings.values} possible values)", people(figures.approximate)))
        rows += [("Not recovered, but known to be small", people(figures.known_small))] * bool(figures.known_small)
    if not shareable:
        rows.append(("Small and not published (by differencing)", people(figures.small_by_differencing)))
        rows += [("Small and shown", people(findings.small_cells_shown))] * bool(findings.small_cells_shown)
    rows.append((f"Small cells revealed (1 to {findings.minimum - 1})", people(figures.small)))
    return TableBlock(
        caption="Cells",
        columns=("Result", "Cells"),
        rows=tuple(rows),
        align=("left", "right"),
        note=_baselines(findings, shareable=shareable),
    )


def _baselines(findings: TablesFindings, *, shareable: bool) -> str:
    """Return what guessing and totals recover, if the redacted report may state it."""
    figures = findings.figures
    if not figures.suppressed or (shareable and is_few(findings, figures.suppressed)):
        return ""
    parts = []
    # What guessing gets right is a known share of all: it tells how many they are.
    if not isnan(figures.guessing):
        guessed = decimal(figures.guessing, places=1) if figures.guessing >= 0.1 else "fewer than 0.1"
        parts.append(f"{guessed} by random guessing within the stated ranges")
    if findings.margins is not None and figures.recovered and not shareable:
        parts.append(f"{count(findings.margins)} from totals without the other cells")
    return f"Recovered cells for comparison: {'; '.join(parts)}." if parts else ""


@dataclass(frozen=True, kw_only=True)
class TablesContext(PageContext):
    """The choices of the report."""

    #: Whether no recovered cell is listed.
    redacted: bool = False


_CONTEXT = TablesContext()


def page(findings: TablesFindings, context: TablesContext = _CONTEXT) -> Page:
    """Return one edition of the report: the internal one lists recovered cells, the other one none."""
    if context.redacted:
        # What a limit was compared with may be a small number of counts, so the outcome stands on the internal page.
        return shareable(shared_page(findings, context), minimum_cell=least_shared(findings))
    grid = grid_chart(findings)
    sections = (
        derivations.section(findings, context),
        intervals.section(findings, context),
        by_table.section(findings),
        reconstruction.section(findings, context),
        suppression.section(findings, context),
    )
    return Page(
        title="Published tables",
        question="Which suppressed cells can be recovered?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(*(() if grid is None else (grid,)), summary_table(findings)),
        tone=tone(findings),
        sections=tuple(each for each in sections if each is not None),
        method=(*_METHOD, *_exactness(findings)),
        limitations=LIMITATIONS,
        method_data=(solver_table(findings),),
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
        edition="internal",
    )


def shared_page(findings: TablesFindings, context: TablesContext) -> Page:
    """Return the page with numbers of cells and without any cell."""
    figures = findings.figures
    said: str = "No small cell can be recovered from these tables alone."
    if figures.small:
        said = people(figures.small, "small cell", "small cells", pattern="{} can be recovered from these tables.")
    elif open_ones := undecided(figures):
        said = people(open_ones, "cell", "cells", pattern="It is not settled whether {} can be recovered.")
    elif findings.small_cells_shown:
        said = people(
            findings.small_cells_shown, "small cell", "small cells", pattern="{} shown; none can be recovered."
        )
    outcome: tuple[str, ...] = ()
    if findings.profile:
        result = {True: "fails", False: "passes", None: "is inconclusive"}[profile_outcome(findings)[0]]
        rule = f"no cell from 1 to {findings.minimum - 1} may be shown or recovered"
        outcome = (f"Profile {findings.profile} {result}: {rule}.",)
    return Page(
        title="Published tables",
        question="Which suppressed cells can be recovered?",
        headline=said,
        explanation=(*outcome, "The cells and their counts are in the internal report only."),
        picture=(summary_table(findings, shareable=True),),
        tone=tone(findings),
        sections=(by_table.section(findings, shareable=True),),
        method=(*_METHOD, *_exactness(findings)),
        limitations=LIMITATIONS,
        seed=context.seed,
    )


def _exactness(findings: TablesFindings) -> tuple[str, ...]:
    """Return how exact the intervals are, and what they were checked with."""
    figures = findings.figures
    sentences = []
    if figures.suppressed and figures.proven == figures.ends:
        sentences.append("All intervals are exact.")
    elif figures.suppressed:
        sentences.append("No interval is too small; those of large tables may be larger than necessary.")
    if not findings.is_whole:
        sentences.append("Linked tables were analyzed by their shared margins only.")
    if findings.has_truth:
        sentences.append("The microdata confirm every interval.")
    return tuple(sentences)


def solver_table(findings: TablesFindings) -> TableBlock:
    """Return how exact the intervals are, and the work of the solver."""
    figures = findings.figures
    rows = (
        ("Ends of intervals", count(figures.ends)),
        ("Ends attained by a population", count(figures.proven)),
        ("Cells not settled", count(undecided(figures))),
        ("Mean remaining uncertainty of suppressed cells (in bits)", percent(figures.remaining_uncertainty)),
        ("Linear programs", count(findings.linear)),
        ("Integer searches", count(findings.whole)),
    )
    return TableBlock(caption="Feasibility intervals", columns=("Result", "Value"), rows=rows, align=("left", "right"))


def grid_chart(findings: TablesFindings) -> CellGrid | None:
    """Return the table with most recovered cells as a grid, None where there is none."""
    grid = findings.grid
    if grid is None or not grid.level.size:
        return None
    places = [[(row, column) for column in range(len(grid.columns))] for row in range(len(grid.rows))]
    left = f" {count(grid.left_out)} cells are left out here." if grid.left_out else ""
    cells = "A single number in a colored cell is recovered; a range is its feasibility interval."
    if not (grid.level > 0).any():
        cells = "Every cell is shown."
    return CellGrid(
        title=f"{grid.table} with recovered cells",
        rows=grid.rows,
        columns=grid.columns,
        row_label=grid.row_label,
        column_label=grid.column_label,
        level=grid.level,
        texts=tuple(tuple(_text(grid, *place) for place in row) for row in places),
        tips=tuple(tuple(_tip(grid, findings, *place) for place in row) for row in places),
        levels=(
            "shown",
            f"{_word(findings)} and protected",
            f"approximate: at most {findings.values} possible values",
            "recovered",
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
    if low == high:
        return f"{name}: {count(low)}, {'recovered' if level else 'shown'}"
    interval = f"{count(low)} or more" if high >= NO_END else f"{count(low)} to {count(high)}"
    return f"{name}: {_word(findings)}, interval {interval}"


VIEW = QuestionView(
    schema="unveil.tables/2",
    findings=TablesFindings,
    about="Result of `unveil tables`: disclosure of suppressed cells. It contains no recovered count.",
    quantities=quantities,
    frame=lambda findings: findings.frame,
    page=page,
    meanings=lambda: dict(_MEANINGS),
    context=TablesContext,
)
