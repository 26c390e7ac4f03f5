"""The same links as anonymeter: its order of ties, its scales, its draw of targets; the real package's are golden."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.anonymeter.attacked import linked
from tests.golden import make_anonymeter_golden as golden
from tests.oracles import anonymeter as oracle
from unveil.anonymeter import LinkabilityEvaluator
from unveil.anonymeter import nearest_rows as kernels
from unveil.anonymeter.quicksort_order import first_places
from unveil.errors import InputError

RNG = np.random.default_rng
ROOT = Path(__file__).parents[2]
GOLDEN = json.loads((ROOT / "tests" / "golden" / "anonymeter_links.json").read_text())
#: A Python that has anonymeter 1.1.0, which needs an older numpy than unveil.
PEER = os.environ.get("UNVEIL_ANONYMETER_PYTHON")


def test_every_case_is_golden() -> None:
    assert [case.name for case in golden.cases()] == list(GOLDEN)
    assert any(GOLDEN.values())


@pytest.mark.parametrize("case", list(golden.cases()), ids=lambda case: case.name)
def test_links_are_those_of_the_package(case: golden.Case) -> None:
    original, released = (golden.frame(pd, columns, case.types) for columns in (case.original, case.released))
    assert linked(original, released, case.first, case.second, case.neighbours) == GOLDEN[case.name]


if PEER is not None:  # not a skip: without the package the golden links above stand for it

    def test_the_package_still_gives_the_golden_links() -> None:
        done = subprocess.run([str(PEER), "-W", "ignore", golden.__file__], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == GOLDEN


def with_ties(size: int, rng: np.random.Generator) -> Any:
    """Return values with many ties, some NaN and infinite, sometimes sorted."""
    values = rng.integers(0, rng.choice([1, 2, 5, 50, 10**9]), size) / 7 - rng.integers(0, 2)
    values[rng.random(size) < rng.choice([0, 0.1, 0.6, 1])] = np.nan
    values[rng.random(size) < rng.choice([0, 0.1])] = np.inf
    values[rng.random(size) < rng.choice([0, 0.1])] = -0.0
    order = rng.integers(4)
    return values if order > 1 else np.sort(values)[:: 1 - 2 * order].copy()


@pytest.mark.unwatched
@pytest.mark.parametrize("compiled", [False, True])
def test_the_first_places_are_those_of_the_full_sort_for_every_length_and_number_of_places(compiled: bool) -> None:
    rng = RNG(1)
    for size in range(1, 70):
        values = with_ties(size, rng)
        full = oracle.argsort(values)
        for k in range(1, size + 1) if compiled else {1, 2, size // 2 + 1, size}:
            np.testing.assert_array_equal(first_places(values[None], min(k, size), fast=compiled)[0], full[:k])


@pytest.mark.parametrize("size", [128, 129, 143, 144, 145, 200, 257, 300, 1000, 20_000])
def test_the_first_places_of_long_arrays_are_those_of_the_full_sort(size: int) -> None:
    rng = RNG(size)
    for _ in range(10):
        values = with_ties(size, rng)
        full = oracle.argsort(values)
        for k in (1, 10, int(rng.integers(1, size)), size):
            np.testing.assert_array_equal(first_places(values[None], k, fast=True)[0], full[:k])
    for k in (1, 10):  # and in plain Python, where coverage sees the strides
        np.testing.assert_array_equal(
            first_places(values[None, :400], k, fast=False)[0], oracle.argsort(values[:400])[:k]
        )


numbers = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 5.0, float("nan")])
words = st.sampled_from(["a", "b", None])
row = st.tuples(numbers, numbers, words, words, words)
GROUPS = st.permutations(range(5)).flatmap(lambda order: st.integers(1, 4).map(lambda cut: (order[:cut], order[cut:])))


def as_frame(rows: list[Any]) -> pl.DataFrame:
    types = [pl.Float64, pl.Float64, pl.String, pl.String, pl.String]
    return pl.DataFrame(rows, schema=dict(zip("abcde", types, strict=True)), orient="row")


@given(st.lists(row, min_size=1, max_size=40), st.lists(row, min_size=1, max_size=8), GROUPS, st.integers(1, 5))
def test_links_are_those_of_all_distances_sorted(
    released: list[Any], original: list[Any], groups: tuple[list[int], list[int]], k: int
) -> None:
    expected = oracle.links(original, released, [sorted(group) for group in groups], k)
    first, second = (["abcde"[c] for c in group] for group in groups)
    assert linked(as_frame(original), as_frame(released), first, second, k) == np.flatnonzero(expected).tolist()


@pytest.mark.unwatched
def test_many_targets_give_the_links_of_all_distances_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    # Compiled, in blocks that end within targets that look alike, and with lists that have to grow.
    monkeypatch.setattr(kernels, "TARGETS_AT_ONCE", 7)
    monkeypatch.setattr(kernels, "DISTANCES_AT_ONCE", 1000)
    rng = RNG(5)
    released, original = (
        [(*(rng.integers(0, [9, 20]) / 10), *(str(word) for word in rng.integers(0, [2, 3, 2]))) for _ in range(size)]
        for size in (400, 60)
    )
    for k in (1, 10):
        for groups in (([0, 2], [1, 3, 4]), ([2], [0, 1]), ([0], [2, 3, 4]), ([3, 4], [2])):
            expected = oracle.links(original, released, groups, k)
            first, second = (["abcde"[c] for c in group] for group in groups)
            found = linked(as_frame(original), as_frame(released), first, second, k)
            assert found == np.flatnonzero(expected).tolist()


def test_the_example_of_the_page_gives_the_two_links_that_the_package_prints() -> None:
    original = pl.DataFrame({"age": [25, 30, 28], "gender": ["m", "f", "m"], "income": [50, 60, 55]})
    released = pl.DataFrame({"age": [24, 31, 29], "gender": ["m", "f", "m"], "income": [52, 62, 53]})
    # 30 is as near to 31 as to 29, but 30/7, 31/7 and 29/7 are rounded.
    assert linked(original, released, ["age"], ["income"], 1) == [0, 2]
    assert linked(original, released, ["age", "gender"], ["income"], 1) == [0, 1, 2]


def test_columns_that_tell_nothing_link_everybody() -> None:
    people = pl.DataFrame({"a": [1] * 30, "b": ["x"] * 30})
    assert linked(people, people, ["a"], ["b"], 10) == list(range(30))


def test_groups_whose_tuples_overflow_an_integer_are_still_told_apart() -> None:
    rng = RNG(3)
    columns = {f"c{place:02d}": [str(word) for word in rng.integers(0, 200, 300)] for place in range(12)}
    frame = pl.DataFrame(columns)
    names = list(columns)
    expected = oracle.links(frame.rows()[:20], frame.rows(), (range(11), [11]), 1)
    assert linked(frame.head(20), frame, names[:11], names[11:], 1) == np.flatnonzero(expected).tolist()


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([True, False, None, True, True]),
        pl.Series(["2024-01-01", "2024-01-02", None, "2024-01-01", "2024-01-01"]).str.to_date(),
        pl.Series(["a", "b", None, "a", "a"], dtype=pl.Categorical),
    ],
    ids=["truth", "date", "categorical"],
)
def test_all_that_is_no_number_is_equal_or_not(cells: pl.Series) -> None:
    people = pl.DataFrame({"cell": cells, "place": [0, 1, 2, 3, 4]})
    words = people.with_columns(cell=pl.Series(["a", "b", "c", "a", "a"]))
    for k in (1, 2, 3):
        found = linked(people, people, ["cell"], ["place"], k)
        assert found == linked(words, words, ["cell"], ["place"], k)


PEOPLE = pl.DataFrame({"age": [31, 40, 52, 40], "town": ["Ulm", "Bonn", "Ulm", "Kiel"], "pay": [1.5, 2.0, 9.0, 4.0]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": pl.Series(["a", "b", "c", "d"])}, "column 'age' must hold numbers in all tables or in none"),
        ({"town": pl.Series([True, False, True, True])}, "column 'town' must be of one type in all tables"),
    ],
)
def test_columns_of_two_kinds_are_refused(change: dict[str, pl.Series], message: str) -> None:
    with pytest.raises(InputError, match=message):
        linked(PEOPLE, PEOPLE.with_columns(**change), ["age"], ["town"], 1)


def people(size: int, seed: int) -> pl.DataFrame:
    rng = RNG(seed)
    age, town, pay = rng.integers(18, 40, size), rng.choice(["Ulm", "Bonn", "Kiel"], size), rng.integers(0, 50, size)
    return pl.DataFrame({"age": age, "town": town, "pay": pay / 10})


@pytest.mark.filterwarnings("ignore:attack success is")
def test_the_targets_are_those_that_numpy_draws_after_the_same_seed() -> None:
    original, released, control = people(90, 1), people(120, 2), people(70, 3)
    np.random.seed(11)  # noqa: NPY002
    evaluator = LinkabilityEvaluator(original, released, (["age"], ["town", "pay"]), 30, 4, control).evaluate()
    draw = np.random.RandomState(11)
    for table, rows, links in zip((original, control), evaluator._rows, evaluator._links[4], strict=True):
        assert rows.tolist() == draw.choice(table.height, 30, replace=False).tolist()
        # The order of the targets changes nothing, but which they are does.
        assert rows[links].tolist() == rows[linked(table[rows], released, ["age"], ["town", "pay"], 4)].tolist()
    results = evaluator.results()
    assert results.n_baseline == pytest.approx(30 * (1 - (116 * 115 * 114 * 113) / (120 * 119 * 118 * 117)))
    assert (results.n_attacks_ori, results.n_attacks_control) == (30, 30)


def test_a_column_may_be_in_both_groups_and_a_group_may_be_one_name() -> None:
    evaluator = LinkabilityEvaluator(PEOPLE, PEOPLE, (["age", "pay"], ["pay"])).evaluate()
    assert evaluator.results().n_success == 4
    one, other = (
        LinkabilityEvaluator(PEOPLE, PEOPLE, groups, n_neighbors=2).evaluate()
        for groups in (("age", "pay"), (["age"], ["pay"]))
    )
    assert one.results().n_success == other.results().n_success


def test_fewer_people_than_attacks_are_all_attacked() -> None:
    results = LinkabilityEvaluator(PEOPLE, PEOPLE, (["age", "pay"], ["pay"]), 500, control=PEOPLE.head(2)).evaluate()
    assert (results.results().n_attacks_ori, results.results().n_attacks_control) == (4, 2)
