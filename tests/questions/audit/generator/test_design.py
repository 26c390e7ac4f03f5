from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.questions.audit.example import people
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.questions.audit.generator.design import draw_design
from unveil.questions.audit.generator.settings import Canaries, GeneratorSettings


def design(
    rows: Any = 100,
    *,
    person: Any = None,
    adjacency: Any = "add-remove",
    unit: Any = None,
    targets: Any = "auto",
    planted: Any = 0,
    seed: Any = 1,
    frame: Any = None,
    **settings: Any,
) -> Any:
    table = Table.from_frame(people(rows + planted, 7) if frame is None else frame)
    return draw_design(
        table,
        GeneratorSettings(generator="shuffle", **settings),
        person=np.arange(rows) if person is None else person,
        adjacency=adjacency,
        unit=unit,
        targets=targets,
        rng=np.random.default_rng(seed),
    )


def test_a_fifth_is_held_out_of_one_run_and_the_stated_share_of_all_runs() -> None:
    assert design().runs[0].outside.size == 20
    made = design(runs=3, holdout=0.2)
    assert [each.outside.size for each in made.runs] == [20] * 3
    assert made.siblings == 0
    assert all(np.array_equal(each.outside, made.runs[0].outside) for each in made.runs)
    assert all(np.array_equal(np.union1d(each.inside, each.outside), np.arange(100)) for each in made.runs)
    assert len({each.seed for each in made.runs}) == 3


def test_with_folds_everybody_is_held_out_once_in_each_round() -> None:
    made = design(103, folds=4, runs=2)
    assert len(made.runs) == 8
    for first in (0, 4):
        held = np.concatenate([each.outside for each in made.runs[first : first + 4]])
        assert np.array_equal(np.sort(held), np.arange(103))
    assert {each.outside.size for each in made.runs} == {25, 26}
    for each in made.runs:
        assert np.array_equal(np.flatnonzero(made.fold[each.round] == each.fold), each.outside)
        assert np.intersect1d(each.inside, each.outside).size == 0
    # Each round divides people anew.
    assert not np.array_equal(made.fold[0], made.fold[1])


@pytest.mark.parametrize(
    ("settings", "siblings"),
    [
        ({"runs": 2}, 0),
        ({"runs": 3}, 0),
        ({"runs": 4}, 1),
        ({"runs": 7}, 2),
        ({"runs": 8}, 3),
        ({"runs": 44}, 10),
        ({"folds": 3}, 0),
        ({"folds": 3, "runs": 3}, 2),
        ({"canaries": Canaries(number=3), "runs": 9, "holdout": 0.4}, 0),
        ({"canaries": Canaries(number=3), "runs": 9, "holdout": None}, 0),
    ],
    ids=str,
)
def test_everybody_has_equally_many_runs_that_did_not_see_them(settings: Any, siblings: int) -> None:
    made = design(140, **settings)
    assert made.siblings == siblings
    for run in made.runs:
        others = made.siblings_of(run) if siblings else []
        assert run.round not in {each.round for each in others}
        unseen = sum((np.isin(np.arange(140), each.outside).astype(int) for each in others), np.zeros(140, int))
        assert set(unseen.tolist()) == {siblings}


def test_several_runs_are_given_random_halves_and_more_of_them_go_on() -> None:
    few, more = design(101, runs=4), design(101, runs=9)
    assert {each.outside.size for each in more.runs} == {50, 51}
    assert len(more.runs) == 9
    for one, other in zip(few.runs, more.runs[:4], strict=True):
        assert np.array_equal(one.given, other.given)
        assert (one.seed, one.number, one.round) == (other.seed, other.number, other.round)
    for first in range(0, 8, 2):
        assert np.intersect1d(more.runs[first].outside, more.runs[first + 1].outside).size == 0
    # How many runs did not see a person does not depend on the person, but for the last one without its pair.
    times = sum((np.isin(np.arange(101), each.outside).astype(int) for each in more.runs[:8]), np.zeros(101, int))
    assert set(times.tolist()) == {4}


def test_all_rows_of_a_person_stay_together() -> None:
    person = np.repeat(np.arange(50), 2)
    for each in design(person=person, folds=2).runs:
        assert np.intersect1d(person[each.inside], person[each.outside]).size == 0


