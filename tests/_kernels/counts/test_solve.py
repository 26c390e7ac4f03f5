"""Ranges of cells against the enumeration of every table: linked, cyclic, hierarchical, two groupings, rounded."""

from itertools import product

import numpy as np
import pytest

from tests.conftest import unwatched
from tests.oracles.counts import Cell, Told, ranges
from unveil._kernels.counts.rows import NO_END
from unveil._kernels.counts.solve import ContradictionError, solve
from unveil._kernels.counts.solver import Budget
from unveil.attacks.counts.solve_counts import conflicting
from unveil.data.counts.system import CellArrays, cell_arrays, cover

Variable = tuple[list[set[int]], list[tuple[int, tuple[int, ...]]]]
#: Codes of one variable as sets of leaves, the total first, and their partitions.
PLAIN2: Variable = ([{0, 1}, {0}, {1}], [(0, (1, 2))])
PLAIN3: Variable = ([{0, 1, 2}, {0}, {1}, {2}], [(0, (1, 2, 3))])
REGIONS: Variable = ([{0, 1, 2}, {0, 1}, {0}, {1}, {2}], [(0, (1, 4)), (1, (2, 3))])
GROUPINGS: Variable = ([{0, 1, 2}, {0, 1}, {1, 2}, {0}, {1}, {2}], [(0, (1, 5)), (0, (2, 3)), (1, (3, 4)), (2, (4, 5))])
SHAPES: dict[str, tuple[list[Variable], list[tuple[int, ...]]]] = {
    "two-way": ([PLAIN3, PLAIN3], [(0, 1)]),
    "three-way": ([PLAIN2, PLAIN2, PLAIN2], [(0, 1, 2)]),
    "chain": ([PLAIN2, PLAIN2, PLAIN2], [(0, 1), (1, 2)]),
    "triangle": ([PLAIN2, PLAIN2, PLAIN2], [(0, 1), (1, 2), (0, 2)]),
    "hierarchy": ([REGIONS, PLAIN2], [(0, 1)]),
    "two groupings": ([GROUPINGS, PLAIN2], [(0, 1)]),
    "square": ([PLAIN2, PLAIN2, PLAIN2, PLAIN2], [(0, 1), (1, 2), (2, 3), (0, 3)]),
    "linked hierarchy": ([REGIONS, PLAIN2, PLAIN2], [(0, 1), (0, 2)]),
}


def cells_of(arrays: CellArrays, variables: list[Variable]) -> list[Cell]:
    return [tuple(frozenset(variables[at][0][code]) for at, code in enumerate(row)) for row in arrays.codes.tolist()]


def told_of(value: int, way: int, rng: np.random.Generator) -> Told:
    """Return what is told of a count: itself, a symbol of either reading, rounded, or a range."""
    match way:
        case 0:
            return (1, 3) if 1 <= value <= 3 else (value, value)
        case 1:
            return 0, None
        case 2:
            near = 3 * round(value / 3)
            return max(0, near - 2), near + 2
        case _:
            down = int(rng.integers(3))
            return max(0, value - down), value + int(rng.integers(3))


@unwatched
def compare(shape: str, seed: int) -> int:
    """Return how many ranges agree with enumeration on one random case; any that differs is an error."""
    rng = np.random.default_rng([seed, sorted(SHAPES).index(shape)])
    variables, tables = SHAPES[shape]
    arrays = cell_arrays(cover(tables), [len(codes) for codes, _ in variables], [parts for _, parts in variables])
    cells = cells_of(arrays, variables)
    leaves = [len(codes[0]) for codes, _ in variables]
    world = {place: int(rng.choice([0, 1, 1, 2])) for place in product(*(range(each) for each in leaves))}
    while sum(world.values()) > 7:
        place = max(world, key=lambda each: world[each])
        world[place] -= 1
    values = [
        sum(count for place, count in world.items() if all(map(lambda a, b: a in b, place, cell))) for cell in cells
    ]
    shown = [
        all(code == 0 or at in table for at, code in enumerate(row))
        for row in arrays.codes.tolist()
        for table in [next((t for t in tables if all(code == 0 or at in t for at, code in enumerate(row))), ())]
    ]
    exact = rng.choice([0.0, 0.15, 0.3, 0.5])
    told: list[Told] = []
    for value, own in zip(values, shown, strict=True):
        hidden = told_of(value, int(rng.integers(4)), rng) if own else (0, None)
        told.append((value, value) if own and rng.random() < exact else hidden)
    total = next(at for at, row in enumerate(arrays.codes.tolist()) if not any(row))
    told[total] = (values[total], values[total])
    expected = ranges(leaves, values[total], cells, told, cells)
    assert expected is not None
    low = np.array([ends[0] for ends in told])
    high = np.array([NO_END if ends[1] is None else ends[1] for ends in told])
    found = solve(arrays.rows, low, high, np.ones(low.size, np.bool_), budget=Budget(10**7), rng=rng)
    assert found.proven.all()
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == expected, (shape, seed)
    return len(cells)


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_ranges_are_those_of_enumeration(shape: str) -> None:
    assert sum(compare(shape, seed) for seed in range(8)) > 50


