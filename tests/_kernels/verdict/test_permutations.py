"""What rows hit in another order is what all orders hit on average, and row 0 is what was seen."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from unveil._kernels.verdict.permutations import agreeing_cells, true_links

ORDERS = [np.array(order) for order in permutations(range(4))]


def frequencies(values: list[float]) -> dict[float, float]:
    return {value: values.count(value) / len(values) for value in set(values)}


def test_cells_agree_as_often_as_in_all_orders() -> None:
    original, released = np.array([[0, 1], [1, 1], [2, 0], [0, 0]]), np.array([[0, 1], [1, 0], [0, 0], [2, 1]])
    found = agreeing_cells(original, released, {}, 4000, np.random.default_rng(1)).tolist()
    assert found[0] == 3 + 1
    expected = frequencies([float((original == released[order]).sum()) for order in ORDERS])
    assert frequencies(found[1:]) == pytest.approx(expected, abs=0.04)


def test_people_change_places_with_all_their_rows_and_nobody_with_fewer() -> None:
    person = np.array([7, 3, 3, 7, 5, 9, 9, 4])
    original = np.arange(8)[:, None] % 4
    released = np.array([[0], [1], [2], [3], [0], [2], [0], [3]])
    found = agreeing_cells(original, released, {}, 6000, np.random.default_rng(1), person=person).tolist()
    rows = {7: [0, 3], 3: [1, 2], 9: [5, 6], 5: [4], 4: [7]}
    seen = []
    for pairs, singles in product(permutations([7, 3, 9]), permutations([5, 4])):
        order = np.empty(8, int)
        for own, other in zip([7, 3, 9, 5, 4], [*pairs, *singles], strict=True):
            order[rows[own]] = rows[other]
        seen.append(float((original == released[order]).sum()))
    assert found[0] == seen[0]
    assert frequencies(found[1:]) == pytest.approx(frequencies(seen), abs=0.03)


def test_a_common_order_of_different_people_is_no_proof_and_a_kept_one_is() -> None:
    rng = np.random.default_rng(3)
    region = np.sort(rng.integers(0, 60, 300))
    original, other = (np.column_stack([region, rng.integers(0, 5, (300, 4))]) for _ in range(2))

    def p(released: NDArray[np.int64]) -> float:
        drawn = agreeing_cells(original[:, 1:], released[:, 1:], {}, 999, np.random.default_rng(1))
        trend = agreeing_cells(original[:, :1] // 10, released[:, :1] // 10, {}, 999, np.random.default_rng(1))
        total = drawn + trend
        return float(np.mean(total >= total[0]))

    assert p(other) > 0.05
    assert p(original) == 0.001


def test_links_hit_as_often_as_with_every_truth() -> None:
    rows, candidates, chances = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 3]), np.array([0.5, 0.5, 1.0, 1.0])
    truth = np.array([1, 0, 3, 2])
    found = true_links(rows, candidates, chances, truth, 4000, np.random.default_rng(2)).tolist()
    assert found[0] == 0.5 + 1
    expected = frequencies([float(chances[order[rows] == candidates].sum()) for order in ORDERS])
    assert frequencies(found[1:]) == pytest.approx(expected, abs=0.04)


def test_a_coarse_cell_agrees_with_everybody_inside() -> None:
    original, released = np.array([[5], [7], [9]]), np.array([[0], [1], [0]])
    inside = np.array([[True, False], [True, True], [False, True]])
    found = agreeing_cells(original, released, {0: inside}, 3000, np.random.default_rng(1))
    assert found[0] == 2
    # The one cell 1 stands at each of three places as often, with 1, 2 or 3 people inside their cells.
    shares = [float(np.mean(found[1:] == number)) for number in (1, 2, 3)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.05)
