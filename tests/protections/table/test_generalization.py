"""Generalization: each column on its own, and as many rows as told share what is shown."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protections.masks import aligned, is_even_over, posterior, release_with
from tests.protections.tables import people, table
from unveil.errors import InputError
from unveil.protections.table.generalization import Generalization


def test_the_example_of_the_paper() -> None:
    # Six records with the values 18, 16, 19, 22, 24, 24 and k = 3: the intervals hold three records each.
    original = table(age=[18, 16, 19, 22, 24, 24])
    release = release_with(Generalization(k=3), original)
    before, after = aligned(release)
    young = (before["age"] < 20).to_numpy()
    np.testing.assert_allclose(after["age"].to_numpy()[young], 53 / 3)
    np.testing.assert_allclose(after["age"].to_numpy()[~young], 70 / 3)
    is_even_over(posterior(release), young[:, None] == (original.frame["age"] < 20).to_numpy())


@settings(max_examples=22)
@given(st.integers(5, 80), st.integers(0, 2**32))
def test_every_column_has_as_many_rows_for_each_value_as_told(n: int, seed: int) -> None:
    names = ("age", "income", "town", "level", "born")
    sizes = (2, 3, 4, 5, 3)
    release = release_with(Generalization(columns=names, k=sizes), people(n, seed), seed)
    before, after = aligned(release)
    for name, k in zip(names, sizes, strict=True):
        counts = after[name].drop_nulls().value_counts()["count"]
        if before[name].len() - before[name].null_count() >= k:
            assert int(counts.min()) >= k  # type: ignore[arg-type]
        assert after[name].is_null().equals(before[name].is_null())
        # Global recoding: who had the same shows the same.
        pairs = {(old, new) for old, new in zip(before[name], after[name], strict=True)}
        assert len(pairs) == len({old for old, _ in pairs})


def test_rare_categories_come_together_and_frequent_ones_stay() -> None:
    original = table(town=["a"] * 9 + ["b"] * 5 + ["c"] * 2 + ["d"])
    shown = release_with(Generalization(k=3), original).released.frame["town"].value_counts().sort("count")
    assert shown.rows() == [("c | d", 3), ("b", 5), ("a", 9)]
    shown = release_with(Generalization(k=4), original).released.frame["town"].value_counts().sort("count", "town")
    assert shown.rows() == [("b | c | d", 8), ("a", 9)]


def test_a_boolean_that_could_be_either_is_missing() -> None:
    original = table(smoker=[True] * 5 + [False] * 2)
    assert release_with(Generalization(k=3), original).released.frame["smoker"].null_count() == 7
    assert release_with(Generalization(k=2), original).released.frame["smoker"].null_count() == 0


def test_the_true_probability_is_even_over_the_candidates_of_all_columns() -> None:
    original = people().select(["age", "income", "town", "smoker"])
    release = release_with(Generalization(k=20), original)
    before, after = aligned(release)
    members = np.ones((200, 200), bool)
    for name in ("age", "income", "town", "smoker"):
        shown = dict(zip(before[name], after[name], strict=True))
        of_all = [shown[value] for value in original.frame[name]]
        members &= np.array([[new == other for other in of_all] for new in after[name]])
    is_even_over(posterior(release), members)
    assert members.sum(axis=1).min() < 20  # several columns together need not be k-anonymous


def test_too_few_of_a_kind_are_said() -> None:
    release = release_with(Generalization(), table(age=[1, 2, 3, 4, None], size=[1, None, None, None, 2]))
    assert "column 'age' has fewer than 3 missing values, which stay missing" in release.notes
    assert "column 'size' has fewer than 3 values, which all show the same" in release.notes


@pytest.mark.parametrize(
    "settings", [{"k": (3, 4)}, {"columns": ("a",), "k": (3, 4)}, {"columns": ("a", "b"), "k": (3,)}]
)
def test_sizes_must_fit_the_columns(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="named columns"):
        Generalization(**settings)
