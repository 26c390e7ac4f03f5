"""The page that says where each item of the papers is: every place and test that it names exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATES = ("holds", "corrected", "open")
_CELL = re.compile(r"(?<!\\)\|")


def rows() -> list[list[str]]:
    """Return the cells of every row below a heading of five columns."""
    lines = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in _CELL.split(line)[1:-1]] for line in lines if line.startswith("|")]
    return [each for each in cells if each[0] != "Item" and not each[0].startswith("---")]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_what_a_row_names_exists(row: list[str]) -> None:
    assert len(row) == 5
    _, says, where, test, outcome = row
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
        file, _, function = each.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not function or f"def {function}(" in text, each
