"""The page that says where each item of the papers is: every place, test and command that it names exists."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from unveil.cli import main

ROOT = Path(__file__).parents[2]
STATES = ("holds", "corrected", "open")
_CELL = re.compile(r"(?<!\\)\|")

Row = dict[str, str]


def rows() -> list[Row]:
    """Return every row by the names of its columns."""
    columns, found = [], []
    for line in (ROOT / "docs" / "research" / "papers.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in _CELL.split(line)[1:-1]] if line.startswith("|") else []
        if cells and cells[0] == "Item":
            columns = cells
        elif cells and not cells[0].startswith("---"):
            found.append(dict(zip(columns, cells, strict=True)))
    return found


def in_code(text: str) -> list[str]:
    return [found.replace("\\|", "|") for found in re.findall(r"`([^`]+)`", text)]


def is_test(name: str) -> bool:
    """Return whether there is a file of tests, or a test in it, of that name."""
    file, _, function = name.partition("::")
    wanted = f"def {function}(" if function else "def test_"
    return (ROOT / file).is_file() and wanted in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["Item"])
def test_what_a_row_names_exists(row: Row) -> None:
    outcome = row["What came out"].strip("*").lower()
    assert row["What it says"]
    assert outcome.startswith(STATES)
    if outcome.startswith("open"):
        assert len(outcome) > len("open") + 10, "an open item says why"
        return
    places, tests = in_code(row["Where"]), in_code(row["Test"])
    assert places
    assert tests
    for place in places:
        module, _, name = place.partition(":")
        if place.endswith((".md", ".py")):
            assert (ROOT / place).is_file(), place
            continue
        found: object = import_module(module)
        for part in filter(None, name.split(".")):
            found = getattr(found, part)
    assert all(map(is_test, tests)), tests


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["Item"])
def test_every_row_names_a_command(row: Row) -> None:
    """A command of unveil is run below; otherwise the row runs its test, or a script of the examples."""
    commands = in_code(row["Command"])
    assert commands
    for command in commands:
        program, *words = shlex.split(command)
        if program == "make":
            assert words[0] == "test"
            assert is_test(words[1].removeprefix("TESTS=").removesuffix(" -q")), command
        elif program == ".venv/bin/python":
            assert (ROOT / words[0]).is_file(), command
        else:
            assert program == "unveil", command


COMMANDS = sorted({each for row in rows() for each in in_code(row["Command"]) if each.startswith("unveil ")})


@pytest.mark.unwatched
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_gives_an_answer(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(main, shlex.split(command)[1:])
    assert (done.exit_code, done.stderr) == (0, "")
