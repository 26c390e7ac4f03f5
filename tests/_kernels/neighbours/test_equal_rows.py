"""People and rows that are equal, compared with every pair of them."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels import value_numbers as numbers
from unveil._kernels.neighbours import equal_rows as kernels
from unveil._kernels.neighbours.equal_rows import equal_rows
from unveil._kernels.neighbours.index import MISSING
from unveil._kernels.types import IntArray

#: Close together and far apart, so that both ways of looking up are taken.
VALUES = st.sampled_from([0, 1, 2, 5, -3, 2**40, 2**40 + 1, int(MISSING), int(MISSING) + 2])


class Column(NamedTuple):
    cells: IntArray

    def of(self, rows: IntArray | slice) -> IntArray:
        return self.cells[rows]


@given(st.integers(1, 4), st.data(), st.integers(1, 9))
def test_rows_are_in_the_group_of_those_who_are_equal(width: int, data: st.DataObject, block: int) -> None:
    line = st.tuples(*[VALUES] * width)
    people = data.draw(st.lists(line, min_size=1, max_size=8))
    rows = data.draw(st.lists(st.one_of(line, st.sampled_from(people)), max_size=12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "BLOCK_ROWS", block)
        patch.setattr(numbers, "_CLOSE", data.draw(st.sampled_from([0, 4, 2**12])))
        columns = [Column(np.array([row[place] for row in rows], np.int64)) for place in range(width)]
        told = [np.array([person[place] for person in people]) for place in range(width)]
        found = equal_rows(told, columns, len(rows))
    ordered = sorted(set(people))
    assert found.groups == len(ordered)
    assert found.of_person.tolist() == [ordered.index(person) for person in people]
    assert found.of_row.tolist() == [ordered.index(row) if row in ordered else -1 for row in rows]