def test_whole_numbers_matter() -> None:
    # All pairs of three yes/no variables are 1: each of the 8 records is 0 or 1, in two worlds.
    arrays = cell_arrays(cover([(0, 1), (1, 2), (0, 2)]), [3, 3, 3], [[(0, (1, 2))]] * 3)
    of_pairs = (arrays.codes > 0).sum(axis=1)
    shown = np.select([of_pairs == 0, of_pairs == 1, of_pairs == 2], [4, 2, 1], -1)
    low, high = np.where(shown < 0, 0, shown), np.where(shown < 0, NO_END, shown)
    found = solve(
        arrays.rows, low, high, np.ones(low.size, np.bool_), budget=Budget(10**6), rng=np.random.default_rng(0)
    )
    records = of_pairs == 3
    assert records.sum() == 8
    assert set(zip(found.low[records].tolist(), found.high[records].tolist(), strict=True)) == {(0, 1)}


def test_a_contradiction_names_the_cells_of_its_sum() -> None:
    arrays = cell_arrays([(0, 1)], [3, 3], [[(0, (1, 2))]] * 2)
    at = {tuple(row): number for number, row in enumerate(arrays.codes.tolist())}
    low, high = np.zeros(9, np.int64), np.full(9, NO_END)
    for place, value in {(1, 1): 5, (1, 2): 7, (1, 0): 13, (2, 0): 4}.items():
        low[at[place]] = high[at[place]] = value
    with pytest.raises(ContradictionError) as caught:
        solve(arrays.rows, low, high, np.ones(9, np.bool_), budget=Budget(10**6), rng=np.random.default_rng(0))
    cells = conflicting(arrays.rows, low, high, high < NO_END, row=caught.value.row)
    assert sorted(cells.tolist()) == sorted(at[place] for place in [(1, 1), (1, 2), (1, 0)])


def test_a_contradiction_over_several_sums_is_found_too() -> None:
    # Rows say that both columns hold 3 together, columns say 5 and 1; every single sum could hold.
    arrays = cell_arrays([(0, 1)], [3, 3], [[(0, (1, 2))]] * 2)
    at = {tuple(row): number for number, row in enumerate(arrays.codes.tolist())}
    low, high = np.zeros(9, np.int64), np.full(9, NO_END)
    for place, value in {(1, 0): 1, (2, 0): 2, (0, 1): 5, (0, 2): 1}.items():
        low[at[place]] = high[at[place]] = value
    with pytest.raises(ContradictionError) as caught:
        solve(arrays.rows, low, high, np.ones(9, np.bool_), budget=Budget(10**6), rng=np.random.default_rng(0))
    cells = conflicting(arrays.rows, low, high, high < NO_END, row=caught.value.row)
    assert set(cells.tolist()) <= {at[place] for place in [(1, 0), (2, 0), (0, 1), (0, 2)]}
    assert at[0, 1] in cells


def test_a_cell_without_total_has_no_upper_end() -> None:
    arrays = cell_arrays([(0,)], [3], [[(0, (1, 2))]])
    low, high = np.array([0, 2, 1]), np.array([NO_END, 2, NO_END])
    found = solve(arrays.rows, low, high, np.ones(3, np.bool_), budget=Budget(10**6), rng=np.random.default_rng(0))
    assert found.low.tolist() == [3, 2, 1]
    assert found.high.tolist() == [NO_END, 2, NO_END]
    assert found.proven.all()
