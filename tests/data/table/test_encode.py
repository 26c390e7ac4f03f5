from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from tests.oracles.table_distance import Distance
from unveil.data.table import Table, agree
from unveil.data.table.encode import MISSING, EncodedTable, encode

LARGEST = 2**61

CELLS: dict[str, tuple[str, Any, st.SearchStrategy[Any]]] = {
    "whole": ("number", pl.Int64, st.integers(-9, 40)),
    "tens": ("number", pl.Int64, st.integers(-3, 3).map(lambda x: 10 * x)),
    "cents": ("number", pl.Float64, st.integers(-40, 40).map(lambda x: x / 100)),
    "near": ("number", pl.Int64, st.integers(2**60, 2**60 + 6)),
    "huge": ("number", pl.Int128, st.integers(2**80, 2**80 + 6)),
    "day": ("date", pl.Date, st.integers(0, 12).map(lambda x: date(2020, 2, 25) + timedelta(days=x))),
    "moment": ("date", pl.Datetime("us"), st.integers(0, 9).map(lambda x: datetime(2020, 1, 1, 7, 30, x))),
    "level": ("ordered", pl.Enum(["low", "mid", "high", "top"]), st.sampled_from(["low", "mid", "high", "top"])),
    "word": ("category", pl.String, st.sampled_from(["a", "b", "B", " a", "ä"])),
    "truth": ("boolean", pl.Boolean, st.booleans()),
}
LEVELS = ["low", "mid", "high", "top"]

Rows = list[tuple[Any, ...]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[Rows]]:
    """Draw the sorts of up to five columns and the rows of an original, a released and a control table."""
    sorts = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    row = st.tuples(*(st.none() | CELLS[sort][2] for sort in sorts))
    return sorts, [draw(st.lists(row, min_size=1, max_size=6)) for _ in range(3)]


def table(sorts: Sequence[str], rows: Rows, name: str = "table") -> Table:
    columns = {f"{at}": pl.Series([row[at] for row in rows], dtype=CELLS[sort][1]) for at, sort in enumerate(sorts)}
    kinds: Any = {f"{at}": LEVELS if sort == "level" else CELLS[sort][0] for at, sort in enumerate(sorts)}
    return Table.from_frame(pl.DataFrame(columns), name=name, kinds=kinds)


def plain(sorts: Sequence[str], rows: Rows) -> Rows:
    """Return the rows with levels as their places, for the oracle."""
    return [
        tuple(LEVELS.index(cell) if sort == "level" and cell else cell for sort, cell in zip(sorts, row, strict=True))
        for row in rows
    ]


def distance(one: EncodedTable, i: int, other: EncodedTable, j: int) -> int:
    """Return the distance of row i and row j as the docstring of Encoded defines it, in Python's integers."""
    total = int((one.codes[i] != other.codes[j]).sum()) * one.mismatch_cost
    for at, step in enumerate(one.step_cost.tolist()):
        a, b = int(one.numbers[i, at]), int(other.numbers[j, at])
        if (a == MISSING) != (b == MISSING):
            total += one.mismatch_cost
        else:
            total += abs(a - b) * step
    return total


@given(tables())
def test_distances_are_the_exact_fractions(drawn: tuple[list[str], list[Rows]]) -> None:
    sorts, rows = drawn
    encoded = encode([table(sorts, each) for each in rows], [f"{at}" for at in range(len(sorts))])
    original, released, control = (plain(sorts, each) for each in rows)
    expected = Distance([CELLS[sort][0] for sort in sorts], original + released)
    # Spans of these cells have a small common multiple, so nothing may be rounded.
    assert all(each.exact for each in encoded)
    for people, own in ((original, encoded[0]), (control, encoded[2])):
        for (i, one), (j, other) in product(enumerate(people), enumerate(released)):
            found = distance(own, i, encoded[1], j)
            assert found <= LARGEST
            assert Fraction(found, own.mismatch_cost) == expected(one, other)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(drawn: tuple[list[str], list[Rows]], random: Any) -> None:
    sorts, rows = drawn
    names = [f"{at}" for at in range(len(sorts))]
    orders = [random.sample(range(len(each)), len(each)) for each in rows]
    shuffled = [[each[at] for at in order] for each, order in zip(rows, orders, strict=True)]
    before = encode([table(sorts, each) for each in rows], names)
    after = encode([table(sorts, each) for each in shuffled], names)
    for one, other, order in zip(before, after, orders, strict=True):
        assert (one.numbers[order] == other.numbers).all()
        assert (one.codes[order] == other.codes).all()
        assert (one.step_cost == other.step_cost).all()
        assert one.mismatch_cost == other.mismatch_cost


