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
#: Sections whose every row names a command, by the first word of their heading.
WITH_COMMANDS = ("Beliefs", "Linkability")
_CELL = re.compile(r"(?<!\\)\|")


def rows(*sections: str) -> list[dict[str, str]]:
    """Return every row by the names of its columns; only those of some sections where these are named."""
    found, section, names = [], "", []
    for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines():
        section = line.removeprefix("## ") if line.startswith("## ") else section
        cells = [cell.strip() for cell in _CELL.split(line)[1:-1]] if line.startswith("|") else []
        if cells and cells[0] == "Item":
            names = cells
        elif cells and not cells[0].startswith("---") and (not sections or section.startswith(sections)):
            found.append(dict(zip(names, cells, strict=True)))
    return found


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["Item"])
def test_what_a_row_names_exists(row: dict[str, str]) -> None:
    says, where, test, outcome = (row[name] for name in ("What it says", "Where", "Test", "What came out"))
    assert says
    assert outcome.strip("*").lower().startswith(STATES)
    if outcome.strip("*").lower().startswith("open"):
        assert len(outcome) > len("open") + 10, "an open item says why"
        return
    places, tests = re.findall(r"`([^`]+)`", where), re.findall(r"`([^`]+)`", test)
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
    for each in tests:
        assert is_test(each), each


def is_test(name: str) -> bool:
    """Return whether there is a file of tests, or a test in it, of that name."""
    file, _, function = name.partition("::")
    wanted = f"def {function}(" if function else "def test_"
    return (ROOT / file).is_file() and wanted in (ROOT / file).read_text(encoding="utf-8")


def test_the_sections_with_commands_are_there() -> None:
    assert all(len(rows(section)) >= 15 for section in WITH_COMMANDS)


@pytest.mark.parametrize("row", rows(*WITH_COMMANDS), ids=lambda row: row["Item"])
def test_every_row_names_a_command_to_run(row: dict[str, str]) -> None:
    """A command of unveil is run below; otherwise the row runs its test, or a script of the examples."""
    (command,) = re.findall(r"`([^`]+)`", row["Command"])
    program, *words = shlex.split(command)
    if program == "make":
        tests = words[1].removeprefix("TESTS=").removesuffix(" -q")
        assert words[0] == "test"
        assert is_test(tests), tests
        assert tests in row["Test"] or row["What came out"].startswith("open")
    elif program == "python":
        assert (ROOT / words[0]).is_file()
    else:
        assert program == "unveil"


COMMANDS = sorted({row["Command"].strip("`") for row in rows(*WITH_COMMANDS) if row["Command"].startswith("`unveil ")})


@pytest.mark.unwatched
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_gives_an_answer(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, shlex.split(command)[1:])
    assert (done.exit_code, done.stderr) == (0, "")
