"""The page that says where each item of the papers is: every place, test and command that it names exists."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from tests.docs.test_commands import understood

ROOT = Path(__file__).parents[2]
STATES = ("holds", "corrected", "open")
#: Sections in which every row has a command; others may still lack the column.
WITH_COMMANDS = ("Partitions", "Matchings")
_CELL = re.compile(r"(?<!\\)\|")
_IN_CODE = re.compile(r"`([^`]+)`")

Row = dict[str, str]


def rows() -> list[Row]:
    """Return every row by the names of its columns, and with the first word of its section."""
    section, columns, found = "", [], []
    for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = re.split(r"\W", line[3:])[0]
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in _CELL.split(line)[1:-1]]
        if cells[0] == "Item":
            columns = cells
        elif not cells[0].startswith("---"):
            assert len(cells) == len(columns), line
            found.append({"section": section, **dict(zip(columns, cells, strict=True))})
    return found


def in_code(text: str) -> list[str]:
    return [found.replace("\\|", "|") for found in _IN_CODE.findall(text)]


def assert_test_exists(name: str) -> None:
    file, _, function = name.partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert not function or f"def {function}(" in text, name


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["Item"])
def test_what_a_row_names_exists(row: Row) -> None:
    outcome = row["What came out"]
    assert row["What it says"]
    assert outcome.strip("*").lower().startswith(STATES)
    if outcome.strip("*").lower().startswith("open"):
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
    for each in tests:
        assert_test_exists(each)


def test_every_section_with_commands_is_there() -> None:
    assert set(WITH_COMMANDS) <= {row["section"] for row in rows()}


@pytest.mark.parametrize(
    "row", [row for row in rows() if row["section"] in WITH_COMMANDS or "Command" in row], ids=lambda row: row["Item"]
)
def test_a_row_has_a_command_that_can_be_run(row: Row) -> None:
    commands = in_code(row["Command"])
    assert commands
    for command in commands:
        program, *words = shlex.split(command)
        if program == "unveil":
            understood(words)
            files = [word.partition("=")[0] for word in words if word.startswith("src/")]
        elif program == "make":
            target, tests = words
            assert target == "test"
            assert_test_exists(tests.removeprefix("TESTS="))
            continue
        else:
            assert program == ".venv/bin/python", f"{command} is no command of unveil, make or Python"
            files = words[:1]
        assert all((ROOT / file).is_file() for file in files), command
