"""The example on valid and invalid attacks: its numbers are those of the definition, and its page says them."""

import csv
import re
from math import floor, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.examples.scripts import run_script
from unveil.ask.reidentify.read import reidentify_sample
from unveil.protect import RankSwapping

FOLDER = Path(__file__).parents[2] / "examples" / "beliefs"
NAME = "window_attack"


def number(cell: str) -> Any:
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell


def read(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [{key: number(cell) for key, cell in line.items()} for line in csv.DictReader(lines)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], str]:
    """Run the script with another seed than the page, and return its table and what it said."""
    folder = tmp_path_factory.mktemp("beliefs")
    said = run_script(FOLDER / f"{NAME}.py", folder, "--seed", "2")
    return read(folder / f"{NAME}.csv"), said


def last(rows: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Return the row of each window with all columns known."""
    return {int(row["p"]): row for row in rows if row["known"] == 5}


def windows(p: float, columns: list[str], seed: int) -> tuple[list[set[int]], list[int]]:
    """Return the people within the window of each released record, by counting ranks, and the right person."""
    people = reidentify_sample()
    release = RankSwapping(p=10).apply(people, rng=np.random.default_rng(seed))
    left = [set(range(people.rows)) for _ in range(people.rows)]
    for name in columns:
        before, after = (table.frame[name].to_physical().to_list() for table in (people, release.released))
        ranked, reach = sorted(before), floor(p * len(before) / 100)
        low = {value: ranked.index(value) for value in ranked}
        high = {value: len(ranked) - 1 - ranked[::-1].index(value) for value in ranked}
        for row, seen in enumerate(after):
            left[row] &= {
                i
                for i, value in enumerate(before)
                if low[value] - high[seen] <= reach and low[seen] - high[value] <= reach
            }
    return left, np.asarray(release.truth).tolist()


@pytest.mark.parametrize("p", [5, 10, 14])
def test_hits_doubt_and_nobody_are_what_counting_gives(run: tuple[list[dict[str, Any]], str], p: int) -> None:
    columns: list[str] = []
    for row in [row for row in run[0] if row["p"] == p and row["known"]]:
        columns.append(str(row["column"]))
        sets, truth = windows(p, columns, seed=2)
        hits = sum(1 / len(each) for each, true in zip(sets, truth, strict=True) if true in each)
        assert row["hit_rate"] == pytest.approx(hits / 120, abs=1e-4)
        assert row["nobody"] == sum(not each for each in sets)
        assert row["nonspecificity"] == pytest.approx(np.mean([log(len(each)) for each in sets if each]), abs=1e-4)
    assert len(columns) == 5


def test_windows_are_valid_from_the_one_that_was_used_on(run: tuple[list[dict[str, Any]], str]) -> None:
    for p, row in last(run[0]).items():
        assert row["valid"] + row["invalid"] == 120
        assert (row["invalid"] == 0) == (p >= 10)
        assert (row["nobody"] == 0) == (p >= 10)
        if p >= 10:
            assert row["valid_in_file"] == 120
    assert "window of 10 %: 120 of 120 guesses are valid, 0 leave nobody" in run[1]
    assert "that proves the attack wrong whatever the truth is" in run[1]


def test_the_page_has_the_numbers_of_its_table() -> None:
    rows = last(read(FOLDER / f"{NAME}.csv"))
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"({NAME}.png)" in page
    assert 0 < (FOLDER / f"{NAME}.png").stat().st_size < 150_000
    right, wrong = rows[10], rows[5]
    assert f"**{right['valid']:.0f} of 120** | **{wrong['valid']:.0f} of 120**" in page
    assert f"| 0 | {wrong['nobody']:.0f} |" in page
    assert f"| 0 | {wrong['invalid'] - wrong['nobody']:.0f} |" in page
    told = re.findall(r"([\d.]+) % \(([\d.]+) to ([\d.]+)\)", page)
    for row, numbers in zip((right, wrong), told, strict=True):
        wanted = [100 * row[key] for key in ("hit_rate", "low", "high")]
        assert [float(each) for each in numbers] == pytest.approx(wanted, abs=0.06)
    assert f"| {right['nonspecificity']:.2f} | {wrong['nonspecificity']:.2f} |" in page
    assert max(rows, key=lambda p: rows[p]["hit_rate"]) == 10
