"""Singling out as anonymeter does: its own numbers on small tables, and where its way of counting goes wrong."""

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

from tests.golden import make_anonymeter_singling_out_golden as golden
from unveil.anonymeter import SinglingOutEvaluator
from unveil.anonymeter.singling_out import Queries, QueryColumns, rescaling
from unveil.attacks.table.singling_out import SinglingOut
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.metrics.trials.risk import excess_over_control

GOLDEN = json.loads((Path(golden.__file__).parent / "anonymeter_singling_out.json").read_text())
PEER = os.environ.get("UNVEIL_ANONYMETER_PYTHON")

pytestmark = pytest.mark.filterwarnings("ignore:attack success is")


def made(
    syn: Any, size: int = 1, ori: Any = None, control: Any = None, **settings: Any
) -> tuple[QueryColumns, Queries]:
    """Return all queries that an evaluator makes, also those that single out nobody."""
    evaluator = SinglingOutEvaluator(syn if ori is None else ori, syn, n_cols=size, control=control, **settings)
    coded = QueryColumns([evaluator._syn, evaluator._ori, *evaluator._control])
    return coded, evaluator._rare_values(coded) if size == 1 else evaluator._combinations(coded)


def texts(syn: Any, size: int, column: str, **settings: Any) -> set[Any]:
    """Return the values of a column that queries are about."""
    coded, queries = made(syn, size, **settings)
    codes = queries.code[queries.column == coded.names.index(column)]
    return {coded.values[coded.names.index(column)][code - 1] for code in codes.tolist()}


def test_every_case_is_golden() -> None:
    assert [case.name for case in golden.cases()] == list(GOLDEN)


@pytest.mark.unwatched
@pytest.mark.parametrize("case", list(golden.cases()), ids=lambda case: case.name)
def test_guesses_hits_and_risk_are_those_of_the_package(case: golden.Case) -> None:
    original, released, control = (
        None if columns is None else pd.DataFrame(columns) for columns in (case.original, case.released, case.control)
    )
    settings: Any = {"n_attacks": case.guesses, "max_attempts": case.attempts, "seed": 5}
    coded, queries = made(released, case.size, original, control, **settings)
    names = ["".join(map(str, sorted(columns))) for columns in queries.column.tolist()]
    counts = [coded.count(queries, table).tolist() for table in range(1, len(coded.tables))]
    found = [list(each) for each in zip(names, *counts, strict=True)]
    assert (sorted(found) if case.size == 1 else found) == GOLDEN[case.name]["guesses"]

    evaluator = SinglingOutEvaluator(original, released, control=control, n_cols=max(case.size, 2), **settings)
    results = evaluator.evaluate(mode="univariate" if case.size == 1 else "multivariate").results()
    hits, outside = GOLDEN[case.name]["hits"]
    assert (results.n_success, results.n_attacks_ori) == (hits, case.guesses)
    assert results.n_control == (None if outside is None else pytest.approx(outside, rel=1e-4))
    risk = results.risk()
    assert [risk.value, *risk.ci] == pytest.approx(GOLDEN[case.name]["risk"], abs=1e-5)
    # Each success is a query that polars finds one row for as well.
    assert len(evaluator.queries()) == hits
    for query in evaluator.queries()[:20]:
        assert evaluator._syn.filter(query).height == evaluator._ori.filter(query).height == 1
    assert len(evaluator.queries(baseline=True)) == results.n_baseline
    for query in evaluator.queries(baseline=True)[:20]:
        assert evaluator._ori.filter(query).height == 1


if PEER is not None:  # not a skip: without the package the golden numbers above stand for it

    def test_the_package_still_gives_the_golden_numbers() -> None:
        command = [str(PEER), "-W", "ignore", golden.__file__]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        assert {name: each["guesses"] for name, each in found.items()} == {
            name: each["guesses"] for name, each in GOLDEN.items()
        }
        for name, each in found.items():
            assert each["risk"] == pytest.approx(GOLDEN[name]["risk"], abs=1e-6)


cells = {
    "age": st.sampled_from([1, 2, 5, None]),
    "pay": st.sampled_from([0.5, 1.5, float("nan")]),
    "word": st.sampled_from(["a", "it's", "?", "", None]),
    "yes": st.sampled_from([True, False, None]),
}
rows = st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=12)
TYPES = {"age": pl.Int64, "pay": pl.Float64, "word": pl.String, "yes": pl.Boolean}


