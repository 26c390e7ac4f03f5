"""Draws by what rows hold: where rows stand plays no part, and every row is as likely as any other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels.neighbours.content import content_hash, drawn_by_content, mixed
from unveil._kernels.types import BagArray


def bits_of(values: list[int]) -> BagArray:
    column = np.array(values, np.int64)
    return content_hash([column, (column % 3).astype(np.int32)], column.size)


def test_mixing_is_splitmix64() -> None:
    # The first outputs of the published generator with seed 0 and with seed 1.
    assert mixed(np.array([0, 1], np.uint64)).tolist() == [0xE220A8397B1DCDAF, 0x910A2DEC89025CC1]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.data())
def test_the_contents_drawn_do_not_depend_on_where_rows_stand(values: list[int], data: st.DataObject) -> None:
    number, order = data.draw(st.integers(1, len(values))), data.draw(st.permutations(range(len(values))))
    moved = [values[place] for place in order]
    one, other = ([each[row] for row in drawn_by_content(bits_of(each), number, 3)] for each in (values, moved))
    assert one == other
    assert len(set(drawn_by_content(bits_of(values), number, 3).tolist())) == number


def test_copies_have_lots_of_their_own() -> None:
    # 30 copies of one row beside 30 other rows: by a lot per content, all copies or none would be among the first 20.
    bits = bits_of([0] * 30 + list(range(1, 31)))
    copies = [np.count_nonzero(drawn_by_content(bits, 20, seed) < 30) for seed in range(400)]
    # The hypergeometric mean is 10 with a deviation of 1.84, so 0.37 is four standard errors of the mean.
    assert abs(np.mean(copies) - 10) < 0.37
    assert 1.5 < np.std(copies) < 2.2