@given(st.lists(st.tuples(*[st.none() | st.integers(0, 10**9)] * 6), min_size=2, max_size=8))
def test_where_not_all_fits_a_column_stays_exact_and_a_sum_is_nearly_right(rows: Rows) -> None:
    sorts = ["whole"] * 6
    names = [f"{at}" for at in range(6)]
    people = table(sorts, rows)
    (encoded,) = encode([people], names)
    expected = Distance(["number"] * 6, rows)
    for i, j in product(range(len(rows)), repeat=2):
        found, exact = distance(encoded, i, encoded, j), expected(rows[i], rows[j])
        assert found <= LARGEST
        if encoded.exact:
            assert Fraction(found, encoded.mismatch_cost) == exact
        else:
            assert abs(Fraction(found, encoded.mismatch_cost) - exact) <= exact / 250
    for at in range(6):
        if len({row[at] for row in rows}) > 1:
            _same_order(encoded, at, [row[at] for row in rows])


def _same_order(encoded: EncodedTable, at: int, cells: Sequence[int | None]) -> None:
    """Check that the pairs of a column have the same order and the same ties as the differences of its cells."""
    filled = [i for i, cell in enumerate(cells) if cell is not None]
    pairs = [(i, j) for i, j in product(filled, repeat=2)]
    wanted = [abs((cells[i] or 0) - (cells[j] or 0)) for i, j in pairs]
    step = int(encoded.step_cost[at])
    found = [abs(int(encoded.numbers[i, at]) - int(encoded.numbers[j, at])) * step for i, j in pairs]
    assert np.unique(wanted, return_inverse=True)[1].tolist() == np.unique(found, return_inverse=True)[1].tolist()


def test_a_common_multiple_that_does_not_fit_is_said() -> None:
    primes = [499_979, 499_973, 499_969, 499_957]
    people = Table.from_frame(pl.DataFrame({f"{prime}": [0, 1, prime] for prime in primes}))
    (three,) = encode([people], [f"{prime}" for prime in primes[:3]])
    assert three.exact
    assert three.mismatch_cost == 499_979 * 499_973 * 499_969
    (four,) = encode([people], [f"{prime}" for prime in primes])
    assert not four.exact
    # The widest columns stay exact, and what is left of 2**61 goes into the cost.
    assert four.mismatch_cost % (499_979 * 499_973 * 499_969) == 0
    assert LARGEST // 16 < four.mismatch_cost <= LARGEST // 4
    assert four.step_cost.tolist() == [round(Fraction(four.mismatch_cost, prime)) for prime in primes]


@pytest.mark.parametrize("cells", [[0, 1, 2**62], [-(2**63), 5, 2**63 - 1], [0, 3, 10**30], [-(10**35), 0, 10**35]])
def test_spans_beyond_a_machine_word_are_put_on_fewer_steps(cells: list[int]) -> None:
    people = Table.from_frame(pl.DataFrame({"x": pl.Series(cells, dtype=pl.Int128), "y": [0, 1, 3]}))
    (encoded,) = encode([people], ["x", "y"])
    assert not encoded.exact
    expected = Distance(["number", "number"], list(zip(cells, [0, 1, 3], strict=True)))
    for i, j in product(range(3), repeat=2):
        found = Fraction(distance(encoded, i, encoded, j), encoded.mismatch_cost)
        assert abs(found - expected((cells[i], [0, 1, 3][i]), (cells[j], [0, 1, 3][j]))) < Fraction(1, 10**6)


def test_one_column_of_whole_numbers_is_exact_up_to_a_span_of_2_to_the_58() -> None:
    cells = [7, 8, 7 + 2**58]
    (encoded,) = encode([Table.from_frame(pl.DataFrame({"x": cells}))], ["x"])
    assert encoded.exact
    assert encoded.numbers[:, 0].tolist() == [0, 1, 2**58]
    assert (encoded.step_cost.tolist(), encoded.mismatch_cost) == ([1], 2**58)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=6))
def test_real_numbers_are_right_to_2_to_the_minus_38_of_the_span(cells: list[float]) -> None:
    low, high = Fraction(min(cells)), Fraction(max(cells))
    assume(low < high)
    assume(high - low > Fraction(2) ** -1000)
    (encoded,) = encode([Table.from_frame(pl.DataFrame({"x": cells}))], ["x"])
    for i, j in product(range(len(cells)), repeat=2):
        found = Fraction(distance(encoded, i, encoded, j), encoded.mismatch_cost)
        assert abs(found - abs(Fraction(cells[i]) - Fraction(cells[j])) / (high - low)) <= Fraction(1, 2**38)
        assert (found == 0) or cells[i] != cells[j]


