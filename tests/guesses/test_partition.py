"""Labels of every kind become the same partition, whatever the order of rows; bad ones are named."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.guesses._entries import factorize
from unveil.guesses.partition import exact_fraction


def blocks(partition: Partition) -> set[frozenset[Any]]:
    """The clusters as sets of item names (or positions): what a partition means, whatever its numbers."""
    items = range(partition.n) if partition.items is None else partition.items.tolist()
    members: dict[int, set[Any]] = {}
    for code, item in zip(partition.codes.tolist(), items, strict=True):
        members.setdefault(code, set()).add(item)
    return {frozenset(group) for group in members.values()}


TEXT = ["b", "a", "b", "ä", "a"]
NUMBERS = [3, -1, 3, 2**40, -1]


@pytest.mark.parametrize(
    "labels",
    [
        TEXT,
        tuple(TEXT),
        iter(TEXT),
        "babäa",
        np.array(TEXT),
        np.array(TEXT, dtype=object),
        pd.Series(TEXT),
        pd.Series(TEXT, index=[9, 9, 8, 1, 0]),
        pd.Series(TEXT, dtype="object"),
        pd.Series(TEXT, dtype="string"),
        pd.Series(TEXT, dtype="category"),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pl.Series(TEXT, dtype=pl.Enum(["unused", "ä", "b", "a"])),
        pa.chunked_array([TEXT[:2], TEXT[2:]]),
        pa.chunked_array([TEXT]).dictionary_encode(),
    ],
    ids=lambda labels: f"{type(labels).__module__.partition('.')[0]}-{getattr(labels, 'dtype', type(labels).__name__)}",
)
def test_text_of_every_kind(labels: Any) -> None:
    partition = Partition.from_labels(labels)
    assert blocks(partition) == {frozenset({0, 2}), frozenset({1, 4}), frozenset({3})}
    assert [partition.clusters[code] for code in partition.codes] == TEXT
    assert partition.codes.dtype == np.int32
    assert partition.items is None


@pytest.mark.parametrize(
    "labels",
    [
        NUMBERS,
        tuple(NUMBERS),
        np.array(NUMBERS),
        np.array(NUMBERS, dtype=float),
        np.array(NUMBERS, dtype=object),
        pd.Series(NUMBERS),
        pd.Series(NUMBERS, dtype="Int64"),
        pd.Series(NUMBERS, dtype="int64[pyarrow]"),
        pl.Series(NUMBERS),
        pl.Series(NUMBERS, dtype=pl.Float64),
        pa.chunked_array([NUMBERS]),
    ],
    ids=lambda labels: f"{type(labels).__module__.partition('.')[0]}-{getattr(labels, 'dtype', type(labels).__name__)}",
)
def test_numbers_of_every_kind(labels: Any) -> None:
    partition = Partition.from_labels(labels)
    np.testing.assert_array_equal(partition.codes, [1, 0, 1, 2, 0])
    assert partition.clusters.tolist() == [-1, 3, 2**40]
    np.testing.assert_array_equal(partition.sizes, [2, 2, 1])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "bool"])
def test_every_width_of_integers(dtype: str) -> None:
    labels = np.array([1, 0, 1, 1], dtype=dtype)
    partition = Partition.from_labels(labels)
    np.testing.assert_array_equal(partition.codes, [1, 0, 1, 1])
    assert partition.clusters.dtype == labels.dtype


@pytest.mark.parametrize("labels", [[2**64 - 1, 0, 2**64 - 1], [2**64 - 1, 2**64 - 2, 2**64 - 1]])
def test_the_largest_unsigned_integers(labels: list[int]) -> None:
    partition = Partition.from_labels(np.array(labels, dtype=np.uint64))
    np.testing.assert_array_equal(partition.codes, [1, 0, 1])
    assert partition.clusters.tolist() == sorted(set(labels))


def test_the_whole_range_of_small_integers() -> None:
    partition = Partition.from_labels(np.array([-128, 127, 0, 127] * 100, dtype=np.int8))
    assert partition.clusters.tolist() == [-128, 0, 127]
    np.testing.assert_array_equal(partition.sizes, [100, 100, 200])


def test_integers_far_apart_are_sorted_not_counted() -> None:
    partition = Partition.from_labels(np.array([10**18, -(10**18), 10**18]))
    np.testing.assert_array_equal(partition.codes, [1, 0, 1])


def test_booleans_in_a_column() -> None:
    assert Partition.from_labels(pl.Series([True, False, True])).clusters.tolist() == [False, True]


def test_hashables_of_mixed_kinds_keep_the_order_of_first_appearance() -> None:
    labels = ["a", 1, (2, "b"), 1, frozenset({3}), "a"]
    partition = Partition.from_labels(labels)
    np.testing.assert_array_equal(partition.codes, [0, 1, 2, 1, 3, 0])
    assert partition.clusters.tolist() == ["a", 1, (2, "b"), frozenset({3})]


def test_names_that_are_sequences_stay_whole() -> None:
    assert Partition.from_labels([(1, 2), (3, 4), (1, 2)]).clusters.tolist() == [(1, 2), (3, 4)]
    assert Partition.from_clusters({(1, 2): "ab", (3, 4): "c"}).clusters.tolist() == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, "b", None],
        [1.0, float("nan"), 2.0, float("nan")],
        np.array([1.0, np.nan, 2.0, np.nan]),
        np.array(["a", None, "b", None], dtype=object),
        pd.Series(["a", None, "b", None]),
        pd.Series(["a", None, "b", None], dtype="category"),
        pd.Series([1, None, 2, None], dtype="Int64"),
        pd.Series([1.0, None, 2.0, None]),
        pl.Series(["a", None, "b", None]),
        pl.Series([1, None, 2, None]),
        pl.Series([1.0, float("nan"), 2.0, float("nan")]),
        pa.chunked_array([["a", None, "b", None]]),
    ],
    ids=lambda labels: f"{type(labels).__module__.partition('.')[0]}-{getattr(labels, 'dtype', type(labels).__name__)}",
)
def test_missing_labels_are_refused_with_their_position(labels: Any) -> None:
    with pytest.raises(InputError, match=r"2 cluster labels are missing, the first at position 1 \(counted from 0\)"):
        Partition.from_labels(labels)


def test_unhashable_labels_are_refused() -> None:
    with pytest.raises(InputError, match="must be hashable"):
        Partition.from_labels([["a"], ["b"]])


@pytest.mark.parametrize(
    "labels", [[], np.array([], dtype=int), np.array([], dtype=float), pl.Series([], dtype=pl.String)]
)
def test_nothing_is_refused(labels: Any) -> None:
    with pytest.raises(InputError, match="at least one item"):
        Partition.from_labels(labels)


@pytest.mark.parametrize("dtype", [int, float, str, object])
def test_tables_are_refused(dtype: type) -> None:
    with pytest.raises(InputError, match="one-dimensional, but have 2 dimensions"):
        Partition.from_labels(np.array([[1, 2], [3, 4]]).astype(dtype))


def test_an_error_never_shows_a_label() -> None:
    with pytest.raises(InputError) as caught:
        Partition.from_labels(["Alice Example", None])
    assert "Alice" not in str(caught.value)


@pytest.mark.unwatched
@given(st.lists(st.text(max_size=2) | st.just("a"), min_size=1), st.randoms(use_true_random=False))
def test_names_and_numbers_do_not_depend_on_the_order_of_rows(labels: list[str], random: Any) -> None:
    order = list(range(len(labels)))
    random.shuffle(order)
    straight, mixed = Partition.from_labels(labels), Partition.from_labels([labels[place] for place in order])
    assert straight.clusters.tolist() == mixed.clusters.tolist() == sorted(set(labels))
    np.testing.assert_array_equal(straight.codes[order], mixed.codes)


@given(st.lists(st.integers(-20, 20) | st.integers(-(2**62), 2**62), min_size=1))
def test_every_kind_of_column_gives_the_same_numbers(labels: list[int]) -> None:
    names = sorted(set(labels))
    expected = [names.index(label) for label in labels]
    for column in (labels, np.array(labels), pl.Series(labels), pd.Series(labels, dtype="Int64")):
        codes, found = factorize(column, what="cluster")
        np.testing.assert_array_equal(codes, expected)
        assert found.tolist() == names


def test_clusters_by_name() -> None:
    partition = Partition.from_clusters({"Bob": ["x"], "Alice": ["z", "y"]})
    assert partition.items is not None
    assert partition.items.tolist() == ["x", "z", "y"]
    assert partition.clusters.tolist() == ["Bob", "Alice"]
    np.testing.assert_array_equal(partition.codes, [0, 1, 1])
    assert (partition.n, partition.cluster_count, repr(partition)) == (3, 2, "Partition(3 items in 2 clusters)")


def test_clusters_without_names_are_numbered() -> None:
    partition = Partition.from_clusters([{"x"}, ("y", "z")])
    assert partition.clusters.tolist() == [0, 1]
    assert blocks(partition) == {frozenset("x"), frozenset("yz")}


def test_an_empty_cluster_is_refused() -> None:
    with pytest.raises(InputError, match="1 have none"):
        Partition.from_clusters([["x"], []])


def test_an_item_in_two_clusters_is_refused() -> None:
    with pytest.raises(InputError, match="1 item names are repeated"):
        Partition.from_clusters([["x", "y"], ["y"]])
    with pytest.raises(InputError, match="2 item names are repeated"):
        Partition.from_labels("abc", items=["i", "i", "i"])


def test_as_many_item_names_as_items() -> None:
    with pytest.raises(InputError, match="3 items cannot have 2 item names"):
        Partition.from_labels("abc", items=["i", "j"])


def test_missing_item_names_are_refused() -> None:
    with pytest.raises(InputError, match=r"1 item name labels are missing, the first at position 1 \(counted from 0\)"):
        Partition.from_labels("ab", items=["i", None])


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_items_are_aligned_by_name(kind: Any) -> None:
    truth = Partition.from_labels(list("aab"), items=kind(["x", "y", "z"]))
    guess = Partition.from_labels(list("qpp"), items=["z", "y", "x"])
    aligned = guess.aligned_to(truth)
    assert blocks(aligned) == blocks(guess)
    assert [aligned.clusters[code] for code in aligned.codes] == ["p", "p", "q"]
    assert aligned.items is not None
    assert aligned.items.tolist() == ["x", "y", "z"]


@given(st.permutations(range(6)), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_alignment_keeps_the_clusters(order: list[int], labels: list[int]) -> None:
    guess = Partition.from_labels(labels, items=list(range(6)))
    truth = Partition.from_labels([0] * 6, items=order)
    aligned = guess.aligned_to(truth)
    assert blocks(aligned) == blocks(guess)
    assert [aligned.clusters[code] for code in aligned.codes] == [labels[item] for item in order]


def test_partitions_already_aligned_are_returned_as_they_are() -> None:
    truth = Partition.from_labels("aab", items=["x", "y", "z"])
    same = Partition.from_labels("abb", items=["x", "y", "z"])
    nameless = Partition.from_labels("abb")
    assert same.aligned_to(truth) is same
    assert nameless.aligned_to(truth) is nameless
    assert truth.aligned_to(nameless) is truth


def test_different_items_are_refused_with_their_number() -> None:
    truth = Partition.from_labels("aab", items=["x", "y", "z"])
    with pytest.raises(InputError, match="one has 2 and the other 3"):
        Partition.from_labels("ab").aligned_to(truth)
    with pytest.raises(InputError, match="2 of 3 items are only in one of them"):
        Partition.from_labels("aab", items=["x", "p", "q"]).aligned_to(truth)


def test_nothing_of_a_partition_can_be_changed() -> None:
    partition = Partition.from_labels(["a", "b"], items=["x", "y"])
    for array in (partition.codes, partition.clusters, partition.items):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


@pytest.mark.parametrize("labels", [np.array([0, 1, 0]), np.array([0.5, 1, 0.5]), np.array(["a", "b", "a"], object)])
def test_the_callers_arrays_stay_theirs(labels: Any) -> None:
    items = np.array([7, 8, 9])
    partition = Partition.from_labels(labels, items=items)
    before = partition.codes.copy(), partition.clusters.copy()
    labels[0], items[0] = labels[1], 0
    np.testing.assert_array_equal(partition.codes, before[0])
    np.testing.assert_array_equal(partition.clusters, before[1])
    assert partition.items is not None
    assert partition.items.tolist() == [7, 8, 9]


def test_a_view_has_exact_probabilities() -> None:
    sure, other = Partition.from_labels("aab"), Partition.from_labels("abb")
    assert View([sure], [1]).probabilities == (Fraction(1),)
    assert View([sure, other], [0.1, 0.9]).probabilities == (Fraction(1, 10), Fraction(9, 10))
    assert View([sure, other], ["1/3", Fraction(2, 3)]).probabilities == (Fraction(1, 3), Fraction(2, 3))
    view = View([sure, other], [0.5, 0.5])
    assert (view.n, repr(view)) == (3, "View(2 partitions of 3 items)")


def test_probabilities_written_to_nine_digits_are_scaled_to_one() -> None:
    view = View([Partition.from_labels("ab")] * 3, [0.3333333333, 0.3333333333, 0.3333333333])
    assert view.probabilities == (Fraction(1, 3),) * 3


def test_partitions_of_a_view_are_aligned_to_the_first() -> None:
    first = Partition.from_labels("aab", items=["x", "y", "z"])
    second = Partition.from_labels("abb", items=["z", "y", "x"])
    view = View([first, second], [0.5, 0.5])
    np.testing.assert_array_equal(view.partitions[1].codes, [1, 1, 0])


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.5, 0.6], r"the probabilities of the view sum to 1\.1, not 1"),
        ([0.5, 0.499999], r"the probabilities of the view sum to 0\.999999, not 1"),
        ([1, 0], "probability above 0"),
        ([1.5, -0.5], "probability above 0"),
        ([1], "a view has 2 partitions and 1 probabilities"),
        (["1/0", 1], "a probability must be a number"),
        (["half", "half"], "a probability must be a number"),
        ([float("nan"), 1], "a probability must be a number"),
        ([float("inf"), 1], "a probability must be a number"),
        ([None, 1], "a probability must be a number"),
    ],
)
def test_a_view_with_wrong_probabilities_is_refused(probabilities: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        View([Partition.from_labels("aab"), Partition.from_labels("abb")], probabilities)


def test_a_view_of_nothing_or_of_different_items_is_refused() -> None:
    with pytest.raises(InputError, match="a view has 0 partitions and 0 probabilities"):
        View([], [])
    with pytest.raises(InputError, match="guess and truth have different items: one has 2 and the other 3"):
        View([Partition.from_labels("aab"), Partition.from_labels("ab")], [0.5, 0.5])


@given(st.fractions(0, 1, max_denominator=1000))
def test_fractions_are_read_as_they_are_written(value: Fraction) -> None:
    assert exact_fraction(str(value), what="alpha") == value
    assert exact_fraction(value, what="alpha") == value


@given(st.integers(0, 10**9), st.integers(0, 9))
def test_decimals_are_read_as_they_are_written(digits: int, places: int) -> None:
    written = f"{digits // 10**places}.{digits % 10**places:0{places}d}" if places else str(digits)
    assert (
        exact_fraction(float(written), what="alpha")
        == exact_fraction(written, what="alpha")
        == Fraction(digits, 10**places)
    )
    assert exact_fraction(np.float64(float(written)), what="alpha") == Fraction(digits, 10**places)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint64])
def test_numbers_without_gaps_are_numbered_from_the_lowest(dtype: type) -> None:
    codes, names = factorize(np.array([7, 5, 6, 5], dtype), what="cluster")
    assert codes.tolist() == [2, 0, 1, 0]
    assert names.tolist() == [5, 6, 7]
    assert (codes.dtype.name, names.dtype.name) == ("int32", np.dtype(dtype).name)
