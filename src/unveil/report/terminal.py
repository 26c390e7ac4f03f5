"""Terminal output: values and tables, plain text in a pipe."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.report.blocks import (
    Block,
    CellGrid,
    NextStep,
    Number,
    Page,
    RiskSummary,
    TableBlock,
    Tone,
    grid_table,
    risk_table,
)
from unveil.report.blocks_spread import BoxRows, HeatMap
from unveil.report.text import one_line, plain

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {"good": "green", "warning": "yellow", "bad": "red", "neutral": "default"}


@dataclass(frozen=True)
class Headline:
    """The answer in one sentence, and how good that is."""

    text: str
    tone: Tone = "neutral"


@dataclass(frozen=True)
class Figures:
    """Values, one per line, with their meanings if requested."""

    numbers: tuple[Number, ...]
    meanings: bool = True


@dataclass(frozen=True)
class ColumnSubset:
    """A table with some of its columns."""

    table: TableBlock
    columns: Sequence[int]


#: What a terminal shows of an answer, piece by piece; a text is a line of its own, and an empty one an empty line.
Part = Headline | Figures | TableBlock | ColumnSubset | BoxRows | HeatMap | CellGrid | str

#: What a long computation calls now and then: the name of the step, and which share of all work is done.
Progress = Callable[[str, float], None]


def output() -> "Console":
    """Return standard output as a console that wraps on terminals."""
    from rich.console import Console

    console = Console(markup=False, emoji=False, highlight=False)
    console.soft_wrap = not console.is_terminal
    return console


def show_parts(parts: Iterable[Part]) -> None:
    """Print the parts of a result in order."""
    console = output()
    for part in parts:
        match part:
            case Headline():
                show_headline(part.text, tone=part.tone, console=console)
            case Figures(meanings=True):
                show_figures(part.numbers, console=console)
            case Figures():
                show_numbers(part.numbers, console=console)
            case TableBlock():
                show_table(part, columns=part.terminal_columns or None, console=console)
            case ColumnSubset():
                show_table(part.table, columns=part.columns, console=console)
            case CellGrid():
                show_table(grid_table(part), console=console)
            case BoxRows() | HeatMap():
                show_figure(part, console=console)
            case _:
                console.print(one_line(part))


def show_figures(numbers: Iterable[Number], *, console: "Console | None" = None) -> None:
    """Print each value with its baseline and its meaning."""
    from rich.padding import Padding
    from rich.text import Text

    console = console or output()
    for number in numbers:
        beside = f"  ({number.reference_of}: {number.reference})" if number.reference else ""
        console.print(Text.assemble(f"{number.label}: ", (number.value, "bold"), (beside, "dim")))
        if console.is_terminal:
            console.print(Padding(Text(number.meaning, "dim"), (0, 0, 0, 4)), soft_wrap=False)
        else:
            console.print(f"    {number.meaning}")


def show_headline(text: str, *, tone: Tone = "neutral", console: "Console | None" = None) -> None:
    """Print the answer in one sentence."""
    from rich.text import Text

    console = console or output()
    style = f"bold {_COLOURS[tone]}" if console.is_terminal else ""
    console.print(Text(plain(text), style=style))


def show_numbers(numbers: Sequence[Number], *, console: "Console | None" = None) -> None:
    """Print values one per line: label, value, and baseline."""
    rows = tuple(
        (number.label, number.value, f"({number.reference_of}: {number.reference})" if number.reference else "")
        for number in numbers
    )
    show_table(
        TableBlock(caption="", columns=("", "", ""), rows=rows, align=("left", "right", "left")), console=console
    )


def show_table(table: TableBlock, *, columns: Sequence[int] | None = None, console: "Console | None" = None) -> None:
    """Print a table, or only its columns at these positions.

    A terminal gets a rich table that fits its width. A pipe gets columns that line up, without lines or wrapping.
    """
    console = console or output()
    chosen = range(len(table.columns)) if columns is None else columns
    heads = [table.columns[at] for at in chosen]
    rows = [[plain(row[at]) if row[at] else "" for at in chosen] for row in table.rows]
    align = [table.align[at] for at in chosen]
    if console.is_terminal:
        _rich_table(table.caption, heads, rows, align, console)
    else:
        for line in _plain_lines(table.caption, heads, rows, align):
            console.file.write(f"{line}\n")
    if table.note:
        console.print(plain(table.note))


def show_figure(figure: BoxRows | HeatMap, *, console: "Console | None" = None) -> None:
    """Print the values behind box plots or a heat map."""
    from unveil.report.figure_tables import boxes_table, heat_table

    show_table(boxes_table(figure) if isinstance(figure, BoxRows) else heat_table(figure), console=console)


def _rich_table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], align: Sequence[str], console: "Console"
) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    has_heads = any(heads)
    drawn = RichTable(
        title=Text(caption, style="bold") if caption else None,
        title_justify="left",
        box=box.SIMPLE_HEAD if has_heads else None,
        show_header=has_heads,
        pad_edge=False,
        # Two spaces between columns, as in a pipe: a terminal is only 80 wide. A box adds one of them.
        padding=(0, 1 if has_heads else 2, 0, 0),
    )
    for head, side in zip(heads, align, strict=True):
        drawn.add_column(Text(head), justify="right" if side == "right" else "left", overflow="fold")
    for row in rows:
        # Text, not str: a name such as [bold] or :smile: is shown as it is.
        drawn.add_row(*(Text(cell) for cell in row))
    console.print(drawn, soft_wrap=False)


def _plain_lines(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], align: Sequence[str]
) -> Iterator[str]:
    from rich.cells import cell_len

    lines = [list(heads), *rows] if any(heads) else list(rows)
    widths = [max((cell_len(cell) for cell in column), default=0) for column in zip(*lines, strict=True)]
    if caption:
        yield caption
    for line in lines:
        padded = []
        for cell, width, side in zip(line, widths, align, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if side == "right" else cell + space)
        yield "  ".join(padded).rstrip()


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Progress]:
    """Yield a progress function ``(step, share)``; silent without a terminal.

    Nothing is shown with ``quiet`` or when standard error is not a terminal. The bar is gone afterwards.

    >>> with progress(quiet=True) as report:
    ...     report("counting", 0.5)
    """
    if quiet or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def move(step: str, share: float) -> None:
            bar.update(task, description=plain(step), completed=min(max(share, 0.0), 1.0))

        yield move


def _silent(step: str, share: float) -> None:
    """Show nothing."""
    del step, share


# Select the first screen of a page for the terminal.


def opening(page: Page, *, notes: bool = True) -> Iterator[Part]:
    """Yield cautions, headline, explanation, next steps, and notes.

    >>> page = Page(title="T", question="Is it safe?", headline="No.", tone="bad", sections=(), next_steps=("Wait.",))
    >>> list(opening(page))
    [Headline(text='No.', tone='bad'), '→ Wait.']
    """
    yield from (Headline(caution, "warning") for caution in page.cautions)
    yield Headline(page.headline, page.tone)
    yield from page.explanation
    for step in page.next_steps:
        option = f" ({step.option})" if isinstance(step, NextStep) and step.option else ""
        yield f"→ {step.removesuffix('.')}{option}."
    yield from (f"Note: {note}" for note in page.notes if notes)


#: How many notes on the input a terminal shows unless asked for more.
FEW_NOTES = 2


def page_parts(page: Page, *, verbose: bool = False) -> Iterator[Part]:
    """Yield the terminal form of a page; all if ``verbose``.

    >>> page = Page(title="T", question="Is it safe?", headline="No.", tone="bad", sections=())
    >>> list(page_parts(page))
    [Headline(text='No.', tone='bad')]
    """
    yield from opening(page, notes=False)
    summary = [block for block in page.picture if isinstance(block, TableBlock | RiskSummary)]
    yield from _shown_blocks(page.picture if verbose or not summary else summary)
    if verbose:
        for section in page.sections:
            yield ""
            yield Headline(section.heading)
            yield from filter(None, [section.lead])
            yield from _shown_blocks((*section.blocks, *section.data))
        yield from _shown_blocks(page.method_data)
        for title, sentences in page.lists:
            yield ""
            yield Headline(title)
            yield from sentences
        return
    yield from (f"Note: {note}" for note in page.notes[:FEW_NOTES])


def _shown_blocks(blocks: Iterable[Block]) -> Iterator[Part]:
    """Yield the blocks that a terminal can show: numbers and tables."""
    for block in blocks:
        match block:
            case RiskSummary():
                yield ""
                yield risk_table(block)
            case TableBlock() | CellGrid() | BoxRows() | HeatMap():
                yield ""
                yield block
            case Number():
                yield Figures((block,))
