"""People are counted once, against going through every set of cells that share nobody."""

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.data.counts import read_counts
from unveil.data.counts.system import system_of
from unveil.guesses.cell_intervals import CellIntervals
from unveil.metrics.counts.count_disclosure import cell_disclosure, people_once, shared_codes

LEAVES = [(3, 1, 2), (7, 1, 2, 4, 3)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=6))
@settings(deadline=None, max_examples=80)
def test_people_are_of_cells_that_share_nobody(cells: list[tuple[int, int, int]]) -> None:
    codes = np.array([cell[:2] for cell in cells])
    counts = np.array([cell[2] for cell in cells])

    def share(one: int, other: int) -> bool:
        return all(LEAVES[at][codes[one, at]] & LEAVES[at][codes[other, at]] for at in (0, 1))

    most = max(
        sum(counts[list(chosen)])
        for size in range(1, len(cells) + 1)
        for chosen in combinations(range(len(cells)), size)
        if not any(share(one, other) for one, other in combinations(chosen, 2))
    )
    found = people_once(counts, codes, LEAVES, np.arange(len(cells)))
    assert counts.max() <= found <= most


def made(**changed: list[int] | list[bool]) -> CellIntervals:
    given = {
        "told_low": [1, 1, 0, 8, 0], "told_high": [4, 4, 1 << 42, 8, 1 << 42], "low": [2, 1, 2, 8, 1],
        "high": [2, 2, 4, 8, 1], "is_proven": [True] * 5, "seen_low": [2, 1, 2, 8, 1], "seen_high": [2, 2, 4, 8, 1],
        "is_hidden": [True, True, True, False, False], "is_unlisted": [False, False, False, False, True],
    }  # fmt: skip
    return CellIntervals(**{**given, **changed})  # type: ignore[arg-type]


def test_figures_by_hand() -> None:
    codes = np.array([[1, 1], [1, 2], [2, 1], [0, 0], [2, 2]])
    found = cell_disclosure(made(), codes=codes, leaves=LEAVES, minimum=5, values=2)
    assert (found.suppressed, found.recovered, found.small_cells_recovered, found.approximate) == (3, 1, 1, 1)
    assert (found.known_small, found.small_by_differencing, found.people, found.small) == (1, 1, 3, 2)
    assert found.guessing == 0.5
    assert found.remaining_uncertainty == (0 + 0.5) / 2
    assert found.recovered_rate == 1 / 3
    assert (found.ends, found.proven, found.undecided) == (6, 6, 0)


def test_what_was_not_settled_is_counted() -> None:
    codes = np.array([[1, 1], [1, 2], [2, 1], [0, 0], [2, 2]])
    nothing_seen = made(is_proven=[True, False, False, True, True], seen_low=[2, 2, 4, 8, 1], seen_high=[2, 1, 2, 8, 1])
    found = cell_disclosure(nothing_seen, codes=codes, leaves=LEAVES, minimum=5, values=2)
    assert (found.undecided, found.approximate_undecided) == (2, 1)


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
