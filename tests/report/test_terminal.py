import io
import sys

import pytest
from rich.console import Console

from tests.questions.unlinkability.example import attacking_names
from unveil.questions.unlinkability.sections.subjects import at_risk_table
from unveil.report.blocks import LevelStrip, NextStep, Number, Page, RiskChartRow, RiskSummary, Section, TableBlock
from unveil.report.terminal import (
    FEW_NOTES,
    output,
    page_parts,
    progress,
    show_headline,
    show_numbers,
    show_parts,
    show_table,
)


def pipe() -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, force_terminal=False, markup=False, emoji=False, highlight=False, soft_wrap=True), file


def screen(width: int = 200) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=width, markup=False, emoji=False, highlight=False)
    return console, file


TABLE = TableBlock(
    caption="Cap", columns=("Name", "Items"), rows=(("Zoë", "12"), ("李", "3")), align=("left", "right"), note="Note."
)

NUMBER = Number(label="Items missed", value="12", meaning="Fewer is worse.", reference="17.2")


def test_a_pipe_gets_columns_that_line_up() -> None:
    console, file = pipe()
    show_table(TABLE, console=console)
    assert file.getvalue() == "Cap\nName  Items\nZoë      12\n李        3\nNote.\n"


def test_a_pipe_is_never_wrapped_and_has_no_control_codes() -> None:
    console, file = pipe()
    show_headline("h" * 300, tone="bad", console=console)
    show_numbers([NUMBER], console=console)
    show_table(at_risk_table(attacking_names().result), console=console)
    lines = file.getvalue().splitlines()
    assert lines[0] == "h" * 300
    assert not any(letter < " " for letter in file.getvalue().replace("\n", ""))
    assert any(line.startswith("[bold red]:smile:") for line in lines)


def test_numbers_come_with_what_guessing_gives() -> None:
    console, file = pipe()
    show_numbers([NUMBER], console=console)
    missed = next(line for line in file.getvalue().splitlines() if line.startswith("Items missed"))
    assert missed.split("  ")[-1].startswith("(random guessing: ")
    assert " 12 " in missed


def test_a_terminal_gets_a_table_that_interprets_nothing() -> None:
    console, file = screen()
    show_headline("No [bold]markup[/bold] here", tone="bad", console=console)
    show_table(at_risk_table(attacking_names().result), columns=(0, 2), console=console)
    text = file.getvalue()
    assert "No [bold]markup[/bold] here" in text
    assert "[bold red]:smile:" in text
    assert "Risk slope" not in text
    assert "\x00" not in text


def test_a_narrow_terminal_folds_names_instead_of_cutting_them() -> None:
    console, file = screen(width=20)
    show_table(
        TableBlock(caption="", columns=("a", "b"), rows=(("x" * 40, "1"),), align=("left", "right")), console=console
    )
    assert file.getvalue().count("x") == 40


def test_standard_output_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert output().is_terminal is False
    show_headline("Hello")
    show_table(TABLE)
    assert capsys.readouterr().out.startswith("Hello\nCap\n")


def test_no_progress_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    for quiet in (True, False):
        with progress(quiet=quiet) as report:
            report("counting", 0.5)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


class Screen(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    error = Screen()
    monkeypatch.setattr(sys, "stderr", error)
    monkeypatch.setenv("TERM", "xterm")
    with progress() as report:
        report("counting [bold]\x1b[2J", 0.25)
        report("done", 7.0)
    shown = error.getvalue()
    assert "done" in shown
    assert "100%" in shown
    assert "\x1b[2J" not in shown


def test_quiet_means_quiet_on_a_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    error = Screen()
    monkeypatch.setattr(sys, "stderr", error)
    with progress(quiet=True) as report:
        report("counting", 0.25)
    assert error.getvalue() == ""


ROW = RiskChartRow(
    risk="Linkability", attack="a | b", success=0.84, baseline=0.2, excess=0.64, low=0.58, high=0.66,
    cells=("84%", "20%", "64 (58, 66)", "<0.001", "● high"), significant=True, level="high",
)  # fmt: skip
PAGE = Page(
    title="T",
    question="Q?",
    headline="High risk.",
    explanation=("84%, control 20%.",),
    next_steps=(NextStep("State the type.", option="--kind"), "Wait."),
    tone="bad",
    strip=LevelStrip(level="high", decision="fail"),
    picture=(RiskSummary(title="Risks", rows=(ROW,), note="40 people."),),
    cautions=("Too few people.",),
    sections=(Section(heading="Linkability", lead="Linked.", blocks=(), data=(TABLE,)),),
    method=("Permutations.",),
    limitations=("Other attackers.",),
    notes=tuple(f"Note {number}." for number in range(5)),
    method_data=(TableBlock(caption="Files", columns=("Part",), rows=(("Original",),), align=("left",)),),
)


def printed(capsys: pytest.CaptureFixture[str], *, verbose: bool) -> list[str]:
    show_parts(page_parts(PAGE, verbose=verbose))
    return capsys.readouterr().out.splitlines()


def test_a_terminal_shows_the_first_screen_in_its_order(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, verbose=False)
    assert lines[:5] == [
        "Too few people.", "High risk.", "84%, control 20%.", "→ State the type (--kind).", "→ Wait.",
    ]  # fmt: skip
    (row,) = (line for line in lines if line.startswith("Linkability: a | b"))
    # The adjusted p of the worst attack is in the sentence below the headline.
    assert row.split()[-6:] == ["20%", "64", "(58,", "66)", "●", "high"]
    assert "<0.001" not in row
    assert [line for line in lines if line.startswith("Note: ")] == [f"Note: Note {at}." for at in range(FEW_NOTES)]
    assert not {"Linked.", "Cap", "Permutations.", "Other attackers."} & set(lines)
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 20


def test_all_of_a_page_is_printed_on_request_and_each_fact_once(capsys: pytest.CaptureFixture[str]) -> None:
    brief, whole = printed(capsys, verbose=False), printed(capsys, verbose=True)
    assert whole[:5] == brief[:5]
    for said in (
        "Linkability",
        "Linked.",
        "Cap",
        "Files",
        "Methods",
        "Permutations.",
        "Limitations",
        "Other attackers.",
    ):
        assert whole.count(said) == 1, said
    assert [line for line in whole if line.startswith("Note ")] == [f"Note {at}." for at in range(5)]
