"""Codes as sets of leaves: sums between them say all there is, and no more."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.data.counts.codes import band_of, is_total, partitions_of, variable_of


def rank(rows: list[list[int]]) -> int:
    return int(np.linalg.matrix_rank(np.array(rows))) if rows else 0


@given(st.lists(st.integers(1, 31), max_size=8))
@settings(deadline=None, max_examples=60)
def test_sums_hold_and_determine_every_code_from_the_leaves(sets: list[int]) -> None:
    leaves = [31, *sets, *(1 << bit for bit in range(5) if 1 << bit not in [31, *sets])]
    rows = []
    for parent, children in partitions_of(leaves):
        assert sum(leaves[child] for child in children) == leaves[parent]
        for one in children:
            assert all(leaves[one] & leaves[other] == 0 for other in children if other != one)
        row = [0] * len(leaves)
        row[parent] += 1
        for child in children:
            row[child] -= 1
        rows.append(row)
    # As many independent sums as there are codes beside the five leaves: nothing is left open.
    assert rank(rows) == len(leaves) - 5


def test_bands_become_the_pieces_between_all_their_ends() -> None:
    ages = variable_of("age", ["0-17", "18+", "0-18", "19+"])
    assert dict(zip(ages.codes, ages.leaves, strict=True)) == {
        "Total": 0b111, "0-17": 0b001, "18+": 0b110, "0-18": 0b011, "19+": 0b100, "18": 0b010,
    }  # fmt: skip


def test_a_gap_between_bands_is_a_piece_of_its_own() -> None:
    assert variable_of("age", ["0-17", "20-64"]).codes == ("Total", "0-17", "20-64", "18-19")


def test_single_numbers_are_plain_codes() -> None:
    assert variable_of("year", ["2020", "2022"]).codes == ("Total", "2020", "2022")


def test_a_rest_is_a_leaf() -> None:
    ward = variable_of("ward", ["N", "S"], rest=True)
    assert ward.codes == ("Total", "N", "S", "(not listed)")
    assert ward.partitions == ((0, (1, 2, 3)),)


def test_words_around_bands_and_totals() -> None:
    assert band_of("aged 18 to 64 years") == (18, 65)
    assert band_of("85 and over") == (85, 10_000)
    assert band_of("17-3") is None
    assert [is_total(text) for text in ("All persons", "TOTAL", "All other", "Alliance", "_T")] == [
        True, True, False, False, True,
    ]  # fmt: skip
