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

from tests.golden import make_anonymeter_singling_out_golden as golden
from unveil.attacks.anonymeter.singling_out import AnonymeterSinglingOut, rescaling
from unveil.attacks.table.singling_out import SinglingOut
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.predicates import Condition, Predicates
from unveil.guesses.trials import Trials
from unveil.metrics.trials.anonymeter import anonymeter_risk
from unveil.metrics.trials.risk import excess_over_control

GOLDEN = json.loads((Path(golden.__file__).parent / "anonymeter_singling_out.json").read_text())
PEER = os.environ.get("UNVEIL_ANONYMETER_PYTHON")


def table(columns: golden.Columns | None, name: str) -> Table | None:
    return None if columns is None else Table.from_frame(pd.DataFrame(columns), name=name)


def run(attack: AnonymeterSinglingOut | SinglingOut, *tables: Table | None, seed: int = 1) -> Trials:
    original, released, control = tables
    assert original is not None
    assert released is not None
    return attack.run(released=released, knowledge=Knowledge(original, control), rng=np.random.default_rng(seed))


def test_every_case_is_golden() -> None:
    assert [case.name for case in golden.cases()] == list(GOLDEN)


@pytest.mark.unwatched
@pytest.mark.parametrize("case", list(golden.cases()), ids=lambda case: case.name)
def test_guesses_hits_and_risk_are_those_of_the_package(case: golden.Case) -> None:
    original, released, control = (
        table(columns, name)
        for columns, name in ((case.original, "original"), (case.released, "released"), (case.control, "control"))
    )
    assert original is not None
    assert released is not None
    attack = AnonymeterSinglingOut(size=case.size, guesses=case.guesses, attempts=case.attempts, seed=5)
    guess = attack.guess(released, rng=np.random.default_rng(0))
    places = {name: str(place) for place, name in enumerate(case.released)}
    names = ["".join(sorted(places[one.column] for one in predicate)) for predicate in guess]
    distinct = [
        Table.from_frame(pd.DataFrame(columns).drop_duplicates())
        for columns in (case.original, case.control)
        if columns is not None
    ]
    found = [list(each) for each in zip(names, *(guess.counts(each).tolist() for each in distinct), strict=True)]
    assert (sorted(found) if case.size == 1 else found) == GOLDEN[case.name]["guesses"]

    trials = run(attack, original, released, control)
    hits, outside = GOLDEN[case.name]["hits"]
    assert (trials.attack.expected, trials.attack.tries) == (hits, case.guesses)
    assert trials.naive.tries == case.guesses
    if outside is not None:
        assert trials.control is not None
        assert trials.control.expected == pytest.approx(outside, rel=1e-4)
    risk = anonymeter_risk(trials)
    assert [risk.value, risk.low, risk.high] == pytest.approx(GOLDEN[case.name]["risk"], abs=1e-5)


if PEER is not None:  # not a skip: without the package the golden numbers above stand for it

    def test_the_package_still_gives_the_golden_numbers() -> None:
        command = [str(PEER), "-W", "ignore", golden.__file__]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        made = json.loads(done.stdout)
        assert {name: each["guesses"] for name, each in made.items()} == {
            name: each["guesses"] for name, each in GOLDEN.items()
        }
        for name, each in made.items():
            assert each["risk"] == pytest.approx(GOLDEN[name]["risk"], abs=1e-6)


def test_given_predicates_are_counted_among_different_rows() -> None:
    people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41], "town": ["Ulm", "Ulm", "Bonn"]}))
    guess = Predicates(
        ((Condition("age", "<=", 30),), (Condition("age", ">=", 30),), (Condition("town", "=", "Bonn"),))
    )
    trials = AnonymeterSinglingOut(guesses=4).evaluate(guess, records=people)
    assert (trials.attack.expected, trials.attack.tries) == (2.0, 4)
    assert trials.control is None
    assert "4 guesses were asked for and 3 made" in trials.notes[0]
    # Two people are 30, so nobody is singled out by that.
    assert guess.counts(people).tolist() == [2, 3, 1]


def people(rng: np.random.Generator, rows: int) -> Table:
    columns = {f"c{place}": rng.normal(size=rows).round(2) for place in range(4)}
    return Table.from_frame(pl.DataFrame({**columns, "town": rng.choice(list("abcdef"), rows)}))


def test_its_control_is_divided_by_the_ratio_of_sizes_and_alarms_where_there_is_nothing() -> None:
    # The number of hits hardly depends on the number of rows here, and the release is independent of everybody.
    alarms, ours = 0, 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        released, original, control = (people(rng, rows) for rows in (1500, 1500, 500))
        trials = run(AnonymeterSinglingOut(size=3, guesses=100, seed=seed), original, released, control)
        alarms += anonymeter_risk(trials).low > 0
        mine = run(SinglingOut(size=3, guesses=100), original, released, control)
        ours += excess_over_control(mine).low > 0
    assert alarms >= 4
    assert ours == 0


@pytest.mark.parametrize("predicates", [3, 150, 500])
def test_its_factor_knows_nothing_of_the_data(predicates: int) -> None:
    for original, control in ((39_032, 9_758), (20_000, 5_000)):
        # The ratio of the sizes, but for how far its search for the best curve got.
        assert 0.8 < rescaling(predicates, original=original, control=control) * original / control < 1.2
    assert rescaling(predicates, original=700, control=700) == 1.0


