"""Several releases about the same people: what all of them leave possible, and a contradiction where none is."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.attacks.table.candidate_set import CandidateSet
from unveil.attacks.table.nearest import Nearest, Softmax
from unveil.attacks.table.several_releases import SeveralReleases, as_beliefs
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import Candidates

RNG = np.random.default_rng(1)
rows = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=7)


def table(columns: Mapping[str, Sequence[object]], name: str = "table") -> Table:
    return Table.from_frame(pl.DataFrame(columns), name=name, roles=dict.fromkeys(columns, "known"))


def sets(guess: Beliefs) -> list[set[int]]:
    return [set(mass.sets[0].tolist()) for mass in guess.each]


@given(rows, st.data())
def test_candidate_sets_are_intersected(people: list[tuple[int, ...]], data: st.DataObject) -> None:
    names = ("a", "b", "c")
    original = table({name: [row[place] for row in people] for place, name in enumerate(names)}, "original")
    releases = []
    for name in names:
        order = data.draw(st.permutations(range(len(people))))
        columns: dict[str, Sequence[object]] = {
            name: [people[row][names.index(name)] for row in order],
            "key": [f"p{row}" for row in order],
        }
        releases.append(table(columns, f"release of {name}"))
    attack = SeveralReleases(others=tuple(releases[1:]), key="key")
    guess = attack.run(released=releases[0], knowledge=Knowledge(original), rng=RNG)
    behind = [int(key[1:]) for key in releases[0].frame["key"].to_list()]
    assert sets(guess) == [{i for i, row in enumerate(people) if row == people[person]} for person in behind]


def test_by_position_and_with_an_attack_for_each() -> None:
    original = table({"a": [1, 1, 2], "b": [10, 20, 20]}, "original")
    attack = SeveralReleases(others=(table({"b": [11, 19]}),), attacks=(CandidateSet(), Nearest()))
    guess = attack.run(released=table({"a": [1, 1]}), knowledge=Knowledge(original), rng=RNG)
    assert sets(guess) == [{0}, {1}]
    alone = SeveralReleases().run(released=table({"a": [1, 2]}), knowledge=Knowledge(original), rng=RNG)
    assert sets(alone) == [{0, 1}, {2}]


def test_a_row_that_another_release_lacks_learns_nothing() -> None:
    original = table({"a": [1, 1], "b": [1, 2]}, "original")
    one = table({"a": [1, 1], "key": ["x", None]})
    other = table({"b": [1], "key": ["x"]})
    guess = SeveralReleases(others=(other,), key="key").run(released=one, knowledge=Knowledge(original), rng=RNG)
    assert sets(guess) == [{0}, {0, 1}]


def test_a_probability_is_conditioned_on_who_is_possible() -> None:
    original = table({"a": [1, 2, 3], "b": [1, 1, 2]}, "original")
    attack = SeveralReleases(others=(table({"b": [1]}),), attacks=(Softmax(), CandidateSet()), conflict="normalize")
    (mass,) = attack.run(released=table({"a": [2]}), knowledge=Knowledge(original), rng=RNG).each
    alone = Softmax().run(released=table({"a": [2]}), knowledge=Knowledge(original), rng=RNG).probability
    elements, probability = mass.pignistic()
    assert elements.tolist() == [0, 1]
    np.testing.assert_allclose(probability, alone[:2] / alone[:2].sum())


def test_releases_that_contradict_each_other_are_refused() -> None:
    original = table({"a": [1, 2], "b": [1, 2]}, "original")
    attack = SeveralReleases(others=(table({"b": [2]}),))
    with pytest.raises(InputError, match=r"the releases contradict each other at row 1 \(counted from 1 below the"):
        attack.run(released=table({"a": [1]}), knowledge=Knowledge(original), rng=RNG)


def test_bad_input() -> None:
    original = table({"a": [1, 2], "b": [1, 2]}, "original")
    with pytest.raises(InputError, match="releases matched row by row differ in length: the one has 2 rows and the"):
        SeveralReleases(others=(table({"b": [2]}, "other"),)).run(
            released=table({"a": [1, 2]}, "one"), knowledge=Knowledge(original), rng=RNG
        )
    twice = table({"a": [1, 2], "key": ["x", "x"]}, "twice")
    with pytest.raises(InputError, match="column 'key' of the twice repeats 1 values, but must identify people"):
        SeveralReleases(others=(twice,), key="key").run(released=twice, knowledge=Knowledge(original), rng=RNG)
    with pytest.raises(InputError, match="there are 3 attacks for 2 releases"):
        SeveralReleases(others=(twice,), attacks=(CandidateSet(),) * 3)
    with pytest.raises(InputError, match="some further releases are not tables"):
        SeveralReleases(others=("file.csv",))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Unknown conflict setting"):
        SeveralReleases(conflict="ignore")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="an attack left a guess about 1 of 2 rows of its release"):
        SeveralReleases(attacks=(Softmax(targets=1),)).run(
            released=table({"a": [1, 2]}), knowledge=Knowledge(original), rng=RNG
        )


def test_a_target_that_was_not_attempted_may_be_anybody() -> None:
    beliefs = as_beliefs(Candidates.from_matrix([[0, 0], [1, 0]], normalize=True), 2)
    assert sets(beliefs) == [{0, 1}, {0}]
