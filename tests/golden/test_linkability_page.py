"""The worked example of the page on linkability risk: three people, whose incomes are printed as texts such as 50K.

The page says 3 of 3, a risk of 1.0. What anonymeter 1.1.0 answers was printed by the package itself, for all orders of
the synthetic rows.
"""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from tests.anonymeter.attacked import linked
from tests.approved.sentences import Approved
from unveil.anonymeter import LinkabilityEvaluator
from unveil.attacks import Linkability
from unveil.cli import main
from unveil.data.table import Table
from unveil.data.table.release import Knowledge

ORIGINAL = {"age": [25, 30, 28], "gender": ["Male", "Female", "Male"], "income": ["50K", "60K", "55K"]}
SYNTHETIC = {"age": [24, 31, 29], "gender": ["Male", "Female", "Male"], "income": ["52K", "62K", "53K"]}


def tables(as_numbers: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    income = pl.col("income").str.strip_suffix("K").cast(pl.Int64) if as_numbers else pl.col("income")
    original, synthetic = (pl.DataFrame(columns).with_columns(income) for columns in (ORIGINAL, SYNTHETIC))
    return original, synthetic


@pytest.mark.parametrize(
    ("first", "as_numbers", "package", "by_lot"),
    [
        (["age"], False, [[0], [0], [], [], [1, 2], [1, 2]], (0.0, 1.0, 3.0)),
        (["age", "gender"], False, [[0], [0], [1], [1], [2], [2]], (0.0, 1.0, 3.0)),
        (["age"], True, [[0, 2]] * 6, (2.0, 2.5, 3.0)),
        (["age", "gender"], True, [[0, 1, 2]] * 6, (3.0, 3.0, 3.0)),
    ],
)
def test_fifty_k_as_text_links_one_of_three_and_not_all(
    first: list[str], as_numbers: bool, package: list[list[int]], by_lot: tuple[float, float, float]
) -> None:
    original, synthetic = tables(as_numbers)
    knowledge = Knowledge(Table.from_frame(original))
    attack = Linkability(first=tuple(first), second=("income",), neighbours=1, targets=None)
    for order, expected in zip(permutations(range(3)), package, strict=True):
        rows = synthetic[list(order)]
        assert linked(original, rows, first, ["income"], 1) == expected
        ours = attack.run(released=Table.from_frame(rows), knowledge=knowledge, rng=np.random.default_rng(1))
        assert (ours.attack.low, ours.attack.expected, ours.attack.high) == pytest.approx(by_lot)
        assert ours.naive.expected == pytest.approx(1.0)


RISK_OF_ONE = [0.42691617195917425, 0.06149194472039626, 0.7923403991979523]
RISK_OF_ALL = [0.7192514841224773, 0.4385029682449546, 1.0]


@pytest.mark.parametrize("package", [pd, pl])
def test_the_printed_line_runs_and_gives_what_the_package_gives(package: Any) -> None:
    ori, syn = package.DataFrame(ORIGINAL), package.DataFrame(SYNTHETIC)
    n_attacks, n_neighbors, aux_cols = 3, 1, (["age"], ["income"])
    evaluator = LinkabilityEvaluator(ori, syn, aux_cols, n_attacks, n_neighbors).evaluate()
    with pytest.warns(UserWarning, match="the attack was too weak"):  # one of three is what luck gives
        risk = evaluator.risk()
    assert [risk.value, *risk.ci] == pytest.approx(RISK_OF_ONE)


def test_even_three_of_three_is_no_risk_of_one_there() -> None:
    risk = LinkabilityEvaluator(*tables(as_numbers=True), (["age", "gender"], ["income"]), 3).evaluate().risk()
    assert [risk.value, *risk.ci] == pytest.approx(RISK_OF_ALL)


def files(folder: Path, as_numbers: bool) -> tuple[str, str]:
    """Return the files of the page, the original with the column ID that the page has."""
    original, synthetic = tables(as_numbers)
    original.insert_column(0, pl.Series("ID", [1, 2, 3])).write_csv(folder / "original.csv")
    synthetic.write_csv(folder / "released.csv")
    return str(folder / "original.csv"), str(folder / "released.csv")


@pytest.mark.parametrize("as_numbers", [True, False])
def test_the_three_people_of_the_page_are_audited_without_options(as_numbers: bool, tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["audit", *files(tmp_path, as_numbers), "--report", "full"])
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.startswith("There are only 3 people: too few for any conclusion.")
    assert "recoded" not in run.stdout
    assert "outside the range" not in run.stdout


@pytest.mark.parametrize(
    ("link", "links"),
    [
        ("age:income", {"expected": 2.5, "low": 2, "high": 3}),
        ("age,gender:income", {"expected": 3, "low": 3, "high": 3}),
    ],
)
def test_the_audit_links_as_many_as_worked_out_by_hand(link: str, links: dict[str, float], tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["audit", *files(tmp_path, True), "--link", link, "--json"])
    (found,) = [each for each in json.loads(run.stdout)["releases"][0]["attacks"] if each["attack"] == "linkability"]
    assert (found["successes"], found["neighbors"], found["significant"]) == (links, 1, False)


def test_more_neighbours_than_rows_are_refused_where_they_are_told(tmp_path: Path, approved: Approved) -> None:
    run = CliRunner().invoke(main, ["audit", *files(tmp_path, True), "--neighbours", "10"])
    assert run.exit_code == 2
    approved(run.stderr)