@given(rows, rows, st.integers(1, 3), st.integers(0, 5))
def test_queries_count_as_polars_counts_them(syn: list[Any], ori: list[Any], size: int, seed: int) -> None:
    """All queries are tried by polars itself, blind ones too, of which all operators and gaps are drawn."""
    tables = [pl.DataFrame(each, schema=TYPES) for each in (syn, ori)]
    evaluator = SinglingOutEvaluator(tables[1], tables[0], n_attacks=9, n_cols=size, max_attempts=30, seed=seed)
    coded = QueryColumns([evaluator._syn, evaluator._ori])
    queries = evaluator._rare_values(coded) if size == 1 else evaluator._combinations(coded)
    for each in (queries, evaluator._blind(coded, size)):
        found = each.take((each.code >= 0).all(axis=1))
        for table, frame in enumerate((evaluator._syn, evaluator._ori)):
            expected = [frame.filter(query).height for query in coded.expressions(found)]
            assert coded.count(found, table).tolist() == expected
    assert (coded.count(queries, 0) == 1).all()
    keys = [tuple(map(tuple, each)) for each in np.stack(queries, axis=1).tolist()]
    assert len(set(keys)) == len(keys)


def test_blind_queries_have_all_operators_and_kinds() -> None:
    syn = pl.DataFrame({"age": [1, 2, None], "yes": [True, False, None], "word": ["a", None, "b"]})
    evaluator = SinglingOutEvaluator(syn, syn, n_attacks=600, seed=0)
    coded = QueryColumns([evaluator._syn, evaluator._ori])
    queries = evaluator._blind(coded, 2)
    names = [[coded.names[column] for column in columns] for columns in queries.column.tolist()]
    assert names == [sorted(each) for each in names]
    conditions = zip(*(part.ravel().tolist() for part in queries), strict=True)
    seen = {str(coded._expression(*condition)) for condition in conditions}
    age, yes, word = pl.col("age"), pl.col("yes"), pl.col("word")
    ages = [each for value in (1, 2) for each in (age == value, age != value, age > value, age < value)]
    ages += [each for value in (1, 2) for each in (age >= value, age <= value)]
    words = [each for value in "ab" for each in (word == value, word != value)]
    gaps = [each for column in (age, yes, word) for each in (column.is_null(), column.is_not_null())]
    expected = {str(each) for each in (*ages, *words, *gaps, yes == True, yes == False)}  # noqa: E712
    assert seen == expected


def test_people_who_are_equal_count_as_one() -> None:
    people = pl.DataFrame({"age": [30, 30, 41], "town": ["Ulm", "Ulm", "Bonn"]})
    results = SinglingOutEvaluator(people, people, n_attacks=10).evaluate(mode="univariate").results()
    assert (results.n_success, results.n_attacks_ori) == (6, 10)  # those that were not made are misses
    ours = SinglingOut(exact_numbers=True).run(
        released=Table.from_frame(people), knowledge=Knowledge(Table.from_frame(people)), rng=np.random.default_rng(1)
    )
    assert ours.attack.expected < 6


def test_cells_that_stand_for_no_value_elsewhere_are_values_here() -> None:
    """A question mark, which tables of unveil take for a missing value, is a text like any other."""
    people = pd.DataFrame({"job": ["?", "cook", "cook", "baker"], "age": [30, 40, 50, 60], "pay": [1, 2, 2, 1]})
    evaluator = SinglingOutEvaluator(people, people, n_attacks=30, seed=1).evaluate(mode="univariate")
    assert str(pl.col("job") == "?") in map(str, evaluator.queries())
    several = SinglingOutEvaluator(people, people, n_attacks=30, n_cols=2, max_attempts=2000, seed=1).evaluate()
    assert several.results().n_success == len(several.queries()) > 0


def people(rng: np.random.Generator, rows: int) -> pl.DataFrame:
    columns = {f"c{place}": rng.normal(size=rows).round(2) for place in range(4)}
    return pl.DataFrame({**columns, "town": rng.choice(list("abcdef"), rows)})


