"""Tables that were brought together once are not read again, and whatever may hold other values is."""

from dataclasses import replace

import polars as pl

from unveil.data.table import Table, agree, stacked


def test_rows_and_columns_of_tables_that_agree_still_do() -> None:
    people = Table.from_frame(pl.DataFrame({"age": [31, 40, 52], "town": ["a", "b", "a"]}))
    released = Table.from_frame(pl.DataFrame({"age": ["30-39", "40-59"], "town": ["b", "a"]}))
    one, other = agree(people, released)
    parts = (one.select(["age"]).take([2, 0]), other.select(["age"]))
    assert all(mine is theirs for mine, theirs in zip(agree(*parts), parts, strict=True))
    far = stacked([one, one], ["age"]).extremes()
    assert agree(*parts, far)[2] is far
    # Of other columns, of other tables, or with other cells nothing is known yet.
    for others in ([one, other.select(["town"])], [one, released], [one, replace(other, cells=None)]):
        first, second = agree(*others)
        assert second is not others[1]
        assert first.column_names == second.column_names
        assert agree(first, second)[0] is first