@pytest.mark.parametrize("settings", [{"holdout": 0.4}, {"folds": 3}, {"runs": 5}], ids=str)
def test_households_are_held_out_whole(settings: Any) -> None:
    home = np.random.default_rng(2).integers(0, 70, 150)
    _, unit = np.unique(home, return_inverse=True)
    made = design(150, unit=unit, **settings)
    for each in made.runs:
        assert np.intersect1d(unit[each.inside], unit[each.outside]).size == 0
        assert each.inside.size + each.outside.size == 150
    few = design(150, unit=unit, targets=20, **settings)
    # Whole households are attacked, of at most twice as many people.
    assert few.attacked.size <= 40
    assert set(few.attacked) == set(np.flatnonzero(np.isin(unit, unit[few.attacked])))


def test_few_households_and_canaries_of_households_are_refused() -> None:
    with pytest.raises(InputError, match="Audit at least 40 households"):
        design(100, unit=np.arange(100) // 4)
    with pytest.raises(InputError, match="Households are held out whole"):
        design(200, unit=np.arange(200) // 2, canaries=Canaries(number=3), holdout=0.4)


def test_who_is_held_out_hangs_on_what_rows_hold_and_not_on_where_they_stand() -> None:
    frame = pl.DataFrame({"number": range(100), "word": [str(each * each) for each in range(100)]})
    order = np.random.default_rng(3).permutation(100)
    one, other = design(frame=frame), design(frame=frame[order])
    assert set(one.runs[0].outside.tolist()) == set(order[other.runs[0].outside].tolist())


@pytest.mark.parametrize(("adjacency", "columns"), [("add-remove", 1), ("replace", 2)])
def test_canaries_are_people_who_are_held_out_and_planted_by_coins(adjacency: Any, columns: Any) -> None:
    made = design(400, holdout=0.3, runs=5, canaries=Canaries(number=30), adjacency=adjacency)
    assert made.canaries.shape == (30, columns)
    every = made.canaries.ravel()
    assert np.unique(every).size == every.size
    for each in made.runs:
        planted = np.isin(made.canaries, each.given)
        # The second of a pair is in where the first is not.
        assert np.array_equal(planted[:, 0], each.coins)
        assert columns == 1 or np.array_equal(planted[:, 1], ~each.coins)
        assert np.intersect1d(np.concatenate([each.inside, each.outside]), every).size == 0
        assert each.outside.size == 120 - every.size
        assert each.inside.size == 280
        assert np.array_equal(np.setdiff1d(each.given, every), each.inside)
    coins = np.concatenate([each.coins for each in made.runs])
    assert 50 < coins.sum() < 100  # of 150; each lies outside with a probability below 1 in 10,000


def test_unusual_rows_are_nobodys_and_the_last() -> None:
    made = design(100, planted=12, canaries=Canaries(number=12, kind="unusual"))
    assert np.array_equal(made.canaries.ravel(), np.arange(100, 112))
    assert made.runs[0].outside.size == 20
    assert made.runs[0].given.size == 80 + made.runs[0].coins.sum()


@pytest.mark.parametrize(
    ("rows", "settings", "said"),
    [
        (39, {}, "Audit at least 40 people"),
        (90, {}, "such as 0.23"),
        (90, {"folds": 5}, "Take fewer folds"),
        (100, {"holdout": 0.9}, "90 of 100 people are held out"),
        (200, {"canaries": Canaries(number=21)}, "at most 20 canaries"),
        (200, {"canaries": Canaries(number=15), "adjacency": "replace"}, "at most 10 canaries"),
        (200, {"canaries": Canaries(number=5), "person": np.arange(200) // 2}, "N:outliers"),
    ],
)
def test_too_few_people_to_hold_out_are_refused(rows: Any, settings: Any, said: Any) -> None:
    with pytest.raises(InputError, match=said):
        design(rows, **settings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"holdout": 0}, "holdout must lie between 0 and 1, both excluded"),
        ({"holdout": 0.2, "folds": 2}, "exclude each other"),
        ({"folds": 2, "canaries": Canaries(number=3)}, "canaries and folds exclude"),
    ],
)
def test_what_cannot_be_told_together_is_refused(settings: Any, said: Any) -> None:
    with pytest.raises(InputError, match=said):
        GeneratorSettings(generator="shuffle", **settings)


@pytest.mark.parametrize("told", ["", "0", "-3", "ten", "5:rare", "5:", "1.5"])
def test_canaries_are_a_number_and_perhaps_what_they_are(told: Any) -> None:
    if told == "5:":
        assert Canaries.read(told) == Canaries(number=5)
        return
    with pytest.raises(InputError, match="such as 200:outliers"):
        Canaries.read(told)