def test_its_control_is_divided_by_the_ratio_of_sizes_and_alarms_where_there_is_nothing() -> None:
    # The number of hits hardly depends on the number of rows here, and the release is independent of everybody.
    alarms, ours = 0, 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        syn, ori, control = (people(rng, rows) for rows in (1500, 1500, 500))
        alarms += SinglingOutEvaluator(ori, syn, 100, control=control, seed=seed).evaluate().risk().ci[0] > 0
        released, original, outside = map(Table.from_frame, (syn, ori, control))
        attack = SinglingOut(size=3, guesses=100)
        mine = attack.run(released=released, knowledge=Knowledge(original, outside), rng=np.random.default_rng(1))
        ours += excess_over_control(mine).low > 0
    assert alarms >= 4
    assert ours == 0


@pytest.mark.parametrize("queries", [3, 150, 500])
def test_its_factor_knows_nothing_of_the_data(queries: int) -> None:
    for original, control in ((39_032, 9_758), (20_000, 5_000)):
        # The ratio of the sizes, but for how far its search for the best curve got.
        assert 0.8 < rescaling(queries, original=original, control=control) * original / control < 1.2
    assert rescaling(queries, original=700, control=700) == 1.0


def test_texts_with_quotes_are_never_found_with_several_columns() -> None:
    syn = pl.DataFrame({"word": ["it's", 'a "b"', "c", "d"], "age": [1, 2, 3, 4]})
    assert texts(syn, 2, "word", n_attacks=50, max_attempts=2000, seed=1) == {"c", "d"}
    assert texts(syn, 1, "word") == {"it's", 'a "b"', "c", "d"}
    ours = SinglingOut(size=2, guesses=50).guess(Table.from_frame(syn), rng=np.random.default_rng(0))
    assert {one.value for each in ours for one in each if one.column == "word"} == {"it's", 'a "b"', "c", "d"}


def test_a_text_that_looks_like_one_with_its_quotes_escaped_is_found_for_it() -> None:
    syn = pl.DataFrame({"word": ["it's", "it\\'s", "it\\'s"], "age": [1, 1, 3]})
    assert texts(syn, 2, "word", n_attacks=9, max_attempts=1000, seed=1) == {"it\\'s"}


def test_categories_of_polars_are_not_escaped() -> None:
    syn = pl.DataFrame({"word": pl.Series(["it's", "c"], dtype=pl.Categorical), "age": [1, 2]})
    assert texts(syn, 2, "word", n_attacks=9, max_attempts=1000, seed=1) == {"it's", "c"}


def test_dates_are_refused_where_the_package_stops_and_used_by_ours() -> None:
    days = pl.Series(["2024-01-01", "2024-02-01", "2024-03-01"]).str.to_date()
    syn = pl.DataFrame({"day": days, "age": [1, 2, 3]})
    with pytest.raises(InputError, match="if one is a date, as 'day' is"):
        made(syn, 2)
    assert len(texts(syn, 1, "day")) == 3
    assert "day" in SinglingOut(size=2).guess(Table.from_frame(syn), rng=np.random.default_rng(0)).columns


@pytest.mark.parametrize("mode", ["univariate", "multivariate"])
def test_where_no_query_singles_out_anybody_all_attacks_miss(mode: str) -> None:
    syn = pl.DataFrame({"a": [1, 1, 2, 2], "b": [3, 4, 3, 4]})
    ori = pl.DataFrame({"a": [5, 6, 7], "b": [5, 6, 7]})
    evaluator = SinglingOutEvaluator(
        ori if mode == "multivariate" else syn, syn, 20, n_cols=2, control=ori.head(2), max_attempts=50
    ).evaluate(mode=mode)
    results = evaluator.results(confidence_level=0)
    assert (results.attack_rate, results.control_rate) == ((0, 0), (0, 0))
    assert evaluator.queries() == []


def test_no_more_queries_are_tried_than_allowed_and_without_a_limit_enough() -> None:
    syn = pl.DataFrame({"a": range(50), "b": [f"word {number}" for number in range(50)]})
    for most in (1, 3):
        evaluator = SinglingOutEvaluator(syn, syn, 10, n_cols=2, max_attempts=most, seed=1).evaluate()
        assert len(evaluator.queries()) <= most
    assert len(SinglingOutEvaluator(syn, syn, 10, n_cols=2, max_attempts=None, seed=1).evaluate().queries()) == 10


def test_more_successes_than_attacks_by_rescaling_are_refused() -> None:
    many = pl.DataFrame({"age": range(300)})
    evaluator = SinglingOutEvaluator(many.head(100), many, 300, control=many, seed=1).evaluate(mode="univariate")
    with pytest.raises(InputError, match="between 0 and the number of attacks"):
        evaluator.results()