@pytest.mark.parametrize("places", range(1, 7))
def test_decimals_are_counted_in_their_last_place(places: int) -> None:
    unit = 10**places
    cells = [0, 1, 3, 7 * unit + 1]
    (encoded,) = encode([Table.from_frame(pl.DataFrame({"x": [cell / unit for cell in cells]}))], ["x"])
    assert encoded.exact
    assert encoded.numbers[:, 0].tolist() == cells


def test_a_seventh_decimal_makes_a_column_real() -> None:
    (encoded,) = encode([Table.from_frame(pl.DataFrame({"x": [0.0, 1e-7, 0.5, 1.0]}))], ["x"])
    assert (encoded.mismatch_cost, encoded.exact) == (2**40, False)
    assert encoded.numbers[:, 0].tolist() == [0, round(2**40 / 10**7), 2**39, 2**40]


@given(st.lists(st.tuples(*[st.none() | st.integers(0, 2**57)] * 4), min_size=2, max_size=6))
def test_several_wide_columns_get_wider_steps_and_stay_nearly_right(rows: Rows) -> None:
    rows = [*rows, (0, 0, 0, 0), (1, 1, 1, 1), (2**57, 2**57 - 1, 2**57 - 3, 2**57 - 5)]
    (encoded,) = encode([table(["whole"] * 4, rows)], ["0", "1", "2", "3"])
    expected = Distance(["number"] * 4, rows)
    assert not encoded.exact
    assert (encoded.numbers == MISSING).tolist() == [[cell is None for cell in row] for row in rows]
    for i, j in product(range(len(rows)), repeat=2):
        found, exact = distance(encoded, i, encoded, j), expected(rows[i], rows[j])
        assert found <= LARGEST
        assert abs(Fraction(found, encoded.mismatch_cost) - exact) <= exact / 250 + Fraction(1, 2**40)


def test_a_constant_real_number_never_differs() -> None:
    original = Table.from_frame(pl.DataFrame({"x": [1e-9, 1e-9, None]}))
    control = Table.from_frame(pl.DataFrame({"x": [2.5]}))
    own, _, outside = encode([original, original, control], ["x"])
    assert own.step_cost.tolist() == [0]
    assert [distance(outside, 0, own, j) for j in range(3)] == [0, 0, 1]


def test_real_numbers_beyond_a_machine_word_are_real() -> None:
    (encoded,) = encode([Table.from_frame(pl.DataFrame({"x": [0.0, 1e19, 4e19]}))], ["x"])
    assert encoded.numbers[:, 0].tolist() == [0, 2**38, 2**40]


def test_whole_and_decimal_numbers_of_two_tables_share_a_grid() -> None:
    original = Table.from_frame(pl.DataFrame({"x": [1, 3]}))
    released = Table.from_frame(pl.DataFrame({"x": [1.5, None]}))
    one, other = encode([original, released], ["x"])
    assert one.numbers[:, 0].tolist() == [0, 4]
    assert other.numbers[:, 0].tolist() == [1, MISSING]
    assert (one.step_cost.tolist(), one.mismatch_cost) == ([1], 4)


def test_whole_numbers_too_large_for_decimals_beside_them_become_real() -> None:
    one, other = encode(
        [Table.from_frame(pl.DataFrame({"x": [0, 2**62]})), Table.from_frame(pl.DataFrame({"x": [0.5, 1.0]}))], ["x"]
    )
    assert one.numbers[:, 0].tolist() == [0, 2**40]
    assert other.numbers[:, 0].tolist() == [0, 0]


def test_a_constant_column_never_differs_but_a_missing_value_does() -> None:
    original = Table.from_frame(pl.DataFrame({"x": [5, 5, None], "y": [1.25, 1.25, None], "z": [0, 2, 1]}))
    control = Table.from_frame(pl.DataFrame({"x": [9, None], "y": [7.5, None], "z": [1, 1]}))
    one, _, outside = encode([original, original, control], ["x", "y"])
    assert one.step_cost.tolist() == [0, 0]
    assert one.mismatch_cost == 1
    found = [[distance(outside, i, one, j) for j in range(3)] for i in range(2)]
    assert found == [[0, 0, 2], [2, 2, 0]]


def test_all_missing_columns_do_not_differ_among_themselves() -> None:
    nothing = pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Int64)})
    original = Table.from_frame(nothing, kinds={"x": "number"})
    released = Table.from_frame(pl.DataFrame({"x": [4, 4]}))
    own, _ = encode([original, original], ["x"])
    assert distance(own, 0, own, 1) == 0
    one, other = encode([original, released], ["x"])
    assert distance(one, 0, other, 1) == one.mismatch_cost > 0


