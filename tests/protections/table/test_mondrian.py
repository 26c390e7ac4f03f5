"""Mondrian: classes as the definition cuts them, k-anonymous, and everybody in a class alike."""

from datetime import datetime

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.masking import mondrian
from tests.protections.masks import aligned, is_even_over, posterior, release_with
from tests.protections.tables import people, table, truth_of
from unveil.data.table import Table
from unveil.protections.table.mondrian import Mondrian, mondrian_classes


@settings(max_examples=24)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(2, 6), st.integers(1, 12), st.integers(0, 2**32))
def test_the_classes_are_those_of_the_definition(n: int, m: int, k: int, steps: int, seed: int) -> None:
    position = np.random.default_rng(seed).integers(0, steps + 1, (n, m)) / steps
    found = mondrian_classes(position, k)
    classes = {frozenset(np.flatnonzero(found == number).tolist()) for number in set(found.tolist())}
    assert classes == mondrian(position, k)


@settings(max_examples=22)
@given(st.integers(3, 80), st.integers(2, 3), st.integers(0, 2**32))
def test_every_row_is_the_same_as_k_others_in_columns_of_all_kinds(n: int, k: int, seed: int) -> None:
    release = release_with(Mondrian(k=k), people(n, seed), seed)
    names = ["age", "income", "town", "level", "born", "smoker"]
    assert int(release.released.frame.group_by(names).len()["len"].min()) >= k  # type: ignore[arg-type]


def test_a_class_shows_what_its_members_have_in_common() -> None:
    frame = pl.DataFrame(
        {
            "age": [20, 22, 24, 60, 62, 70],
            "town": ["Ulm", "Ulm", "Bonn", "Jena", "Jena", None],
            "born": [datetime(2000, 1, day) for day in (1, 2, 3, 10, 11, 15)],
            "level": ["low", "low", "high", "high", "middle", "low"],
            "smoker": [True, True, True, True, False, None],
        }
    )
    original = Table.from_frame(frame, kinds={"level": ["low", "middle", "high"]})
    shown = release_with(Mondrian(k=3), original).released.frame.unique().sort("age")
    assert shown.rows() == [
        (22.0, "Bonn | Ulm", datetime(2000, 1, 2), "low", True),
        (64.0, "Jena", datetime(2000, 1, 12), "middle", None),
    ]


def test_the_true_probability_is_even_over_the_class() -> None:
    release = release_with(Mondrian(k=5), people())
    names = ["age", "income", "town", "level", "born", "smoker"]
    classes = release.released.frame.select(pl.struct(names).rank("dense").alias("class"))["class"].to_numpy()
    members = np.zeros((200, 200), bool)
    members[:, truth_of(release)] = classes[:, None] == classes[None, :]
    is_even_over(posterior(release, names), members)
    assert members.sum(axis=1).min() >= 5
    # The remark stayed, and names everybody.
    np.testing.assert_array_equal(posterior(release).argmax(axis=1), truth_of(release))


def test_columns_that_an_adversary_does_not_know_stay() -> None:
    original = Table.from_frame(
        pl.DataFrame({"age": range(20), "illness": ["a", "b"] * 10}), roles={"age": "known", "illness": "sensitive"}
    )
    before, after = aligned(release_with(Mondrian(), original))
    assert after["illness"].equals(before["illness"])
    both = release_with(Mondrian(columns=("age", "illness"), k=10), original).released.frame
    assert set(both["illness"].to_list()) == {"a | b"}


def test_equal_rows_are_never_parted() -> None:
    before, after = aligned(release_with(Mondrian(), table(age=[1] * 50 + [2] * 50 + [9] * 2)))
    assert after["age"].n_unique() == 2
    assert pl.DataFrame({"old": before["age"], "new": after["age"]}).unique().height == 3
