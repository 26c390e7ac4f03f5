"""What holds for every protection of tables that is listed, whatever it does."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from tests.protections.tables import AWKWARD, applied, people, refuses, released_or_refused, table, truth_of
from tests.randomness import shared_state
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections import PROTECTIONS, Protection, TableProtection

OF_TABLES = [one for one in PROTECTIONS.values() if one.on == "table"]
each = pytest.mark.parametrize("protection", OF_TABLES, ids=lambda one: one.name)
each_masked = pytest.mark.parametrize(
    "protection", [one for one in OF_TABLES if one.kind == "masked"], ids=lambda one: one.name
)
each_table = pytest.mark.parametrize("make", AWKWARD.values(), ids=AWKWARD)


@each
@each_table
def test_a_release_has_the_columns_and_rows_of_the_original(protection: Protection, make: Callable[[], Table]) -> None:
    original = make()
    release = released_or_refused(protection, original)
    if release is None:
        return
    kept = [column for column in original.columns if column.role != "identifier"]
    assert isinstance(release, Release)
    assert (release.kind, release.control) == (protection.kind, None)
    assert release.released.rows == original.rows
    assert [(column.name, column.kind, column.role) for column in release.released.columns] == [
        (column.name, column.kind, column.role) for column in kept
    ]
    for column in release.released.columns:
        values, before = (frame[column.name].alias("values") for frame in (release.released.frame, original.frame))
        assert column.missing == values.null_count()
        if not protection.new_values:
            assert values.dtype == before.dtype
            assert set(values.drop_nulls().to_list()) <= set(before.drop_nulls().to_list())
        if "values" in protection.keeps:
            assert values.sort().equals(before.sort())
        if "means" in protection.keeps and column.kind == "number" and before.null_count() < before.len():
            old, new = (part.cast(pl.Float64).drop_nulls().to_numpy() for part in (before, values))
            assert new.mean() == pytest.approx(old.mean(), abs=1e-12 * np.abs(old).max())


def suited(protection: Protection) -> Table:
    """Return made-up people whom the protection can be used on: with gaps, where it bears them."""
    original = people()
    if refuses(protection, original) is False:
        return original
    frame = original.frame.with_columns(original.frame["income"].fill_null(0.0))
    return Table.from_frame(frame, name="original", roles={"person_id": "identifier", "remark": "ignored"})


@each
def test_one_seed_gives_one_release_and_another_seed_another(protection: Protection) -> None:
    original = suited(protection)
    first, again, other = (applied(protection.make(), original, seed).released.frame for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


@each
def test_the_original_and_other_generators_are_left_as_they_were(protection: Protection) -> None:
    original = suited(protection)
    before, columns, state = original.frame.clone(), original.columns, shared_state()
    release = applied(protection.make(), original)
    assert shared_state() == state
    assert original.frame.equals(before)
    assert original.columns == columns
    assert "person_id" in original.column_names
    assert "person_id" not in release.released.column_names


@each_masked
def test_a_masked_release_knows_whose_each_row_is(protection: Protection) -> None:
    # A column that is told to stay as it is, or a window of one row, would still give rows away by their order.
    original = suited(protection)
    release = applied(protection.make(), original)
    truth = truth_of(release)
    np.testing.assert_array_equal(np.sort(truth), np.arange(original.rows))
    assert (truth == np.arange(original.rows)).sum() < 10


def test_a_synthetic_row_is_nobodys() -> None:
    synthetic = [one for one in OF_TABLES if one.kind == "synthetic"]
    assert synthetic
    assert all(applied(one.make(), people()).truth is None for one in synthetic)


@each
def test_a_table_of_identifiers_only_is_refused(protection: Protection) -> None:
    original = Table.from_frame(pl.DataFrame({"a": [1, 2], "b": [3, 4]}), roles=dict.fromkeys("ab", "identifier"))
    with pytest.raises(InputError, match="all 2 columns of the table are direct identifiers, so none can be released"):
        protection.make().apply(original, rng=np.random.default_rng(1))


def order(rows: int, release: Callable[[int], NDArray[np.int64]], draws: int) -> NDArray[np.int64]:
    """Return how often released row 0 is each of the original's rows."""
    return np.bincount([release(seed)[0] for seed in range(draws)], minlength=rows)


@pytest.mark.unwatched
@each_masked
def test_every_order_of_rows_is_as_likely(protection: Protection) -> None:
    original = table(age=[1, 2, 3, 4], pet=list("abab"))
    made: TableProtection = protection.make()
    found = order(4, lambda seed: truth_of(applied(made, original, seed)), 400)
    # 100 each are expected; 5 standard deviations of a count are 43.
    assert found.min() > 57
    assert found.max() < 143
