"""Special uniques: the search against all sets of columns, the guide's example, and what is refused."""

import importlib
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import disclosure as oracle
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.releases import special_uniques as kernel
from unveil.metrics.releases.special_uniques import special_uniques

# The package shows the function under the name of its module.
module = importlib.import_module("unveil.metrics.releases.special_uniques")
tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=10)
)


def people(rows: list[tuple[Any, ...]]) -> Table:
    names = [f"c{k}" for k in range(len(rows[0]))]
    return Table.from_frame(pl.DataFrame(rows, schema=names, orient="row"), roles=dict.fromkeys(names, "known"))


def check(rows: list[tuple[Any, ...]], size: int) -> None:
    width = len(rows[0])
    found, sets = special_uniques(people(rows), size=size), oracle.minimal_uniques(rows, size)
    most = min(size, width)
    assert found.found.tolist() == [[sum(len(s) == k for s in each) for k in range(1, most + 1)] for each in sets]
    assert found.score.tolist() == [oracle.suda_score(each, width, size) for each in sets]
    assert found.by_column == tuple(sum(k in s for each in sets for s in each) for k in range(width))
    assert found.by_size == tuple(sum(len(s) == k for each in sets for s in each) for k in range(1, most + 1))
    smallest = [min(map(len, each)) for each in sets if each]
    assert (found.special, found.share) == (len(smallest), len(smallest) / len(rows))
    assert found.rows_by_size == tuple(smallest.count(k) for k in range(1, most + 1))


@given(tables, st.integers(1, 4))
def test_the_search_finds_what_all_sets_show(rows: list[tuple[int, ...]], size: int) -> None:
    check(rows, size)


@settings(max_examples=15)
@given(tables, st.integers(1, 4))
def test_so_does_the_compiled_search(rows: list[tuple[int, ...]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "PLAIN_UP_TO", -1)
        check(rows, size)


def test_a_larger_table() -> None:
    rng = np.random.default_rng(2)
    rows = [tuple(int(v) for v in row) for row in rng.integers(0, [9, 2, 5, 4, 3, 7], (120, 6))]
    check(rows, 3)


def guide() -> Table:
    """The example of the practice guide on statistical disclosure control (Benschop and Welch, section on SUDA)."""
    incomplete = "Secondary incomplete"
    rows = [
        ("Urban", "Female", incomplete, "Employed"),
        ("Urban", "Female", incomplete, "Employed"),
        ("Urban", "Female", "Primary incomplete", "Non-LF"),
        ("Urban", "Male", "Secondary complete", "Employed"),
        ("Rural", "Female", "Secondary complete", "Unemployed"),
        ("Urban", "Male", "Secondary complete", "Employed"),
        ("Urban", "Female", "Primary complete", "Non-LF"),
        ("Urban", "Male", "Post-secondary", "Unemployed"),
        ("Urban", "Female", incomplete, "Non-LF"),
        ("Urban", "Female", incomplete, "Non-LF"),
    ]
    return Table.from_frame(pl.DataFrame(rows, schema=["residence", "gender", "education", "status"], orient="row"))


def test_the_scores_of_the_practice_guide() -> None:
    found = special_uniques(guide(), size=3)
    assert found.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert found.found[4].tolist() == [1, 3, 0]
    assert found.special == 4


def test_one_person_alone_in_everything_is_found() -> None:
    rows = [("a", "x", 1)] * 20 + [("b", "x", 1)]
    found = special_uniques(people(rows))
    assert (found.special, found.by_size, found.by_column) == (1, (1, 0, 0), (1, 0, 0))


def test_nothing_is_found_where_everybody_is_a_pair() -> None:
    found = special_uniques(people([(1, 2), (1, 2), (3, 2), (3, 2)]))
    assert found.special == 0
    assert not found.score.any()


def test_a_missing_value_is_one_of_its_own() -> None:
    frame = pl.DataFrame({"x": ["a", "a", None], "y": pl.Series([None] * 3, dtype=pl.String)})
    assert special_uniques(Table.from_frame(frame)).by_column == (1, 0)


def test_too_many_sets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_VISITS", 10)
    with pytest.raises(InputError, match=r"Name fewer columns, or use size=2"):
        special_uniques(guide(), size=3)
    with pytest.raises(InputError, match="size must be a whole number of at least 1"):
        special_uniques(guide(), size=0)
