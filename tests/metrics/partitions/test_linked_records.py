"""Records linked and own share, against drawing each record, and the worked numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import linking
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics import bcubed_precision, bcubed_recall, linked_records, own_share, records_linked


def partition(labels: list[int]) -> Partition:
    return Partition.from_labels(labels)


def test_the_worked_numbers() -> None:
    guess, truth = partition([0, 0, 1, 1, 2]), Partition.from_labels("AAABB")
    assert records_linked(guess, truth) == pytest.approx([5 / 9, 1 / 2])
    assert own_share(guess, truth) == pytest.approx([5 / 6, 3 / 4])
    weighted = linked_records(guess, truth, weights=[3, 1, 2, 1, 1])
    assert weighted.linked == pytest.approx([5 / 9, 1 / 2])
    assert weighted.share == pytest.approx([8 / 9, 2 / 3])


labelled = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=12)


@given(labelled)
def test_it_agrees_with_drawing_each_record(items: list[tuple[int, int, int]]) -> None:
    guess, truth, weights = (list(each) for each in zip(*items, strict=True))
    found = linked_records(partition(guess), partition(truth), weights=weights)
    expected = linking.linked(guess, truth, weights)
    people = partition(truth).clusters.tolist()
    assert found.linked == pytest.approx([expected[person][0] for person in people])
    assert found.share == pytest.approx([expected[person][1] for person in people])
    alone = linking.linked(list(range(len(items))), truth, weights)
    assert found.alone == pytest.approx([alone[person][0] for person in people])
    assert (found.excess >= -1e-12).all()


@given(labelled)
def test_without_weights_they_are_bcubed_by_person(items: list[tuple[int, int, int]]) -> None:
    guess, truth = (partition([item[k] for item in items]) for k in (0, 1))
    share = truth.sizes / truth.n
    assert float(records_linked(guess, truth) @ share) == pytest.approx(bcubed_recall(guess, truth))
    assert float(own_share(guess, truth) @ share) == pytest.approx(bcubed_precision(guess, truth))


def test_a_view_has_the_mean_of_its_partitions() -> None:
    truth, one, other = Partition.from_labels("aab"), Partition.from_labels("xxx"), Partition.from_labels("xyz")
    found = linked_records(View([one, other], ["1/4", "3/4"]), truth)
    assert found.linked == pytest.approx([1 / 4 + 3 / 4 * 1 / 2, 1])
    assert found.share == pytest.approx([1 / 4 * 2 / 3 + 3 / 4, 1 / 4 / 3 + 3 / 4])


def test_weights_are_checked() -> None:
    with pytest.raises(InputError, match="a number above 0 for each of the 3 items"):
        linked_records(Partition.from_labels("aab"), Partition.from_labels("aab"), weights=[1, 2])
    assert np.isnan(linked_records(partition([0, 0]), partition([0, 0])).records_linked_error)
