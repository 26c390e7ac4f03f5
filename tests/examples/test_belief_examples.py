"""The example on valid and invalid attacks: its numbers are those of the definition, and its page says them."""

import csv
import re
from fractions import Fraction
from itertools import product
from math import floor, inf, log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.examples.scripts import run_script, start_script
from unveil.data.table import Table
from unveil.protections import RankSwapping
from unveil.protections.specification import masking_from
from unveil.questions.reidentify.answer import reidentify
from unveil.questions.reidentify.read import reidentify_sample


def log_of(chance: Fraction) -> float:
    return log(chance) if chance else -inf


def example_21(known: tuple[int, ...], alpha: str, step: int) -> np.ndarray[Any, Any]:
    """Return the chance of y = (0, 0, 0) given each person, by listing every draw of alpha and beta (Example 21)."""
    people = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    found = []
    for x in people:
        chance = Fraction(0)
        for drawn, beta in product((0, 1), range(3)):
            y = tuple(value + step * drawn * (place == beta) for place, value in enumerate(x))
            weight = Fraction(1, 6) if alpha == "unknown" else Fraction(drawn, 3)
            chance += weight * all(y[place] == 0 for place in known)
        found.append(log_of(chance))
    return np.array(found)


@pytest.mark.parametrize("known", [(0, 1, 2), (0, 1), (2,)])
@pytest.mark.parametrize(("alpha", "step"), [("unknown", -1), ("one", -1), ("unknown", 1), ("one", 1)])
def test_the_likelihood_of_example_21_is_that_of_listing_its_draws(
    known: tuple[int, ...], alpha: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    method: Any = masking_from(f"example_21:OneStep:alpha={alpha},step={step}")
    names = ["abc"[place] for place in known]
    people = Table.from_frame(pl.DataFrame(EXAMPLE_21)).select(names)
    released = Table.from_frame(pl.DataFrame({name: [0] for name in "abc"})).select(names)
    found = method.log_likelihood(people, released, np.array([0]))
    np.testing.assert_allclose(found, [example_21(known, alpha, step)], rtol=1e-12)


def test_example_21_runs_and_says_what_the_page_says(tmp_path: Path, approved: Approved) -> None:
    done = start_script(FOLDER / "example_21.py", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    approved(said[1:3])
    approved(said[4:6])
    assert "3 of 3 records refute it" in said[6]


def test_a_class_of_your_own_makes_and_declares_a_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the class made is judged the same, whether unveil made the release with it or it is declared."""
    monkeypatch.syspath_prepend(str(FOLDER))
    people = pl.DataFrame({name: np.random.default_rng(3).integers(0, 3, 30) for name in "abc"})
    table = Table.from_frame(people, roles=dict.fromkeys("abc", "known"), name="original")
    method: Any = masking_from("example_21:OneStep")
    made = method.apply(table, rng=np.random.default_rng(1))
    here = reidentify(table, made, attacks=["bayes"]).findings
    told = reidentify(table, made.released, truth=made.truth, method="example_21:OneStep", attacks=["bayes"]).findings
    assert (told.declared, told.against) == (True, ())
    assert told.attacks[0].is_valid
    assert told.attacks == here.attacks


FOLDER = Path(__file__).parents[2] / "examples" / "beliefs"
NAME = "window_attack"
EXAMPLE_21 = {"a": [0, 1, 0, 0], "b": [0, 0, 1, 0], "c": [0, 0, 0, 1]}


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
        assert row["attack_rate"] == pytest.approx(hits / 120, abs=1e-4)
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
        wanted = [100 * row[key] for key in ("attack_rate", "low", "high")]
        assert [float(each) for each in numbers] == pytest.approx(wanted, abs=0.06)
    assert f"| {right['nonspecificity']:.2f} | {wrong['nonspecificity']:.2f} |" in page
    assert max(rows, key=lambda p: rows[p]["attack_rate"]) == 10
