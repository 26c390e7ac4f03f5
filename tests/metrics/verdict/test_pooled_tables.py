"""The pool: who is whose, which records are equal, and what depends on the order of rows (nothing)."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from tests.metrics.verdict.made_up import draws, release
from tests.oracles.records import Rows, rows_of_people, table
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.verdict.pooled_tables import pool_tables


@given(rows_of_people, rows_of_people)
def test_records_are_equal_where_rows_are_and_missing_equals_missing(original: Rows, released: Rows) -> None:
    pool = pool_tables(Release(table(original), table(released)))
    rows, number = [*original, *released], [*pool.record.tolist(), *pool.released_record.tolist()]
    for one, mine in zip(rows, number, strict=True):
        assert [each == mine for each in number] == [other == one for other in rows]
    owners = [sum(record == each for record in pool.record) for each in range(pool.records)]
    assert pool.owners.tolist() == owners


def test_numbers_are_compared_exactly() -> None:
    # Neighbours in the middle of a wide range are not equal, and neither is what differs by a sixteenth digit.
    values = [0.1, 0.1 + 2**-55, 1e300, -0.0, 0.0, None, 7.0, 7 + 1e-15]
    frame = pl.DataFrame({"x": values})
    original = Table.from_frame(frame, kinds={"x": "number"}, roles={"x": "known"})
    released = Table.from_frame(pl.DataFrame({"x": [7, 0]}), kinds={"x": "number"}, roles={"x": "known"})
    pool = pool_tables(Release(original, released))
    assert np.isin(pool.record, pool.released_record).tolist() == [False] * 3 + [True] * 2 + [False, True, False]


def test_people_with_several_rows() -> None:
    original, control = draws(1, 5, 4)
    pool = pool_tables(
        release(original, original, control), ids=["b", "a", None, "b", None], control_ids=["b", "b", "c", "d"]
    )
    assert pool.person.tolist() == [1, 0, 2, 1, 3, 4, 4, 5, 6]
    assert (pool.members, pool.others, pool.people) == (4, 3, 7)
    assert pool.is_member.tolist() == [True] * 4 + [False] * 3
    assert pool.first_row[1] == min((0, 3), key=lambda row: pool.record[row])
    assert pool.of_people(np.arange(9) == 3).tolist() == [False, True] + [False] * 5
    with pytest.raises(InputError, match="control_ids has 3 values for 4 rows"):
        pool_tables(release(original, original, control), control_ids=["a"] * 3)


def test_the_order_of_people_is_that_of_their_records() -> None:
    original, control, released = draws(2, 40, 30, 20)
    rng = np.random.default_rng(1)
    orders = rng.permutation(40), rng.permutation(30)
    ids = rng.integers(0, 25, 40)
    one = pool_tables(release(original, released, control), ids=ids)
    other = pool_tables(release(original[orders[0]], released, control[orders[1]]), ids=ids[orders[0]])
    first, second = (pool.record[pool.first_row][pool.by_content] for pool in (one, other))
    assert first.tolist() == second.tolist() == sorted(first.tolist())
    assert sorted(one.rarity.tolist()) == sorted(other.rarity.tolist())
    assert (
        one.by_content[one.by_content < one.members].tolist()
        == other.by_content[other.by_content < other.members].tolist()
    )
