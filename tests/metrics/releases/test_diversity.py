"""Diversity and closeness: the papers' numbers, and each class against all rows by definition."""

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import disclosure as oracle
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.releases.diversity import (
    distinct_l_diversity,
    diversity,
    entropy_l_diversity,
    recursive_l_diversity,
    t_closeness,
)

cells = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2]), st.sampled_from([None, 3, 4, 6, 11])),
    min_size=1,
    max_size=12,
)


def people(rows: list[tuple[Any, ...]], kind: Any) -> Table:
    frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64, "secret": pl.Int64}, orient="row")
    return Table.from_frame(frame, kinds={"secret": kind, "x": "category"}, roles={"secret": "sensitive"})


@given(cells, st.sampled_from(["number", "category", "ordered"]), st.sampled_from([Fraction(1, 2), 1, 2, 3]))
def test_the_worst_class_is_found(rows: list[tuple[Any, ...]], kind: str, c: Any) -> None:
    table, secrets = people(rows, kind), [row[2] for row in rows]
    groups = oracle.classes([row[:2] for row in rows], secrets)
    distance = oracle.equal_distance if kind == "category" else oracle.ordered_distance
    found = diversity(table, sensitive="secret", c=float(c))
    assert found.values == len(set(secrets))
    assert found.distinct == distinct_l_diversity(table, sensitive="secret") == min(len(set(g)) for g in groups)
    assert found.entropy == entropy_l_diversity(table, sensitive="secret")
    assert found.entropy == pytest.approx(min(map(oracle.entropy_l, groups)))
    assert found.recursive == recursive_l_diversity(table, sensitive="secret", c=float(c))
    assert found.recursive == min(oracle.recursive_l(g, Fraction(c)) for g in groups)
    assert found.closeness == t_closeness(table, sensitive="secret")
    assert found.closeness == pytest.approx(float(max(distance(g, secrets) for g in groups)), abs=1e-12)
    one = sum(len(g) for g in groups if len(set(g)) == 1)
    assert found.classes_of_one_value == pytest.approx(one / len(rows))
    assert bool(found.remark) == (found.values == 1)


def salaries(*classes: list[int]) -> Table:
    frame = pl.DataFrame({
        "class": [f"c{k}" for k, some in enumerate(classes) for _ in some],
        "salary": [1000 * value for some in classes for value in some],
    })  # fmt: skip
    return Table.from_frame(frame)


def test_the_salaries_of_li_and_others() -> None:
    # Section 5.1 of the paper works out 0.375 for {3k, 4k, 5k} and 0.167 for {6k, 8k, 11k} against {3k, …, 11k}.
    everybody = list(range(3, 12))
    assert float(oracle.ordered_distance([3, 4, 5], everybody)) == 0.375
    assert oracle.ordered_distance([6, 8, 11], everybody) == Fraction(1, 6)
    assert t_closeness(salaries([3, 4, 5], [6, 8, 11], [7, 9, 10]), sensitive="salary") == 0.375
    # Its Table 5, whose closeness in salary it gives as 0.167.
    worst = t_closeness(salaries([3, 5, 9], [6, 11, 8], [4, 7, 10]), sensitive="salary")
    assert worst == pytest.approx(1 / 6)


def test_the_inpatients_of_machanavajjhala_and_others() -> None:
    # Figure 2 (4-anonymous; everybody in the last block has cancer) and Figure 3 (3-diverse).
    blocks = {
        "figure 2": ["hhvv", "chvv", "cccc"],
        "figure 3": ["hvcc", "chvv", "hvcc"],
    }
    for name, distinct, recursive in (("figure 2", 1, 1), ("figure 3", 3, 2)):
        frame = pl.DataFrame({"block": [k for k in (1, 2, 3) for _ in range(4)], "ill": list("".join(blocks[name]))})
        found = diversity(Table.from_frame(frame), sensitive="ill")
        assert (found.distinct, found.recursive) == (distinct, recursive)
    assert found.entropy == pytest.approx(2**1.5)
    assert recursive_l_diversity(Table.from_frame(frame), sensitive="ill", c=3) == 3


def test_the_earth_mover_is_the_cheapest_plan() -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(3)
    values = rng.integers(0, 9, 40)
    table = salaries(values[:15].tolist(), values[15:].tolist())
    levels = np.unique(values)
    cost = np.abs(np.subtract.outer(np.arange(levels.size), np.arange(levels.size))) / (levels.size - 1)
    worst = 0.0
    for part in (values[:15], values[15:]):
        supply, demand = ([np.mean(some == level) for level in levels] for some in (part, values))
        rows = np.kron(np.eye(levels.size), np.ones(levels.size)), np.kron(np.ones(levels.size), np.eye(levels.size))
        plan = linprog(cost.ravel(), A_eq=np.vstack(rows), b_eq=[*supply, *demand])
        worst = max(worst, plan.fun)
    assert t_closeness(table, sensitive="salary") == pytest.approx(worst)


def test_classes_that_mirror_the_table_are_close() -> None:
    same = salaries([3, 4, 5], [3, 4, 5])
    assert t_closeness(same, sensitive="salary") == 0
    assert diversity(same, sensitive="salary").distinct == 3


@pytest.mark.parametrize("kind", ["category", "number"])
def test_opposite_classes_are_far(kind: Any) -> None:
    frame = pl.DataFrame({"class": [0] * 5 + [1] * 5, "secret": [1] * 5 + [2] * 5})
    table = Table.from_frame(frame, kinds={"secret": kind})
    assert t_closeness(table, sensitive="secret") == 0.5
    assert diversity(table, sensitive="secret").classes_of_one_value == 1


def test_dates_and_large_tables_are_measured_by_rank() -> None:
    rng = np.random.default_rng(5)
    days = rng.integers(0, 4000, 5000)
    frame = pl.DataFrame({"x": rng.integers(0, 400, 5000), "day": days}).with_columns(
        pl.lit("2000-01-01").str.to_date() + pl.duration(days="day")
    )
    rows = list(zip(frame["x"].to_list(), strict=True))
    groups = oracle.classes(rows, days.tolist())
    ranks = np.unique(days)
    all_shares = np.searchsorted(np.sort(days), ranks, side="right") / days.size
    each = [np.abs(np.searchsorted(np.sort(g), ranks, side="right") / len(g) - all_shares).sum() for g in groups]
    expected = max(each) / (ranks.size - 1)
    assert t_closeness(Table.from_frame(frame), sensitive="day", columns=["x"]) == pytest.approx(expected)


def test_a_constant_column_is_answered_with_a_sentence() -> None:
    found = diversity(salaries([3, 3], [3]), sensitive="salary")
    assert (found.distinct, found.entropy, found.recursive, found.closeness) == (1, 1.0, 1, 0.0)
    assert "same value" in found.remark


def test_a_sensitive_column_is_no_quasi_identifier() -> None:
    with pytest.raises(InputError, match="because it is the sensitive column"):
        t_closeness(salaries([3, 4]), sensitive="salary", columns=["class", "salary"])
    with pytest.raises(InputError, match="Did you mean 'salary'"):
        t_closeness(salaries([3, 4]), sensitive="salry")
    with pytest.raises(InputError, match="c is -1; it must be above 0"):
        recursive_l_diversity(salaries([3, 4]), sensitive="salary", c=-1)
