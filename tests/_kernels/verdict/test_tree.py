"""The tree of columns and the probability of a record, against the definition."""

from math import isclose, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import copied_people as oracle
from unveil._kernels.types import Int32Array
from unveil._kernels.verdict import tree
from unveil._kernels.verdict.tree import coincidences, equal_parts, log_probabilities, tree_of_columns

codes = st.integers(2, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[st.integers(0, 3)] * columns), min_size=2, max_size=12)
)


def array(rows: list[tuple[int, ...]]) -> Int32Array:
    return np.array(rows, np.int32)


@given(codes)
def test_no_tree_has_more_information(rows: list[tuple[int, ...]]) -> None:
    parent = tree_of_columns(array(rows)).tolist()
    assert parent in list(oracle.trees(len(parent)))
    best = max(oracle.tree_weight(rows, each) for each in oracle.trees(len(parent)))
    assert isclose(oracle.tree_weight(rows, parent), best, abs_tol=1e-9)


@given(codes, st.data(), st.sampled_from([1, 1000]))
def test_the_probability_is_that_of_the_page(rows: list[tuple[int, ...]], data: st.DataObject, factor: int) -> None:
    # Codes far apart make so many pairs of values possible that they are sorted and not counted.
    parent = data.draw(st.sampled_from(list(oracle.trees(len(rows[0])))))
    wanted = [*rows, data.draw(st.tuples(*[st.integers(0, 5)] * len(rows[0])))]
    found = log_probabilities(factor * array(rows), np.array(parent), factor * array(wanted))
    expected = [log(oracle.probability(rows, parent, x)) for x in wanted]
    assert found == pytest.approx(expected, abs=1e-12)


@given(codes, st.data(), st.sampled_from([1, 1000]))
def test_compiled_loops_count_what_is_counted_without(
    rows: list[tuple[int, ...]], data: st.DataObject, factor: int
) -> None:
    parent = np.array(data.draw(st.sampled_from(list(oracle.trees(len(rows[0]))))))
    table = factor * array(rows)
    wanted = np.concatenate([table, table + 1])

    def found() -> tuple[list[int], list[float]]:
        return tree_of_columns(table).tolist(), log_probabilities(table, parent, wanted).tolist()

    without = found()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "PLAIN_UP_TO", 0)
        assert found() == without


@given(codes, st.data(), st.integers(1, 5), st.sampled_from([1, 1000]))
def test_blocks_and_some_of_the_rows_give_the_same_digits(
    rows: list[tuple[int, ...]], data: st.DataObject, at_once: int, factor: int
) -> None:
    parent = np.array(data.draw(st.sampled_from(list(oracle.trees(len(rows[0]))))))
    table = factor * array(rows)
    some = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=9)), np.int64)
    whole = log_probabilities(table, parent, table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "_AT_ONCE", at_once)
        assert log_probabilities(table, parent, table).tolist() == whole.tolist()
        assert log_probabilities(table, parent, table, some).tolist() == whole[some].tolist()


@given(codes, st.sets(st.integers(0, 3)))
def test_columns_that_are_cut_are_compared_by_their_parts(rows: list[tuple[int, ...]], cut: set[int]) -> None:
    table = array(rows)
    parts = [equal_parts(codes) if place in cut else codes for place, codes in enumerate(table.T)]
    assert tree_of_columns(table, cut=cut).tolist() == tree_of_columns(np.column_stack(parts)).tolist()


@given(codes, st.data())
def test_the_order_of_rows_does_not_even_show_in_the_last_digit(
    rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    table = np.column_stack([array(rows), array(rows)])  # equal columns tie
    parent = tree_of_columns(table)
    assert parent.tolist() == tree_of_columns(table[order]).tolist()
    one, other = (log_probabilities(each, parent, each) for each in (table, table[order]))
    assert one[order].tolist() == other.tolist()


def test_a_chain_is_found_in_many_rows() -> None:
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, 50, 20_000)]
    for _ in range(3):
        columns.append(np.where(rng.random(20_000) < 0.7, columns[-1], rng.integers(0, 50, 20_000)))
    chain = np.column_stack(columns).astype(np.int32)
    assert tree_of_columns(chain).tolist() == [-1, 0, 1, 2]
    assert tree_of_columns(chain[:, [2, 0, 3, 1]]).tolist() == [-1, 3, 0, 0]


def test_a_column_of_many_values_is_no_better_parent_by_their_number() -> None:
    rng = np.random.default_rng(5)
    cause = rng.integers(0, 2, 300)
    effect = np.where(rng.random(300) < 0.9, cause, 1 - cause)
    # Everybody has an own number, which says all about everything and nothing about anybody else.
    table = np.column_stack([cause, np.arange(300), effect]).astype(np.int32)
    assert tree_of_columns(table)[2] == 0


def test_hundreds_of_columns_are_no_zero() -> None:
    table = np.tile(np.arange(1, 2001, dtype=np.int32)[:, None], (1, 300))
    table[:, ::2] = np.random.default_rng(1).permuted(table[:, ::2], axis=0)
    independent = np.arange(300) * 0 - 1
    assert log_probabilities(table, independent, table[:1]) == pytest.approx(-300 * log(2000))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(1, 7))
def test_equal_parts(values: list[int], parts: int) -> None:
    known = [value for value in values if value]
    expected = [oracle.part(known, value, parts) if value else 0 for value in values]
    assert equal_parts(np.array(values, np.int32), parts).tolist() == expected


@given(st.lists(st.integers(0, 6), max_size=9))
def test_coincidences_of_all_that_are_as_unlikely(expected: list[int]) -> None:
    sums = [sum(each for each in expected if each <= one) for one in expected]
    assert coincidences(np.array(expected, np.float64)).tolist() == sums