def test_the_control_table_makes_no_span_and_counts_up_to_three_spans_beyond() -> None:
    original = Table.from_frame(pl.DataFrame({"x": [0, 10]}))
    control = Table.from_frame(pl.DataFrame({"x": [20, 10**12, -(10**12)]}))
    *_, outside = encode([original, original, control], ["x"])
    assert (outside.numbers[:, 0] * outside.step_cost[0]).tolist() == [
        2 * outside.mismatch_cost,
        4 * outside.mismatch_cost,
        -3 * outside.mismatch_cost,
    ]
    with_control, _ = encode([original, control], ["x"], span_of=(0, 1))
    assert with_control.numbers.max() * with_control.step_cost[0] < with_control.mismatch_cost


def test_ordered_numbers_count_places_and_a_control_value_lies_between() -> None:
    original = Table.from_frame(pl.DataFrame({"x": [1, 10, 1000, None]}), kinds={"x": "ordered"})
    control = Table.from_frame(pl.DataFrame({"x": [10, 11, 0]}), kinds={"x": "ordered"})
    own, _ = encode([original, original], ["x"])
    assert own.numbers[:, 0].tolist() == [0, 1, 2, MISSING]
    *_, outside = encode([original, original, control], ["x"])
    assert outside.numbers[:, 0].tolist() == [2, 3, -1]
    assert (outside.step_cost.tolist(), outside.mismatch_cost) == ([1], 4)


def test_zones_are_one_time_and_whole_hours_are_one_step() -> None:
    east = timezone(timedelta(hours=2))
    cells = [datetime(2020, 1, 1, 14, tzinfo=east), datetime(2020, 1, 1, 12, tzinfo=UTC), None]
    zoned = pl.Series("x", cells, dtype=pl.Datetime("ns", "Europe/Paris"))
    later = pl.Series("x", [datetime(2020, 1, 1, 17)], dtype=pl.Datetime("ms"))
    one, other = encode([Table.from_frame(zoned.to_frame()), Table.from_frame(later.to_frame())], ["x"])
    assert one.numbers[:, 0].tolist() == [0, 0, MISSING]
    assert (other.numbers.tolist(), one.mismatch_cost) == ([[1]], 1)


def test_codes_are_shared_and_a_missing_value_is_a_category() -> None:
    original = Table.from_frame(pl.DataFrame({"x": ["b", None, "a"], "y": [True, None, False]}))
    released = Table.from_frame(pl.DataFrame({"x": ["c", "b"], "y": [None, True]}))
    one, other = encode([original, released], ["x", "y"])
    assert one.codes.tolist() == [[2, 2], [0, 0], [1, 1]]
    assert other.codes.tolist() == [[3, 0], [2, 2]]
    assert one.codes.dtype == np.int32
    assert one.numbers.shape == (3, 0)
    assert one.mismatch_cost == 1


def test_many_columns_fit() -> None:
    rng = np.random.default_rng(4)
    wide = pl.DataFrame({f"c{at}": rng.integers(0, 10**6, 3) for at in range(400)})
    (encoded,) = encode([Table.from_frame(wide)], wide.columns)
    assert not encoded.exact
    assert distance(encoded, 0, encoded, 1) <= LARGEST
    assert encoded.step_cost.min() >= 128


def test_a_nearly_infinite_range_is_finite() -> None:
    (encoded,) = encode([Table.from_frame(pl.DataFrame({"x": [-1.7e308, 0.0, 1.7e308]}))], ["x"])
    assert encoded.numbers[:, 0].tolist() == [0, 2**39, 2**40]


def test_what_cannot_be_encoded_is_said() -> None:
    one = Table.from_frame(pl.DataFrame({"age": [1, 2], "sex": ["f", MARKER]}), name="original")
    other = Table.from_frame(pl.DataFrame({"age": ["x", MARKER], "sex": ["f", "m"]}), name="released")
    assert "'age' is named more often" in refusal(lambda: encode([one], ["age", "age"]))
    assert "Did you mean 'age'?" in refusal(lambda: encode([one], ["agee"]))
    assert "category and number" in refusal(lambda: encode([one, other], ["age"]))
    assert "at least one table" in refusal(lambda: encode([], ["age"]))
    levels = [Table.from_frame(pl.DataFrame({"x": ["a", "b"]}), kinds={"x": each}) for each in (["a", "b"], ["b", "a"])]
    assert "agree first" in refusal(lambda: encode(levels, ["x"]))
    assert encode(agree(one, one), ["age"])[0].exact
