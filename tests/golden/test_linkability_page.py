"""The worked example of the page on linkability risk: three people, whose incomes are printed as texts such as 50K.

The page says 3 of 3, a risk of 1.0. What anonymeter 1.1.0 answers was printed by the package itself, for all orders of
the synthetic rows.
"""

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unveil.attack import Linkability
from unveil.attack.anonymeter import LinkabilityEvaluator
from unveil.attack.anonymeter.linkability import links
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
        assert np.flatnonzero(links(original, rows, [0, 1, 2], first, ["income"], 1)).tolist() == expected
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
    with pytest.warns(UserWarning, match="a blind guess"):  # one of three is what luck gives
        risk = evaluator.risk()
    assert [risk.value, *risk.ci] == pytest.approx(RISK_OF_ONE)


def test_even_three_of_three_is_no_risk_of_one_there() -> None:
    risk = LinkabilityEvaluator(*tables(as_numbers=True), (["age", "gender"], ["income"]), 3).evaluate().risk()
    assert [risk.value, *risk.ci] == pytest.approx(RISK_OF_ALL)
