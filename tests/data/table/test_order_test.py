import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.kinds import best_order, order_share
from unveil.data.table import Table
from unveil.data.table._build import ORDERS, CodeOrderTest, features_of, order_test, rows_for_test
from unveil.data.table.coded_columns import CellFrame


@given(
    st.integers(3, 5),
    st.lists(
        st.tuples(st.none() | st.integers(0, 4), st.none() | st.integers(0, 9), st.integers(0, 9)),
        min_size=8,
        max_size=40,
    ),
)
def test_the_share_is_that_of_the_definition(size: int, rows: list[tuple[int | None, int | None, int]]) -> None:
    codes = [*range(size), *(None if code is None else code % size for code, _, _ in rows)]
    one = [*range(size), *(cell for _, cell, _ in rows)]
    other = [*range(size), *(cell + (code or 0) for code, _, cell in rows)]
    features = np.array([[np.nan if a is None else a, b] for a, b in zip(one, other, strict=True)], float)
    test = order_test(pl.Series(codes), features)
    expected = order_share(codes, [one, other], range(size))
    assert test.codes == size
    if np.isnan(expected):
        assert np.isnan(test.share)
        assert not test.is_ordered
        return
    assert test.share == pytest.approx(expected)
    drawn = np.random.default_rng(0)
    orders = [drawn.permutation(size).tolist() for _ in range(ORDERS)]
    distinct = {tuple(order): order_share(codes, [one, other], order) for order in orders}
    assert test.as_good == sum(distinct[tuple(order)] >= expected - 1e-9 for order in orders)
    assert test.best == (size == 3 and best_order(codes, [one, other]) <= expected + 1e-9)


@pytest.mark.parametrize(
    ("test", "ordered"),
    [
        (CodeOrderTest(4, 0.5, 20, best=False), True),
        (CodeOrderTest(4, 0.49, 0, best=False), False),
        (CodeOrderTest(4, 0.9, 21, best=False), False),
        (CodeOrderTest(5, 0.2, 4, best=False), True),
        (CodeOrderTest(5, 0.2, 5, best=False), False),
        (CodeOrderTest(5, 0.19, 0, best=False), False),
        (CodeOrderTest(3, 0.8, 70, best=True), True),
        (CodeOrderTest(3, 0.8, 0, best=False), False),
        (CodeOrderTest(3, 0.79, 0, best=True), False),
        (CodeOrderTest(6, float("nan"), 0, best=False), False),
    ],
)
def test_what_counts_as_an_order(test: CodeOrderTest, ordered: bool) -> None:
    assert test.is_ordered == ordered


def test_features_are_ranks_and_the_six_most_frequent_words() -> None:
    words = ["b", "b", "a", "a", "c", "d", "e", "f", "g", None]
    numbers, texts, truth = features_of(
        [pl.Series([30.0, 10.0, 20.0, 20.0, None, *range(5)]), pl.Series(words), pl.Series([True, None] * 5)]
    )
    assert numbers[:4, 0].tolist() == [9.0, 6.0, 7.5, 7.5]
    assert np.isnan(numbers[4, 0])
    assert texts.shape == (10, 6)
    assert texts[:3, :2].tolist() == [[0, 1], [0, 1], [1, 0]]
    assert texts[8].sum() == 0
    assert np.isnan(texts[9]).all()
    assert truth[0, 0] == 1


def test_of_many_rows_those_are_looked_at_that_have_certain_contents() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"q": rng.integers(1, 6, 30_000), "pay": rng.normal(0, 1, 30_000), "town": rng.integers(0, 9, 30_000)}
    )
    frame = frame.with_columns(pay=pl.col("pay") + pl.col("q") * 0.1)
    turned = frame.sample(fraction=1, shuffle=True, seed=2)
    rows, others = (rows_for_test(CellFrame(each.to_dict())) for each in (frame, turned))
    assert rows is not None
    assert others is not None
    assert frame[rows].sort(frame.columns).equals(turned[others].sort(frame.columns))
    assert rows.size == 20_000
    settled = [Table.from_frame(each).column("q") for each in (frame, turned)]
    assert settled[0].kind == "ordered"
    assert settled[0].reason == settled[1].reason
    assert rows_for_test(CellFrame(frame.head(20_000).to_dict())) is None
