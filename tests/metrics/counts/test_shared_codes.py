"""Groups in which all have one code: an example by hand, and the definition on every small table."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.data.counts import read_counts
from unveil.data.counts.system import system_of
from unveil.metrics.counts.shared_codes import shared_codes


def test_the_one_person_of_a_difference_is_known_to_be_ill() -> None:
    first = {"age": ["0-17", "0-17", "18+", "18+"], "state": ["ill", "well"] * 2, "count": ["12", "88", "30", "170"]}
    second = {"age": ["0-18", "0-18", "19+", "19+"], "state": ["ill", "well"] * 2, "count": ["13", "88", "29", "170"]}
    found = unveil.tables([first, second]).findings
    assert [(each.group, each.code, each.low, each.high) for each in found.groups] == [("18", "ill", 1, 1)]


@given(st.lists(st.integers(0, 2), min_size=6, max_size=6))
@settings(deadline=None, max_examples=30)
def test_groups_are_those_of_the_definition(counts: list[int]) -> None:
    names = [(row, column) for row in "ab" for column in "xyz"]
    table = {"row": [one for one, _ in names], "column": [two for _, two in names], "count": list(map(str, counts))}
    system = system_of(read_counts([table]))
    rows, codes = system.arrays.rows, system.arrays.codes.astype(np.int64)
    values = np.zeros(system.number, np.int64)
    for cell, own in enumerate(codes.tolist()):
        inside = product(range(1, 3) if own[0] == 0 else [own[0]], range(1, 4) if own[1] == 0 else [own[1]])
        values[cell] = sum(counts[3 * (row - 1) + column - 1] for row, column in inside)
    found = {(system.label(each.group), each.variable) for each in shared_codes(rows, values, values, codes)}
    expected = set()
    for at, row in enumerate("ab"):
        own = counts[3 * at : 3 * at + 3]
        if sum(own) and sum(count > 0 for count in own) == 1:
            expected.add((row, 1))
    for at, column in enumerate("xyz"):
        own = counts[at::3]
        if sum(own) and sum(count > 0 for count in own) == 1:
            expected.add((column, 0))
    assert found == expected
