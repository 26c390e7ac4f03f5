"""People are counted once, against going through every set of cells that share nobody."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.guesses.count_ranges import CountRanges
from unveil.metrics.counts.count_disclosure import count_figures, people_once

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


def made(**changed: list[int] | list[bool]) -> CountRanges:
    given = {
        "told_low": [1, 1, 0, 8, 0], "told_high": [4, 4, 1 << 42, 8, 1 << 42], "low": [2, 1, 2, 8, 1],
        "high": [2, 2, 4, 8, 1], "is_proven": [True] * 5, "seen_low": [2, 1, 2, 8, 1], "seen_high": [2, 2, 4, 8, 1],
        "is_hidden": [True, True, True, False, False], "is_unlisted": [False, False, False, False, True],
    }  # fmt: skip
    return CountRanges(**{**given, **changed})  # type: ignore[arg-type]


def test_figures_by_hand() -> None:
    codes = np.array([[1, 1], [1, 2], [2, 1], [0, 0], [2, 2]])
    found = count_figures(made(), codes=codes, leaves=LEAVES, minimum=5, values=2)
    assert (found.hidden, found.worked_out, found.small_worked_out, found.narrow) == (3, 1, 1, 1)
    assert (found.known_small, found.unlisted_small, found.people, found.small) == (1, 1, 3, 2)
    assert found.blind == 0.5
    assert found.left == (0 + 0.5) / 2
    assert found.recovered_rate == 1 / 3
    assert (found.ends, found.proven, found.undecided) == (6, 6, 0)


def test_what_was_not_settled_is_counted() -> None:
    codes = np.array([[1, 1], [1, 2], [2, 1], [0, 0], [2, 2]])
    nothing_seen = made(is_proven=[True, False, False, True, True], seen_low=[2, 2, 4, 8, 1], seen_high=[2, 1, 2, 8, 1])
    found = count_figures(nothing_seen, codes=codes, leaves=LEAVES, minimum=5, values=2)
    assert (found.undecided, found.narrow_undecided) == (2, 1)
