"""What a command asks at a terminal, which no file contains: the release type and the sensitive columns."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

from unveil.cli import main
from unveil.questions.audit.settings import NONE_SENSITIVE

COLUMNS = ("age", "monthly income", "town", "party, now")
FILES = ("people.csv", "masked.csv")
AUDIT = ("audit", *FILES, "--attacks", "copies", "--threshold", "0.09")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with an original and a release whose numbers are moved."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    table = pl.DataFrame({name: rng.integers(0, 9 + 20 * at, 60) for at, name in enumerate(COLUMNS)})
    table.write_csv("people.csv")
    table.with_columns(pl.all() + 1).write_csv("masked.csv")
    return tmp_path


class Terminal:
    """Somebody at a terminal who answers questions in turn."""

    def __init__(self, patch: pytest.MonkeyPatch, *answers: str) -> None:
        self.answers, self.questions = list(answers), list[str]()
        patch.setattr("unveil.cli.question._is_attended", lambda: True)
        patch.setattr("unveil.cli.question.click.prompt", self._prompt)

    def _prompt(self, text: str, *, default: str, show_default: bool, err: bool) -> str:
        # Enter gives an empty text, and standard output holds the answer alone.
        assert (default, show_default, err) == ("", False, True)
        self.questions.append(text)
        return self.answers.pop(0)

    def call(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments])


def written_command(page: str) -> str:
    """Return the page without the marks of options."""
    return page.replace('<span class="option">', "").replace("</span>", "")


@pytest.mark.parametrize(
    ("said", "kind", "word"),
    [
        ("y", "masked", "masked"),
        (" Yes", "masked", "masked"),
        ("n", "synthetic", "synthetic"),
        ("NO", "synthetic", "synthetic"),
        ("", None, ""),
    ],
)
def test_the_release_type_is_asked(monkeypatch: pytest.MonkeyPatch, said: str, kind: str | None, word: str) -> None:
    terminal = Terminal(monkeypatch, said)
    run = terminal.call(*AUDIT, "--sensitive", "none", "--html", "report.html")
    assert run.exit_code in (3, 5), run.output
    (question,) = terminal.questions
    assert question.startswith("Was each released row made from one person's row?")
    page = written_command(Path("report.html").read_text())
    assert ("--release-type" in page.partition("unveil audit people.csv")[2][:300]) == (kind is not None)
    assert f"--release-type {word}" in page or kind is None


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("town", "--sensitive town"),
        ("age, town", "--sensitive age,town"),
        (" none ", "--sensitive none"),
        # Names that suggest it are marked, and Enter takes them.
        ("", """--sensitive 'monthly income,"party, now"'"""),
        ('"party, now"', """--sensitive '"party, now"'"""),
    ],
)
def test_the_sensitive_columns_are_asked(monkeypatch: pytest.MonkeyPatch, said: str, written: str) -> None:
    terminal = Terminal(monkeypatch, said)
    run = terminal.call(*AUDIT, "--release-type", "synthetic", "--html", "report.html")
    assert run.exit_code in (3, 5), run.output
    assert "State the sensitive columns" not in run.stdout
    (question,) = terminal.questions
    assert "Columns: age, monthly income*, town, party, now*." in question
    assert question.endswith('or Enter for monthly income,"party, now"')
    page = written_command(Path("report.html").read_text()).replace("&#39;", "'").replace("&#34;", '"')
    assert written in page.replace("&quot;", '"').replace("&#x27;", "'")


def test_enter_states_that_no_column_is_sensitive_where_no_name_suggests_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in FILES:
        pl.read_csv(name).select("age", "town").write_csv(name)
    terminal = Terminal(monkeypatch, "n", "")
    run = terminal.call(*AUDIT)
    assert terminal.questions[1].endswith(f"or Enter for {NONE_SENSITIVE}")
    assert "not applicable: no column is sensitive" in run.stdout


def test_a_wrong_column_is_refused_as_if_it_were_in_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Terminal(monkeypatch, "n", "twon").call(*AUDIT)
    assert (run.exit_code, run.stdout) == (2, "")
    assert "Did you mean 'town'" in run.stderr


def test_an_answer_is_the_same_as_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Terminal(monkeypatch, "n", '"party, now"').call(*AUDIT)
    told = Terminal(monkeypatch).call(*AUDIT, "--release-type", "synthetic", "--sensitive", '"party, now"')
    assert (asked.exit_code, asked.stdout) == (told.exit_code, told.stdout)


@pytest.mark.parametrize("held", [("--threshold", "0"), ("--profile", "ema")])
def test_every_threshold_asks(monkeypatch: pytest.MonkeyPatch, held: tuple[str, str]) -> None:
    terminal = Terminal(monkeypatch, "n", "none")
    terminal.call(*AUDIT[:-2], *held)
    assert len(terminal.questions) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        AUDIT[:-2],
        (*AUDIT[:-2], "--limit", "copies=1"),
        (*AUDIT, "--quiet"),
        (*AUDIT, "--json"),
        (*AUDIT, "--sensitive", "none", "--release-type", "synthetic"),
        ("audit", "--attacks", "copies", "--threshold", "0.09"),
        ("plan", "--people", "500", "--control", "500", "--threshold", "0.09"),
    ],
)
def test_nothing_is_asked_without_need(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    terminal = Terminal(monkeypatch)
    assert terminal.call(*arguments).exit_code in (0, 3, 5)
    assert terminal.questions == []


def test_a_pipe_is_not_asked() -> None:
    run = CliRunner().invoke(main, [*AUDIT], input="y\nnone\n")
    assert run.exit_code in (3, 5)
    assert "Was each released row" not in run.output


@pytest.mark.unwatched
@pytest.mark.parametrize("is_piped", [False, True])
def test_a_real_terminal_asks_and_a_piped_answer_holds_no_question(is_piped: bool) -> None:
    controller, terminal = pty.openpty()
    program = "import sys; from unveil.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", program, *AUDIT]
    out = subprocess.PIPE if is_piped else terminal
    with subprocess.Popen(command, stdin=terminal, stdout=out, stderr=terminal) as run:
        os.close(terminal)
        shown, answers = b"", [(b"Enter to detect it", b"n\n"), (b"or Enter for", b"none\n")]
        while select.select([controller], [], [], 120)[0]:
            try:
                part = os.read(controller, 4096)
            except OSError:  # the program has closed its terminal
                break
            shown += part
            if not part:
                break
            if answers and answers[0][0] in shown:
                os.write(controller, answers.pop(0)[1])
        printed = run.stdout.read() if run.stdout is not None else shown
    os.close(controller)
    assert answers == []
    assert run.returncode in (3, 5)
    assert b"not applicable: no column is sensitive" in b" ".join(printed.split()) or not is_piped
    assert (b"Enter" in printed) != is_piped
