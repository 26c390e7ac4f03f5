"""A candidate set holds every original row that a released row can come from, by rules that are written down."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.linkers import fitting_rows
from unveil.attacks.table import _candidate_boxes
from unveil.attacks.table.candidate_set import CandidateSet
from unveil.data.table import Role, Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.posterior import record_level_truth
from unveil.protections.table.generalization import Generalization

RNG = np.random.default_rng(1)
KINDS = {"age": "number", "town": "category"}
KNOWN: dict[str, Role] = {"age": "known", "town": "known"}
people = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 4)), st.sampled_from([None, "a", "b", "c"])), min_size=1, max_size=7
)
shown = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 4)), st.sampled_from([None, "*", "a", "a | c", "b | c | z"])),
    min_size=1,
    max_size=7,
)


def table(rows: list[tuple[Any, Any]], name: str = "table") -> Table:
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "town": pl.String}, orient="row")
    return Table.from_frame(frame, name=name, kinds=KINDS, roles=KNOWN)


def sets(guess: Beliefs) -> list[set[int]]:
    assert all(len(mass.sets) == 1 for mass in guess.each)
    return [set(mass.sets[0].tolist()) for mass in guess.each]


def attacked(original: Table, released: Table, attack: CandidateSet) -> list[set[int]]:
    return sets(attack.run(released=released, knowledge=Knowledge(original), rng=RNG))


def columns(rows: list[tuple[Any, Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


@given(people, shown, st.sampled_from([0.0, 1.0]))
def test_the_sets_are_those_of_the_rules(original: list[Any], released: list[Any], reach: float) -> None:
    ages = [age for age, _ in original if age is not None]
    most = int(reach * np.std(ages)) if ages else 0
    expected = fitting_rows(columns(original), columns(released), [most, 0])
    attack = CandidateSet(reach=reach)
    if all(expected):
        assert attacked(table(original), table(released, "released"), attack) == expected
    else:
        empty = sum(not rows for rows in expected)
        with pytest.raises(InputError, match=f"{empty} of {len(released)} rows of the released fit no original row"):
            attacked(table(original), table(released, "released"), attack)


@given(people)
def test_fewer_columns_leave_more_rows_and_never_miss_the_right_one(rows: list[Any]) -> None:
    every = attacked(table(rows), table(rows), CandidateSet())
    for name in KINDS:
        fewer = attacked(table(rows), table(rows), CandidateSet(columns=(name,)))
        assert all(one <= other for one, other in zip(every, fewer, strict=True))
    assert all(row in rows for row, rows in enumerate(every))


def test_equal_released_rows_share_one_belief() -> None:
    rows = [(1, "a"), (2, "b"), (1, "a")]
    guess = CandidateSet().run(released=table(rows), knowledge=Knowledge(table(rows)), rng=RNG)
    assert guess.each[0] is guess.each[2]


@pytest.mark.parametrize("k", [2, 4])
def test_with_the_mechanism_it_is_the_support_of_the_true_probability(k: int) -> None:
    rng = np.random.default_rng(k)
    rows = list(zip(rng.integers(0, 9, 40).tolist(), rng.choice(["a", "b", "c", "d"], 40).tolist(), strict=True))
    release = Generalization(k=k).apply(table(rows), rng=rng)
    assert release.mechanism is not None
    assert release.truth is not None
    truth = record_level_truth(release.mechanism, release.original, release.released)
    expected = [set(truth.candidate[a:b].tolist()) for a, b in zip(truth.start, truth.start[1:], strict=False)]
    found = attacked(release.original, release.released, CandidateSet(mechanism=release.mechanism))
    assert found == expected
    assert all(true in rows for true, rows in zip(release.truth.tolist(), found, strict=True))
    # Towns are shown as lists, which need no mechanism.
    towns = attacked(release.original, release.released, CandidateSet(columns=("town",)))
    assert towns == attacked(
        release.original, release.released, CandidateSet(columns=("town",), mechanism=release.mechanism)
    )


def test_ranges_of_numbers_are_read() -> None:
    original = Table.from_frame(pl.DataFrame({"age": [19, 20, 29, 30, 65, None]}), name="original")
    cells = ["20-29", "[20, 30)", "(20, 30]", "20..30", "<20", "<= 20", ">30", "65+", "≥30", "30", "*", None]
    released = Table.from_frame(pl.DataFrame({"age": cells}), name="released", kinds={"age": "category"})
    everybody = {0, 1, 2, 3, 4, 5}
    assert attacked(original, released, CandidateSet(columns=("age",))) == [
        {1, 2}, {1, 2}, {2, 3}, {1, 2, 3}, {0}, {0, 1}, {4}, {4}, {3, 4}, {3}, everybody, everybody,
    ]  # fmt: skip
    strange = Table.from_frame(pl.DataFrame({"age": ["20-29", "young", "old"]}), kinds={"age": "category"})
    with pytest.raises(
        InputError, match=r"67 % of the cells of the table are no such values, ranges or stars"
    ) as caught:
        attacked(original, strange, CandidateSet(columns=("age",)))
    assert "young" not in str(caught.value)


def test_columns_are_those_the_adversary_knows_unless_told() -> None:
    frame = pl.DataFrame({"age": [1, 2], "illness": ["flu", "gout"]})
    original = Table.from_frame(frame, roles={"illness": "sensitive", "age": "known"}, name="original")
    released = Table.from_frame(frame.with_columns(age=pl.Series([1, 1])), name="released")
    assert attacked(original, released, CandidateSet()) == [{0}, {0}]
    assert attacked(original, released, CandidateSet(columns=("illness",))) == [{0}, {1}]
    with pytest.raises(InputError, match="the original and the released share no quasi-identifier"):
        attacked(original.select(["illness"]), released, CandidateSet())
    with pytest.raises(InputError, match="column 'aeg' is not in the original"):
        attacked(original, released, CandidateSet(columns=("aeg",)))


def test_a_column_of_missing_or_equal_values_leaves_everybody() -> None:
    original = table([(5, None), (5, None), (5, None)])
    assert attacked(original, table([(5, None)]), CandidateSet()) == [{0, 1, 2}]


def test_sets_of_very_many_members_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_candidate_boxes, "MOST_MEMBERS", 8)
    rows = [(1, "a")] * 9
    with pytest.raises(InputError, match="the candidate sets have more than 8 members together"):
        attacked(table(rows), table(rows), CandidateSet())


@pytest.mark.parametrize("reach", [-1.0, float("nan"), float("inf")])
def test_reach_is_checked(reach: float) -> None:
    with pytest.raises(InputError, match="it must be a finite number of at least 0"):
        CandidateSet(reach=reach)