def test_texts_with_quotes_are_never_found_with_several_columns() -> None:
    frame = pl.DataFrame({"word": ["it's", 'a "b"', "c", "d"], "age": [1, 2, 3, 4]})
    released = Table.from_frame(frame)
    rng = np.random.default_rng(0)
    theirs = AnonymeterSinglingOut(size=2, guesses=50, attempts=2000, seed=1).guess(released, rng=rng)
    ours = SinglingOut(size=2, guesses=50).guess(released, rng=rng)
    words = [{one.value for each in guess for one in each if one.column == "word"} for guess in (theirs, ours)]
    assert words == [{"c", "d"}, {"it's", 'a "b"', "c", "d"}]
    univariate = AnonymeterSinglingOut(size=1).guess(released, rng=rng)
    assert {one.value for each in univariate for one in each if one.column == "word"} == words[1]


def test_a_text_that_looks_like_one_with_its_quotes_escaped_is_found_for_it() -> None:
    released = Table.from_frame(pl.DataFrame({"word": ["it's", "it\\'s", "it\\'s"], "age": [1, 1, 3]}))
    guess = AnonymeterSinglingOut(size=2, guesses=9, attempts=1000, seed=1).guess(
        released, rng=np.random.default_rng(0)
    )
    assert {one.value for each in guess for one in each if one.column == "word"} == {"it\\'s"}


def test_dates_are_refused_where_the_package_stops_and_used_by_ours() -> None:
    days = pl.Series(["2024-01-01", "2024-02-01", "2024-03-01"]).str.to_date()
    released = Table.from_frame(pl.DataFrame({"day": days, "age": [1, 2, 3]}))
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="if one is a date, as 'day' is"):
        AnonymeterSinglingOut(size=2).guess(released, rng=rng)
    assert "day" in AnonymeterSinglingOut(size=1).guess(released, rng=rng).columns
    assert "day" in SinglingOut(size=2).guess(released, rng=rng).columns


def test_guesses_that_were_not_made_count_as_misses() -> None:
    everybody = Table.from_frame(pl.DataFrame({"age": [1, 2, 3]}))
    trials = run(AnonymeterSinglingOut(size=1, guesses=500), everybody, everybody, None)
    assert (trials.attack.expected, trials.attack.tries) == (5.0, 500)
    ours = run(SinglingOut(exact_numbers=True), everybody, everybody, None)
    assert (ours.attack.expected, ours.attack.tries) == (5.0, 5)


def test_blind_guesses_have_all_relations_and_kinds() -> None:
    columns: dict[str, Any] = {"age": [1, 2, None], "yes": [True, False, None], "word": ["a", None, "b"]}
    released = Table.from_frame(pl.DataFrame(columns))
    attack = AnonymeterSinglingOut(size=2, guesses=300)
    guess = attack._blindly(released, np.random.default_rng(0))
    seen = {(one.column, one.relation, one.value) for each in guess for one in each}
    gaps = [(name, relation, None) for name in columns for relation in ("is missing", "is not missing")]
    ages = [("age", relation, value) for relation in ("=", "!=", ">=", "<=", ">", "<") for value in (1, 2)]
    words = [("word", relation, value) for relation in ("=", "!=") for value in "ab"]
    assert seen == {*gaps, *ages, *words, ("yes", "=", True), ("yes", "=", False)}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"columns": ("a", "a")}, "columns must name"),
        ({"columns": "a"}, "columns must be a sequence of column names"),
        ({"size": 0}, "size must be a whole number of at least 1"),
        ({"attempts": 0}, "attempts must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
    ],
)
def test_settings_that_make_no_sense(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        AnonymeterSinglingOut(**wrong)


def test_tables_that_make_no_sense() -> None:
    same = Table.from_frame(pl.DataFrame({"a": [1, 1], "b": [2, 2], "c": [1, 2]}))
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="size must be at most the number of columns"):
        AnonymeterSinglingOut(size=3, columns=("a", "b")).guess(same, rng=rng)
    few = Table.from_frame(pl.DataFrame({"a": [1, 1, 2, 2], "b": [3, 4, 3, 4]}))
    with pytest.raises(InputError, match="no guess about 1 of the columns"):
        AnonymeterSinglingOut(size=1).guess(few, rng=rng)


def test_more_hits_than_guesses_by_rescaling_are_refused() -> None:
    few, many = (Table.from_frame(pl.DataFrame({"age": range(rows)}), roles={"age": "known"}) for rows in (100, 300))
    guess = Predicates(tuple((Condition("age", "=", age),) for age in range(50)))
    with pytest.raises(InputError, match="must not be more than the 50 guesses"):
        AnonymeterSinglingOut(guesses=50).evaluate(guess, records=few, control=many)
    trials = AnonymeterSinglingOut(guesses=200).evaluate(guess, records=few, control=many)
    assert trials.control is not None
    assert trials.control.expected == pytest.approx(50 * 301 / 101, rel=0.01)
    assert trials.notes[1].startswith("hits on the control were multiplied by")
